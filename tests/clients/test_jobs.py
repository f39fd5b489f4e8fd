#!/usr/bin/env python3
"""Several jobs run in one tree, beside the run's own job and one after the
other. Each is started by a client of the session's door."""
import collections
import concurrent.futures
import json
import os
import struct
import sys
import tempfile

import doors
import live
from live import check, check_eq

NODES = 3
COUNT = live.full(1000, 200)
AT_ONCE = 4
GROWTH = 3 * live.MIB  # COUNT - 20 jobs of 32 KiB would be more
# this much of a job would be noticed if it stayed
PAD = "PAD=" + "x" * 32 * 1024


class Run:
    """A run with three nodes; its own job says go and waits at a gate."""

    def __init__(self, *options):
        self.out = tempfile.TemporaryFile(dir=live.TMP)
        self.gate = live.Gate()
        self.job = live.Job("-N", NODES, *options, "--", "sh", "-c",
                            'echo go; : <"$0"', self.gate.path,
                            stdout=self.out)
        self.pid = self.job.proc.pid

    def is_there(self):
        return self.job.proc.poll() is None

    def end(self):
        """Ends the run: only its own job is on the console."""
        self.gate.open()
        self.job.check_ok(120)
        check_eq(b"go\n" * NODES,
                 os.pread(self.out.fileno(),
                          os.fstat(self.out.fileno()).st_size, 0), "output:")


class Spawned(doors.Client):
    """A client that starts a job, and what it has heard of that. The job waits
    for it, so it misses nothing."""

    def __init__(self, run, procs, *argv):
        super().__init__(run.pid)
        self.base = self.size = None
        self.said = []       # but JOB and output, in order
        self.ended = None    # (is a process lost, which failed, how, how many)
        self.refused = []    # (reason, sentence) of UNSTARTED
        self.missing = 0     # bytes
        self.text = collections.defaultdict(bytes)  # by rank and channel
        self.closed = collections.Counter()         # the same
        self.ask(doors.request(
            doors.program(*argv, procs=procs, env=[PAD]), flags=doors.WAITS,
            comes=doors.STDOUT | doors.STDERR, cache=0))

    def _note(self, kind, body):
        if kind == "JOB":
            self.base, self.size = struct.unpack_from("<II", body)
        elif kind == "OUTPUT":
            proc, channel, flags, dropped, before = struct.unpack_from(
                "<IBBQQ", body)
            self.missing += dropped + before
            self.text[proc - self.base, channel] += body[22:]
            self.closed[proc - self.base, channel] += flags & 1
        else:
            self.said.append(kind)
        if kind == "UNSTARTED":
            self.refused.append((body[0], body[1:].decode()))
        elif kind == "ENDED":
            self.ended = struct.unpack_from("<BIiI", body)

    def until(self, truth, what):
        """Listens until that holds; False when it is cut off before."""
        while not truth():
            kind, body = self.hear()
            if kind in (None, "REFUSED"):
                return check(False, "%s: %s %r" % (what, kind, body))
            self._note(kind, body)
        return True

    def is_running(self):
        return "STARTED" in self.said

    def await_text(self, *texts):
        """Waits until this is what its ranks have written to stdout."""
        self.until(lambda: self.is_running() and all(
            self.text[rank, 1] == text for rank, text in enumerate(texts)),
            "it runs, and has written %r" % (texts,))

    def await_end(self):
        """Checks that all of its output has come, once."""
        self.until(lambda: self.base is not None, "it begins")
        ends = [(rank, channel) for rank in range(self.size)
                for channel in (1, 2)]
        self.until(lambda: self.ended is not None and
                   all(self.closed[end] for end in ends), "it ends")
        check_eq({end: 1 for end in ends}, dict(self.closed), "ends:")
        check_eq(0, self.missing, "output is missing:")


def statuses(watcher, job):
    """How its processes have ended, by rank."""
    known = watcher.describe(job.base)
    return {number - job.base: status
            for number, status in known.statuses.items()} if known else None


def two_at_once():
    run, gate = Run(), live.Gate()
    watcher = doors.Watcher(run.pid)
    jobs = [Spawned(run, 0, "sh", "-c",
                    'echo I am $XYLEM_RANK of $XYLEM_SIZE; : <"$0"; '
                    "echo done >&2; exit $XYLEM_RANK", gate.path)
            for _ in range(2)]
    # All of both run at the same time as the run's own job.
    for job in jobs:
        job.await_text(*[b"I am %d of 3\n" % rank for rank in range(NODES)])
        check_eq(NODES, job.size, "a process a node:")
    check(len({job.base for job in jobs}) == 2, "both have one base")
    check(run.is_there(), "the run has ended")
    gate.open()
    for job in jobs:
        job.await_end()
        check_eq([b"done\n"] * NODES,
                 [job.text[rank, 2] for rank in range(NODES)])
        check_eq((0, 2), (job.ended[0], job.ended[3]), "so many failed:")
        check_eq({rank: rank << 8 for rank in range(NODES)},
                 statuses(watcher, job))
    run.end()


def outlives():
    run, gate = Run(), live.Gate()
    watcher = doors.Watcher(run.pid)
    job = Spawned(run, 2, "sh", "-c", 'echo here; : <"$0"; seq 1 20000',
                  gate.path)
    job.await_text(b"here\n", b"here\n")
    run.gate.open()
    # The run's own job has ended, in a process of each node.
    watcher.await_stage(0, doors.OVER)
    check_eq({rank: 0 for rank in range(NODES)},
             watcher.describe(0).statuses)
    check(run.is_there(), "it has ended without its second job")
    gate.open()
    job.await_end()
    want = b"here\n" + b"".join(b"%d\n" % n for n in range(1, 20001))
    for rank in (0, 1):
        check_eq(want, job.text[rank, 1])
    run.end()


def not_there():
    run = Run()
    job = Spawned(run, 3, "/nowhere/to/be/found")
    job.await_end()
    check_eq(["UNSTARTED", "ENDED"], job.said, "it is told once:")
    reason, why = job.refused[0]
    check_eq(doors.NO_PROGRAM, reason)
    check("exec of '/nowhere/to/be/found': No such file" in why, why)
    check(run.is_there(), "the run has ended with it")
    run.end()


def killed():
    run = Run()
    watcher = doors.Watcher(run.pid)
    jobs = [Spawned(run, 2, "sh", "-c", "echo here; exec sleep 1000")
            for _ in range(3)]
    for job in jobs:
        job.until(lambda job=job: any(job.text.values()), "it has written")
        job.say("SIGNAL", struct.pack("<i", 9))
    for job in jobs:
        job.await_end()
        check("SIGNALLED" in job.said, job.said)
        check_eq({0: 9, 1: 9}, statuses(watcher, job))
    check(run.is_there(), "the run has ended with them")
    run.end()


def too_many():
    run = Run()
    job = Spawned(run, NODES * 256 + 1, "true")
    job.until(lambda: job.refused, "it is refused")
    reason, why = job.refused[0]
    check_eq((doors.NO_ROOM, None), (reason, job.base))
    check(why.startswith("node ") and
          why.endswith(" has room for 256 more processes: further jobs can "
                       "have 256 on a node at most"), why)
    run.end()


def one_after_another(run, count):
    watcher = doors.Watcher(run.pid)
    for _ in range(count):
        job = Spawned(run, 2, "sh", "-c", "echo $XYLEM_RANK")
        job.await_end()
        check_eq((b"0\n", b"1\n", 0),
                 (job.text[0, 1], job.text[1, 1], job.ended[3]), "a job:")
        check_eq({0: 0, 1: 0}, statuses(watcher, job))
        job.close()
    watcher.close()


def sequence():
    peaks = []
    for count in (20, COUNT):
        path = os.path.join(live.TMP, "stats-%d" % count)
        run = Run("--stats", path)
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            for done in [pool.submit(one_after_another, run, count // AT_ONCE)
                         for _ in range(AT_ONCE)]:
                done.result()
        run.end()
        with open(path, encoding="ascii") as file:
            peaks.append(json.load(file))
    for who, name in (("launcher", "rss_peak_bytes"),
                      ("daemons", "rss_peak_bytes_max")):
        few, many = (peak[who][name] for peak in peaks)
        if not live.is_sanitized():
            check(many - few < GROWTH,
                  "%s: %d bytes after 20 jobs, %d after %d" % (
                      who, few, many, COUNT))
    check_eq(peaks[0]["daemons"]["count"], peaks[1]["daemons"]["count"],
             "each daemon is counted once:")


def main():
    for test, sentence in (
            (two_at_once, "two jobs run beside the run's own"),
            (outlives, "a job goes on when the run's own has ended"),
            (not_there, "a program that does not exist"),
            (killed, "jobs are killed, the run goes on"),
            (too_many, "a job for which there is no room"),
            (sequence, "%d jobs one after the other" % COUNT)):
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
