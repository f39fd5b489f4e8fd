#!/usr/bin/env python3
"""Runs random jobs over real daemons, with random faults, and judges each
process.

usage: chaos.py [OPTIONS] [SEED...]

    SEED...          these jobs: 17 is one on this machine, n17 one on hosts of
                     the rig, with faults of the network (root)
    --seeds N        so many new ones of this machine (20)
    --network N      and so many with faults of the network; as root a quarter
                     of the others, if not given
    --jobs J         side by side (three for each processor)
    --keep DIR       the folders of jobs that failed go there; see run.py
    --plan FILE      the plan in this file, in place of a seed's
    --shrink SEED    the smallest set of faults with which it still fails
    --again N        run each of the given seeds N times (1)
    --first          stop at the first failure

^C and SIGTERM: no more jobs are begun; what was found is told when those that
run have ended.

Prints the seed of each failure, why it is one, and the command that runs it
again: a seed is the same job and the same faults, at the same moments as far
as these are conditions; the rest is up to the machine.
"""
import argparse
import collections
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import bounds
import check
import command
import plan as plans
import shrink

# the time limit of a job, beyond everything that run.py waits for
LIMIT_S = 900
SKIP = 77
SIDE_BY_SIDE = 3  # for each processor: most of the time they wait


class Job:
    """Runs one plan in a folder of its own, and judges it."""

    def __init__(self, plan, root):
        self.plan, self.seed = plan, plan["seed"]
        self.path = tempfile.mkdtemp(dir=root, prefix=self.seed + "-")
        self.bad, self.excused, self.skipped = [], [], False
        self.memory = []
        self.proc = None
        plans.dump(plan, os.path.join(self.path, "plan.json"))

    def run(self):
        with open(os.path.join(self.path, "log"), "wb") as log:
            self.proc = subprocess.Popen(
                [sys.executable, os.path.join(command.HERE, "run.py"),
                 self.path], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True)
            try:
                status = self.proc.wait(LIMIT_S * bounds.SLOW)
            except subprocess.TimeoutExpired:
                self.proc.terminate()
                self.proc.wait()
                self.bad = ["time: it took more than %d s" % LIMIT_S]
                return
        self.skipped = status == SKIP
        if status not in (0, SKIP):
            with open(os.path.join(self.path, "log"), errors="replace") as log:
                self.bad = ["chaos: " + log.read()[-1500:]]
        elif not self.skipped:
            try:
                judge = check.judge(self.path)
                self.bad, self.excused = judge.bad, judge.excused
                self.memory = list(judge.memory())
            except Exception as why:  # the checker itself has failed
                self.bad = ["chaos: %s: %s" % (type(why).__name__, why)]

    def done(self):
        """The faults that were carried out, each as (what, to whom)."""
        path = os.path.join(self.path, "evidence.json")
        if not os.path.exists(path):
            return
        with open(path) as file:
            told = json.load(file)["done"]
        for fault, entry in zip(self.plan["faults"], told):
            whom = "+".join(sorted({who["who"] for who in entry["did"]}))
            yield "missed" if entry["missed"] else \
                "%s %s" % (fault["do"], whom)


class Net:
    """Runs all plans, some at the same time."""

    def __init__(self, wanted):
        self.wanted = wanted
        self.root = tempfile.mkdtemp(prefix="xylem-chaos-")
        self.lock = threading.Lock()
        self.count, self.failed, self.skipped, self.excused = 0, [], 0, 0
        self.kinds, self.families = collections.Counter(), collections.Counter()
        self.why, self.peaks = collections.Counter(), {}

    def work(self, todo):
        while True:
            with self.lock:
                if not todo or self.wanted.first and self.failed:
                    return
                plan = todo.pop(0)
            job = Job(plan, self.root)
            job.run()
            with self.lock:
                self.take(job)

    def take(self, job):
        self.count += 1
        self.skipped += job.skipped
        self.families[job.plan["odd"] or job.plan["family"]] += 1
        self.kinds.update(job.done())
        for name, size, limit in job.memory:
            worst = self.peaks.get(name, (0, 1))
            if size * worst[1] > worst[0] * limit:
                self.peaks[name] = size, limit
        for text in job.excused:
            print("seed %s: not judged, the machine was too slow: %s" % (
                job.seed, text[:500]), flush=True)
        self.excused += bool(job.excused)
        if job.bad:
            self.fail(job)
        shutil.rmtree(job.path, ignore_errors=True)

    def fail(self, job):
        self.failed.append(job.seed)
        self.why.update({text.split(":")[0] for text in job.bad})
        print("FAILED: seed %s" % job.seed)
        print(*plans.tell(job.plan), sep="\n")
        for text in job.bad[:8]:
            print("    " + text[:1000])
        if len(job.bad) > 8:
            print("    and %d more" % (len(job.bad) - 8))
        print("  again: %s" % again(job.seed), flush=True)
        if self.wanted.keep:
            shutil.copytree(job.path, os.path.join(
                self.wanted.keep, os.path.basename(job.path)),
                ignore=shutil.ignore_patterns("far", "fifo", "tmp"))

    def run(self, todo):
        start_s = time.monotonic()
        for number in signal.SIGINT, signal.SIGTERM:
            signal.signal(number, lambda *_: todo.clear())
        workers = [threading.Thread(target=self.work, args=(todo,))
                   for _ in range(self.wanted.jobs)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        print("%d jobs in %.0f s: %s" % (
            self.count, time.monotonic() - start_s, counted(self.families)))
        print("faults:", counted(self.kinds))
        print("memory, the most in MiB:", ", ".join(
            "%s %.1f of %.0f" % (name, size / bounds.MIB, limit / bounds.MIB)
            for name, (size, limit) in sorted(self.peaks.items())))
        if self.skipped:
            print("%d were skipped: they need root" % self.skipped)
        if self.excused:
            print("%d were not judged in all, as the machine was too slow" %
                  self.excused)
        if self.failed:
            print("%d failed: %s; seeds %s" % (
                len(self.failed), counted(self.why), " ".join(self.failed)))
        shutil.rmtree(self.root, ignore_errors=True)
        return 1 if self.failed or self.count == 0 else 0


def counted(found):
    return ", ".join("%s %d" % pair for pair in found.most_common()) or "none"


def again(seed):
    return "top_builddir=%s tests/chaos/chaos.py %s" % (command.BUILD, seed)


def shrunk(plan, root):
    def fails(smaller):
        job = Job(smaller, root)
        job.run()
        print("  %d faults: %s" % (len(smaller["faults"]), "; ".join(
            job.bad)[:200] or "holds"), flush=True)
        shutil.rmtree(job.path, ignore_errors=True)
        return bool(job.bad)
    return shrink.shrink(plan, fails)


def new_seeds(wanted):
    """Draws a first seed, and returns this many seeds in a row."""
    network = wanted.network
    if network is None:
        network = wanted.seeds // 4 if os.geteuid() == 0 else 0
    first = random.SystemRandom().randrange(1 << 32)
    print("seeds: from %d, %d of them, and %d from n%d" % (
        first, wanted.seeds, network, first), flush=True)
    found = [str(first + number) for number in range(wanted.seeds)] + \
        ["n%d" % (first + number) for number in range(network)]
    random.Random(first).shuffle(found)  # those of the network take longer
    return found


def parse():
    parser = argparse.ArgumentParser(
        usage=__doc__.partition("usage: ")[2], add_help=True)
    parser.add_argument("given", nargs="*")
    for name, value in (("seeds", 20), ("network", None), ("again", 1),
                        ("jobs", SIDE_BY_SIDE * (os.cpu_count() or 2))):
        parser.add_argument("--" + name, type=int, default=value)
    for name in "keep", "plan", "shrink":
        parser.add_argument("--" + name)
    parser.add_argument("--first", action="store_true")
    return parser.parse_args()


def main():
    wanted = parse()
    if wanted.keep:
        os.makedirs(wanted.keep, exist_ok=True)
    if wanted.shrink:
        root = tempfile.mkdtemp(prefix="xylem-chaos-")
        found = shrunk(plans.draw(wanted.shrink), root)
        print(*plans.tell(found), sep="\n")
        plans.dump(found, "shrunk-%s.json" % wanted.shrink)
        print("in shrunk-%s.json; again: --plan" % wanted.shrink)
        shutil.rmtree(root, ignore_errors=True)
        return 0
    if wanted.plan:
        todo = [plans.load(wanted.plan)]
    else:
        todo = [plans.draw(seed) for seed in wanted.given or
                new_seeds(wanted)]
    return Net(wanted).run(todo * wanted.again)


if __name__ == "__main__":
    sys.exit(main())
