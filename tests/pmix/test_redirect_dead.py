#!/usr/bin/env python3
"""A tool that redirects dies: what it had not read is on the console, though
its descriptor is used again before the helper has seen that, or the helper dies
as well.
"""
import array
import contextlib
import fcntl
import os
import re
import socket
import sys
import termios

import pmix
import live
from test_redirect_back import (RANKS, Leaver, ended, missing_of,
                                numbers, open_pace, start, write)

LINES = 20000  # of 100 bytes, for each rank: more than sockets have
MANY = 80000  # the same: more than is sent to a tool that deregisters
LOOKS = 2


def turns(pid):
    """How often its main thread has waited for something."""
    status = live.read_proc(pid, "status").decode()
    return int(status.split("voluntary_ctxt_switches:")[1].split()[0])


def in_use(pid):
    return set(map(int, os.listdir("/proc/%d/fd" % pid)))


def of_sockets(pid):
    """Its descriptors that are sockets."""
    found = set()
    for fd in in_use(pid):
        with contextlib.suppress(OSError):
            if os.readlink("/proc/%d/fd/%d" % (pid, fd)).startswith("socket:"):
                found.add(fd)
    return found


def wait_written(job):
    live.eventually(lambda: all("%d wrote" % rank in job.said()
                                for rank in range(RANKS)), 60, "all is written")


def much_unread(**more):
    """A job that has written all and waits at a gate, and a tool that has been
    stopped before."""
    job, gates = start(write(1, LINES, 100) + '; echo "$XYLEM_RANK wrote" >&2',
                       "true", **more)
    tool = pmix.Tool(job, "-R", "-c", 2)
    tool.wait_ready()
    live.stop(tool.proc.pid)
    gates[0].open()
    wait_written(job)
    return job, gates[1], tool


def is_shown(job):
    """Something waits for who reads the console."""
    count = array.array("i", [0])
    fcntl.ioctl(job.stdout, termios.FIONREAD, count)
    return count[0] > 0


def then_the_helper():
    """The helper has seen that a tool is dead, and dies: it had yet to say so,
    as what was with another tool goes back first, and nobody reads that."""
    pace = live.Gate()
    hold = open_pace(pace)
    job, gates = start(write(1, MANY, 100) + '; echo "$XYLEM_RANK wrote" >&2',
                       "true")
    leaver = Leaver(job, "-r", "0,1", "-P", pace.path)
    leaver.wait_ready()
    tool = pmix.Tool(job, "-R", "-c", 2, "-r", "2,3")
    tool.wait_ready()
    live.stop(tool.proc.pid)
    gates[0].open()
    wait_written(job)
    leaver.say_leave()
    os.close(hold)
    live.eventually(lambda: is_shown(job), 60, "some goes back")
    tool.proc.kill()
    tool.wait()
    live.eventually(lambda: re.search(r"PMIx tool \S+ has gone", job.said()),
                    60, "it has gone")
    pid = pmix.helper_of(job)
    seen = turns(pid)
    live.eventually(lambda: turns(pid) >= seen + LOOKS, 60, "it has looked")
    shown = leaver.end()
    live.check(not ended(job, 1), "that was said already")
    pmix.kill_helper(job)
    reader = pmix.Reader(job)
    gates[1].open()
    job.check_ok()
    console, own = numbers(reader.end()), numbers(shown)
    for rank in range(RANKS):
        its = numbers((leaver if rank < 2 else tool).got(rank, "stdout"))[rank]
        live.check_eq(MANY, len(set(console[rank]).union(own[rank], its)),
                      "lines of rank %d" % rank)
    live.check("are lost" not in job.said(), job.said())


def all_there(job, reader, tool, what):
    live.check_eq(0, missing_of(reader.end(), [tool], [LINES] * RANKS, what))
    live.check("are lost" not in job.said(), job.said())


def used_again():
    """Its descriptor is another connection's before anybody has looked."""
    pmix.until_5()
    if live.is_sanitized():
        return  # they have to be loaded first
    path = os.path.join(live.TMP, "hold")
    job, gate, tool = much_unread(env={
        **live.preload("pmix", "preload_close.c"), "XYLEM_TEST_HOLD": path})
    reader = pmix.Reader(job)
    pid, port = pmix.server(job)
    before = of_sockets(pid)
    os.mkfifo(path)
    tool.proc.kill()
    tool.wait()
    hold = os.open(path, os.O_WRONLY)
    os.unlink(path)
    free = before - of_sockets(pid)
    live.eventually(lambda: not free & in_use(pid), 60, "it is free")
    seen = turns(pid)
    with contextlib.ExitStack() as others:
        def is_used():
            other = socket.create_connection(("127.0.0.1", port))
            others.enter_context(other).send(b"?")  # the silent are ended
            return free & of_sockets(pid)
        live.eventually(is_used, 60, "the descriptor is used again")
        live.eventually(lambda: turns(pid) >= seen + LOOKS, 60, "it has looked")
    os.close(hold)
    live.eventually(lambda: ended(job, 1), 60, "its end")
    gate.open()
    job.check_ok()
    all_there(job, reader, tool, "used again")


def main():
    pmix.need()
    for test, sentence in (
            (used_again, "its descriptor is used again"),
            (then_the_helper, "then the helper dies")):
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
