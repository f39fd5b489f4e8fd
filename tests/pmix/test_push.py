#!/usr/bin/env python3
"""Tools push to the stdin of processes: byte for byte, in the order of the
calls, only to the targets.

Each process writes what it reads to a file of its own.
"""
import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import threading

import pmix
import live
from terminal import open_pair
from pushing import KEEP, Session, Taker, make_file

SIZE = live.full(64, 4) * live.MIB
ROUNDS = 1000
CUTS = 200
PIECE = 8192
LOOK_S = 0.3
ENDED = ("the launcher's stdin has ended; that of the processes ends when the "
         "tools that push to it have disconnected\n")
FILE = os.path.join(live.TMP, "pushed")


def all_exact():
    want = make_file(FILE, SIZE)
    taker = Taker(8, "--nodes-per-daemon", 2, "--arity", 2)
    said = taker.push("f * %d %s\nz *\n" % (300000, FILE))
    live.check_eq("0", said[-1].split()[1], "pushes that failed")
    taker.job.check_ok()
    for rank in range(8):
        live.check(taker.got(rank) == want, "rank %d" % rank)


def in_order():
    """A to 0 and 1, B to 1 and 2, C to 0 and 2, again and again."""
    taker = Taker(3)
    said = taker.push("".join("p 0,1 A%d\np 1,2 B%d\np 0,2 C%d\n" % (n, n, n)
                              for n in range(ROUNDS)) + "z *\n", "-w", 64)
    live.check_eq("%d 0" % (3 * ROUNDS + 1), said[-1])
    taker.job.check_ok()
    for rank, letters in enumerate(("AC", "AB", "BC")):
        want = "".join("%s%d\n" % (letter, n)
                       for n in range(ROUNDS) for letter in letters)
        live.check(taker.got(rank) == want.encode(), "rank %d" % rank)


def two_tools():
    """The bytes of one call are together, and those of a tool in order."""
    taker = Taker(1)
    tools = [taker.connected("-w", 16) for _ in "XY"]
    for tool, letter in zip(tools, "XY"):
        tool.stdin.write("".join(
            "p 0 %s %d %s\n" % (letter, n, letter * 5000)
            for n in range(300)).encode())
        tool.stdin.close()
    for tool in tools:
        live.check_eq(0, tool.wait(60 * live.SLOW))
    live.check_eq("1 0", taker.push("z 0\n")[-1])
    taker.job.check_ok()
    lines = taker.got(0).decode().splitlines()
    live.check_eq(600, len(lines))
    for letter in "XY":
        mine = [line for line in lines if line.startswith(letter)]
        live.check(mine == ["%s %d %s" % (letter, n, letter * 5000)
                            for n in range(300)], "calls of " + letter)


def collected():
    """The library reads the tool's stdin; its end is that of the targets."""
    want = make_file(FILE, SIZE)
    taker = Taker(3, command=KEEP + '; : >"$0.over.$XYLEM_RANK"')
    with open(FILE, "rb") as file:
        tool = taker.tool("-S", "0,2", stdin=file)
    live.eventually(lambda: all(os.path.exists("%s.over.%d" % (
        taker.base, rank)) for rank in (0, 2)), 60, "their stdin has ended")
    session = Session(taker)
    live.check_eq("IOF_COMPLETE", session.ask("p 0 late"))
    live.check_eq("SUCCESS", session.ask("a 1 by attribute"))
    live.check_eq("SUCCESS", session.ask("z 1"))
    session.end()
    taker.job.check_ok()
    live.check_eq(0, tool.wait(60 * live.SLOW), "the tool that collects")
    live.check(taker.got(0) == want and taker.got(2) == want, "0 and 2")
    live.check_eq(b"by attribute\n", taker.got(1))


def feed(pipe, data):
    with contextlib.suppress(BrokenPipeError), pipe:
        pipe.write(data)


def collected_on():
    """One of the targets ends: the others get the rest, and the end."""
    want = make_file(FILE, SIZE)
    taker = Taker(3, command='test $XYLEM_RANK = 0 && '
                             'exec head -c 100 >"$0.0"; ' + KEEP)
    session = Session(taker)
    tool = taker.tool("-S", "0,1,2")
    tool.stdin.write(want[:PIECE])
    tool.stdin.flush()
    live.eventually(lambda: session.ask("p 0 late") == "IOF_COMPLETE", 60,
                    "rank 0 has ended")
    feeder = threading.Thread(target=feed, args=(tool.stdin, want[PIECE:]),
                              daemon=True)
    feeder.start()
    live.eventually(lambda: len(taker.got(1)) == len(taker.got(2)) == SIZE, 60,
                    "1 and 2 have all")
    session.end()
    taker.job.check_ok()
    live.check(taker.got(1) == want and taker.got(2) == want, "1 and 2")
    live.check_eq(0, tool.wait(60 * live.SLOW), "the tool that collects")


def refused():
    """Each tool is told why, and no process gets a byte of it."""
    taker = Taker(4, "-i", "0-2", command=(
        'test $XYLEM_RANK = 2 && exit; ' + KEEP))
    session = Session(taker)
    live.eventually(lambda: session.ask("p 2 x") == "IOF_COMPLETE", 60,
                    "rank 2 has ended")
    # IOF_COMPLETE is PMIX_ERR_IOF_COMPLETE.
    for line, status in (
            ("p 3 it has no stdin", "IOF_COMPLETE"),
            ("p 9 there is no such rank", "NOT_FOUND"),
            ("n there is no such job", "NOT_FOUND"),
            ("p 0,2 one has ended", "IOF_COMPLETE"),
            ("p 0,9 one is not there", "NOT_FOUND"),
            ("c 0 last", "SUCCESS"),
            ("p 0 too late", "IOF_COMPLETE"),
            ("p * y", "SUCCESS"),
            ("z *", "SUCCESS"),
            ("p * nobody is left", "IOF_COMPLETE"),
            ("r * no.such", "NOT_SUPPORTED"),
            ("r * pmix.iof.bsize", "NOT_SUPPORTED"),
            ("r * pmix.iof.btime", "NOT_SUPPORTED")):
        live.check_eq(status, session.ask(line), line)
    session.end()
    taker.job.check_ok()
    live.check_eq(b"last\n", taker.got(0))
    live.check_eq(b"y\n", taker.got(1))


def local():
    """What is on the launcher's host, by its two names."""
    taker = Taker(2, "-w", socket.gethostname() + ",other")
    session = Session(taker)
    for line in ("p node one", "p * two", "p peers three", "z *"):
        live.check_eq("SUCCESS", session.ask(line), line)
    session.end()
    taker.job.check_ok()
    live.check_eq(b"one\ntwo\nthree\n", taker.got(0))
    live.check_eq(b"two\n", taker.got(1))


def beside_stdin():
    """The launcher's own end waits while a tool is there that has pushed."""
    taker = Taker(2, keep=False, stdin=subprocess.PIPE)
    taker.job.stdin.write(b"own\n")
    taker.job.stdin.flush()
    live.eventually(lambda: taker.got(0) == taker.got(1) == b"own\n", 60,
                    "its own")
    session = Session(taker)
    live.check_eq("SUCCESS", session.ask("p 1 tool"))
    taker.job.stdin.close()
    live.check_eq("SUCCESS", session.ask("p 0 more"))
    session.end()
    taker.job.check_ok()
    live.check_eq(b"own\nmore\n", taker.got(0))
    live.check_eq(b"own\ntool\n", taker.got(1))


def typed():
    """A user who types end-of-file at a terminal is told that a tool keeps it
    away."""
    master, slave = open_pair()
    taker = Taker(2, keep=False, stdin=slave)
    session = Session(taker)
    live.check_eq("SUCCESS", session.ask("p 1 tool"))
    live.check(ENDED not in taker.job.said(), "not yet")
    os.write(master, b"own\n\x04")
    live.eventually(lambda: ENDED in taker.job.said(), 60, "it is told")
    live.check_eq("SUCCESS", session.ask("p 0 more"))
    session.end()
    taker.job.check_ok()
    live.check_eq(b"own\nmore\n", taker.got(0))
    live.check_eq(1, taker.job.said().count(ENDED))
    os.close(slave)
    os.close(master)


def at_the_end():
    """A push that the launcher has not heard of when its stdin ends, and so
    that of the processes: it is refused, and never said to be accepted."""
    if live.is_sanitized():
        return  # they have to be loaded first
    hold, gate = pmix.Gate(), pmix.Gate()
    taker = Taker(1, keep=False, stdin=subprocess.PIPE,
                  command=KEEP + "; : >\"$0.over\"; : <" + gate.path,
                  env={**live.preload("pmix", "preload_hold.c"),
                       "XYLEM_TEST_HOLD": hold.path})
    session = Session(taker)
    session.tell("p 0 tool")
    early = select.select([session.tool.stdout], [], [], LOOK_S)[0]
    taker.job.stdin.close()
    live.eventually(lambda: os.path.exists(taker.base + ".over"), 60,
                    "its stdin has ended")
    hold.open()
    live.check_eq(([], "IOF_COMPLETE"), (early, session.hear()))
    session.end()
    gate.open()
    taker.job.check_ok()
    live.check_eq(b"", taker.got(0))


def cut():
    """The head of each message of the tool comes in two parts."""
    if live.is_sanitized():
        return  # they have to be loaded first
    taker = Taker(2)
    said = taker.push("".join("p * %d\n" % n for n in range(CUTS)) + "z *\n",
                      env=live.preload("pmix", "preload_cut.c"))
    live.check_eq("%d 0" % (CUTS + 1), said[-1])
    taker.job.check_ok()
    for rank in range(2):
        live.check("".join("%d\n" % n for n in range(CUTS)).encode() ==
                   taker.got(rank), "rank %d" % rank)


def killed():
    """A tool dies in the middle: whole calls, in order, and others go on."""
    taker = Taker(2)
    tool = taker.tool("-w", 4)
    line = "p 0 %06d " + "k" * 3000 + "\n"
    tool.stdin.write("".join(line % n for n in range(200)).encode())
    tool.stdin.flush()
    live.eventually(lambda: len(taker.got(0)) > 30000, 60, "some is there")
    tool.send_signal(signal.SIGKILL)
    tool.wait()
    session = Session(taker)
    live.check_eq("SUCCESS", session.ask("p 0 after"))
    live.check_eq("SUCCESS", session.ask("z *"))
    session.end()
    taker.job.check_ok()
    lines = taker.got(0).decode().splitlines()
    live.check_eq("after", lines[-1])
    live.check(lines[:-1] == [("%06d " % n) + "k" * 3000
                              for n in range(len(lines) - 1)], "whole calls")


def main():
    pmix.need()
    for test, sentence in (
            (all_exact, "everybody gets a file"),
            (in_order, "pushes to changing targets are in order"),
            (two_tools, "calls of two tools stay whole"),
            (collected, "a tool's stdin is collected by the library"),
            (collected_on, "one target of a collection ends"),
            (refused, "what cannot be pushed is refused by the right name"),
            (local, "targets by place"),
            (beside_stdin, "a tool beside the launcher's stdin"),
            (typed, "the end is typed while a tool is there"),
            (at_the_end, "a push at the end of the launcher's stdin"),
            (cut, "heads of messages come in two parts"),
            (killed, "a tool is killed in the middle")):
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
