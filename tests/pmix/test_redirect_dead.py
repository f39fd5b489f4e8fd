#!/usr/bin/env python3
"""A tool that redirects dies: what it had not read is on the console, though
its descriptor is used again before the helper has seen that.
"""
# timeout: 120
import contextlib
import os
import signal
import socket
import sys

import pmix
import live
from test_redirect_back import (RANKS, Reader, ended, missing_of, open_pace,
                                start, write)

LINES = 20000  # of 100 bytes, for each rank: more than sockets have
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


def much_unread(**more):
    """A job that has written all and waits at a gate, and a tool that has been
    stopped before."""
    job, gates = start(write(1, LINES, 100) + '; echo "$XYLEM_RANK wrote" >&2',
                       "true", **more)
    tool = pmix.Tool(job, "-R", "-c", 2)
    tool.wait_ready()
    live.stop(tool.proc.pid)
    gates[0].open()
    live.eventually(lambda: all("%d wrote" % rank in job.said()
                                for rank in range(RANKS)), 60, "all is written")
    return job, gates[1], tool


def all_there(job, reader, tool, what):
    live.check_eq(0, missing_of(reader.end(), [tool], [LINES] * RANKS, what))
    live.check("are lost" not in job.said(), job.said())


def used_again():
    """Its descriptor is another connection's before anybody has looked."""
    if live.is_sanitized():
        return  # they have to be loaded first
    path = os.path.join(live.TMP, "hold")
    job, gate, tool = much_unread(env={
        **live.preload("pmix", "preload_close.c"), "XYLEM_TEST_HOLD": path})
    reader = Reader(job.stdout)
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
            (used_again, "its descriptor is used again"),):
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
