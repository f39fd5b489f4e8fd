#!/usr/bin/env python3
"""Tools query the job: every field of its processes, by key and qualifier; a
query that cannot be answered gets the status of the standard."""
import glob
import os
import re
import shutil
import socket
import subprocess
import sys

import pmix
import live
import spawning

RANKS = 4
HOST = socket.gethostname()


def start(*nodes, command="exit 0"):
    gate = pmix.Gate()
    job = pmix.Job("-v", *(nodes or ("-N", RANKS)), "--", "sh", "-c",
                   pmix.Gate.WAIT + command, gate.path)
    pmix.wait_up(job)
    live.eventually(lambda: "processes are running" in job.said(), 60,
                    "all run")
    return job, gate


def rank_of(pid):
    """The rank of a process of the job, from its own environment."""
    with open(f"/proc/{pid}/environ", "rb") as file:
        env = dict(word.split(b"=", 1) for word in file.read().split(b"\0")
                   if b"=" in word)
    return int(env[b"XYLEM_RANK"])


def table():
    """A table names each process by all that it is, and with a pid that is
    the kernel's."""
    job, gate = start()
    tool = pmix.Asker(job)
    live.check(tool.connect(), "connected")
    (space,), status = tool.query("pmix.qry.ns")
    live.check_eq("SUCCESS", status)
    space = space.split()[1]
    for key in ("pmix.qry.ptable", "pmix.qry.lptable"):
        (head, *rows), status = tool.query(key)
        live.check_eq("SUCCESS", status)
        live.check_eq(f"{key} {RANKS}", head)
        for rank, row in enumerate(rows):
            name, number, host, program, pid, code, *state = row.split()
            live.check_eq((space, str(rank), HOST, "sh", "0"),
                          (name, number, host, program, code))
            live.check_eq("PROC EXECUTING", " ".join(state))
            live.check_eq(rank, rank_of(pid), "the process of this pid")
    (_, row), status = tool.query(
        f"pmix.nspace={space} pmix.rank=2 pmix.qry.ptable")
    live.check_eq("2", row.split()[1])
    gate.open()
    job.check_ok()
    tool.end()


def hosts():
    """What is local is what runs on the launcher's host. Nodes have the numbers
    of their hosts in the order of names."""
    job, gate = start("-w", f"{HOST},other,third", "--ppn", 2)
    tool = pmix.Asker(job)
    live.check(tool.connect(), "connected")
    rows, status = tool.query("pmix.qry.ptable")
    live.check_eq("SUCCESS", status)
    live.check_eq(2 * [HOST] + 2 * ["other"] + 2 * ["third"],
                  [row.split()[2] for row in rows[1:]])
    node = sorted((HOST, "other", "third")).index
    for order, ranks in (("pmix.qry.lptable", [0, 1]),
                         ("pmix.hname=other pmix.qry.lptable", [2, 3]),
                         (f"pmix.nodeid={node('third')} pmix.qry.ptable",
                          [4, 5])):
        rows, status = tool.query(order)
        live.check_eq(("SUCCESS", ranks),
                      (status, [int(row.split()[1]) for row in rows[1:]]))
    for order, ranks in (("pmix.lpeers", "0,1"),
                         ("pmix.hname=third pmix.lpeers", "4,5"),
                         (f"pmix.nodeid={node('other')} pmix.lpeers", "2,3")):
        live.check_eq(([f"pmix.lpeers {ranks}"], "SUCCESS"), tool.query(order))
    live.check_eq((["pmix.local.size 2"], "SUCCESS"),
                  tool.query("pmix.hname=other pmix.local.size"))
    gate.open()
    job.check_ok()
    tool.end()


def orders():
    """Qualifiers are about the job that one of them names, whichever comes
    first, and do not contradict each other."""
    job, gate = start("-w", f"{HOST},other", "-n", 2)
    first = spawning.connect(job)
    space, status = first.spawn("pmix.ppr=2:node -- 4 sleep 1000")
    live.check_eq("SUCCESS", status)
    tool = pmix.Asker(job)
    live.check(tool.connect(), "connected")
    own = tool.query("pmix.qry.ns")[0][0].split()[1].split(",")[0]
    rows = {int(row.split()[1]): row for row in tool.query(
        f"pmix.nspace={space} pmix.qry.ptable")[0][1:]}
    live.check_eq([0, 1, 2, 3], sorted(rows))
    last = 3
    live.check_eq("other", rows[last].split()[2])
    node = sorted((HOST, "other")).index("other")
    named, rank = f"pmix.nspace={space}", f"pmix.rank={last}"
    one = ["pmix.qry.ptable 1", rows[last]]
    for words, want in (
            ((rank, named), one), ((rank, f"pmix.procid={space}/{last}"), one),
            ((f"pmix.hname=other {rank}", named), one),
            ((rank, f"pmix.nodeid={node}", named), one),
            ((rank, named, f"pmix.hname={HOST}"), None),
            ((f"pmix.rank={last - 1}", f"pmix.procid={space}/{last}"), None),
            ((f"pmix.nspace={own}", f"pmix.procid={space}/{last}"), None),
            ((f"pmix.rank=%{last}", named), one)):
        for turn in (words, words[::-1]):
            said, status = tool.query(" ".join((*turn, "pmix.qry.ptable")))
            live.check_eq(want or [], said, turn)
            live.check_eq(bool(want), status == "SUCCESS", (turn, status))
    for words in (("pmix.hname=other", f"pmix.hname={HOST}"),
                  ("pmix.nodeid=0", "pmix.nodeid=1")):
        said, _ = tool.query(" ".join((named, *words, "pmix.lpeers")))
        live.check_eq(["pmix.lpeers 0,1,2,3"], said, words)
    live.check_eq(0, first.end())
    gate.open()
    job.check_ok()
    tool.end()


def ended():
    """Processes that have ended: their state and exit code, and what a tool
    gets that connects after the end."""
    job, gate = start()
    first = spawning.connect(job)
    space, status = first.spawn("-- 2 sh -c "
                                "test\\s$XYLEM_RANK\\s=\\s0&&exit\\s7;"
                                "kill\\s-9\\s$$")
    live.check_eq("SUCCESS", status)
    tool = pmix.Asker(job)
    live.check(tool.connect(), "connected")

    def rows():
        return tool.query(f"pmix.nspace={space} pmix.qry.ptable")[0][1:]

    live.eventually(lambda: tool.query(
        f"pmix.nspace={space} pmix.qry.jst")[0] ==
        ["pmix.qry.jst JOB ENDED"], 60, "it is over")
    live.check_eq(["PROC HAS TERMINATED", "PROC ABORTED BY SIGNAL"],
                  [row.split(None, 6)[6].replace("-", " ").upper()
                   for row in rows()])
    for rank, code in ((0, 7), (1, 128 + 9)):
        live.check_eq(([f"pmix.exit.code {code}"], "SUCCESS"), tool.query(
            f"pmix.nspace={space} pmix.rank={rank} pmix.exit.code"))
    live.check_eq("SUCCESS", tool.ask(f"events {space}")[1])
    event = tool.wait_event("JOB ENDED")
    live.check_eq(space, event["pmix.nspace"])
    live.check(int(event["pmix.evtstamp"]) > 0, event)
    gate.open()
    job.check_ok()
    tool.end()
    first.end()


def keys():
    """Several queries of several keys; some of them fail. The library of a
    tool then returns nothing of what is known, before PMIx 5."""
    job, gate = start()
    tool = pmix.Asker(job)
    space = tool.connect() and tool.query("pmix.qry.ns")[0][0].split()[1]
    said, status = tool.query("pmix.qry.jst,pmix.qry.ns | pmix.qry.ns")
    live.check_eq(["pmix.qry.jst JOB STARTED", f"pmix.qry.ns {space}",
                   f"pmix.qry.ns {space}"], said)
    live.check_eq("SUCCESS", status)
    for order, want in (
            ("pmix.qry.qlst", "NOT SUPPORTED"),
            ("pmix.qry.qst", "NOT SUPPORTED"),
            ("pmix.nspace=nobody pmix.qry.ptable", "NOT FOUND"),
            (f"pmix.nspace={space} pmix.rank=99 pmix.qry.ptable",
             "NOT FOUND"),
            ("pmix.hname=nowhere pmix.qry.ptable", "NOT FOUND"),
            ("pmix.nodeid=9 pmix.lpeers", "NOT FOUND"),
            ("pmix.hname=#0 pmix.qry.lptable", "BAD PARAM"),
            ("pmix.nodeid=#0 pmix.lpeers", "BAD PARAM")):
        live.check_eq(([], want), tool.query(order), order)
    some = [f"pmix.qry.ns {space}"] if pmix.is_5() else []
    live.check_eq((some, "PARTIAL SUCCESS"),
                  tool.query("pmix.qry.qlst,pmix.qry.ns"))
    ranks = ",".join(map(str, range(RANKS)))
    for order in ("pmix.lpeers", f"pmix.hname={HOST} pmix.lpeers",
                  "pmix.nodeid=0 pmix.lpeers"):
        live.check_eq(([f"pmix.lpeers {ranks}"], "SUCCESS"), tool.query(order))
    live.check_eq(([f"pmix.lprocs {RANKS}"] +
                   [f"  {space} {rank}" for rank in range(RANKS)], "SUCCESS"),
                  tool.query("pmix.lprocs"))
    live.check_eq(([f"pmix.local.size {RANKS}"], "SUCCESS"),
                  tool.query("pmix.local.size"))
    live.check_eq(([f"pmix.job.size {RANKS}"], "SUCCESS"),
                  tool.query("pmix.job.size"))
    (named,), _ = tool.query("pmix.qry.keys")
    live.check("pmix.qry.ptable" in named.split()[1].split(","), named)
    info, _ = tool.query("pmix.qry.nsinfo")
    live.check(f"    pmix.nspace {space}" in info, info)
    live.check_eq(([], "BAD PARAM"), tool.query("pmix.exit.code"))
    live.check_eq(([], "NOT SUPPORTED"), tool.ask("allocate"))
    gate.open()
    job.check_ok()
    tool.end()


def odd_keys():
    """A namespace, a rank and a name that do not exist; a rank of the run's
    own job."""
    pmix.until_5("its library ends the tool")
    job, gate = start()
    tool = pmix.Asker(job)
    live.check(tool.connect(), "connected")
    for order, want in (
            ("pmix.nspace=#3 pmix.qry.ptable", "BAD PARAM"),
            ("pmix.rank=#0 pmix.qry.ptable", "BAD PARAM"),
            ("pmix.procid=#0 pmix.qry.ptable", "BAD PARAM"),
            ("pmix.rank=1 pmix.exit.code", "NOT FOUND")):
        live.check_eq(([], want), tool.query(order), order)
    gate.open()
    job.check_ok()
    tool.end()


CALLS = {"PMIx_IOF_pull", "PMIx_IOF_push", "PMIx_Job_control", "PMIx_Log",
         "PMIx_Query_info", "PMIx_Spawn"}


def support():
    """What is supported, by key and by the library's own query: of the host
    it is what the helper's tables have."""
    job, gate = start()
    tool = pmix.Asker(job)
    live.check(tool.connect(), "connected")
    (spawn, debug), status = tool.query("pmix.qry.spawn,pmix.qry.debug")
    live.check_eq("SUCCESS", status)
    words = set(spawn.split()[1].split(","))
    live.check({"pmix.wdir", "pmix.fwd.stdin", "pmix.fwd.stddiag",
                "pmix.nohup", "pmix.envar.set"} <= words, spawn)
    live.check_eq("pmix.qry.debug", debug.strip(), "no debuggers yet")
    (_, calls), status = tool.ask("query pmix.host.fns=all pmix.qry.attrs")
    live.check_eq("SUCCESS", status)
    live.check_eq(CALLS, set(calls.split()[1].split(",")))
    gate.open()
    job.check_ok()
    tool.end()


def supported_by():
    """The same call by call, and for the server."""
    pmix.until_5("its library does not say for which calls it asks, and that "
                 "of the helper knows none")
    job, gate = start()
    tool = pmix.Asker(job)
    live.check(tool.connect(), "connected")
    for call, some in (
            ("PMIx_IOF_pull", {"PMIX_IOF_COPY", "PMIX_IOF_REDIRECT",
                               "PMIX_IOF_CACHE_SIZE",
                               "PMIX_IOF_BUFFERING_TIME"}),
            ("PMIx_IOF_push", {"PMIX_IOF_PUSH_STDIN"}),
            ("PMIx_Query_info", {"PMIX_QUERY_PROC_TABLE", "PMIX_PROCID"}),
            ("PMIx_Spawn", {"PMIX_WDIR", "PMIX_FWD_STDIN", "PMIX_NOHUP"})):
        (_, head, *rows), status = tool.ask(
            f"query pmix.host.attrs={call} pmix.qry.attrs")
        live.check_eq("SUCCESS", status)
        live.check_eq(call, head.split()[0])
        live.check(some <= {row.strip() for row in rows}, (call, rows))
    said, status = tool.ask("query pmix.srvr.attrs=all pmix.host.fns=all "
                            "pmix.qry.attrs")
    live.check_eq("SUCCESS", status)
    live.check(any("PMIx_server_init" in row for row in said), said[:9])
    live.check_eq(2, sum(row.startswith("pmix.qry.attrs") for row in said))
    gate.open()
    job.check_ok()
    live.check("helper" not in job.said(), job.said())
    tool.end()


def servers():
    """Each run is a server of its own: a tool sees both, and is with both."""
    jobs = [start(), start()]
    tool = pmix.Asker(jobs[0][0])
    live.check(tool.connect(), "connected")
    seen, status = tool.ask("query pmix.qry.asrvrs")
    live.check_eq("SUCCESS", status)
    names = {row.split()[1] for row in seen
             if row.split()[0] == "pmix.srv.nspace"}
    first = tool.query("pmix.qry.ns")[0]
    (second,), status = tool.ask("attach %d" % jobs[1][0].proc.pid)
    live.check_eq("SUCCESS", status)
    live.check(second in names and len(names) == 2, names)
    live.check_eq("SUCCESS", tool.ask(f"server {second}")[1])
    other = tool.query("pmix.qry.ns")[0]
    live.check_eq(second, other[0].split()[1] + "-server")
    live.check(other != first, "it asks the other run")
    (back,) = names - {second}
    live.check_eq("SUCCESS", tool.ask(f"server {back} 60")[1])
    live.check_eq(first, tool.query("pmix.qry.ns")[0])
    both = pmix.Asker(jobs[0][0])
    live.check(both.connect(), "connected")
    live.check_eq("SUCCESS",
                  both.ask("attach %d primary" % jobs[1][0].proc.pid)[1])
    live.check_eq(other, both.query("pmix.qry.ns")[0], "it asks that at once")
    both.proc.kill()  # finalizing it waits for ever in libpmix 4.2
    both.proc.wait()
    for job, gate in jobs:
        gate.open()
        job.check_ok()
    tool.end()


def uri_of(job):
    with open(pmix.rendezvous(job), encoding="ascii") as file:
        return file.readline().strip()


def rendezvous():
    """By address, name, number, file; the files are the user's alone."""
    job, gate = start()
    folder = os.path.dirname(pmix.rendezvous(job))
    live.check_eq(0o700, os.stat(folder).st_mode & 0o777)
    files = sorted(os.path.basename(path) for path in
                   glob.glob(os.path.join(folder, f"pmix.{HOST}.tool*")))
    live.check(f"pmix.{HOST}.tool" in files and
               f"pmix.{HOST}.tool.{job.proc.pid}" in files, files)
    uri = uri_of(job)
    space = uri.split("-server.")[0]
    live.check(f"pmix.{HOST}.tool.{space}" in files, files)
    names = set()
    for options in (("-u", uri), ("-s", space), ("-p", job.proc.pid),
                    ("-f", os.path.join(folder, f"pmix.{HOST}.tool"))):
        tool = pmix.Asker(job, *options)
        name = tool.connect()
        live.check(name and name not in names, options)
        names.add(name)
        tool.end()
    tool = pmix.Asker(job, "-u", uri, "-i", "my-own")
    live.check_eq("my-own", tool.connect())
    twin = pmix.Asker(job, "-u", uri, "-i", "my-own")
    live.check_eq(None, twin.connect(), "a name that is taken")
    live.check(twin.end() != 0, "it ends")
    for name in (space, space + ".7", space + "-server", "xylem-nobody"):
        liar = pmix.Asker(job, "-u", uri, "-i", name)
        live.check_eq(None, liar.connect(), name)
        live.check(liar.end() != 0, "it ends")
    live.check_eq("SUCCESS", tool.query("pmix.qry.ns")[1])
    tool.end()
    gate.open()
    job.check_ok()


def namesakes():
    """Tools of one namespace come and go; what one of them has asked for is
    its own as long as it stays, and over when it leaves."""
    job, gate = start(command="echo out")
    uri = "-u", uri_of(job)
    listens = pmix.Asker(job, *uri, "-i", "grp", "-n", "pmix.tool.rank=1")
    live.check_eq("grp", listens.connect())
    live.check_eq("SUCCESS", listens.ask("events")[1])
    leaves = pmix.Tool(job, "-R", "-i", "grp:2")
    leaves.wait_ready()
    leaves.proc.kill()
    leaves.wait()
    live.eventually(lambda: "pull 1 has ended" in job.said(), 60, "it is over")
    stays = pmix.Tool(job, "-i", "grp:0", "-n", 2 * RANKS)
    stays.wait_ready()
    for rank in (3, 4):
        tool = pmix.Asker(job, *uri, "-i", "grp",
                          "-n", f"pmix.tool.rank={rank}")
        live.check_eq("grp", tool.connect())
        tool.end()
        live.eventually(lambda r=rank: f"tool grp.{r} has disconnected"
                        in job.said(), 60, "it has gone")
    gate.open()
    live.check_eq(b"out\n" * RANKS, job.stdout.read())
    job.check_ok()
    live.check_eq(0, stays.wait())
    for rank in range(RANKS):
        live.check_eq(b"out\n", stays.got(rank, "stdout"))
    listens.wait_event("JOB ENDED")
    listens.end()


def foreign():
    """A tool that others have built and that knows nothing of xylem: pps of
    the library's own package shows the jobs. It takes the only server that it
    finds, whatever its options say."""
    if not shutil.which("pps"):
        raise live.LeftOut("no pps here (package libpmix-bin)")
    job, gate = start()
    first = spawning.connect(job)
    own, status = first.spawn("-- 1 sleep 1000")
    live.check_eq("SUCCESS", status)
    spaces = {own, own.rsplit(".", 1)[0]}
    done = subprocess.run(["pps", "--pid", str(job.proc.pid)],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False,
                          timeout=60 * live.SLOW)
    live.check_eq(0, done.returncode, done.stdout)
    shown = re.search("^Active nspaces: (.*)$", done.stdout, re.M)
    live.check(shown and set(shown[1].split(",")) == spaces, done.stdout)
    live.check_eq(0, first.end())
    gate.open()
    job.check_ok()


def main():
    pmix.need()
    for test, sentence in (
            (table, "processes, field by field"),
            (hosts, "processes of several hosts"),
            (orders, "qualifiers in any order"),
            (ended, "processes that have ended"),
            (keys, "keys and qualifiers"),
            (odd_keys, "odd qualifiers"),
            (foreign, "a tool from elsewhere"),
            (support, "what is supported"),
            (supported_by, "what each call supports"),
            (servers, "two runs, one tool"),
            (rendezvous, "the ways to a server"),
            (namesakes, "tools of one namespace")):
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
