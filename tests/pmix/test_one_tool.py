#!/usr/bin/env python3
"""A helper with one tool: libpmix is given the tool's socket, and it is known
how much of what was delivered the tool has read.

The helper (one_tool.c) says how many deliveries are taken; the tool appends
what it gets to files, in the order in which it comes. Pieces have one size, so
the files tell how many the tool has had, to the last one."""
import os
import re
import signal
import socket
import subprocess
import sys
import time

import pmix
import live
import single

PUSH = os.path.join(live.BUILD, "tests", "pmix", "tool_push")
CHANNELS = single.CHANNELS
STREAMS = single.RANKS * len(CHANNELS)
PIECE = 65536


def pull(one, *options, **more):
    return pmix.Tool(one, "-j", "one-job", *options, **more)


def pieces(tool):
    """How many the tool has appended to its files."""
    return sum(tool.taken(channel) for channel in CHANNELS) // PIECE


def printed(tool):
    """Those that it may have read: one may be in its hands."""
    return pieces(tool) + 1


def whole():
    """64 MiB come whole, by each way to find the helper; all count as taken."""
    one = single.One(16 * live.MIB)
    tool = pull(one, "-n", STREAMS)
    live.check_eq(0, tool.wait(120), "the tool")
    taken, given = one.gone()
    live.check_eq(given, taken, "taken")
    live.check_eq(STREAMS * 16 * live.MIB // PIECE, given, "given")
    one.check_whole(tool)
    live.check(["tool", "-"] in one.seen, "it brought no name")
    live.check(["pull", "6", "1", "1", "0"] in one.seen, "its pull")
    live.check(live.is_sanitized() or one.peak < 32 * live.MIB,
               "%d bytes" % one.peak)


def found():
    """By the address, and by the file."""
    for option in ("-u", "-f"):
        one = single.One(1)
        path = os.path.join(one.dir, "pmix.%s.tool.%d" % (
            socket.gethostname(), one.proc.pid))
        tool = pmix.Asker(one, option, one.uri if option == "-u" else path)
        live.check(tool.connect(), option)
        live.check_eq(0, tool.end())
        live.check_eq([0, 0], one.gone())


def named():
    """A tool has the name that it brings."""
    one = single.One(1)
    tool = pull(one, "-i", "mine:3", "-n", STREAMS)
    live.check_eq(0, tool.wait(60))
    live.check_eq([STREAMS, STREAMS], one.gone())
    live.check(["tool", "mine"] in one.seen, "its name")


def stopped():
    """A tool that stands still: little is delivered beyond what it has read,
    the count stops, no memory goes; then it goes on, and has all of it."""
    one = single.One(16 * live.MIB)
    gate = os.path.join(live.TMP, "pace")
    os.mkfifo(gate)
    tool = pull(one, "-n", STREAMS, "-P", gate)
    pace = os.open(gate, os.O_WRONLY)
    os.write(pace, b"0123456789")
    live.eventually(lambda: pieces(tool) == 10, 60, "ten pieces")
    live.stop(tool.proc.pid)
    os.close(pace)
    live.eventually(lambda: one.now()[0] >= 10, 60, "ten are taken")
    last = [None]

    def is_still():
        seen, last[0] = last[0], one.now()
        return seen == last[0] and last[0][1] > 0
    live.eventually(is_still, 60, "it stands still")
    taken, given = one.now()
    live.check(10 <= taken <= printed(tool), "%d of %d" % (taken, given))
    live.check(given < STREAMS * 16 * live.MIB // PIECE, "some are kept")
    live.check(live.is_sanitized() or
               live.peak(one.proc.pid) < 32 * live.MIB, "memory")
    os.kill(tool.proc.pid, signal.SIGCONT)
    live.check_eq(0, tool.wait(120), "the tool")
    taken, given = one.gone()
    live.check_eq(given, taken, "taken")
    one.check_whole(tool)
    live.check(live.is_sanitized() or one.peak < 32 * live.MIB,
               "%d bytes" % one.peak)


def killed():
    """A tool that is killed with much on its way to it: the count is not above
    what it had."""
    for n in (1, 7, 100):
        one = single.One(16 * live.MIB)
        gate = os.path.join(live.TMP, "pace-%d" % n)
        os.mkfifo(gate)
        tool = pull(one, "-P", gate)
        pace = os.open(gate, os.O_WRONLY)
        os.write(pace, b"0" * n)
        live.eventually(lambda n=n, tool=tool: pieces(tool) == n, 60, "pieces")
        live.eventually(lambda n=n, one=one: one.now()[0] >= n, 60, "taken")
        tool.proc.kill()
        tool.proc.wait()
        taken, given = one.gone()
        live.check(n <= taken <= printed(tool) < given,
                   "%d of %d, and it had %d" % (taken, given, n))
        os.close(pace)


def twice():
    """Two pulls of the tool name the same: each delivery is two messages, and
    counts when the tool has both; for one that names one rank alone likewise.
    """
    one = single.One(live.MIB, "-w", 2)
    tool = pull(one, "-A", "-r", "0,0", "-n", 2 * len(CHANNELS))
    live.check_eq(0, tool.wait(60), "the tool")
    taken, given = one.gone()
    live.check_eq(given, taken, "those of rank 1 are for nobody")
    live.check_eq(2 * 2 * live.MIB, sum(map(tool.taken, CHANNELS)), "twice")


def twice_stopped():
    """The tool is stopped twice, with pieces in hand at each number of
    messages."""
    one = single.One(4 * live.MIB, "-w", 2)
    gate = os.path.join(live.TMP, "pace-twice")
    os.mkfifo(gate)
    tool = pull(one, "-A", "-r", "0,0", "-n", 2 * len(CHANNELS), "-P", gate)
    pace = os.open(gate, os.O_WRONLY)
    for n in range(1, 20):
        os.write(pace, b"0")
        live.eventually(lambda n=n: pieces(tool) == n, 60, "pieces")
        # Two of each four deliveries are for rank 0, and have two messages;
        # one message may be in the hands of the tool.
        taken, most = one.now()[0], (n + 1) // 2
        live.check(taken <= 4 * (most // 2) + most % 2,
                   "%d taken, and it has %d" % (taken, n))
    os.close(pace)
    live.check_eq(0, tool.wait(60), "the tool")
    taken, given = one.gone()
    live.check_eq(given, taken)


def left():
    """The tool deregisters in the middle, and stays: the rest has no pull,
    which delays nothing, and counts. The tool's library writes what is under
    way to its stdout. Nothing of stderr is for the tool at all."""
    one = single.One(8 * live.MIB)
    gate = os.path.join(live.TMP, "pace-left")
    os.mkfifo(gate)
    tool = pull(one, "-d", "-c", 2, "-P", gate, stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL)
    pace = os.open(gate, os.O_WRONLY)
    os.write(pace, b"01234")
    live.eventually(lambda: pieces(tool) == 5, 60, "pieces")
    tool.proc.stdin.write(b"\n")
    tool.proc.stdin.flush()
    live.eventually(lambda: tool.has("leaving"), 60, "it leaves")
    os.close(pace)
    one.wait("stop")
    one.wait("given")
    live.eventually(lambda: len(set(one.now())) == 1, 60, "all are taken")
    tool.proc.stdin.close()
    live.check_eq(0, tool.wait(60), "the tool")
    taken, given = one.gone()
    live.check_eq(given, taken)
    live.check_eq(STREAMS * 8 * live.MIB // PIECE, given)


def early():
    """What was delivered before there was a pull has no pull: libpmix keeps
    the last of it for the next pull, which does not get it here."""
    one = single.One(1, "-w", 0)
    tool = pull(one, "-d", stdin=subprocess.DEVNULL)
    live.check_eq(0, tool.wait(60), "the tool")
    live.check(tool.has("left"), "it had a pull")
    live.check_eq(0, sum(map(tool.taken, CHANNELS)), "bytes")
    live.check_eq([STREAMS, STREAMS], one.gone())
    words = [line[0] for line in one.seen]
    live.check(words.index("given") < words.index("pull"), "before")


def refused():
    """A pull is refused, a tool is refused; a wrong one says so."""
    one = single.One(1)
    tool = pull(one, "-D", "!no.such")
    live.check_eq(4, tool.wait(60), "the tool")
    live.check("NOT-SUPPORTED" in tool.proc.stderr.read().decode(), "why")
    live.check_eq([0, 0], one.gone())
    one = single.One(1, "-n")
    tool = pull(one)
    live.check(one.wait("tool"), "it has asked")
    tool.proc.kill()
    tool.proc.wait()
    one.proc.kill()
    one.proc.wait()


def push(one, stdin, *options, env=None):
    return subprocess.Popen([PUSH, "-j", "one-job", *options,
                             str(one.proc.pid)], stdin=stdin,
                            stdout=subprocess.PIPE, env=env)


def pushed():
    """Pushes come whole and in order, also where each head of a message comes
    in two parts; and the tool's own stdin, which its library collects."""
    envs = [None]
    if not live.is_sanitized():  # a sanitizer has to be loaded first
        envs.append(live.preload("pmix", "preload_cut.c"))
    for env in envs:
        one = single.One(1)
        mine = os.urandom(live.MIB if env is None else 64 * 1024)
        path = os.path.join(one.dir, "mine")
        with open(path, "wb") as file:
            file.write(mine)
        tool = push(one, subprocess.PIPE, env=env)
        said, _ = tool.communicate(
            ("f * 7001 %s\nz 1\n" % path).encode(), 60 * live.SLOW)
        live.check_eq(0, tool.returncode, "the tool")
        live.check_eq(b"%d 0\n" % (-(-len(mine) // 7001) + 1), said)
        for rank in range(single.RANKS):
            live.check(live.read_file("%s/%d.in" % (one.dir, rank)) == mine,
                       "rank %d" % rank)
        live.check(os.path.exists(one.dir + "/1.in.end"), "its end")
        live.check(not os.path.exists(one.dir + "/0.in.end"), "no end")
        one.gone()


def collected():
    one = single.One(1)
    mine = os.urandom(live.MIB)
    path = os.path.join(one.dir, "mine")
    with open(path, "wb") as file:
        file.write(mine)
    with open(path, "rb") as file:
        tool = push(one, file, "-S", "1")
    end = one.dir + "/1.in.end"
    live.eventually(lambda: os.path.exists(end), 60, "its end")
    live.check(live.read_file(one.dir + "/1.in") == mine, "all of it")
    tool.kill()
    tool.wait()
    one.gone()


def slowed():
    """A tool whose stdin is collected is read more slowly: each of its pushes
    takes 5 ms at least, and nothing is missing."""
    one = single.One(1)
    mine = os.urandom(48 * 8192)
    path = os.path.join(one.dir, "mine")
    with open(path, "wb") as file:
        file.write(mine)
    one.tell("slow 1")  # it is read when the tool comes in
    before = time.monotonic()
    with open(path, "rb") as file:
        tool = push(one, file, "-S", "1")
    end = one.dir + "/1.in.end"
    live.eventually(lambda: os.path.exists(end), 60, "its end")
    live.check(time.monotonic() - before >= 48 * 0.005, "it is slow")
    live.check(live.read_file(one.dir + "/1.in") == mine, "all of it")
    tool.kill()
    tool.wait()
    one.gone()


def is_closed(sock):
    sock.settimeout(60 * live.SLOW)
    try:
        return sock.recv(1) == b""
    except ConnectionResetError:
        return True


def strangers():
    """A stranger that dials libpmix's own port is not heard, before the tool
    comes and while it is there; the tool has all that it wants."""
    one = single.One(live.MIB)
    for _ in range(100):
        with socket.create_connection(("127.0.0.1", one.port)) as sock:
            live.check(is_closed(sock), "it is closed")
    tool = pull(one, "-n", STREAMS, "-P", "/dev/zero")
    with socket.create_connection(("127.0.0.1", one.port)) as sock:
        live.check(is_closed(sock), "it is closed")
    live.check_eq(0, tool.wait(60), "the tool")
    taken, given = one.gone()
    live.check_eq(given, taken)
    one.check_whole(tool)


def private():
    """What libpmix wrote of itself is gone; before the tool comes, a helper
    has a file for tools and no other one."""
    one = single.One(1)
    names = sorted(re.sub(r"\..*", "", name) for name in os.listdir(one.dir))
    live.check_eq(["pmix", "source"], names)
    with socket.create_connection(
            ("127.0.0.1", int(one.uri.rsplit(":", 1)[1]))):
        pass
    live.check_eq([0, 0], one.gone(), "one that says nothing has gone")


def main():
    pmix.need()
    for test, sentence in (
            (whole, "64 MiB come whole"),
            (found, "by the address and by the file"),
            (named, "a tool that brings a name"),
            (stopped, "a tool that stands still"),
            (killed, "tools that are killed in the middle"),
            (twice, "two pulls name the same"),
            (twice_stopped, "two pulls name the same, message by message"),
            (left, "a tool that deregisters"),
            (early, "what is delivered before a pull"),
            (refused, "refused"),
            (pushed, "what is pushed"),
            (collected, "stdin that is collected"),
            (slowed, "stdin that is collected slowly"),
            (strangers, "strangers at libpmix's own port"),
            (private, "nothing is left behind")):
        with live.case(sentence):
            test()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
