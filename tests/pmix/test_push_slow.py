#!/usr/bin/env python3
"""Pushes to a process that does not read, under each --stdin-slow, by many
tools at once, and by one without answers."""
import os
import sys

import pmix
import live
from pushing import KEEP, Session, Taker, make_file

SIZE = 8 * live.MIB  # more than pipes and windows hold
FILE = os.path.join(live.TMP, "pushed")
PUSH = "f * 300000 %s\n" % FILE
TOOLS, LINES = 10, 200


def start(policy):
    """Rank 1 of three reads when the gate opens."""
    gate = pmix.Gate()
    slow = 'test $XYLEM_RANK != 1 || : <"%s"; ' % gate.path
    where = ("--spill-dir", live.TMP) if policy == "spill" else ()
    return Taker(3, "--stdin-slow", policy, *where, command=slow + KEEP), gate


def others_have(taker, want):
    live.eventually(lambda: all(len(taker.got(rank)) == len(want)
                                for rank in (0, 2)), 60, "the others' bytes")


def stands_still(look, looks=20):
    """Returns a condition: the value has been the same for this many looks."""
    seen = []

    def truth():
        seen.append(look())
        return len(seen) >= looks and len(set(seen[-looks:])) == 1
    return truth


def check_all(taker, want, ranks=(0, 1, 2)):
    for rank in ranks:
        live.check(taker.got(rank) == want, "rank %d" % rank)


def wait():
    """The answers wait until the one reads, and nothing is lost."""
    want = make_file(FILE, SIZE)
    taker, gate = start("wait")
    tool = taker.tool()
    tool.stdin.write(PUSH.encode())
    tool.stdin.close()
    live.eventually(lambda: taker.got(0) != b"", 60, "others read")
    live.eventually(stands_still(lambda: len(taker.got(0))), 60, "all wait")
    live.check(len(taker.got(0)) < SIZE, "others have all")
    live.check_eq(b"", taker.got(1), "it has read nothing")
    gate.open()
    live.check_eq(b"0", tool.stdout.read().split()[1], "pushes that failed")
    live.check_eq(0, tool.wait(60 * live.SLOW), "the tool")
    live.check_eq("1 0", taker.push("z *\n")[-1])
    taker.job.check_ok()
    check_all(taker, want)


def spill():
    """The others have all of it before the one reads."""
    want = make_file(FILE, SIZE)
    taker, gate = start("spill")
    taker.push(PUSH)
    others_have(taker, want)
    live.check_eq(b"", taker.got(1), "it has read nothing")
    gate.open()
    live.check_eq("1 0", taker.push("z *\n")[-1])
    taker.job.check_ok()
    check_all(taker, want)


def close():
    """Its stdin ends, but not that of others, and tools are told."""
    want = make_file(FILE, SIZE)
    taker, gate = start("close=4")
    taker.push(PUSH)
    others_have(taker, want)
    said = "rank 1 on %s has not read its stdin for 4 s" % os.uname().nodename
    live.eventually(lambda: said in taker.job.said(), 60, "the user is told")
    session = Session(taker)
    live.eventually(lambda: session.ask("p 1 late") == "IOF_COMPLETE", 60,
                    "it is refused")
    live.check_eq("SUCCESS", session.ask("z *"))
    session.end()
    gate.open()
    taker.job.check_ok()
    check_all(taker, want, (0, 2))
    live.check(want.startswith(taker.got(1)), "what it has is the beginning")
    live.check(len(taker.got(1)) < SIZE, "it lacks the rest")


def many():
    """All processes get the same, and all of each tool in its order."""
    taker = Taker(3)
    tools = [taker.connected("-w", 4) for _ in range(TOOLS)]
    for name, tool in enumerate(tools):
        tool.stdin.write("".join("p * %d %d\n" % (name, n)
                                 for n in range(LINES)).encode())
        tool.stdin.close()
    for tool in tools:
        live.check_eq(0, tool.wait(60 * live.SLOW), "a tool")
        live.check_eq("%d 0" % LINES, tool.stdout.read().decode().strip())
    live.check_eq("1 0", taker.push("z *\n")[-1])
    taker.job.check_ok()
    lines = taker.got(0).decode().splitlines()
    for name in range(TOOLS):
        live.check_eq(["%d %d" % (name, n) for n in range(LINES)],
                      [line for line in lines if line.split()[0] == str(name)])
    check_all(taker, taker.got(0))
    live.check_eq(TOOLS * LINES, len(lines))


def cut_off():
    """A tool that goes on without answers, when 16 MiB have none. What was
    accepted comes."""
    want = make_file(FILE, 32 * live.MIB)
    gate = pmix.Gate()
    taker = Taker(1, command=': <"%s"; ' % gate.path + KEEP)
    tool = taker.tool("-w", 1000)
    said, _ = tool.communicate(b"f 0 1000000 %s\n" % FILE.encode(),
                               60 * live.SLOW)
    accepted = int(said.split()[0]) * 1000000
    live.check_eq(b"", taker.got(0), "it has read nothing")
    gate.open()
    live.check_eq("1 0", taker.push("z 0\n")[-1])
    taker.job.check_ok()
    came = taker.got(0)
    live.check(accepted <= len(came) < len(want),
               f"{accepted} bytes accepted, {len(came)} came")
    live.check(want.startswith(came), "what was taken")


def main():
    pmix.need()
    for test, sentence in (
            (wait, "everybody waits for a process that does not read"),
            (spill, "it gets its bytes from a file, later"),
            (close, "its stdin is closed"),
            (many, "ten tools at once"),
            (cut_off, "a tool without answers is cut off")):
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
