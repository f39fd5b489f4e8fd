#!/usr/bin/env python3
"""A tool that is stopped slows neither the job nor another tool, and costs no
memory; only output that it has allowed to be dropped is missing. Small
deliveries are put together for a tool that wants them so.

At its end a job waits only for some time until tools have taken their output,
and a healthy tool that gets no processor falls behind like a stopped one. So a
job of this test does not end before its tools have the output that they must
get, and never writes more at once than can wait for a tool that takes nothing.
"""
import array
import fcntl
import os
import signal
import subprocess
import sys
import termios
import time

import pmix
import live
import spawning

RANKS = 4
PARTS = live.full(8, 1)
PART = RANKS * 24 * live.MIB  # less than may wait for a tool
SIZE = PARTS * PART
WAITS = 240 * live.MIB  # and some more, for a tool that does not say how much
LINES = live.full(1000000, 200000)
PULLS = 120
MUCH = 16 * live.MIB  # more than waits in memory
STOPPED_S = 12


def start(**more):
    """A job of as many parts, each behind a gate, and one gate at its end."""
    gates = [pmix.Gate() for _ in range(PARTS + 1)]
    job = pmix.Job("-v", "-N", RANKS, "--raw", "--", "sh", "-c",
                   'for gate; do : <"$gate"; head -c 24M /dev/zero; done; '
                   ': <"$0"', gates[-1].path,
                   *(gate.path for gate in gates[:-1]), **more)
    pmix.wait_up(job)
    return job, gates


def drain(job, size):
    """Reads this many bytes of the console, or up to its end."""
    left = size
    while left > 0:
        part = os.read(job.stdout.fileno(), min(left, live.MIB))
        if not part:
            break
        left -= len(part)
    return size - left


def alone(waits=WAITS, **more):
    """The tool is stopped before the output and goes on after it: the job has
    ended its output meanwhile, and the tool gets all that fits in its
    queue."""
    job, gates = start(**more)
    tool = pmix.Tool(job, "-n", 2 * RANKS)
    tool.wait_ready()
    memory = live.Memory()
    memory.start()
    live.eventually(lambda: len(memory.peak) >= 3, 60, "all are seen")
    live.stop(tool.proc.pid)
    for gate in gates[:-1]:
        gate.open()
    live.check_eq(SIZE, drain(job, SIZE), "console")
    os.kill(tool.proc.pid, signal.SIGCONT)
    pmix.wait_taken(tool, min(SIZE, waits))
    pmix.wait_unspooled(job)
    gates[-1].open()
    live.check_eq(b"", job.stdout.read())
    job.check_ok()
    live.check_eq(0, tool.wait())
    total = sum(len(tool.got(rank, "stdout") or b"") for rank in range(RANKS))
    live.check_eq(SIZE, total + tool.dropped(),
                  "what came and what was dropped")
    live.check("was disconnected" not in job.said(), job.said())
    memory.check(RANKS, 3)


def limited():
    """This holds even when files may not become as large as that."""
    alone(8 * live.MIB, wrap=["sh", "-c", 'ulimit -f 20480; exec "$@"', "sh"])


def beside_another():
    """The other one gets everything while the first stays stopped."""
    job, gates = start()
    stuck, tool = pmix.Tool(job), pmix.Tool(job, "-n", 2 * RANKS)
    stuck.wait_ready()
    tool.wait_ready()
    live.stop(stuck.proc.pid)
    for part, gate in enumerate(gates[:-1], 1):
        gate.open()
        live.check_eq(PART, drain(job, PART), "console")
        pmix.wait_taken(tool, part * PART)
    gates[-1].open()
    job.check_ok()
    live.check_eq(0, tool.wait())
    for rank in range(RANKS):
        live.check_eq(SIZE // RANKS, len(tool.got(rank, "stdout") or b""),
                      "rank %d" % rank)
    live.check_eq(0, tool.dropped())
    os.kill(stuck.proc.pid, signal.SIGCONT)
    stuck.wait()


def for_long():
    """A tool that stands still is kept, and so is the helper: when it goes on
    it gets all, of before and after. It goes on twice: while it is stopped
    there may be others."""
    gates = [pmix.Gate() for _ in range(3)]
    job = pmix.Job("-v", "-N", RANKS, "--", "sh", "-c",
                   ': <"$0"; seq -f "$XYLEM_RANK %%08.0f" %d; : <"$1"; '
                   'echo $XYLEM_RANK more; : <"$2"' % LINES,
                   *(gate.path for gate in gates))
    pmix.wait_up(job)
    tool = pmix.Tool(job, "-n", 2 * RANKS)
    tool.wait_ready()
    helper = pmix.helper_of(job)
    live.stop(tool.proc.pid)
    gates[0].open()
    want = [numbered(rank) + b"%d more\n" % rank for rank in range(RANKS)]
    size = sum(map(len, want))
    live.check_eq(size - 7 * RANKS, drain(job, size - 7 * RANKS), "console")
    since = time.monotonic()
    yield
    left = since + STOPPED_S - time.monotonic()
    time.sleep(max(left, 0))  # sleep-ok: being stopped is the test
    live.check_eq(helper, pmix.helper_of(job), "the same helper")
    live.check_eq(b"T", live.state(tool.proc.pid), "the tool")
    live.check("was disconnected" not in job.said(), job.said())
    gates[1].open()
    live.check_eq(7 * RANKS, drain(job, 7 * RANKS), "console")
    os.kill(tool.proc.pid, signal.SIGCONT)
    pmix.wait_taken(tool, size)
    gates[2].open()
    job.check_ok()
    live.check_eq(0, tool.wait())
    for rank in range(RANKS):
        live.check(tool.got(rank, "stdout") == want[rank], "rank %d" % rank)
    live.check_eq(0, tool.dropped())


class Pace:
    """By this FIFO a tool is told how many deliveries it may take."""

    def __init__(self):
        self.gate = pmix.Gate()
        self.gate.open()
        self.option = ("-P", self.gate.path)

    def left(self):
        count = array.array("i", [0])
        fcntl.ioctl(self.gate.fd, termios.FIONREAD, count)
        return count[0]

    def allow(self, count):
        os.write(self.gate.fd, b"." * count)

    def end(self):
        """From now on it takes all."""
        os.close(self.gate.fd)


def slow():
    """Tools always take a sixth of what comes: they copy, redirect, and have
    little that may wait. That costs the helper no memory, and when they become
    fast again they get all, or hear what is missing."""
    job = pmix.Job("-v", "-N", 1, "--raw", "--", "sh", "-c",
                   "while read -r part; do head -c 1M /dev/zero; done",
                   stdin=subprocess.PIPE)
    pmix.wait_up(job)
    paces = [Pace() for _ in range(3)]
    tools = [pmix.Tool(job, "-c", 2, "-n", 1, *pace.option, *more)
             for pace, more in zip(paces, ((), ("-R",), ("-C", live.MIB)))]
    for tool in tools:
        tool.wait_ready()
    memory = live.Memory()
    memory.start()
    for _ in range(96):
        job.stdin.write(b"part\n")
        job.stdin.flush()
        for pace in paces:
            pace.allow(5)
        live.eventually(lambda: not any(pace.left() for pace in paces), 120,
                        "they take what they may")
    for pace in paces:
        pace.end()
    for tool in tools[:2]:
        pmix.wait_taken(tool, 96 * live.MIB)
    pmix.wait_unspooled(job)
    job.stdin.close()
    live.check_eq(b"", job.stdout.read())
    job.check_ok()
    for tool in tools:
        live.check_eq(0, tool.wait())
        live.check_eq(96 * live.MIB, tool.dropped() + tool.taken())
    live.check_eq(0, tools[0].dropped() + tools[1].dropped())
    memory.check(1, 2)


def many_pulls(redirects=False):
    """One tool has a hundred requests for the same output, which waits once
    for all of them, in a file: the next tool gets in, and all that comes then.
    What was redirected to the first one is on the console, once, when it
    dies."""
    gates = [pmix.Gate() for _ in range(2)]
    job = pmix.Job("-v", "-N", 1, "--raw", "--", "sh", "-c",
                   ': <"$0"; head -c %d /dev/zero; : <"$1"; seq 20000' % MUCH,
                   *(gate.path for gate in gates))
    pmix.wait_up(job)
    helper = pmix.helper_of(job)
    stuck = spawning.connect(job)
    asker = pmix.Asker(job)
    asker.connect()
    space = asker.query("pmix.qry.ns")[0][0].split()[1]
    asker.end()
    for _ in range(PULLS):
        stuck.do("pull %s * out%s" % (space,
                                      "" if redirects else " pmix.iof.cpy"))
    live.stop(stuck.proc.pid)
    gates[0].open()
    if not redirects:
        live.check_eq(MUCH, drain(job, MUCH), "console")
    live.eventually(lambda: pmix.spooled(job) > MUCH // 2, 60, "a file")
    tool = pmix.Tool(job, "-n", 2)
    is_in = tool.wait_ready()
    live.check_eq(helper, pmix.helper_of(job), "the same helper")
    stuck.proc.kill()
    if redirects:
        live.check_eq(MUCH, drain(job, MUCH), "it has come back")
    gates[1].open()
    live.check_eq(20000, job.stdout.read().count(b"\n"), "and no more")
    job.check_ok()
    if not is_in:
        tool.proc.kill()
        return
    live.check_eq(0, tool.wait())
    # Where pipes are small not all zeros had been written when it came.
    live.check_eq("".join("%d\n" % n for n in range(1, 20001)).encode(),
                  tool.got(0, "stdout").lstrip(b"\0"))


def numbered(rank, count=LINES):
    return b"".join(b"%d %08d\n" % (rank, n) for n in range(1, count + 1))


# PMIX_IOF_DROP_NEWEST; so it is unasked, too.
NEWEST = ("-D", "pmix.iof.new")


def misses(oldest):
    """More than its bound waits for it: of that it gets the first, or the last,
    and what came and what is said to be missing is all. All ranks have written
    a line before one goes on, or those that are late find no room for it.
    Another tool that has taken all tells that nothing is under way when it goes
    on. Returns whether the end of all is as it should be."""
    gates = [pmix.Gate() for _ in range(3)]
    job = pmix.Job("-v", "-N", RANKS, "--", "sh", "-c",
                   'lines() { seq -f "$XYLEM_RANK %%08.0f" "$@"; }; : <"$0"; '
                   'lines 1; : <"$1"; lines 2 %d; : <"$2"' % LINES,
                   *(gate.path for gate in gates))
    pmix.wait_up(job)
    tool = pmix.Tool(job, "-C", live.MIB, "-n", 2 * RANKS,
                     *(("-O",) if oldest else NEWEST))
    other = pmix.Tool(job, "-n", 2 * RANKS)
    tool.wait_ready()
    other.wait_ready()
    live.stop(tool.proc.pid)
    gates[0].open()
    first = sum(len(numbered(rank, 1)) for rank in range(RANKS))
    live.check_eq(first, drain(job, first), "console")
    gates[1].open()
    size = sum(len(numbered(rank)) for rank in range(RANKS))
    live.check_eq(size - first, drain(job, size - first), "console")
    pmix.wait_taken(other, size)
    os.kill(tool.proc.pid, signal.SIGCONT)
    pmix.wait_taken(tool, live.MIB // 2)  # the rest is little
    pmix.wait_unspooled(job)
    gates[2].open()
    live.check_eq(b"", job.stdout.read())
    job.check_ok()
    live.check_eq((0, 0), (tool.wait(), other.wait()))
    got = [tool.got(rank, "stdout") or b"" for rank in range(RANKS)]
    live.check(tool.dropped() > 0, "nothing was dropped")
    live.check_eq(size, sum(map(len, got)) + tool.dropped(), "in all")
    last = [text.endswith(numbered(rank)[-11:])
            for rank, text in enumerate(got)]
    for rank, text in enumerate(got):
        lines = iter(numbered(rank).splitlines())
        live.check(all(line in lines for line in text.splitlines()),
                   "rank %d: lines in their order" % rank)
        live.check(oldest or text.startswith(numbered(rank, 1)),
                   "rank %d: not the first" % rank)
    return any(last) if oldest else not all(last)


def drops(oldest):
    """Where the library takes something late there is room for the last lines
    as well: not each time."""
    live.check(any(misses(oldest) for _ in range(1 if oldest else 3)),
               "the last line")


def put_together():
    """Each delivery but the last has as much as was asked for."""
    gate = pmix.Gate()
    job = pmix.Job("-v", "-N", 1, "--", "sh", "-c", pmix.Gate.WAIT +
                   "seq 1 20000", gate.path)
    pmix.wait_up(job)
    tool = pmix.Tool(job, "-B", 50000, "-n", 2)
    tool.wait_ready()
    gate.open()
    job.stdout.read()
    job.check_ok()
    live.check_eq(0, tool.wait())
    live.check_eq("".join("%d\n" % n for n in range(1, 20001)).encode(),
                  tool.got(0, "stdout"))
    sizes = [int(size) for size in tool.got(0, "stdout.sizes").split()]
    live.check(all(size >= 50000 for size in sizes[:-1]), sizes)


def held(*options):
    """A line is less than what is to be put together; one tool waits for more,
    and another does not: the first could have what the second has."""
    gates = pmix.Gate(), pmix.Gate()
    job = pmix.Job("-v", "-N", 1, "--", "sh", "-c",
                   ': <"%s"; echo one; : <"%s"' % tuple(
                       gate.path for gate in gates))
    pmix.wait_up(job)
    tool = pmix.Tool(job, "-B", live.MIB, *options, stdin=subprocess.PIPE)
    other = pmix.Tool(job)
    tool.wait_ready()
    other.wait_ready()
    gates[0].open()
    live.check_eq(b"one\n", job.stdout.readline())
    live.eventually(lambda: other.got(0, "stdout") == b"one\n", 60, "one")
    return job, tool, other, gates[1]


def for_a_time():
    job, tool, other, gate = held("-T", 1)
    live.eventually(lambda: tool.got(0, "stdout") == b"one\n", 60, "its time")
    gate.open()
    job.check_ok()
    tool.proc.stdin.close()
    tool.wait()
    other.wait()


def until_it_leaves():
    """It is not sent when the tool deregisters: the console and the other one
    have it."""
    job, tool, other, gate = held("-d")
    tool.proc.stdin.write(b"leave\n")
    tool.proc.stdin.flush()
    live.eventually(lambda: tool.has("left"), 60, "it has left")
    tool.proc.stdin.close()
    tool.wait()
    live.check_eq("", (tool.got(0, "stdout") or b"").decode() + tool.said())
    gate.open()
    job.check_ok()
    other.wait()


def main():
    pmix.need()
    parts = for_long()
    for test, sentence in ((alone, "a stopped tool"),
                           (limited, "a stopped tool and small files"),
                           (beside_another, "a stopped tool and another"),
                           (slow, "tools that are slow all the time"),
                           (lambda: next(parts), "a tool is stopped for long"),
                           (many_pulls, "one with many requests"),
                           (lambda: many_pulls(True), "that redirect"),
                           (lambda: drops(False), "the newest are dropped"),
                           (lambda: drops(True), "the oldest are dropped"),
                           (put_together, "deliveries are put together"),
                           (for_a_time, "but not for ever"),
                           (until_it_leaves, "nor for one that leaves"),
                           (lambda: next(parts, None), "and goes on")):
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
