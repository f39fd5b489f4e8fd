#!/usr/bin/env python3
"""Directives of a pull override those of the spawn of the job, and these
override the server's defaults."""
import os
import signal
import sys

import pmix
import live
import spawning
from live import check, check_eq

OUT = "!pmix.fwd.stdout "
LINES = 500000  # twice, of 9 bytes: more than sockets and bounds take
PIECE = 64 * 1024  # one is dropped as a whole, a shorter one may have room


def words(script):
    return script.replace(" ", "\\s")


def spawned(tool, says, script):
    space, status = tool.spawn(
        OUT + "".join(f"{word} " for word in says) + "-- 1 sh -c " +
        words(script))
    check_eq("SUCCESS", status, says)
    return space


def finish(job, gate, *tools):
    for tool in tools:
        check_eq(0, tool.end())
    gate.open()
    job.check_ok()


def put_together():
    """PMIX_IOF_BUFFERING_SIZE: of the spawn for a pull that says nothing, and
    for what the spawner's library shows."""
    job, gate = spawning.start()
    tool, plain, own = [spawning.connect(job) for _ in range(3)]
    first, second = pmix.Gate(), pmix.Gate()
    space = spawned(tool, ["pmix.iof.bsize:1000000"],
                    f": <{first.path}; seq 1000; : <{second.path}")
    plain.do(f"pull {space} * out")
    own.do(f"pull {space} * out pmix.iof.bsize:0")
    first.open()
    seq = "".join(f"{n + 1}\n" for n in range(1000))
    live.eventually(lambda: own.got(space, 0) == seq, 60, "at once")
    check_eq(None, plain.got(space, 0), "it is put together")
    second.open()
    plain.wait_ends(space, 1, ("stdout",))
    check_eq(seq, plain.got(space, 0))
    tool.do("events " + space)
    tool.wait_event("JOB ENDED", space)
    finish(job, gate, tool, plain, own)
    check_eq(seq, tool.shown())


def for_a_time(says, quick, never):
    """PMIX_IOF_BUFFERING_TIME: a line comes when its time is over, though less
    is there than is to be put together; for a pull without a time it waits for
    the end."""
    job, gate = spawning.start()
    tool, soon, late = [spawning.connect(job) for _ in range(3)]
    first, second = pmix.Gate(), pmix.Gate()
    space = spawned(tool, ["pmix.iof.bsize:1000000", *says],
                    f": <{first.path}; echo one; : <{second.path}")
    late.do(" ".join([f"pull {space} * out", *never]))
    soon.do(" ".join([f"pull {space} * out", *quick]))
    first.open()
    live.eventually(lambda: soon.got(space, 0) == "one\n", 60, "its time")
    check_eq(None, late.got(space, 0), "it has no time")
    check_eq([], late.ends)
    second.open()
    late.wait_ends(space, 1, ("stdout",))
    check_eq("one\n", late.got(space, 0))
    finish(job, gate, tool, soon, late)


def misses(says, kinds):
    """PMIX_IOF_DROP_OLDEST and _NEWEST: tools that are stopped while more comes
    than waits for them get the last of it, or the first. The library takes
    nothing more for them when the second half comes."""
    job, gate = spawning.start()
    starter, first, second = spawning.connect(job), pmix.Gate(), pmix.Gate()
    space = spawned(starter, [f"pmix.iof.csize:{live.MIB}", *says],
                    f": <{first.path}; seq -f %08.0f {LINES}; "
                    f": <{second.path}; "
                    f"seq -f %08.0f {LINES + 1} {2 * LINES}")
    of_job = ("-j", space, "-c", 2, "-n", 1)
    tools = [pmix.ready(job, *of_job, *options) for options, _ in kinds]
    whole = pmix.ready(job, *of_job, "-C", 256 * live.MIB)
    for tool in tools:
        live.stop(tool.proc.pid)
    first.open()
    live.eventually(lambda: whole.taken() == 9 * LINES, 120, "the first half")
    second.open()
    check_eq(0, whole.wait(120), "all of it has come")
    text = whole.got(0, "stdout")
    check_eq(18 * LINES, len(text))
    bound = live.MIB - PIECE
    for tool in tools:
        os.kill(tool.proc.pid, signal.SIGCONT)
    for tool, (options, oldest) in zip(tools, kinds):
        check_eq(0, tool.wait(60))
        got = tool.got(0, "stdout") or b""
        check(tool.dropped() > 0, "nothing was dropped")
        check_eq(len(text), len(got) + tool.dropped(), "in all")
        check(oldest or got.startswith(text[:bound]), "the first of it")
        check_eq(oldest, got.endswith(text[-bound:]),
                 "the last of it: %s" % (options,))
    finish(job, gate, starter)


def kept(says, kinds):
    """The same say which of the bytes from before a late pull gets."""
    job, gate = spawning.start()
    starter = spawning.connect(job)
    space = spawned(starter, ["pmix.iof.csize:500", *says], "seq 1000")
    starter.do("events " + space)
    starter.wait_event("JOB ENDED", space)
    seq = "".join(f"{n + 1}\n" for n in range(1000))
    for options, oldest in kinds:
        late = spawning.connect(job)
        late.do(" ".join([f"pull {space} * out", *options]))
        late.wait_ends(space, 1, ("stdout",))
        check_eq(seq[-500:] if oldest else seq[:500], late.got(space, 0),
                 options)
        check_eq(0, late.end())
    finish(job, gate, starter)


def until_it_leaves(says, asks):
    """What is being put together when the tool deregisters is not sent: its
    library would take it for no pull. Others miss nothing."""
    job, gate = spawning.start()
    starter, tool, other = [spawning.connect(job) for _ in range(3)]
    first, second = pmix.Gate(), pmix.Gate()
    space = spawned(starter, says,
                    f": <{first.path}; echo one; : <{second.path}; echo two")
    said, status = tool.ask(" ".join([f"pull {space} * out", *asks]))
    check_eq("SUCCESS", status)
    other.do(f"pull {space} * out pmix.iof.bsize:0")
    first.open()
    live.eventually(lambda: other.got(space, 0) == "one\n", 60, "one")
    check_eq(None, tool.got(space, 0), "it is put together")
    tool.do("leave %s" % said[0])
    second.open()
    other.wait_ends(space, 1, ("stdout",))
    check_eq("one\ntwo\n", other.got(space, 0))
    finish(job, gate, starter, tool, other)
    check_eq("", (tool.got(space, 0) or "") + tool.shown())
    check_eq([], tool.ends)


OLD, NEW = "pmix.iof.old", "pmix.iof.new"


def main():
    pmix.need()
    with live.case("what is put together"):
        put_together()
    for says, quick, never, sentence in (
            (["pmix.iof.btime:1"], [], ["pmix.iof.btime:0"], "the spawn"),
            ([], ["pmix.iof.btime:1"], [], "the pull")):
        with live.case("for how long says " + sentence):
            for_a_time(says, quick, never)
    for says, kinds, sentence in (
            ([], (([], False), ([OLD], True)), "nothing"),
            ([OLD], (([], True), ([NEW], False)), "the last"),
            ([NEW], (([], False), ([OLD], True)), "the first")):
        with live.case("what is dropped where the spawn says: " + sentence):
            misses(says, [(["-D", *said] if said else [], oldest)
                          for said, oldest in kinds])
        with live.case("what was before where it says: " + sentence):
            kept(says, kinds)
    for says, asks, sentence in (
            (["pmix.iof.bsize:1000000"], [], "the spawn"),
            ([], ["pmix.iof.bsize:1000000"], "the pull")):
        with live.case("a pull is left that puts together, says " + sentence):
            until_it_leaves(says, asks)
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
