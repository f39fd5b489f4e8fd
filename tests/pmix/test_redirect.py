#!/usr/bin/env python3
"""A tool redirects output: the console gets none of it meanwhile, and between
the two every byte comes once.

The truth is what the processes write, which the test makes, too. The launcher's
own proof, which ends a job with an error where output is not whole, counts
redirected bytes as delivered.
"""
# timeout: 300
import os
import re
import signal
import subprocess
import sys

import pmix
import live

RANKS = 4
LINES = 5000
FLOOD = live.full(2000000, 200000)
MUCH = max(FLOOD, 800000)  # more than the helper has in memory


def text(rank, part, count=LINES):
    return b"".join(b"%d %s %07d\n" % (rank, part, n)
                    for n in range(1, count + 1))


def write(part, count=LINES):
    return 'seq -f "$XYLEM_RANK %s %%07.0f" %d' % (part, count)


def of_rank(out, rank):
    return b"".join(line for line in out.splitlines(keepends=True)
                    if line.startswith(b"%d " % rank))


def start(*parts, options=()):
    """Between two parts each process waits at a gate of its own."""
    gates = [pmix.Gate() for _ in parts]
    command = "; ".join(': <"%s"; %s' % (gate.path, part)
                        for gate, part in zip(gates, parts))
    job = pmix.Job("-v", "-N", RANKS, *options, "--", "sh", "-c", command)
    pmix.wait_up(job)
    return job, gates


def read_part(job, part, count=LINES):
    """The console up to the last line of a part of all ranks."""
    want = sum(len(text(rank, part, count)) for rank in range(RANKS))
    out = b""
    while len(out) < want:
        more = os.read(job.stdout.fileno(), live.MIB)
        if not more:
            break
        out += more
    return out


def has_all(tool, part):
    return all(tool.got(rank, "stdout") == text(rank, part)
               for rank in range(RANKS))


def until(job, words):
    live.check(live.eventually(lambda: words in job.said(), 60, words), words)


def taken_over(leave, *options):
    """The console has the first and the last part, the tool the second."""
    job, gates = start(write("a"), write("b"), write("c"))
    gates[0].open()
    out = read_part(job, b"a")
    tool = pmix.Tool(job, *options, stdin=subprocess.PIPE)
    tool.wait_ready()
    gates[1].open()
    live.eventually(lambda: has_all(tool, b"b"), 60, "the tool has part b")
    leave(tool)
    until(job, "has ended")
    gates[2].open()
    out += job.stdout.read()
    job.check_ok()
    for rank in range(RANKS):
        live.check(of_rank(out, rank) == text(rank, b"a") + text(rank, b"c"),
                   "console of rank %d" % rank)
        live.check(tool.got(rank, "stdout") == text(rank, b"b"),
                   "tool, rank %d" % rank)
    if tool.proc.poll() is None:
        tool.proc.stdin.close()
        tool.wait()


def deregister(tool):
    tool.proc.stdin.write(b"leave\n")
    tool.proc.stdin.flush()


def kill(tool):
    tool.proc.kill()
    tool.wait()


def no_word():
    """A tool that says nothing of copies redirects, as the standard has it."""
    taken_over(deregister, "-N", "-d")


def some_ranks():
    """Rank 1 is redirected, its stderr and the others are not; a second tool
    has copies of all."""
    job, gates = start(write("a") + '; echo "$XYLEM_RANK" >&2')
    tool = pmix.Tool(job, "-R", "-r", 1, "-c", 2, "-n", 1)
    other = pmix.Tool(job, "-n", 2 * RANKS)
    tool.wait_ready()
    other.wait_ready()
    gates[0].open()
    out = job.stdout.read()
    job.check_ok()
    live.check_eq(0, tool.wait())
    live.check_eq(0, other.wait())
    for rank in range(RANKS):
        want = text(rank, b"a")
        live.check(of_rank(out, rank) == (b"" if rank == 1 else want),
                   "console of rank %d" % rank)
        live.check(tool.got(rank, "stdout") == (want if rank == 1 else None),
                   "redirected, rank %d" % rank)
        live.check(other.got(rank, "stdout") == want, "copied, rank %d" % rank)
        live.check("\n%d\n" % rank in "\n" + job.said(), "stderr of %d" % rank)


def in_the_middle():
    """The console has not taken what it has when the redirection begins: its
    part ends where the tool's begins."""
    job, gates = start(write("a", FLOOD))
    gates[0].open()
    out = os.read(job.stdout.fileno(), 100)
    tool = pmix.Tool(job, "-R", "-n", 2 * RANKS)
    tool.wait_ready()
    out += job.stdout.read()
    job.check_ok()
    live.check_eq(0, tool.wait())
    taken = 0
    for rank in range(RANKS):
        got = tool.got(rank, "stdout") or b""
        taken += len(got)
        live.check(of_rank(out, rank) + got == text(rank, b"a", FLOOD),
                   "rank %d: %d of the tool" % (rank, len(got)))
    live.check(taken > 0, "nothing was redirected")


def behind():
    """A tool that takes nothing gets no more than its bound; the rest is on
    the console, and the user is told."""
    job, gates = start(write("a", FLOOD))
    tool = pmix.Tool(job, "-R", "-C", live.MIB, "-n", 2 * RANKS)
    tool.wait_ready()
    os.kill(tool.proc.pid, signal.SIGSTOP)
    gates[0].open()
    until(job, "takes redirected output too slowly")
    os.kill(tool.proc.pid, signal.SIGCONT)
    out = job.stdout.read()
    job.check_ok()
    live.check_eq(0, tool.wait())
    live.check(len(out) > 0, "the console has nothing")
    for rank in range(RANKS):
        want = text(rank, b"a", FLOOD)
        mine = of_rank(out, rank)
        got = tool.got(rank, "stdout") or b""
        live.check(want.endswith(mine), "console of rank %d" % rank)
        live.check(got.startswith(want[:len(want) - len(mine)]),
                   "tool, rank %d" % rank)


def dies_with_some():
    """What its library has not written dies with a tool; the user is told. What
    waits behind that is on the console, before what comes later."""
    job, gates = start(write("a", MUCH), write("b"))
    tool = pmix.Tool(job, "-R")
    tool.wait_ready()
    os.kill(tool.proc.pid, signal.SIGSTOP)
    gates[0].open()
    live.eventually(lambda: pmix.spooled(job) > 0, 60, "something waits")
    kill(tool)
    gates[1].open()
    out = job.stdout.read()
    job.check_ok()
    until(job, "of redirected output untaken")
    for rank in range(RANKS):
        want = text(rank, b"a", MUCH) + text(rank, b"b")
        mine = of_rank(out, rank)
        live.check(want.endswith(mine), "rank %d" % rank)
        live.check(len(mine) > len(text(rank, b"b")), "nothing came back")


def helper_dies():
    """What is with the helper dies with it: the user is told how much that can
    be. The rest is on the console, and what the tool has is whole."""
    job, gates = start(write("a", MUCH), write("b"))
    tool = pmix.Tool(job, "-R")
    tool.wait_ready()
    os.kill(tool.proc.pid, signal.SIGSTOP)
    gates[0].open()
    live.eventually(lambda: pmix.spooled(job) > live.MIB, 60, "much waits")
    pmix.kill_helper(job)
    gates[1].open()
    out = job.stdout.read()
    job.check_ok()
    os.kill(tool.proc.pid, signal.SIGCONT)
    live.check_eq(0, tool.wait(), "the tool was cut off")
    missing = 0
    for rank in range(RANKS):
        want = text(rank, b"a", MUCH) + text(rank, b"b")
        mine, got = of_rank(out, rank), tool.got(rank, "stdout") or b""
        live.check(want.endswith(mine), "console of rank %d" % rank)
        live.check(want.startswith(got), "tool, rank %d" % rank)
        missing += len(want) - len(mine) - len(got)
    told = re.search(r"up to (\d+) bytes of redirected output were with the "
                     "PMIx helper", job.said())
    told = int(told[1]) if told else 0
    live.check(live.MIB < missing <= told <= missing + 2 * live.MIB,
               "%d are missing, %d were told" % (missing, told))


def settled():
    """Where nothing of it waits nothing is lost, and nothing told: who comes
    next is served when the helper has said that."""
    job, gates = start(write("a"), write("b"))
    tool = pmix.Tool(job, "-R", "-d", stdin=subprocess.PIPE)
    tool.wait_ready()
    gates[0].open()
    live.eventually(lambda: has_all(tool, b"a"), 60, "the tool has part a")
    deregister(tool)
    until(job, "has ended")
    other = pmix.Tool(job)
    other.wait_ready()
    pmix.kill_helper(job)
    for one in (tool, other):
        live.check_eq(0, one.wait(), "a tool was cut off")
    gates[1].open()
    out = job.stdout.read()
    job.check_ok()
    for rank in range(RANKS):
        live.check(of_rank(out, rank) == text(rank, b"b"), "rank %d" % rank)
    live.check("with the PMIx helper" not in job.said(), job.said())


def main():
    pmix.need()
    for test, sentence in (
            (lambda: taken_over(deregister, "-R", "-d"), "it deregisters"),
            (lambda: taken_over(kill, "-R"), "it is killed"),
            (no_word, "it says nothing of copies"),
            (some_ranks, "some ranks and channels, beside copies"),
            (in_the_middle, "in the middle of a flood"),
            (behind, "it takes nothing"),
            (dies_with_some, "it dies with output in its queue"),
            (helper_dies, "the helper dies with output in its queue"),
            (settled, "the helper dies with none")):
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
