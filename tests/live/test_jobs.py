#!/usr/bin/env python3
"""Several jobs in one tree: beside the run's own and one after the other."""
import json
import os
import subprocess
import sys

import live
from live import check, check_eq

COUNT = live.full(1000, 200)
GROWTH = 3 * live.MIB  # COUNT - 20 jobs of 32 KiB would be more


class Run:
    """A tool_spawn; its own job waits at a gate once it has spoken."""
    count = 0

    def __init__(self, count, at_once, procs, *program, own=None, **env):
        Run.count += 1
        self.held = []
        base = os.path.join(live.TMP, "run-%d" % Run.count)
        self.stats, self.report = base + ".stats", base + ".report"
        self.gate, self.own = base + ".gate", base + ".own"
        os.mkfifo(self.gate)
        os.mkfifo(self.own)
        own = own or "echo go; : <GATE"
        self.proc = subprocess.Popen(
            [live.tool("tool_spawn"),
             os.path.join(live.BUILD, "commands", "xylemd"), self.stats,
             self.report, str(count), str(at_once), str(procs),
             *[word.replace("GATE", self.gate).replace("OWN", self.own)
               for word in (own, *program)]],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env={**os.environ, **env})

    def lines(self):
        with open(self.report) as file:
            return file.read().splitlines()

    def wait_for(self, *lines):
        live.eventually(lambda: os.path.exists(self.report) and
                        (set(lines) <= set(self.lines()) or
                         self.proc.poll() is not None), 120, str(lines))
        check(set(lines) <= set(self.lines()), "%s in %r" % (
            lines, self.lines()[-20:]))

    def open_gate(self):
        """For whoever comes to it, until the end."""
        self.held.append(os.open(self.gate, os.O_RDWR))

    def open_own(self):
        """A gate of the run's own job alone."""
        self.held.append(os.open(self.own, os.O_RDWR))

    def end(self, code=0):
        out, err = self.proc.communicate(timeout=120 * live.SLOW)
        for fd in self.held:
            os.close(fd)
        check_eq(code, self.proc.returncode, "exit code: %s" % err.decode())
        return out.decode(), err.decode()


def two_at_once():
    run = Run(2, 2, 0, "sh", "-c",
              "echo I am $XYLEM_RANK of $XYLEM_SIZE; : <GATE; "
              "echo done >&2; exit $XYLEM_RANK")
    # All of both run at the same time as the run's own job.
    run.wait_for("started 1", "started 2",
                 *["output %d %d 1 I am %d of 3\\n" % (job, rank, rank)
                   for job in (1, 2) for rank in range(3)])
    run.open_gate()
    out, _ = run.end()
    check_eq("go\n" * 3, out, "only its own job is on the console:")
    run.wait_for("ended 1 1", "ended 2 1",
                 *["output %d %d 2 done\\n" % (job, rank)
                   for job in (1, 2) for rank in range(3)],
                 *["exit %d %d %d" % (job, rank, rank << 8)
                   for job in (1, 2) for rank in range(3)])


def outlives():
    run = Run(1, 1, 2, "sh", "-c", "echo here; : <GATE; seq 1 20000",
              own="echo go; : <OWN")
    run.wait_for("output 1 0 1 here\\n")
    run.open_own()
    # The run's own job has ended, in a process of each node.
    run.wait_for("exit 0 0 0", "exit 0 1 0", "exit 0 2 0")
    check(run.proc.poll() is None, "it has ended without its second job")
    run.open_gate()
    run.end()
    run.wait_for("ended 1 1", "all")
    for rank in (0, 1):
        head = "output 1 %d 1 " % rank
        text = "".join(line[len(head):] for line in run.lines()
                       if line.startswith(head)).replace("\\n", "\n")
        check_eq("here\n" + "".join("%d\n" % n for n in range(1, 20001)), text)


def not_there():
    run = Run(1, 1, 3, "/nowhere/to/be/found")
    run.wait_for("ended 1 1", "all")
    failed = [line for line in run.lines() if line.startswith("failed")]
    check_eq(1, len(failed), "it is told once:")
    check(failed[0].endswith(" exec 2"), failed[0])
    run.open_gate()
    run.end()


def killed():
    run = Run(3, 3, 2, "sh", "-c", "echo here; exec sleep 1000",
              XYLEM_TEST_KILL="1")
    run.wait_for("all", *["exit %d %d 9" % (job, rank)
                          for job in (1, 2, 3) for rank in (0, 1)])
    check(run.proc.poll() is None, "the run has ended with them")
    run.open_gate()
    out, _ = run.end()
    check_eq("go\n" * 3, out)


def too_many():
    run = Run(1, 1, 3 * 256 + 1, "true")
    run.wait_for("all")
    check(any(line.startswith("refused node ") and
              line.endswith(" has room for 256 more processes of the 256 "
                            "that it takes of such jobs")
              for line in run.lines()), run.lines())
    run.open_gate()
    run.end()


def sequence():
    peaks = []
    for count in (20, COUNT):
        run = Run(count, 4, 2, "sh", "-c", "echo $XYLEM_RANK")
        run.wait_for("all")
        run.open_gate()
        run.end()
        lines = run.lines()
        for job in range(1, count + 1):
            for line in ("output %d 0 1 0\\n", "output %d 1 1 1\\n",
                         "ended %d 1"):
                if line % job not in lines:
                    check(False, "%r is missing" % (line % job))
        check_eq(2 * count + 3,
                 sum(line.startswith("exit") for line in lines), "exits:")
        with open(run.stats) as file:
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
