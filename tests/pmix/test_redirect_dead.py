#!/usr/bin/env python3
"""A tool that redirects output dies, and its helper dies before it has noticed
that, while output of another dead tool goes back: the console shows what
neither of the two tools had read."""
import array
import fcntl
import os
import signal
import sys
import termios

import pmix
import live
from test_redirect_back import RANKS, Leaver, numbers, open_pace, start, write

LINES = 80000  # of 100 bytes: more than is sent to a tool that deregisters


def wait_written(job):
    live.eventually(lambda: all("%d wrote" % rank in job.said()
                                for rank in range(RANKS)), 60, "all is written")


def is_shown(job):
    """Something waits for the reader of the console."""
    count = array.array("i", [0])
    fcntl.ioctl(job.stdout, termios.FIONREAD, count)
    return count[0] > 0


def then_the_helper():
    """The console is not read as the two go."""
    pace = live.Gate()
    hold = open_pace(pace)
    job, gates = start(write(1, LINES, 100) + '; echo "$XYLEM_RANK wrote" >&2',
                       "true")
    leaver = Leaver(job, "-r", "0,1", "-P", pace.path)
    leaver.wait_ready()
    before = pmix.helpers_of(job)
    tool = pmix.Tool(job, "-R", "-c", 2, "-r", "2,3")
    tool.wait_ready()
    helper = before[1]  # it was in reserve
    live.stop(tool.proc.pid)
    gates[0].open()
    wait_written(job)
    leaver.say_leave()
    os.close(hold)
    live.eventually(lambda: is_shown(job), 60, "some goes back")
    live.stop(helper)
    tool.proc.kill()
    tool.wait()
    os.kill(helper, signal.SIGKILL)
    live.eventually(lambda: "a PMIx tool was disconnected" in job.said(), 60,
                    "its helper has gone")
    shown = leaver.end()
    reader = pmix.Reader(job)
    gates[1].open()
    job.check_ok()
    console, own = numbers(reader.end()), numbers(shown)
    for rank in range(RANKS):
        its = numbers((leaver if rank < 2 else tool).got(rank, "stdout"))[rank]
        live.check_eq(LINES, len(set(console[rank]).union(own[rank], its)),
                      "lines of rank %d" % rank)
    live.check("are lost" not in job.said(), job.said())


def main():
    pmix.need()
    with live.case("then the helper dies"):
        then_the_helper()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
