#!/usr/bin/env python3
"""Tools start jobs in the tree of a run, with PMIx_Spawn. These jobs have names
of their own, by which tools pull their output, ask about them, get their events
and signal them."""
import os
import signal
import sys
import threading

import pmix
import live
import spawning
from live import check, check_eq


def pulled():
    """Two programs of one job, each with its ranks, directory and environment,
    at the same time as the run's own; the console shows no output of theirs."""
    door = pmix.Gate()
    job, gate = spawning.start("echo own")
    tool = spawning.connect(job)
    place = os.path.realpath(live.TMP)
    script = (": <$0; echo $XYLEM_RANK of $XYLEM_SIZE in $PWD $WHAT; "
              "echo bad >&2").replace(" ", "\\s")
    space, status = tool.spawn(
        "!pmix.fwd.stdout !pmix.fwd.stderr "
        f"-- cwd={place} env=WHAT=first 2 sh -c {script} {door.path} : "
        f"cwd=/ env=WHAT=second 3 sh -c {script} {door.path}")
    check_eq("SUCCESS", status)
    own = tool_asks(job, "pmix.qry.ns")[0].split(",")[0]
    check(space not in (None, own), "a namespace of its own: %s" % space)
    tool.do(f"pull {space} *")
    door.open()
    tool.wait_ends(space, 5)
    for rank in range(5):
        where, what = (place, "first") if rank < 2 else ("/", "second")
        check_eq(f"{rank} of 5 in {where} {what}\n", tool.got(space, rank))
        check_eq("bad\n", tool.got(space, rank, "stderr"))
    check_eq(0, tool.end())
    gate.open()
    check_eq(b"own\n" * 3, job.stdout.read())
    job.check_ok()


def tool_asks(job, keys, *options):
    """The answers of one query, without their keys."""
    asker = pmix.Asker(job)
    asker.connect()
    said, status = asker.query(" ".join((*options, keys)))
    asker.end()
    return [line.split(None, 1)[1] for line in said] or [status]


def known():
    """Queries and events of two jobs beside the run's own, one of which is
    killed and the other one fails."""
    door = pmix.Gate()
    job, gate = spawning.start()
    tool = spawning.connect(job)
    one, status = tool.spawn("!pmix.note.jev !pmix.notecomp "
                             f"-- 2 sh -c :\\s<$0;exit\\s3 {door.path}")
    check_eq("SUCCESS", status)
    two, status = tool.spawn("-- 3 sleep 1000")
    check_eq("SUCCESS", status)
    for space in (one, two):
        tool.do("events " + space)
        tool.wait_event("JOB STARTED", space)
        tool.wait_event("PMIX LAUNCH COMPLETE", space)
    own = tool_asks(job, "pmix.qry.ns")[0].split(",")[0]
    check_eq([",".join((own, one, two))], tool_asks(job, "pmix.qry.ns"))
    for space, size, program in ((one, 2, "sh"), (two, 3, "sleep")):
        table = tool_asks(job, "pmix.qry.ptable", "pmix.nspace=" + space)
        check_eq(str(size), table[0])
        check_eq([[space, str(rank), program] for rank in range(size)],
                 [[space, row.split()[0], row.split()[2]]
                  for row in table[1:]])
    check_eq(["JOB STARTED"], tool_asks(job, "pmix.qry.jst",
                                        "pmix.nspace=" + two))
    tool.do(f"signal {two} * 9")
    check(tool.wait_event("JOB ENDED", two).endswith("ABORTED-BY-SIG") or
          "SIG" in tool.wait_event("JOB ENDED", two), tool.events)
    check_eq(["JOB ENDED"], tool_asks(job, "pmix.qry.jst",
                                      "pmix.nspace=" + two))
    check_eq("NOT_AVAILABLE", tool.ask(f"signal {two} * 10")[1],
             "it is over")
    check(not tool.happened("JOB ENDED", one), "the other one runs")
    door.open()
    check("NON" in tool.wait_event("JOB ENDED", one), tool.events)
    kept, status = tool.spawn("!pmix.nohup -- 1 sleep 1000")
    check_eq("SUCCESS", status)
    check_eq(0, tool.end())
    live.eventually(lambda: "has disconnected" in job.said(), 60,
                    "the tool is gone")
    check_eq(["JOB STARTED"], tool_asks(job, "pmix.qry.jst",
                                        "pmix.nspace=" + kept))
    tool = spawning.connect(job)
    tool.do(f"signal {kept} * 9")
    check_eq(0, tool.end())
    gate.open()
    job.check_ok()


def left():
    """A job ends with the tool that has started it, by SIGTERM or, where that
    does not help, SIGKILL; the run's own job does not."""
    job, gate = spawning.start("echo own")
    for leaves in (lambda tool: tool.end(), lambda tool: tool.proc.kill()):
        tool = spawning.connect(job)
        script = "trap\\s''\\sTERM;echo\\shere;while\\s:;do\\ssleep\\s1;done"
        spaces = [tool.spawn(what)[0] for what in (
            "-- 2 sleep 1000", f"-- 1 sh -c {script}")]
        check(None not in spaces, spaces)
        leaves(tool)
        for space in spaces:
            live.eventually(lambda: tool_asks(
                job, "pmix.qry.jst", "pmix.nspace=" + space) == ["JOB ENDED"],
                60, "it is over")
    gate.open()
    check_eq(b"own\n" * 3, job.stdout.read())
    job.check_ok()


def changed():
    """The environment, for a job and for one of its programs; the directory;
    how many processes a node has."""
    job, gate = spawning.start(OURS="1", PART="mid", GONE="x")
    tool = spawning.connect(job)
    place = os.path.realpath(live.TMP)
    script = ("echo $OURS,$NEW,$PART,${GONE-none},$PWD,$XYLEM_NODE"
              .replace(" ", "\\s"))
    gone = pmix.Gate()
    script = ":\\s<$0;" + script
    space, status = tool.spawn(
        "pmix.fwd.stdout pmix.fwd.stderr "
        "pmix.envar.add=OURS=2 pmix.envar.add=NEW=3 pmix.envar.prepnd=PART=a "
        "pmix.envar.appnd=PART=z pmix.envar.unset=GONE !pmix.ppr=1:node "
        f"!pmix.wdir={place} -- 2 sh -c {script} {gone.path} : "
        f"pmix.envar.set=OURS=9 !pmix.mapby=slot 1 sh -c {script} {gone.path}")
    check_eq("SUCCESS", status)
    tool.do(f"pull {space} *")
    gone.open()
    tool.wait_ends(space, 3)
    rows = [tool.got(space, rank).strip().split(",") for rank in range(3)]
    for row, ours in zip(rows, "119"):
        check_eq([ours, "3", "a:mid:z", "none", place], row[:5])
    check(rows[0][5] != rows[1][5], "one on a node: %s" % rows)
    for what, status in (("!pmix.ppr=1:numa", "NOT SUPPORTED"),
                         ("pmix.ppr=1", "BAD PARAM"),
                         ("!pmix.mapby=numa", "NOT SUPPORTED"),
                         ("!pmix.host=", "BAD PARAM"),
                         ("!pmix.alloc.nnodes:3", "NOT SUPPORTED"),
                         ("pmix.alloc.nnodes:3", "NOT SUPPORTED"),
                         ("pmix.alloc.queue=night", "NOT SUPPORTED")):
        said = tool.spawn(what + " -- 1 true")[1]
        check(said and status in said.replace("-", " "), what + ": %s" % said)
        live.eventually(lambda: "refused: " + what.strip("!").split("=")[0]
                        .split(":")[0] in job.said(), 60, what)
    check_eq(0, tool.end())
    gate.open()
    job.check_ok()


def hosts_of(job, space):
    """Where the processes of that job are, by rank."""
    rows = tool_asks(job, "pmix.qry.ptable", "pmix.nspace=" + space)[1:]
    return " ".join(row.split()[1] for row in rows)


def placed():
    """On hosts that the tool names, of the job or of a program, in their order
    and by their slots; in a file that is found where the program is to be."""
    job, gate = spawning.start("true", "-w", "n2,n0,n1", "--launcher", "local")
    tool = spawning.connect(job)
    place = os.path.realpath(live.TMP)
    with open(os.path.join(place, "some"), "w", encoding="ascii") as file:
        file.write("# two of them\nn1 slots=2\nn0\n")
    os.mkfifo(os.path.join(place, "pipe"))
    for what, want in (
            ("-- 3 true", "n2 n0 n1"),
            ("!pmix.host=n1,n2 -- 3 true", "n1 n1 n2"),
            ("!pmix.host=n2,n0:2 -- 3 true", "n2 n0 n0"),
            ("!pmix.host=n1:*,n0:auto -- 0 true", "n1 n0"),
            ("!pmix.host=n1,n1,n2 -- 3 true", "n1 n1 n2"),
            ("-- !pmix.host=n0 1 true : !pmix.host=n1,n2 2 true : 1 true",
             "n0 n2 n1 n2"),
            ("!pmix.host=n0 -- 1 true : pmix.host=n1 1 true", "n0 n1"),
            (f"!pmix.hostfile={place}/some -- 3 true", "n1 n1 n0"),
            (f"!pmix.hostfile=some -- cwd={place} 1 true", "n1"),
            (f"!pmix.hostfile={place}/some !pmix.host=n0 -- 1 true", "n0"),
            ("!pmix.mapby=slot !pmix.host=n0:2,n1:2 -- 2 true", "n0 n0"),
            ("!pmix.mapby=node !pmix.host=n0:2,n1:2 -- 2 true", "n0 n1"),
            ("!pmix.mapby=ppr:2:node !pmix.rankby=slot -- 3 true", "n2 n2 n0"),
            (f"!pmix.addhost=n1 !pmix.addhostfile={place}/some -- 1 true",
             "n2")):
        space, status = tool.spawn(what)
        check_eq("SUCCESS", status, what)
        check_eq(want, hosts_of(job, space), what)
        spawning.wait_over(job, space)  # the least busy are first
    for what, status, words in (
            ("pmix.host=n1,nix -- 1 true", "NOT FOUND", "nix of the list"),
            (f"pmix.host=n2 pmix.hostfile={place}/some -- 1 true", "NOT FOUND",
             "n2 of the list of hosts is not a host of the host file"),
            ("pmix.host=n1:1 -- 2 true", "INSUFFICIENT", "1 slot"),
            ("pmix.host=n[ -- 1 true", "BAD PARAM", "after \"n["),
            (f"pmix.hostfile={place}/pipe -- 1 true", "BAD PARAM",
             "not a file"),
            ("pmix.hostfile=/nix -- 1 true", "BAD PARAM", "/nix cannot"),
            ("pmix.addhost=nix -- 1 true", "ALLOC", "nix cannot be added"),
            ("!pmix.rankby=node -- 1 true", "NOT SUPPORTED", "pmix.rankby")):
        said = tool.spawn(what)[1]
        check(said and status in said.replace("-", " ").upper(),
              what + ": %s" % said)
        live.eventually(lambda: words in job.said(), 60, words)
    check_eq(0, tool.end())
    gate.open()
    job.check_ok()


def refused():
    job, gate = spawning.start()
    tool = spawning.connect(job)
    text = os.path.join(live.TMP, "text")
    with open(text, "w", encoding="ascii"):
        os.chmod(text, 0o600)
    for what, status in (
            ("-- 1 /no/such/program", "EXECUTABLE NOT FOUND"),
            ("-- 1 " + text, "NOT EXECUTABLE"),
            ("-- cwd=/no/such/dir 1 true", "WORKING DIRECTORY NOT FOUND"),
            ("-- 1000 true", "INSUFFICIENT RESOURCES"),
            ("!no.such.key -- 1 true", "NOT SUPPORTED"),
            ("pmix.fwd.stdout=yes -- 1 true", "BAD PARAM"),
            ("pmix.nohup::1 -- 1 true", "BAD PARAM"),
            ("pmix.logcomp=yes -- 1 true", "BAD PARAM"),
            ("pmix.notecomp::1 -- 1 true", "BAD PARAM"),
            ("pmix.wdir.user=yes -- 1 true", "BAD PARAM"),
            ("pmix.iof.tag::1 -- 1 true", "BAD PARAM"),
            ("pmix.iof.csize=1000 -- 1 true", "BAD PARAM"),
            ("pmix.iof.new=yes -- 1 true", "BAD PARAM"),
            ("-- !pmix.fwd.stdout 1 true", "NOT SUPPORTED"),
            ("-- !pmix.fwd.stdin 1 true", "NOT SUPPORTED"),
            ("-- !pmix.iof.tag 1 true", "NOT SUPPORTED"),
            (f"-- !pmix.iof.file={text} 1 true", "NOT SUPPORTED"),
            ("-- 1 true : !pmix.iof.csize:1000 1 true", "NOT SUPPORTED")):
        space, said = tool.spawn(what)
        check_eq(None, space, what)
        check(said and status in said.replace("-", " ").upper(),
              "%s: %s" % (what, said))
    for words in ("no.such.key is not supported", "has room for",
                  "pmix.nohup has a wrong value",
                  "pmix.iof.tag is not supported for an app",
                  "rank 0: chdir of '/no/such/dir': No such"):
        live.eventually(lambda: words in job.said(), 60, words)
    space, said = tool.spawn(f"-- pmix.iof.file={text} pmix.fwd.stdout=no "
                             "1 true")
    check_eq("NOT SUPPORTED", said, "what is for a job alone is no app's:")
    space = tool.spawn("pmix.fwd.stdout -- 1 true")[0]
    for word in ("pmix.iof.csize=1000", "pmix.iof.old::1",
                 "pmix.iof.cpy=yes"):
        check_eq("BAD PARAM", tool.ask(f"pull {space} * out {word}")[1].replace(
            "-", " "), word)
    check_eq("SUCCESS", tool.spawn("no.such.key -- 1 true")[1],
             "what is not required is ignored:")
    check_eq(0, tool.end())
    gate.open()
    job.check_ok()


def signalled():
    """A signal to the launcher while a job is started reaches each process of
    it, also where one node of a daemon learns of the job and of the signal
    before another node of that daemon has learned of either."""
    job, gate = spawning.start("", "--nodes-per-daemon", 2, "--arity", 3,
                               nodes=10, wait="trap '' USR1; : <$0")
    tool = spawning.connect(job)
    place = os.path.join(live.TMP, "signalled")
    script = "echo\s$PPID>$0.$XYLEM_RANK;exec\stail\s-f\s/dev/null"
    first = tool.spawn(f"-- 10 sh -c {script} {place}-all")[0]

    def told(name, ranks):
        paths = ["%s%s.%d" % (place, name, rank) for rank in ranks]
        live.eventually(lambda: all(live.read_file(path).endswith(b"\n")
                                    for path in paths), 60, "all are there")
        return [int(live.read_file(path)) for path in paths]

    def tails(pid):
        return [one for one in live.descendants(pid)
                if live.read_proc(one, "comm") == b"tail\n"]

    # Nodes 4 and 9 have one daemon; the parents of both have two others.
    spawners = told("-all", range(10))
    check_eq(spawners[4], spawners[9], "one daemon")
    tool.do("events " + first)
    job.proc.send_signal(signal.SIGUSR1)
    tool.wait_event("JOB ENDED", first)
    stuck = live.parent(spawners[2])
    os.kill(stuck, signal.SIGSTOP)
    said = []
    waits = threading.Thread(target=lambda: said.append(
        tool.spawn(f"-- 10 sh -c {script} {place}")))
    waits.start()
    told("", (4,))
    check(not os.path.exists(place + ".9"), "9 has not heard of the job")
    job.proc.send_signal(signal.SIGUSR1)
    live.eventually(lambda: not tails(spawners[4]), 60, "4 has the signal")
    os.kill(stuck, signal.SIGCONT)
    waits.join()
    tool.do("events " + said[0][0])
    tool.wait_event("JOB ENDED", said[0][0])
    check_eq(0, tool.end())
    gate.open()
    job.check_ok()


def main():
    pmix.need()
    for test, sentence in (
            (pulled, "output by rank and program"),
            (known, "queries, events and signals"),
            (left, "jobs end with the tool that has started them"),
            (changed, "environment, directory and places"),
            (placed, "hosts"),
            (signalled, "signals while a job is started"),
            (refused, "what cannot be started, and why")):
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
