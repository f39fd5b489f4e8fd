#!/usr/bin/env python3
"""A helper with one tool that queries, signals, logs and notifies events: the
helper gets the tool's requests as values of xylem, and the tool gets answers
in the form of the standard."""
import sys

import pmix
import live
import single

SESSION, LOCAL, OWN = 4, 2, 7  # ranges of events
JOB_END = -145                # PMIX_EVENT_JOB_END
STATUS_JOB_END = 3            # enum px_lib_status
NO_ERROR, OV_EINVAL, OV_EPROTO = 0, -1, -3


def connect(*options, name="asker"):
    one = single.One(1, *options)
    tool = pmix.Asker(one, "-p", one.proc.pid, "-i", name)
    live.check(tool.connect(), "connected")
    one.wait("query")
    return one, tool


def leave(one, tool):
    live.check_eq(0, tool.end(), "the tool")
    one.gone()


def values():
    """An answer of each type, and in each of the widths of a number."""
    one, tool = connect()
    for key, want in (
            ("pmix.qry.ns", ["one-job"]),
            ("pmix.qry.jst", ["JOB STARTED"]),
            ("pmix.job.size", ["4000000000"]),
            ("pmix.exit.code", ["7"]),
            ("xylem.time", ["12345"]),
            ("xylem.rank", ["3"]),
            ("xylem.name", ["one-job 0"])):
        said, status = tool.query(key)
        live.check_eq("SUCCESS", status, key)
        live.check_eq([f"{key} {word}" for word in want], [
            line.replace("JOB-", "JOB ") for line in said])
    # The tool prints the type of these values: bool, uint32, uint16, uint64,
    # size_t, int.
    for key, want in (("flag", "? 1"), ("width0", "5"), ("width1", "? 13"),
                      ("width2", "? 15"), ("width3", "? 4"), ("width4", "5")):
        live.check_eq(([f"xylem.{key} {want}"], "SUCCESS"),
                      tool.query("xylem." + key))
    said, _ = tool.query("pmix.qry.nsinfo")
    live.check_eq(["pmix.qry.nsinfo 1", "  pmix.job.arr 2",
                   "    pmix.nspace one-job", "    pmix.job.size 2"],
                  [line.rstrip() for line in said])
    leave(one, tool)


def tables():
    """A table of processes in each of their states, and their names."""
    one, tool = connect("-r", 4)
    said, status = tool.query("pmix.qry.ptable")
    live.check_eq("SUCCESS", status)
    live.check_eq("pmix.qry.ptable 4", said[0])
    states = []
    for rank, row in enumerate(said[1:]):
        space, number, host, program, pid, code, *state = row.split()
        live.check_eq(("one-job", rank, "here", "/bin/one", 1000 + rank, "0"),
                      (space, int(number), host, program, int(pid), code))
        states.append(" ".join(state))
    live.check_eq(4, len(set(states)), states)
    live.check_eq("PROC EXECUTING", states[1])
    live.check_eq((["pmix.lprocs 4", *(f"  one-job {rank}"
                                       for rank in range(4))], "SUCCESS"),
                  tool.query("pmix.lprocs"))
    leave(one, tool)


def qualifiers():
    """They come with their types, in their order; each query has its own."""
    one, tool = connect()
    tool.query("pmix.nspace=some pmix.rank=3 pmix.nodeid=7 pmix.procid=that/4 "
               "pmix.hname=#9 pmix.qry.ns | pmix.qry.jst pmix.nspace=other "
               "pmix.rank=1")
    live.check_eq(["pmix.qry.ns"], one.wait("query"))
    rows = [one.wait("qualifier") for _ in range(6)]
    live.check_eq([["pmix.qry.rfsh", "flag", "1"],
                   ["pmix.nspace", "text", "some"],
                   ["pmix.rank", "rank", "3"],
                   ["pmix.nodeid", "number", "0", "7"],
                   ["pmix.procid", "name", "that", "4"],
                   ["pmix.hname", "number", "4", "9"]], rows)
    live.check_eq(["pmix.qry.jst"], one.wait("query"))
    live.check_eq(["pmix.nspace", "text", "other"], one.wait("qualifier"))
    live.check_eq(["pmix.rank", "rank", "1"], one.wait("qualifier"))
    leave(one, tool)


def keys():
    """Those of one query come together, in their order; with PMIx 5 each in a
    query of its own."""
    one, tool = connect()
    tool.query("pmix.qry.ns pmix.job.size | pmix.qry.jst")
    both = ["pmix.qry.ns", "pmix.job.size"]
    for of_one in [[key] for key in both] if pmix.is_5() else [both]:
        live.check_eq(of_one, one.wait("query"))
        live.check_eq(["pmix.qry.rfsh", "flag", "1"], one.wait("qualifier"))
    live.check_eq(["pmix.qry.jst"], one.wait("query"))
    leave(one, tool)


def bare_rank():
    """A rank needs no namespace."""
    pmix.until_5("its library ends the tool")
    one, tool = connect()
    tool.query("pmix.rank=1 pmix.qry.jst")
    live.check_eq(["pmix.qry.jst"], one.wait("query"))
    live.check_eq([["pmix.qry.rfsh", "flag", "1"], ["pmix.rank", "rank", "1"]],
                  [one.wait("qualifier") for _ in range(2)])
    leave(one, tool)


def refused():
    """Some keys are not known, or none; a query has no key."""
    one, tool = connect()
    live.check_eq(([], "NOT SUPPORTED"), tool.query("no.such.key"))
    live.check_eq("PARTIAL SUCCESS", tool.query("pmix.qry.ns no.such.key")[1])
    live.check_eq((["pmix.qry.ns one-job"], "SUCCESS"),
                  tool.query("pmix.qry.ns"))
    leave(one, tool)


def supported():
    """The library says what is supported, and does not ask; of queries what
    the helper has named. It would fall over a number there."""
    pmix.until_5("its library does not say for which calls it asks, and that "
                 "of the helper knows none")
    one, tool = connect()
    live.check_eq("BAD PARAM", tool.ask(
        "query pmix.qry.attrs pmix.host.attrs=#1")[1])
    for call, some, many in (("PMIx_Query_info", "PMIX_QUERY_PROC_TABLE", 3),
                             ("PMIx_Spawn", "PMIX_FWD_STDOUT", 40),
                             ("PMIx_Job_control", "PMIX_JOB_CTRL_KILL", 5),
                             ("PMIx_IOF_pull", "PMIX_IOF_COPY", 8),
                             ("PMIx_IOF_push", "PMIX_IOF_PUSH_STDIN", 2),
                             ("PMIx_Log", "PMIX_LOG_STDERR", 2)):
        said, status = tool.ask(
            f"query pmix.qry.attrs pmix.host.attrs={call}")
        live.check_eq("SUCCESS", status, call)
        names = [line.split()[-1] for line in said if "PMIX_" in line]
        live.check(some in names and len(names) >= min(many, 30),
                   f"{call}: {names}")
    live.check_eq(1, sum(line[0] == "query" for line in one.seen),
                  "it was not asked")
    leave(one, tool)


def spawnable():
    """What a spawn may say, by key."""
    one, tool = connect()
    said, _ = tool.query("pmix.qry.spawn")
    live.check("pmix.fwd.stdout" in said[0].split()[1].split(","), said)
    live.check("pmix.iof.xml" in said[0].split()[1].split(","), said)
    leave(one, tool)


def waits():
    """A query that is answered later delays no other; a tool that is killed
    while one waits leaves nothing, and the answer is dropped."""
    one, tool = connect()
    tool.tell("query pmix.qry.rfsh=1 xylem.keep")
    one.wait("kept")
    live.check_eq([0, 0], one.now(), "the helper goes on")
    one.tell("answer")
    live.check_eq(([], "SUCCESS"), tool.answer())
    tool.tell("query pmix.qry.rfsh=1 xylem.keep")
    one.wait("kept")
    tool.proc.kill()
    tool.proc.wait()
    one.gone()


def controls():
    """Orders are signals, and say which processes they are for."""
    one, tool = connect()
    for order, want, status in (
            ("pmix.jctrl.sig=10 0 3", "10 one-job:0 one-job:3", "SUCCESS"),
            ("pmix.jctrl.sig=64 *", "64 one-job:-2", "SUCCESS"),
            ("pmix.jctrl.sig=12 *", "12 one-job:-2", "NOT_AVAILABLE"),
            ("pmix.jctrl.kill node", "9 one-job:-3", "SUCCESS"),
            ("pmix.jctrl.term peers", "15 one-job:-5", "SUCCESS"),
            ("pmix.jctrl.pause", "19", "SUCCESS"),
            ("pmix.jctrl.resume 1", "18 one-job:1", "SUCCESS")):
        live.check_eq(status, tool.ask("control " + order)[1], order)
        live.check_eq(want.split(), one.wait("control"), order)
    for order, status in (("pmix.jctrl.sig=0", "BAD PARAM"),
                          ("pmix.jctrl.sig=65", "BAD PARAM"),
                          ("pmix.jctrl.sig", "BAD PARAM"),
                          ("pmix.jctrl.kill=1", "BAD PARAM"),
                          ("pmix.jctrl.quux", "NOT SUPPORTED")):
        live.check_eq(status, tool.ask("control " + order)[1], order)
    live.check_eq(7, sum(line[0] == "control" for line in one.seen))
    leave(one, tool)


def logs():
    """Texts come with their place; one that is required and cannot be served is
    refused, with a word of why."""
    one, tool = connect()
    live.check_eq("SUCCESS", tool.ask("log out so be it")[1])
    live.check_eq(["out", "so", "be", "it"], one.wait("log"))
    live.check_eq("SUCCESS", tool.ask("log err and so")[1])
    live.check_eq(["err", "and", "so"], one.wait("log"))
    live.check_eq("NOT SUPPORTED", tool.ask("log out+no.such this")[1])
    live.check_eq("PMIx_Log was refused: no.such is not supported",
                  " ".join(one.wait("note")))
    live.check_eq(2, sum(line[0] == "log" for line in one.seen))
    leave(one, tool)


def events():
    """The tool gets an event, with its infos, whether it has registered before
    or registers later; a code that is not that of an event is refused."""
    for is_late in (False, True):
        one, tool = connect()
        if not is_late:
            live.check_eq("SUCCESS", tool.ask("events one-job")[1])
        live.check_eq(NO_ERROR, one.told(f"event {STATUS_JOB_END} one-job"))
        live.check_eq(OV_EINVAL, one.told("event 0 one-job"))
        live.check_eq(OV_EINVAL, one.told("event 5 one-job"))
        if is_late:
            one.now()
            live.check_eq("SUCCESS", tool.ask("events one-job")[1])
        event = tool.wait_event("JOB ENDED")
        live.check_eq("one-job 4294967294", event["pmix.evproc"])
        live.check_eq("ABORTED BY SIGNAL",
                      event["pmix.job.term.status"].replace("-", " "))
        leave(one, tool)


def between():
    """What a tool notifies comes to another one by both their helpers, and not
    what is for itself alone, nor what the tool is told itself."""
    one, tool = connect()
    two, other = connect(name="other")
    live.check_eq("SUCCESS", other.ask("events one-job")[1])
    live.check_eq("SUCCESS", tool.ask("events one-job")[1])
    live.check_eq("SUCCESS", tool.ask(f"notify {JOB_END} {OWN}")[1])
    for range_of in (SESSION, LOCAL):
        live.check_eq("SUCCESS", tool.ask(f"notify {JOB_END} {range_of}")[1])
        path, = one.wait("event")
        live.check_eq(NO_ERROR, two.told("of " + path))
        live.eventually(lambda: "JOB ENDED end" in other.events, 60, "heard")
        event = other.wait_event("JOB ENDED")
        live.check_eq({"pmix.evproc": "one-job 4294967294"}, event)
        other.events.clear()
    live.check_eq(NO_ERROR, two.told(f"event {STATUS_JOB_END} one-job"))
    live.eventually(lambda: "JOB ENDED end" in other.events, 60, "heard")
    leave(one, tool)
    leave(two, other)
    for single_one, count in ((one, 2), (two, 0)):
        live.check_eq(count, sum(line[0] == "event"
                                 for line in single_one.seen))


def strange():
    """Bytes that no helper has made are refused, whatever they are."""
    one, tool = connect()
    live.check_eq("SUCCESS", tool.ask("events one-job")[1])
    live.check_eq("SUCCESS", tool.ask(f"notify {JOB_END} {SESSION}")[1])
    path, = one.wait("event")
    whole = live.read_file(path)
    for size in range(len(whole)):
        with open(path, "wb") as file:
            file.write(whole[:size])
        live.check_eq(OV_EPROTO, one.told("of " + path), size)
    leave(one, tool)


def main():
    pmix.need()
    for test, sentence in (
            (values, "answers of each type"),
            (tables, "tables of processes"),
            (qualifiers, "qualifiers"),
            (keys, "several keys"),
            (bare_rank, "a rank alone"),
            (refused, "queries that are refused"),
            (supported, "what each call supports"),
            (spawnable, "what a spawn may say"),
            (waits, "queries that wait"),
            (controls, "job control"),
            (logs, "logs"),
            (events, "events for the tool"),
            (between, "events between tools"),
            (strange, "events that nobody has made")):
        with live.case(sentence):
            test()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
