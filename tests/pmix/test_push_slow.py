#!/usr/bin/env python3
"""Pushes to a process that does not read, under each --stdin-slow, by many
tools at once, and with a helper that dies in the middle."""
# timeout: 240
import os
import re
import signal
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


def check_all(taker, want, ranks=(0, 1, 2)):
    for rank in ranks:
        live.check(taker.got(rank) == want, "rank %d" % rank)


def wait():
    """All is accepted before the one reads, and nothing is lost."""
    want = make_file(FILE, SIZE)
    taker, gate = start("wait")
    said = taker.push(PUSH)
    live.check_eq("0", said[-1].split()[1], "pushes that failed")
    live.check_eq(b"", taker.got(1), "it has read nothing")
    gate.open()
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
    """Its stdin ends; for the others nothing does, and tools are told."""
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
    """Everybody gets the same, and of each tool all, in its order."""
    taker = Taker(3)
    tools = [taker.tool("-w", 4) for _ in range(TOOLS)]
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


def lost(taker):
    """So many pushed bytes, the user was told, were lost at most."""
    told = re.search(r"up to (\d+) bytes that tools have pushed were with the "
                     "PMIx helper", taker.job.said())
    return int(told[1]) if told else 0


def helper_dies_full():
    """What was accepted and was with it is lost: the user is told how much that
    can be. What it has said to the launcher comes."""
    want = make_file(FILE, SIZE)
    taker, gate = start("wait")
    said = taker.push(PUSH)
    live.check_eq("0", said[-1].split()[1], "pushes that failed")
    pmix.kill_helper(taker.job)
    pmix.wait_up(taker.job)
    gate.open()
    live.check_eq("1 0", taker.push("z *\n")[-1])
    taker.job.check_ok()
    told = lost(taker)
    missing = SIZE - len(taker.got(0))
    live.check(0 < missing <= told <= missing + live.MIB,
               "%d are missing, %d were told" % (missing, told))
    check_all(taker, want[:SIZE - missing])


FLOOD = ': <"%s"; yes 0123456789abcde | head -c 16777216; ' + KEEP


def stand(pid, how):
    os.kill(pid, how)
    want = b"T" if how == signal.SIGSTOP else b"RSD"
    live.eventually(lambda: live.state(pid) in want, 60, how)


def stands_still(looks=20):
    """The flood does, for so many looks."""
    seen = []

    def look():
        seen.append([live.read_proc(pid, "io") for pid in
                     live.descendants(live.RUNNER)
                     if live.read_proc(pid, "comm").startswith(b"head")])
        return len(seen) > looks and seen[-1] != [] and \
            all(one == seen[-1] for one in seen[-looks:])

    live.eventually(look, 60, "the flood stands still")


def last_words():
    """The helper dies when the launcher has much to say to it, and has not read
    what it said: that comes all the same. If it was about to say it that is
    told as lost."""
    gate = pmix.Gate()
    taker = Taker(1, command=FLOOD % gate.path)
    reader = pmix.Tool(taker.job, "-R")
    reader.wait_ready()
    session = Session(taker)
    live.check_eq("SUCCESS", session.ask("p 0 one"))
    launcher, helper = taker.job.proc.pid, pmix.helper_of(taker.job)
    stand(helper, signal.SIGSTOP)
    gate.open()
    stands_still()
    stand(launcher, signal.SIGSTOP)
    stand(helper, signal.SIGCONT)
    for text in "two", "three":  # with the second the first one is sent, mostly
        live.check_eq("SUCCESS", session.ask("p 0 " + text))
    os.kill(helper, signal.SIGKILL)
    live.eventually(lambda: live.state(helper) in (b"Z", b""), 60, "it is dead")
    stand(launcher, signal.SIGCONT)
    live.check_eq(0, reader.wait(), "the reader was cut off")
    session.tool.communicate(timeout=60 * live.SLOW)
    pmix.wait_up(taker.job)
    live.check_eq("1 0", taker.push("z *\n")[-1])
    taker.job.stdout.read()
    taker.job.check_ok()
    missing = len("one two three\n") - len(taker.got(0))
    live.check(missing <= lost(taker), "%d are missing, %d were told" % (
        missing, lost(taker)))


def helper_dies():
    """What it held is lost with its tools; what was pushed before has come,
    and what others push later does."""
    text = "".join("p 0 %06d %s\n" % (n, "h" * 3000) for n in range(5000))
    with open(FILE, "w", encoding="ascii") as file:
        file.write(text)
    taker = Taker(1)
    with open(FILE, "rb") as file:
        tool = taker.tool("-w", 4, stdin=file)
    live.eventually(lambda: len(taker.got(0)) > 30000, 60, "some is there")
    pmix.kill_helper(taker.job)
    tool.wait(60 * live.SLOW)
    pmix.wait_up(taker.job)
    session = Session(taker)
    live.check_eq("SUCCESS", session.ask("p 0 after"))
    live.check_eq("SUCCESS", session.ask("z 0"))
    session.end()
    taker.job.check_ok()
    want = text.replace("p 0 ", "").encode()
    came = taker.got(0)
    live.check(came.endswith(b"after\n"), "what came after")
    live.check(want.startswith(came[:-len(b"after\n")]), "what came before")


def cut_off():
    """A tool that goes on without answers: at the latest when all that may wait
    does. What was accepted comes."""
    if not live.FULL:
        return
    want = make_file(FILE, 320 * live.MIB)
    gate = pmix.Gate()
    taker = Taker(1, command=': <"%s"; ' % gate.path + KEEP)
    tool = taker.tool("-w", 1000)
    said, _ = tool.communicate(b"f 0 1000000 %s\n" % FILE.encode(),
                               120 * live.SLOW)
    accepted = int(said.split()[0]) * 1000000
    live.check_eq(b"", taker.got(0), "it has read nothing")
    gate.open()
    live.check_eq("1 0", taker.push("z 0\n")[-1])
    taker.job.check_ok(120)
    came = taker.got(0)
    live.check(0 < accepted <= len(came) < len(want),
               f"{accepted} bytes accepted, {len(came)} came")
    live.check(want.startswith(came), "what was taken")


def main():
    pmix.need()
    for test, sentence in (
            (wait, "everybody waits for a process that does not read"),
            (spill, "it gets its bytes from a file, later"),
            (close, "its stdin is closed"),
            (many, "ten tools at once"),
            (cut_off, "a tool without answers is cut off"),
            (helper_dies_full, "the helper is killed with much in it"),
            (last_words, "the helper is killed before it is heard"),
            (helper_dies, "the helper is killed in the middle")):
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
