#!/usr/bin/env python3
"""Tools ask about the job: every field of its processes, by key and qualifier,
and what cannot be answered has the status of the standard.
"""
# timeout: 240
import glob
import os
import socket
import sys

import pmix
import live

RANKS = 4
HOST = socket.gethostname()


def start():
    gate = pmix.Gate()
    job = live.Job("-v", "-N", RANKS, "--", "sh", "-c",
                   pmix.Gate.WAIT + "exit 0", gate.path)
    pmix.wait_up(job)
    live.eventually(lambda: "processes are running" in job.said(), 60,
                    "all run")
    return job, gate


def rank_of(pid):
    """Of a process of the job, from its own environment."""
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


def keys():
    """Several queries of several keys; some of them fail."""
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
            ("pmix.qry.qlst,pmix.qry.ns", "PARTIAL SUCCESS"),
            ("pmix.nspace=nobody pmix.qry.ptable", "NOT FOUND"),
            (f"pmix.nspace={space} pmix.rank=99 pmix.qry.ptable",
             "NOT FOUND"),
            ("pmix.hname=nowhere pmix.qry.ptable", "NOT FOUND"),
            ("pmix.nodeid=9 pmix.lpeers", "NOT FOUND")):
        live.check_eq(([], want), tool.query(order), order)
    ranks = ",".join(map(str, range(RANKS)))
    for order in ("pmix.lpeers", f"pmix.hname={HOST} pmix.lpeers",
                  "pmix.nodeid=0 pmix.lpeers"):
        live.check_eq(([f"pmix.lpeers {ranks}"], "SUCCESS"), tool.query(order))
    live.check_eq(([f"pmix.lprocs {RANKS}"] +
                   [f"  {space} {rank}" for rank in range(RANKS)], "SUCCESS"),
                  tool.query("pmix.lprocs"))
    live.check_eq(([f"pmix.local.size {RANKS}"], "SUCCESS"),
                  tool.query("pmix.local.size"))
    (named,), _ = tool.query("pmix.qry.keys")
    live.check("pmix.qry.ptable" in named.split()[1].split(","), named)
    info, _ = tool.query("pmix.qry.nsinfo")
    live.check(f"    pmix.nspace {space}" in info, info)
    live.check_eq("SUCCESS", tool.query("pmix.qry.spawn,pmix.qry.debug")[1])
    gate.open()
    job.check_ok()
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
    live.check_eq("SUCCESS", tool.ask(f"server {back}")[1])
    live.check_eq(first, tool.query("pmix.qry.ns")[0])
    for job, gate in jobs:
        gate.open()
        job.check_ok()
    tool.end()


def rendezvous():
    """By address, name, number, file; the files are the user's alone."""
    job, gate = start()
    folder = os.path.dirname(pmix.rendezvous(job))
    live.check_eq(0o700, os.stat(os.path.dirname(folder)).st_mode & 0o777)
    files = sorted(os.path.basename(path) for path in
                   glob.glob(os.path.join(folder, f"pmix.{HOST}.tool*")))
    live.check(f"pmix.{HOST}.tool" in files and
               f"pmix.{HOST}.tool.{job.proc.pid}" in files, files)
    with open(pmix.rendezvous(job), encoding="ascii") as file:
        uri = file.readline().strip()
    space = uri.split(".")[0]
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
    live.check_eq("SUCCESS", tool.query("pmix.qry.ns")[1])
    tool.end()
    gate.open()
    job.check_ok()


def main():
    pmix.need()
    for test, sentence in (
            (table, "processes, field by field"),
            (keys, "keys and qualifiers"),
            (servers, "two runs, one tool"),
            (rendezvous, "the ways to a server")):
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
