#!/usr/bin/env python3
"""A tool pulls one short job after another, more of them than pulls are served
at a time, and deregisters none: each pull frees its place for the next when
all its channels have ended. A pull some of whose processes go on keeps its
place."""
import re
import sys

import pmix
import live
import spawning
from live import check, check_eq

JOBS = live.full(300, 140)
SERVED = 128
BOTH = "pmix.fwd.stdout pmix.fwd.stderr "


def spawned(tool, what):
    space, status = tool.spawn(what)
    check_eq("SUCCESS", status, what)
    return space


def pulled(tool, order):
    """What the tool deregisters it by."""
    said, status = tool.ask("pull " + order)
    check_eq("SUCCESS", status, order)
    return said[0] if said else None


def long_one(starter, puller):
    """A job of three whose first one ends at once: its gate, its name, and its
    pull. It waits for the output of no other job."""
    gate = pmix.Gate()
    script = ("echo\\s$XYLEM_RANK;test\\s$XYLEM_RANK\\s=\\s0||:\\s<$0;"
              "echo\\sgoes\\son")
    space = spawned(starter, f"{BOTH}-- 3 sh -c {script} {gate.path}")
    number = pulled(puller, space + " *")
    puller.wait_ends(space, 1)
    return gate, space, number


def one_by_one():
    """All come in, and what each has to say."""
    job, gate = spawning.start()
    starter, puller = spawning.connect(job), spawning.connect(job)
    door, waits, number = long_one(starter, puller)
    numbers = [number]
    for nth in range(JOBS):
        space = spawned(starter, f"{BOTH}-- 2 echo {nth}")
        numbers.append(pulled(puller, space + (" *" if nth % 2 else " 1")))
        live.eventually(lambda at=space: {
            (at, 1, "stdout"), (at, 1, "stderr")} <= set(puller.ends), 60,
            "it has ended")
        check_eq(f"{nth}\n", puller.got(space, 1))
    door.open()
    puller.wait_ends(waits, 3)
    for rank in range(3):
        check_eq(f"{rank}\ngoes on\n", puller.got(waits, rank))
    for number in numbers:
        puller.do("leave %s" % number)
    space = spawned(starter, f"{BOTH}-- 2 echo more")
    pulled(puller, space + " *")
    puller.wait_ends(space, 2)
    check_eq("more\n", puller.got(space, 1))
    for tool in (puller, starter):
        check_eq(0, tool.end())
    gate.open()
    job.check_ok()


def by_ranks():
    """A pull ends with its own processes, whichever it names and however many
    of the job go on, and its tool stays; one of all ends with the last."""
    first, second = pmix.Gate(), pmix.Gate()
    job = pmix.Job("-v", "-N", 4, "--", "sh", "-c",
                   'case $XYLEM_RANK in 0|2) : <"$0";; *) : <"$1";; esac; '
                   'echo $XYLEM_RANK', first.path, second.path)
    pmix.wait_up(job)
    tools = []
    for ranks in ("0,2", "1,2", "0,1,2,3", None, "2"):
        tools.append(pmix.Tool(job, *(("-r", ranks) if ranks else ())))
        tools[-1].wait_ready()

    def over(*of):
        return all(re.search(r"pull 1 has ended, of tool \S+-tool-%d\.0$" % nth,
                             job.said(), re.M) for nth in of)

    first.open()
    live.eventually(lambda: over(1, 5), 60, "two have ended")
    for tool, ranks in ((tools[0], (0, 2)), (tools[4], (2,))):
        live.eventually(lambda at=tool, of=ranks: all(
            at.ends(rank, channel) for rank in of
            for channel in ("stdout", "stderr")), 60, "it hears of that")
        check_eq(None, tool.proc.poll())
    live.eventually(lambda: all(tool.ends(2, "stderr")
                                for tool in tools[1:4]), 60, "rank 2 ends")
    check(not any(over(nth) for nth in (2, 3, 4)), job.said())
    second.open()
    job.check_ok()
    for tool, ranks in zip(tools, ((0, 2), (1, 2), range(4), range(4), (2,))):
        check_eq(0, tool.wait())
        for rank in range(4):
            check_eq(b"%d\n" % rank if rank in ranks else None,
                     tool.got(rank, "stdout"))


def at_a_time():
    """A limited number of tools is served at a time, whatever has ended
    before. (libpmix 4.2 may tell the one that was refused, too.)"""
    job, gate = spawning.start(nodes=2)
    tool = spawning.connect(job)
    over = spawned(tool, f"{BOTH}-- 1 true")
    pulled(tool, over + " *")
    tool.wait_ends(over, 1)
    tool.do("events " + over)
    tool.wait_event("JOB ENDED", over)  # its own output is redirected till then
    space = over.rpartition(".")[0]
    for _ in range(SERVED):
        pulled(tool, space + " *")
    check_eq("OUT OF RESOURCE", tool.ask(f"pull {space} *")[1])
    gate.open()
    tool.wait_ends(space, 2)
    live.eventually(lambda: tool.ends.count((space, 1, "stdout")) >= SERVED,
                    60, "each of them hears of the end")
    check_eq(0, tool.end())
    job.check_ok()


def main():
    pmix.need()
    for what in (one_by_one, by_ranks, at_a_time):
        with live.case(" ".join(what.__doc__.split())):
            what()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
