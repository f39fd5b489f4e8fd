#!/usr/bin/env python3
"""A tool redirects output: the console gets none of it meanwhile, and between
the two every byte comes once.

The output is compared with what the processes write, which the test makes,
too. The launcher's own proof, which ends a job with an error where output is
not whole, counts redirected bytes as delivered."""
import os
import signal
import subprocess
import sys

import pmix
import live

RANKS = 4
LINES = 5000
FLOOD = live.full(2000000, 200000)
WROTE = '; echo "$XYLEM_RANK wrote" >&2'
MUCH = max(FLOOD, 800000)  # more than the launcher has in memory


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
        shown, begin = of_rank(out, rank), text(rank, b"a")
        live.check(shown.startswith(begin), "console of rank %d" % rank)
        # What a tool has read just before it is killed may be shown as well.
        live.check(shown[len(begin):] == text(rank, b"c") or leave is kill and
                   (text(rank, b"b") + text(rank, b"c")).endswith(
                       shown[len(begin):]), "its end, rank %d" % rank)
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
    job, gates = start(write("a", FLOOD), ":")
    gates[0].open()
    out = os.read(job.stdout.fileno(), 100)
    tool = pmix.Tool(job, "-R", "-n", 2 * RANKS)
    tool.wait_ready()
    reader, size = pmix.Reader(job), RANKS * len(text(0, b"a", FLOOD))
    live.eventually(lambda: 100 + reader.size + tool.taken() >= size, 120,
                    "the two have all")
    gates[1].open()
    job.check_ok()
    out += reader.end()
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
    job, gates = start(write("a", FLOOD) + WROTE, ":")
    tool = pmix.Tool(job, "-R", "-C", live.MIB, "-n", 2 * RANKS)
    tool.wait_ready()
    live.stop(tool.proc.pid)
    gates[0].open()
    until(job, "reads its redirected output too slowly")
    os.kill(tool.proc.pid, signal.SIGCONT)
    reader = pmix.Reader(job)
    wait_written(job, tool)
    pmix.wait_taken(tool, live.MIB // 2)  # the rest is little
    pmix.wait_unspooled(job)
    gates[1].open()
    job.check_ok()
    out = reader.end()
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
    """What a tool that dies has not read is on the console, before what comes
    later."""
    job, gates = start(write("a", MUCH), write("b"))
    tool = pmix.Tool(job, "-R")
    tool.wait_ready()
    live.stop(tool.proc.pid)
    gates[0].open()
    live.eventually(lambda: pmix.spooled(job) > 0, 60, "something waits")
    kill(tool)
    gates[1].open()
    out = job.stdout.read()
    job.check_ok()
    live.check("are lost" not in job.said(), job.said())
    for rank in range(RANKS):
        live.check(of_rank(out, rank) ==
                   text(rank, b"a", MUCH) + text(rank, b"b"), "rank %d" % rank)


def covers(console, got, want, what):
    """Each byte is with the tool or on the console, in order there; the last of
    the tool's may be on the console as well. Returns how many are."""
    live.check(want.endswith(console), "%s: the console" % what)
    live.check(want.startswith(got), "%s: the tool" % what)
    live.check(len(console) + len(got) >= len(want), "%s: %d are missing" % (
        what, len(want) - len(console) - len(got)))
    return len(console) + len(got) - len(want)


def stopped(job):
    tool = pmix.Tool(job, "-R", "-c", 2)
    tool.wait_ready()
    live.stop(tool.proc.pid)
    return tool


def wait_written(job, tool=None):
    """Each rank's last words are on the console, or with a tool that redirects
    stderr as well: a rank may be done before the tool is found too slow."""
    def is_heard(rank):
        words = "%d wrote" % rank
        return words in job.said() or tool is not None and \
            words.encode() in (tool.got(rank, "stderr") or b"")
    live.eventually(lambda: all(map(is_heard, range(RANKS))), 60,
                    "all have written")


def helper_dies(much):
    """What the tool is not known to have is on the console, before what comes
    later, and what the tool has is whole. How much both may have is told."""
    job, gates = start(write("a", much) + WROTE, write("b"))
    tool = stopped(job)
    gates[0].open()
    wait_written(job)
    pmix.kill_helper(job)
    gates[1].open()
    out = job.stdout.read()
    job.check_ok()
    os.kill(tool.proc.pid, signal.SIGCONT)
    live.check_eq(0, tool.wait(), "the tool was cut off")
    twice = 0
    for rank in range(RANKS):
        twice += covers(of_rank(out, rank), tool.got(rank, "stdout") or b"",
                        text(rank, b"a", much) + text(rank, b"b"),
                        "rank %d" % rank)
    live.check(0 < pmix.told_twice(job) < 16 * live.MIB, job.said())
    live.check(twice <= pmix.told_twice(job), "%d bytes twice" % twice)
    live.check("are lost" not in job.said(), job.said())


def helper_dies_reading():
    """The same while the tool takes what comes."""
    job, gates = start(write("a", MUCH), write("b"))
    tool = pmix.Tool(job, "-R")
    tool.wait_ready()
    gates[0].open()
    live.eventually(lambda: len(tool.got(0, "stdout") or b"") > 0, 60,
                    "the tool has some")
    pmix.kill_helper(job)
    gates[1].open()
    out = job.stdout.read()
    job.check_ok()
    live.check_eq(0, tool.wait(), "the tool was cut off")
    for rank in range(RANKS):
        covers(of_rank(out, rank), tool.got(rank, "stdout") or b"",
               text(rank, b"a", MUCH) + text(rank, b"b"), "rank %d" % rank)
    live.check("are lost" not in job.said(), job.said())


def helpers_die_at_the_end():
    """The job is over: it ends when the console has what its tools were to
    have, once, though these are two."""
    job, gates = start(write("a", MUCH) + WROTE)
    tools = [stopped(job), stopped(job)]
    gates[0].open()
    wait_written(job)
    for _ in tools:
        pmix.kill_helper(job)
    out = job.stdout.read()
    job.check_ok()
    for tool in tools:
        os.kill(tool.proc.pid, signal.SIGCONT)
        live.check_eq(0, tool.wait(), "the tool was cut off")
        for rank in range(RANKS):
            covers(of_rank(out, rank), tool.got(rank, "stdout") or b"",
                   text(rank, b"a", MUCH), "rank %d" % rank)


def settled():
    """When nothing waits for the tool, nothing is reported, and another tool
    does not notice."""
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
    tool.proc.stdin.close()
    live.check_eq(0, tool.wait(), "the tool was cut off")
    gates[1].open()
    out = job.stdout.read()
    job.check_ok()
    live.check_eq(0, other.wait())
    live.check(has_all(other, b"b"), "the other one has part b")
    for rank in range(RANKS):
        live.check(of_rank(out, rank) == text(rank, b"b"), "rank %d" % rank)
    live.check_eq(0, pmix.told_twice(job), job.said())


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
            (lambda: helper_dies(MUCH), "the helper dies with much"),
            (lambda: helper_dies(LINES), "the helper dies with little"),
            (helper_dies_reading, "the helper dies while the tool reads"),
            (helpers_die_at_the_end, "helpers die at the end"),
            (settled, "the helper dies with none")):
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
