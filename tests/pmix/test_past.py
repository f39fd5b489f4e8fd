#!/usr/bin/env python3
"""A tool that pulls the output of a running job that it has started, and asks
for earlier output, gets that first, as much as it asks for, and then all that
follows: each byte once and in order, with missing bytes reported at their
place.

With PMIX_IOF_LOCAL_OUTPUT=false its library shows nothing of the job, so a byte
that is not in the pull is lost for the tool; and what is shown otherwise is
compared, too.
"""
import sys

import pmix
import live
import spawning
from live import check, check_eq

HIDDEN = "!pmix.fwd.stdout !pmix.fwd.stderr ~pmix.iof.local "
SHOWN = "!pmix.fwd.stdout !pmix.fwd.stderr "
COUNT = 3000
OLD = "".join(f"{n + 1}\n" for n in range(COUNT))
ROOM = 64 * 1024  # kept of a channel where nothing else is said
FLOOD = live.full(1000000, 200000)
LONG_FLOOD = live.full(20000000, 3000000)
TURNS = live.full(200, 25)


def words(script):
    return script.replace(" ", "\\s")


class Run:
    """A job of two processes that writes OLD, then waits; each gate lets it say
    one more thing."""

    def __init__(self, said, steps=("echo new",), first=f"seq {COUNT}"):
        self.job, self.gate = spawning.start()
        self.tool = spawning.connect(self.job)
        self.doors = [pmix.Gate() for _ in steps]
        script = first + "".join(f"; : <{door.path}; {step}"
                                 for door, step in zip(self.doors, steps))
        self.space = self.tool.spawn(said + "-- 2 sh -c " + words(script))[0]

    def wait_old(self, size=len(OLD)):
        """The output was written: another tool gets it. It cannot be seen what
        of it the spawner's helper has had by then."""
        late = spawning.connect(self.job)
        late.do(f"pull {self.space} * pmix.iof.csize:{ROOM}")
        live.eventually(lambda: all(
            len(late.got(self.space, rank) or "") == size
            for rank in range(2)), 60, "it is written")
        check_eq(0, late.end())

    def wait_shown(self):
        """Waits until the tool has had what was before."""
        live.eventually(lambda: len(self.tool.shown()) == 2 * len(OLD), 60,
                        "it is shown")

    def check_pull(self, tool, want, before=0, gap=None):
        for rank in range(2):
            got = tool.got(self.space, rank) or ""
            check(got == want, "rank %d: %d bytes of %d: %r" % (
                rank, len(got), len(want), got[-40:]))
            check_eq(before, tool.before(self.space, rank), "not kept")
            check_eq(gap, tool.gap(self.space, rank), "where")

    def end(self, *tools):
        for tool in tools or (self.tool,):
            check_eq(0, tool.end())
        self.gate.open()
        self.job.check_ok()


def part(asked, size, is_last=False):
    """Which part of OLD comes, and where bytes are missing."""
    most = min(asked, size)
    if most >= len(OLD):
        return OLD, 0, None
    if is_last:
        return OLD[len(OLD) - most:], len(OLD) - most, 0
    return OLD[:most], len(OLD) - most, most


def kept():
    """All of it, the first of it, the last; what the spawn leaves room for."""
    for said, size in (("", ROOM), ("pmix.iof.csize:5000 ", 5000)):
        for asked in (500, 5000, ROOM):
            for old in ("", " pmix.iof.old"):
                check_kept(said, size, asked, old)


def check_kept(said, size, asked, old):
    run = Run(SHOWN + said)
    run.wait_shown()
    text, before, gap = part(asked, size, old != "")
    tool = run.tool
    tool.do(f"pull {run.space} * out pmix.iof.csize:{asked}{old}")
    live.eventually(lambda: all((tool.got(run.space, rank) or "") == text
                                for rank in range(2)), 60, "it comes at once")
    run.doors[0].open()
    tool.wait_ends(run.space, 2, ("stdout",))
    run.check_pull(tool, text + "new\n", before, gap)
    check_eq(2 * len(OLD), len(tool.shown()), "nothing is shown again")
    run.end()


def hidden():
    """All of it comes even when it is shown nowhere."""
    run = Run(HIDDEN)
    run.wait_old()
    run.tool.do(f"pull {run.space} * out pmix.iof.csize:{ROOM}")
    live.eventually(lambda: all(run.tool.got(run.space, rank) == OLD
                                for rank in range(2)), 60, "it comes at once")
    run.doors[0].open()
    run.tool.wait_ends(run.space, 2, ("stdout",))
    run.check_pull(run.tool, OLD + "new\n")
    check_eq("", run.tool.shown(), "nothing is shown")
    run.end()


def unasked():
    """When a pull does not ask, or asks for 0 bytes, it gets only what is new;
    nothing was kept when the spawn says so."""
    for said, asked in (("", ""), ("", " pmix.iof.csize:0"),
                        ("pmix.iof.csize:0 ", " pmix.iof.csize:500")):
        run = Run(SHOWN + said)
        run.wait_shown()
        run.tool.do(f"pull {run.space} * out{asked}")
        run.doors[0].open()
        run.tool.wait_ends(run.space, 2, ("stdout",))
        run.check_pull(run.tool, "new\n")
        check_eq(2 * len(OLD), len(run.tool.shown()), "once")
        run.end()


def beside():
    """A second tool has its own part, as usual, and the spawner its own; a
    second pull of the spawner has what is new, and the first pull gets nothing
    twice."""
    run = Run(HIDDEN, ("echo new", "echo more"))
    run.wait_old()
    other = spawning.connect(run.job)
    other.do(f"pull {run.space} * out pmix.iof.csize:100")
    run.tool.do(f"pull {run.space} * out pmix.iof.csize:{ROOM}")
    live.eventually(lambda: all(run.tool.got(run.space, rank) == OLD
                                for rank in range(2)), 60, "all of it")
    run.doors[0].open()
    live.eventually(lambda: all(run.tool.got(run.space, rank) == OLD + "new\n"
                                for rank in range(2)), 60, "the new")
    run.tool.do(f"pull {run.space} 0 out pmix.iof.csize:{ROOM}")
    run.doors[1].open()
    run.tool.wait_ends(run.space, 2, ("stdout",))
    other.wait_ends(run.space, 2, ("stdout",))
    # Both pulls of rank 0 have the last line.
    check_eq(OLD + "new\nmore\nmore\n", run.tool.got(run.space, 0))
    check_eq(OLD + "new\nmore\n", run.tool.got(run.space, 1))
    run.check_pull(other, OLD[:100] + "new\nmore\n", len(OLD) - 100, 100)
    run.end(run.tool, other)


def again():
    """When one pull is left, the next one gets what that one has had, with
    what was shown between them."""
    run = Run(SHOWN, ("echo new", "echo between", "echo last"))
    tool, space = run.tool, run.space
    run.wait_shown()
    first = tool.pull(f"{space} * out pmix.iof.csize:{ROOM}")
    run.doors[0].open()
    live.eventually(lambda: all(tool.got(space, rank) == OLD + "new\n"
                                for rank in range(2)), 60, "the first has it")
    tool.do(f"leave {first}")
    run.doors[1].open()
    live.eventually(lambda: tool.shown().count("between\n") == 2, 60, "shown")
    tool.outputs.clear()
    tool.do(f"pull {space} * out pmix.iof.csize:{ROOM}")
    live.eventually(lambda: all(tool.got(space, rank) ==
                                OLD + "new\nbetween\n"
                                for rank in range(2)), 60, "so has the second")
    run.doors[2].open()
    tool.wait_ends(space, 2, ("stdout",))
    run.check_pull(tool, OLD + "new\nbetween\nlast\n")
    check_eq(0, tool.shown().count("new") + tool.shown().count("last"))
    run.end()


def gathered():
    """Kept output that is put together, and that the tool has not had yet,
    follows what it has had and does not wait for more."""
    run = Run(SHOWN + f"pmix.iof.bsize:{len(OLD) - 2} ", ("echo new",),
              f"seq {COUNT}; echo held")
    tool = run.tool
    run.wait_old(len(OLD) + len("held\n"))
    tool.do(f"pull {run.space} * out pmix.iof.csize:{ROOM} pmix.iof.bsize:0")
    live.eventually(lambda: all(tool.got(run.space, rank) == OLD + "held\n"
                                for rank in range(2)), 60, "it is there")
    run.doors[0].open()
    tool.wait_ends(run.space, 2, ("stdout",))
    run.check_pull(tool, OLD + "held\nnew\n")
    run.end()


def flooded():
    """At any moment of a flood, with more kept than it writes: the pull has all
    of it, from its first byte to its last, once."""
    text = "".join(f"{n + 1}\n" for n in range(FLOOD))
    job, gate = spawning.start()
    tool = spawning.connect(job)
    for nth in range(live.full(20, 6)):
        said = HIDDEN if nth % 2 == 0 else SHOWN
        space = tool.spawn(said + "pmix.iof.csize:%d -- 1 seq %d" % (
            8 * live.MIB, FLOOD))[0]
        size = nth * len(text) // 8
        if said == SHOWN:
            live.eventually(lambda s=len(tool.shown()) + size // 4:
                            len(tool.shown()) >= s or
                            tool.happened("JOB ENDED", space), 60, "it is on")
        tool.do(f"pull {space} * out pmix.iof.csize:%d" % (8 * live.MIB))
        tool.wait_ends(space, 1, ("stdout",))
        got = tool.got(space, 0) or ""
        check(got == text, "%d bytes of %d" % (len(got), len(text)))
        check_eq(0, tool.before(space, 0))
    check_eq(0, tool.end())
    gate.open()
    job.check_ok()


def left_often():
    """In a flood pulls that ask for the last of what was before come and go:
    each gets the last lines before its first new one, without a gap, twice or
    out of order."""
    job, gate = spawning.start()
    tool = spawning.connect(job)
    space = tool.spawn(SHOWN + f"-- 1 seq -f %08.0f {LONG_FLOOD}")[0]
    turns = 0
    tool.do("events " + space)
    while turns < TURNS and not tool.happened("JOB ENDED", space):
        tool.outputs.clear()
        (pull,), _ = tool.ask(f"pull {space} * out pmix.iof.csize:9000 "
                              "pmix.iof.old")
        live.eventually(lambda: len(tool.got(space, 0) or "") > 9000 or
                        tool.happened("JOB ENDED", space), 60, "it has some")
        tool.do(f"leave {pull}")
        # A pull that is left has a part of what was to come, to the byte.
        lines = (tool.got(space, 0) or "").split("\n")[:-1]
        turns += 1
        breaks = [(nth, one, two) for nth, (one, two) in
                  enumerate(zip(lines, lines[1:])) if int(two) != int(one) + 1]
        check_eq([], breaks, "a run of %d lines" % len(lines))
    print("# left %d times" % turns)
    tool.ask(f"signal {space} * 9")  # it may be over
    check_eq(0, tool.end())
    gate.open()
    job.check_ok()


def main():
    pmix.need()
    for test, sentence in (
            (kept, "as much as a pull asks for and is kept"),
            (hidden, "of a job that is shown nowhere"),
            (unasked, "a pull that does not ask for it"),
            (beside, "a second tool, and a second pull"),
            (again, "one pull behind another"),
            (gathered, "what is put together"),
            (flooded, "at any moment of a flood"),
            (left_often, "pulls that come and go")):
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
