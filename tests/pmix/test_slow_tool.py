#!/usr/bin/env python3
"""A tool that is stopped slows neither the job nor, for long, another tool,
and costs no memory."""
# timeout: 240
import os
import signal
import sys

import pmix
import live

RANKS = 4
MEGS = live.full(200, 24)  # of each rank
SIZE = RANKS * MEGS * live.MIB
WRITE = "head -c %dM /dev/zero" % MEGS


def start():
    gate = pmix.Gate()
    job = live.Job("-v", "-N", RANKS, "--raw", "--", "sh", "-c",
                   pmix.Gate.WAIT + WRITE, gate.path)
    pmix.wait_up(job)
    return job, gate


def drain(job):
    """Reads the console up to the last byte of the job, or its end."""
    left = SIZE
    while left > 0:
        part = os.read(job.stdout.fileno(), live.MIB)
        if not part:
            break
        left -= len(part)
    return SIZE - left


def alone():
    """It is stopped before the output and goes on after it: the job has ended
    its output meanwhile, and the tool gets all that fits in its queue."""
    job, gate = start()
    tool = pmix.Tool(job, "-n", 2 * RANKS)
    tool.wait_ready()
    memory = live.Memory()
    memory.start()
    os.kill(tool.proc.pid, signal.SIGSTOP)
    gate.open()
    live.check_eq(SIZE, drain(job), "console")
    os.kill(tool.proc.pid, signal.SIGCONT)
    job.stdout.read()
    job.check_ok()
    live.check_eq(0, tool.wait())
    total = sum(len(tool.got(rank, "stdout") or b"") for rank in range(RANKS))
    live.check_eq(SIZE, total + tool.dropped(),
                  "what came and what was dropped")
    memory.check(RANKS, 3)


def beside_another():
    """The other one gets everything while the first stays stopped."""
    job, gate = start()
    stuck, tool = pmix.Tool(job), pmix.Tool(job, "-n", 2 * RANKS)
    stuck.wait_ready()
    tool.wait_ready()
    os.kill(stuck.proc.pid, signal.SIGSTOP)
    gate.open()
    live.check_eq(SIZE, drain(job), "console")
    job.check_ok()
    live.check_eq(0, tool.wait())
    for rank in range(RANKS):
        live.check_eq(MEGS * live.MIB, len(tool.got(rank, "stdout") or b""),
                      "rank %d" % rank)
    os.kill(stuck.proc.pid, signal.SIGCONT)
    stuck.wait()


def main():
    pmix.need()
    for test, sentence in ((alone, "a stopped tool"),
                           (beside_another, "a stopped tool and another")):
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
