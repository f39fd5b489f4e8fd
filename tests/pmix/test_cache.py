#!/usr/bin/env python3
"""Output from before a pull: a tool that connects late gets as much of it as
it asks for, to the byte, then all that follows, each once; the console notices
nothing.

Output is compared with what the processes write, which the test writes, too:
SIZE bytes are kept at both ends of each channel, and all other bytes are
reported as missing.
"""
import os
import re
import signal
import subprocess
import sys

import pmix
import live

RANKS = 4
CHANNELS = ("stdout", "stderr")
SIZE = 20000
LINES = 10000  # of each part: 12 bytes each, more than both ends together
BIG = 512 * 1024  # many records
FLOOD = live.full(2000000, 100000)
FLOOD_OF_A = "seq -f '%%07g' %d | sed \"s/^/$XYLEM_RANK a /\"" % FLOOD


def text(rank, part, count=LINES):
    return b"".join(b"%d %s %07d\n" % (rank, part, n)
                    for n in range(1, count + 1))


def write(part, count=LINES):
    return ('seq -f "$XYLEM_RANK %s %%07g" %d' % (part, count) +
            ' & seq -f "$XYLEM_RANK %s %%07g" %d >&2; wait' % (part, count))


def start(*parts, options=("--pmix-cache", SIZE)):
    """Before each part each process waits at a gate of its own."""
    gates = [pmix.Gate() for _ in parts]
    command = "; ".join(': <"%s"; %s' % (gate.path, part)
                        for gate, part in zip(gates, parts))
    job = pmix.Job("-v", "-N", RANKS, "--nodes-per-daemon", 2, *options, "--",
                   "sh", "-c", command)
    pmix.wait_up(job)
    return job, gates


def read_part(job, part, count=LINES, ranks=RANKS):
    """Until the console has a part of all ranks: the daemons had it, too."""
    left = sum(len(text(rank, part, count)) for rank in range(ranks))
    out = b""
    while left > 0:
        more = os.read(job.stdout.fileno(), live.MIB)
        if not more:
            break
        out += more
        left -= len(more)
    live.eventually(lambda: lines_of(job, part) == ranks * count, 60,
                    "stderr of part %s" % part.decode())
    return out


def lines_of(job, part):
    return len(re.findall("^[0-9]+ %s " % part.decode(), job.said(), re.M))


def of_rank(out, rank):
    return b"".join(line for line in out.splitlines(keepends=True)
                    if line.startswith(b"%d " % rank))


def check_console(job, out, *parts):
    said = job.said().encode()
    for rank in range(RANKS):
        want = b"".join(text(rank, part) for part in parts)
        live.check(of_rank(out, rank) == want, "console of rank %d" % rank)
        live.check(of_rank(said, rank) == want, "stderr of rank %d" % rank)


def check_tool(tool, before, after, dropped):
    """`before` of part a of each channel, then all of `after`."""
    for rank in range(RANKS):
        want = text(rank, b"a")[before] + b"".join(text(rank, part)
                                                   for part in after)
        for channel in CHANNELS:
            got = tool.got(rank, channel) or b""
            live.check(got == want, "rank %d %s: %d bytes of %d, alike %d" % (
                rank, channel, len(got), len(want),
                len(os.path.commonprefix([got, want]))))
            live.check_eq(1, tool.ends(rank, channel), "ends told")
    live.check_eq(dropped * RANKS * 2, tool.before(), "bytes not kept")
    live.check_eq(0, tool.dropped(), "bytes dropped")


def wait_before(tool, before):
    live.eventually(lambda: all((tool.got(rank, channel) or b"") ==
                                text(rank, b"a")[before]
                                for rank in range(RANKS)
                                for channel in CHANNELS), 60, "its part of a")


def wait_all(tool, size):
    """Waits until the tool has what was kept of this many bytes: see
    pmix.wait_taken()."""
    live.eventually(lambda: tool.taken() + tool.before() >= size or
                    tool.proc.poll() is not None, 120, "the tool has its part")


def late(options, before, dropped):
    """The tool comes when part a is out, and sees part b live. When nothing
    comes from before, its answer alone shows that the nodes have heard of
    it."""
    def is_unknown():
        return before == slice(0) and not pmix.has_heard(job)

    job, gates = start(write("a"), write("b"), "true")
    gates[0].open()
    out = read_part(job, b"a")
    tool = pmix.Tool(job, *options, "-n", 2 * RANKS)
    tool.wait_ready()
    wait_before(tool, before)
    gates[1].open()
    out += read_part(job, b"b")
    size = 2 * sum(len(text(rank, b"a")[before] + text(rank, b"b"))
                   for rank in range(RANKS))
    live.eventually(lambda: sum(map(tool.taken, CHANNELS)) >= size or
                    tool.proc.poll() is not None or is_unknown(), 120,
                    "the tool has part b")
    gates[2].open()
    out += job.stdout.read()
    job.check_ok()
    live.check_eq(0, tool.wait(60), "the tool")
    check_console(job, out, b"a", b"b")
    if is_unknown():
        return False
    check_tool(tool, before, [b"b"], dropped)
    return True


def redirected():
    """The console has part a and nothing of part b, the tool the last of part
    a and all of part b; then it leaves."""
    job, gates = start(write("a"), write("b"), write("c"))
    gates[0].open()
    out = read_part(job, b"a")
    tool = pmix.Tool(job, "-R", "-O", "-C", 5000, "-d", stdin=subprocess.PIPE)
    wait_before(tool, slice(-5000, None))
    gates[1].open()
    want = {rank: text(rank, b"a")[-5000:] + text(rank, b"b")
            for rank in range(RANKS)}
    live.eventually(lambda: all(tool.got(rank, channel) == want[rank]
                                for rank in range(RANKS)
                                for channel in CHANNELS), 60, "it has part b")
    tool.proc.stdin.write(b"leave\n")
    tool.proc.stdin.flush()
    live.eventually(lambda: "has ended" in job.said(), 60, "it has left")
    gates[2].open()
    out += job.stdout.read()
    job.check_ok()
    check_console(job, out, b"a", b"c")
    tool.proc.stdin.close()
    tool.wait(60)


def over():
    """The processes of one rank have ended: what they wrote is kept as long as
    the run goes on. The tool comes twice."""
    gate = pmix.Gate()
    job = pmix.Job("-v", "-N", RANKS, "--pmix-cache", "64K", "--", "sh", "-c",
                   'seq -f "$XYLEM_RANK a %07g" 100; '
                   '[ $XYLEM_RANK != 0 ] || : <"$0"', gate.path)
    pmix.wait_up(job)
    for _ in range(2):
        tool = pmix.Tool(job, "-r", "1,2,3", "-n", 6)
        live.check_eq(0, tool.wait(60), "a tool")
        for rank in range(1, RANKS):
            live.check(tool.got(rank, "stdout") == text(rank, b"a", 100),
                       "rank %d" % rank)
            live.check_eq([1, 1], [tool.ends(rank, channel)
                                   for channel in CHANNELS])
    gate.open()
    job.stdout.read()
    job.check_ok()


def in_the_middle(*options):
    """The tool comes in the middle of a flood: its part begins BIG bytes
    before what is new for it, and nothing is missing or twice from there on.
    When it redirects, the console's part ends there. (It names no size, so
    that it is not too slow for its bound.)"""
    job, gates = start(FLOOD_OF_A, "true", options=("--pmix-cache", BIG))
    gates[0].open()
    out = os.read(job.stdout.fileno(), live.MIB)
    tool = pmix.Tool(job, *options, "-O", "-n", 2 * RANKS)
    tool.wait_ready()
    reader = pmix.Reader(job)
    wait_all(tool, sum(len(text(n, b"a", FLOOD)) for n in range(RANKS)))
    gates[1].open()
    out += reader.end()
    job.check_ok()
    live.check_eq(0, tool.wait(60))
    missing = 0
    for rank in range(RANKS):
        want = text(rank, b"a", FLOOD)
        got = tool.got(rank, "stdout") or b""
        live.check(want.endswith(got), "rank %d: a run of its bytes" % rank)
        missing += len(want) - len(got)
        console = of_rank(out, rank)
        if "-R" in options:
            live.check_eq(len(want), len(console) + len(got) -
                          min(BIG, len(console)), "rank %d in all" % rank)
            live.check(want.startswith(console), "console, rank %d" % rank)
        else:
            live.check(console == want, "console, rank %d" % rank)
    live.check_eq(missing, tool.before(), "bytes said to be missing")


def behind_another():
    """It comes while records wait for the console, as another tool has just
    redirected them: what was before still comes before what is new."""
    job, gates = start(FLOOD_OF_A, "true", options=("--pmix-cache", BIG))
    gates[0].open()
    out = os.read(job.stdout.fileno(), 100)
    first = pmix.Tool(job, "-R", "-n", 2 * RANKS)
    first.wait_ready()
    tool = pmix.Tool(job, "-O", "-n", 2 * RANKS)
    tool.wait_ready()
    reader = pmix.Reader(job)
    for one in (tool, first):
        wait_all(one, sum(len(text(n, b"a", FLOOD)) for n in range(RANKS)))
    gates[1].open()
    out += reader.end()
    job.check_ok()
    live.check_eq(0, tool.wait(60))
    live.check_eq(0, first.wait(60))
    missing = 0
    for rank in range(RANKS):
        want = text(rank, b"a", FLOOD)
        got = tool.got(rank, "stdout") or b""
        live.check(want.endswith(got), "rank %d: a run of its bytes" % rank)
        shown = len(of_rank(out, rank))
        live.check(of_rank(out, rank) == want[:shown], "console, %d" % rank)
        live.check((first.got(rank, "stdout") or b"") ==
                   want[:min(BIG, shown)] + want[shown:],
                   "rank %d: the first tool" % rank)
        missing += len(want) - len(got)
    live.check_eq(missing, tool.before(), "bytes said to be missing")


def ups(job, count):
    """The daemons of the ranks, which have said who their parents are."""
    found = {}
    while len(found) < count:
        _, rank, spawner = job.stdout.readline().split()
        found[int(rank)] = live.parent(int(spawner))
    return found


def repaired():
    """An inner daemon dies while the tool asks: what the others have written is
    whole, for the console and the tool, and the lost rank's channels end."""
    gate, end = pmix.Gate(), pmix.Gate()
    job = pmix.Job("-v", "-N", 6, "--nodes-per-daemon", 1, "--arity", 2,
                   "--on-node-loss", "continue", "--pmix-cache", BIG, "--",
                   "sh", "-c", 'echo up $XYLEM_RANK $PPID; : <"$0"; ' +
                   FLOOD_OF_A + '; : <"$1"', gate.path, end.path, bufsize=0)
    daemons = ups(job, 6)
    pmix.wait_up(job)
    gate.open()
    out = os.read(job.stdout.fileno(), 100)
    os.kill(daemons[0], signal.SIGKILL)
    tool = pmix.Tool(job, "-O", "-n", 12)
    tool.wait_ready()
    reader = pmix.Reader(job)
    last = b" a %07d\n" % FLOOD
    live.eventually(lambda: all((tool.got(rank, "stdout") or b"").endswith(last)
                                for rank in range(1, 6)) or
                    tool.proc.poll() is not None, 120, "it has the last lines")
    end.open()
    out += reader.end()
    live.check_eq(1, job.wait(60), "exit code")
    live.check_eq(0, tool.wait(60))
    for rank in range(1, 6):
        want = text(rank, b"a", FLOOD)
        got = tool.got(rank, "stdout") or b""
        if got.startswith(b"up "):
            got = got[got.index(b"\n") + 1:]
        live.check(of_rank(out, rank) == want, "console, rank %d" % rank)
        live.check(want.endswith(got), "rank %d: a run of its bytes" % rank)
    lost = (tool.got(0, "stdout") or b"").split(b"\n", 1)
    if lost[0].startswith(b"up "):
        lost = lost[1:]
    live.check(b"\n".join(lost) in text(0, b"a", FLOOD),
               "the lost rank: a run of its bytes")
    for rank in range(6):
        live.check_eq([1, 1], [tool.ends(rank, channel)
                               for channel in CHANNELS], "rank %d" % rank)


def gone():
    """Ranks of a lost node get no answer, before or after the tool asks,
    whether they had ended or not."""
    gate = pmix.Gate()
    job = pmix.Job("-v", "-N", 3, "--nodes-per-daemon", 1, "--on-node-loss",
                   "continue", "--pmix-cache", SIZE, "--", "sh", "-c",
                   'echo up $XYLEM_RANK $PPID; '
                   '[ $XYLEM_RANK = 1 ] || : <"$0"', gate.path, bufsize=0)
    daemons = ups(job, 3)
    pmix.wait_up(job)
    tool = pmix.Tool(job, "-r", 1, "-n", 2)
    live.check_eq(0, tool.wait(60), "rank 1 has ended")
    for rank in (1, 2):
        os.kill(daemons[rank], signal.SIGKILL)
        tool = pmix.Tool(job, "-r", rank, "-n", 2)
        live.check_eq(0, tool.wait(60), "a tool for rank %d" % rank)
        live.check_eq([1, 1], [tool.ends(rank, channel)
                               for channel in CHANNELS], "rank %d" % rank)
    gate.open()
    job.stdout.read()
    live.check_eq(1, job.wait(60), "exit code")


def full():
    """More is to be kept than a daemon has room for: it says so, and what it
    has not kept it tells as missing."""
    megs = 20
    job, gates = start("head -c %dM /dev/zero" % megs, "true",
                       options=("--raw", "--pmix-cache", "16M",
                                "--nodes-per-daemon", RANKS))
    gates[0].open()
    left = RANKS * megs * live.MIB
    while left > 0:
        left -= len(os.read(job.stdout.fileno(), live.MIB)) or left
    live.eventually(lambda: "no more output is kept" in job.said(), 60, "words")
    tool = pmix.Tool(job, "-O", "-n", 2 * RANKS)
    tool.wait_ready()
    wait_all(tool, RANKS * megs * live.MIB)
    gates[1].open()
    job.check_ok()
    live.check_eq(0, tool.wait(60), "the tool")
    got = sum(len(tool.got(rank, "stdout") or b"") for rank in range(RANKS))
    live.check(0 < got <= 64 * live.MIB, "%d bytes came" % got)
    live.check(tool.before() > 0, "nothing is missing")
    live.check_eq(RANKS * megs * live.MIB, got + tool.before(), "in all")


def heard_of():
    """A pull is answered when the nodes have heard of it: what is written from
    then on is new, and all of it comes where hardly anything is kept. The order
    is late for rank 1, as the daemon on its way is stopped for a moment."""
    few = 3000  # lines: they fit a pipe, and the tree takes them meanwhile
    first, then = pmix.Gate(), pmix.Gate()
    done = os.path.join(live.TMP, "written")
    job = pmix.Job("-v", "-N", 2, "--nodes-per-daemon", 1, "--arity", 1,
                   "--pmix-cache", 1000, "--", "sh", "-c",
                   'echo up $XYLEM_RANK $PPID; : <"$0"; %s; : <"$1"; %s; '
                   'echo >"$2.$XYLEM_RANK"' % (write("a"), write("b", few)),
                   first.path, then.path, done, bufsize=0)
    daemons = ups(job, 2)
    pmix.wait_up(job)
    first.open()
    read_part(job, b"a", ranks=2)
    os.kill(daemons[0], signal.SIGSTOP)
    tool = pmix.Tool(job, "-n", 4)
    live.eventually(lambda: "PMIx pull 1 copies" in job.said(), 60, "it asks")
    if tool.has("ready"):
        then.open()
        live.eventually(lambda: os.path.exists(done + ".1"), 60, "b is written")
    os.kill(daemons[0], signal.SIGCONT)
    tool.wait_ready()
    then.open()
    job.stdout.read()
    job.check_ok()
    live.check_eq(0, tool.wait(60), "the tool")
    if not pmix.has_heard(job):
        return False
    for rank in range(2):
        for channel in CHANNELS:
            got = tool.got(rank, channel) or b""
            up = got[:got.index(b"\n") + 1] if got.startswith(b"up ") else b""
            want = (up + text(rank, b"a"))[:1000] + text(rank, b"b", few)
            live.check(got == want, "rank %d %s: %d bytes of %d" % (
                rank, channel, len(got), len(want)))
    return True


def main():
    pmix.need()
    all_of = len(text(0, b"a"))
    live.check(all_of > 3 * SIZE, "there is more than is kept")
    for options, before, dropped, sentence in (
            ((), slice(SIZE), all_of - SIZE, "as the job says"),
            (("-O",), slice(-SIZE, None), all_of - SIZE, "its last bytes"),
            (("-C", 5001), slice(5001), all_of - 5001, "less than is kept"),
            (("-C", 777, "-O"), slice(-777, None), all_of - 777,
             "less, the last bytes"),
            (("-C", live.MIB), slice(SIZE), all_of - SIZE,
             "more than is kept"),
            (("-C", 0), slice(0), 0, "nothing from before")):
        with live.case("a late tool: " + sentence):
            pmix.until_heard(late, options, before, dropped)
    for test, sentence in (
            (redirected, "it redirects"),
            (over, "of processes that have ended"),
            (in_the_middle, "in the middle of a flood"),
            (lambda: in_the_middle("-R"), "redirecting a flood"),
            (behind_another, "behind a tool that redirects"),
            (repaired, "while the tree is repaired"),
            (gone, "of nodes that are lost"),
            (full, "a cache that is full"),
            (lambda: pmix.until_heard(heard_of),
             "what is written when its pull was answered")):
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
