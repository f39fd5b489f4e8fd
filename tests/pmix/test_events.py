#!/usr/bin/env python3
"""Tools that connect late are sent the events of jobs, even when many other
jobs have run; no events come about a tool that has left."""
import sys

import pmix
import live
import spawning
from live import check, check_eq

START = ["JOB STARTED", "PMIX LAUNCH COMPLETE"]
ALL = ["JOB ENDED", *START]
OVER_MAX = 64  # jobs that have ended and are known
CHUNK = 8  # divides both


def listen(job, space):
    """The events that a tool gets which comes now and asks for those of one
    job."""
    tool = pmix.Asker(job)
    check(tool.connect(), "connected")
    check_eq("SUCCESS", tool.ask("events " + space)[1])
    tool.query("pmix.job.size")  # what was there comes before the answer
    check_eq(0, tool.end())
    return heard(tool, space)


def heard(tool, space):
    """The events that it has got, each as often as it came; their source is the
    job's first process."""
    for event in tool.events:
        if not event.endswith(" end") and "  " not in event:
            check(event.endswith(f" {space}.0"), event)
    return sorted(event.removesuffix(" end") for event in tool.events
                  if event.endswith(" end"))


def last():
    """When the spawner of a job asks for the event of its end alone, no other
    event arrives, neither at the spawner nor at another tool."""
    job, gate = spawning.start(nodes=2)
    tool = spawning.connect(job)
    space = tool.spawn("!pmix.notecomp -- 2 true")[0]
    check_eq("SUCCESS", tool.ask("events " + space)[1])
    tool.wait_event("JOB ENDED", space)
    check_eq(["JOB ENDED"], listen(job, space))
    check_eq(0, tool.end())
    for event in START:
        check(not tool.happened(event, space), event)
    gate.open()
    job.check_ok()


def once():
    """A tool that comes when jobs run and have ended gets the events for which
    it registers, each once, and none of others: also not where one of its
    handlers takes all that nobody else has asked for."""
    job, gate = spawning.start(nodes=2)
    tool = spawning.connect(job)
    own = own_of(job)
    over = run_many(tool, CHUNK)[0]
    late = pmix.Asker(job)
    check(late.connect(), "connected")
    check_eq("SUCCESS", late.ask("default")[1])
    late.query("pmix.job.size")
    check_eq([], late.events, "it has asked for nothing")
    for space, want in ((over, ALL), (own, START)):
        late.events.clear()
        check_eq("SUCCESS", late.ask("events " + space)[1])
        late.query("pmix.job.size")
        check_eq(want, heard(late, space), space)
    check_eq(0, late.end())
    check_eq(0, tool.end())
    gate.open()
    job.check_ok()


def own_of(job):
    tool = pmix.Asker(job)
    check(tool.connect(), "connected")
    own = tool.query("pmix.qry.ns")[0][0].split()[1]
    check_eq(0, tool.end())
    return own


def run_many(tool, count):
    """The namespaces of jobs that have run and ended, some of them at a time:
    each of these after all that were before them."""
    spaces = []
    while len(spaces) < count:
        some = [tool.spawn("-- 1 true")[0] for _ in range(CHUNK)]
        for space in some:
            tool.do("events " + space)
        for space in some:
            tool.wait_event("JOB ENDED", space)
        spaces += some
    return spaces


def kept(**env):
    """However many others have come and gone, the events of jobs that run and
    of the last that have ended are there; those that are forgotten have
    none."""
    job, gate = spawning.start(nodes=2, **env)
    tool = spawning.connect(job)
    own = own_of(job)
    door = pmix.Gate()
    early, status = tool.spawn("-- 1 sh -c :<$0 " + door.path)
    check_eq("SUCCESS", status)
    spaces = run_many(tool, 200)
    for space in (own, early):
        check_eq(START, listen(job, space), space)
    for space in spaces[-OVER_MAX], spaces[-1]:
        check_eq(ALL, listen(job, space), "of the last")
    check_eq([], listen(job, spaces[0]), "it is forgotten")
    door.open()
    gate.open()
    job.check_ok()
    check_eq(pmix.Asker.CUT, tool.proc.wait())


def come_and_go(job, turn):
    """As a tool that has been there before; the last one has gone."""
    tool = pmix.Asker(job, "-p", job.proc.pid, "-i", "same")
    if not check_eq("same", tool.connect(), "turn %d" % turn):
        return
    check_eq("SUCCESS", tool.query("pmix.job.size")[1])
    check_eq(0, tool.end(), "turn %d: it has lost nothing" % turn)
    live.eventually(
        lambda: job.said().count("PMIx tool same.0 has "
                                 "disconnected") > turn, 60,
        "it has gone")


def gone():
    """A tool that comes again under its own name is not told that it has gone.
    The library takes a second to tell, and here no time, so that it has when
    the next one comes."""
    job, gate = spawning.start(nodes=2,
                               PMIX_MCA_pmix_event_caching_window="0")
    for turn in range(3):
        come_and_go(job, turn)
    gate.open()
    job.check_ok()


def main():
    pmix.need()
    with live.case("a late tool hears once what it has asked for"):
        once()
    with live.case("the end alone, where the spawner says so"):
        last()
    with live.case("events of a job that runs stay"):
        kept()
    with live.case("those that are forgotten make room"):
        kept(PMIX_MCA_pmix_max_events="256")
    with live.case("a tool is not told of its own end"):
        gone()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
