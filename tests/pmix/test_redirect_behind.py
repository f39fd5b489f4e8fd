#!/usr/bin/env python3
"""A tool that redirects output falls behind its bound: from then on it gets
copies, some of which are dropped when there is no room. Output that only the
tool had been sent before is not dropped: the console shows it when the tool or
its helper dies."""
import os
import signal
import sys

import pmix
import live
from test_redirect_back import RANKS, ended, numbers, start, write

LINES = 160000  # of 100 bytes: far more than the bound and what is on its way
WAITS = live.MIB // 2  # at least, when nothing more has room
SLOW = "reads its redirected output too slowly"


def fall_behind(*options):
    """A job that has written all and waits at a gate, and a tool with 1 MiB to
    wait in that has been stopped before."""
    job, gates = start(write(1, LINES, 100) + '; echo "$XYLEM_RANK wrote" >&2',
                       "true")
    reader = pmix.Reader(job)
    tool = pmix.Tool(job, "-R", "-c", 2, "-C", live.MIB, *options)
    tool.wait_ready()
    live.stop(tool.proc.pid)
    gates[0].open()
    live.eventually(lambda: SLOW in job.said(), 60, "it falls behind")
    live.eventually(lambda: all("%d wrote" % rank in job.said()
                                for rank in range(RANKS)), 60, "all is written")
    return job, gates[1], reader, tool


def check_all(job, reader, tool, what):
    """Checks that each line is with the tool or on the console, and that the
    console has no line twice. Lines that the tool alone had follow, on the
    console, those that were written after them."""
    console = reader.end()
    shown = numbers(console)
    missing = 0
    for rank in range(RANKS):
        live.check_eq(len(set(shown[rank])), len(shown[rank]),
                      "%s: twice on the console, rank %d" % (what, rank))
        its = numbers(tool.got(rank, "stdout"))[rank]
        missing += len(set(range(1, LINES + 1)).difference(shown[rank], its))
    live.check_eq(0, missing, "%s: lines that nobody has" % what)
    live.check("are lost" not in job.said(), job.said())


def dies(*options):
    job, gate, reader, tool = fall_behind(*options)
    tool.proc.kill()
    tool.wait()
    live.eventually(lambda: ended(job, 1), 60, "its end")
    gate.open()
    job.check_ok()
    check_all(job, reader, tool, "it dies")


def oldest_go():
    """What it alone had is not the oldest: it waits until the tool goes on."""
    job, gate, reader, tool = fall_behind("-O")
    os.kill(tool.proc.pid, signal.SIGCONT)
    live.eventually(lambda: tool.taken() > WAITS, 60, "it goes on")
    gate.open()
    job.check_ok()
    live.check_eq(0, tool.wait())
    live.check(tool.dropped() > 0, "nothing was dropped")
    check_all(job, reader, tool, "it goes on")


def helper_dies():
    job, gate, reader, tool = fall_behind()
    pmix.kill_helper(job)
    os.kill(tool.proc.pid, signal.SIGCONT)
    live.check_eq(0, tool.wait(), "the tool was cut off")
    gate.open()
    job.check_ok()
    check_all(job, reader, tool, "the helper dies")


def main():
    pmix.need()
    for test, sentence in (
            (dies, "it dies"),
            (oldest_go, "the oldest are to go, and nobody dies"),
            (lambda: dies("-O"), "the same, and it dies"),
            (helper_dies, "the helper dies")):
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
