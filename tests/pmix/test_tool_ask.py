#!/usr/bin/env python3
"""A tool asks its helper about jobs, signals processes, and writes lines: tools
and session are real, and each tool has a helper."""
import re
import shlex
import socket
import struct
import subprocess
import sys
import threading

import helped
import doors
import pmix
import live

RANKS = 4
HOST = socket.gethostname()
BIG, BASE = 50000, 1 << 24  # processes of a job that is played
HOSTS_OF = 128  # a host of it


class Rig:
    """A job that waits at a gate, and its tools."""

    def __init__(self, *nodes, command="exit 0", proxy=helped.Proxy,
                 beside=("--no-pmix",), **more):
        self.gate, self.proxy = pmix.Gate(), proxy
        self.helpers, self.clients = [], []
        self.job = live.Job(*beside, "-v", *(nodes or ("-N", RANKS)), "--",
                            "sh", "-c", pmix.Gate.WAIT + command,
                            self.gate.path, **more)
        live.eventually(lambda: "processes are running" in self.job.said(), 60,
                        "all run")

    def tool(self):
        helper = helped.Helper(self.job, self.proxy)
        self.helpers.append(helper)
        tool = helper.asker()
        live.check(tool, "connected")
        return tool

    @property
    def name(self):
        return self.helpers[0].proxy.name

    def spawn(self, *programs):
        """The name of a job that another client has started."""
        client = doors.Client(self.job.proc.pid)
        self.clients.append(client)
        client.say("SPAWN", b"\0" + doors.request(*programs))
        name = client.expect("JOB")[21:].decode()
        kind, _ = client.hear()
        if kind == "FIRST":  # one of its processes has failed before
            kind, _ = client.hear()
        live.check_eq("STARTED", kind)
        return name

    def end(self, code=0):
        self.gate.open()
        for client in self.clients:
            client.close()  # which ends its job
        live.check_eq(code, self.job.wait(), self.job.said())
        for helper in self.helpers:
            helper.gone()


def rank_of(pid):
    """The rank of a process of the job, from its own environment."""
    env = dict(word.split(b"=", 1) for word in
               live.read_proc(pid, "environ").split(b"\0") if b"=" in word)
    return int(env[b"XYLEM_RANK"])


def table():
    """A table names each process by all that it is, and with a pid that is
    the kernel's."""
    rig = Rig()
    tool = rig.tool()
    live.check_eq(([f"pmix.qry.ns {rig.name}"], "SUCCESS"),
                  tool.query("pmix.qry.ns"))
    for key in ("pmix.qry.ptable", "pmix.qry.lptable"):
        (head, *rows), status = tool.query(key)
        live.check_eq("SUCCESS", status)
        live.check_eq(f"{key} {RANKS}", head)
        for rank, row in enumerate(rows):
            name, number, host, program, pid, code, *state = row.split()
            live.check_eq((rig.name, str(rank), HOST, "sh", "0"),
                          (name, number, host, program, code))
            live.check_eq("PROC EXECUTING", " ".join(state))
            live.check_eq(rank, rank_of(pid), "the process of this pid")
    (_, row), status = tool.query(
        f"pmix.nspace={rig.name} pmix.rank=2 pmix.qry.ptable")
    live.check_eq("2", row.split()[1])
    live.check_eq(0, tool.end())
    rig.end()


def hosts():
    """What is local is what runs on the launcher's host. Nodes have the numbers
    of their hosts in the order of names."""
    rig = Rig("-w", f"{HOST},other,third", "--ppn", 2)
    tool = rig.tool()
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
    live.check_eq(0, tool.end())
    rig.end()


def other_jobs():
    """Jobs that come and go: names, what they are, states and codes."""
    rig = Rig(beside=())  # with --no-pmix there is no room for others
    tool = rig.tool()
    lives = rig.spawn(doors.program("sleep", "1000", procs=3))
    over = rig.spawn(doors.program(
        "sh", "-c", "test $XYLEM_RANK = 0 && exit 7; kill -9 $$", procs=2))
    live.eventually(lambda: tool.query(f"pmix.nspace={over} pmix.qry.jst")[0] ==
                    ["pmix.qry.jst JOB ENDED"], 60, "it is over")
    rows = tool.query(f"pmix.nspace={over} pmix.qry.ptable")[0][1:]
    live.check_eq(["PROC HAS TERMINATED", "PROC ABORTED BY SIGNAL"],
                  [row.split(None, 6)[6].replace("-", " ").upper()
                   for row in rows])
    for rank, code in ((0, 7), (1, 128 + 9)):
        live.check_eq(([f"pmix.exit.code {code}"], "SUCCESS"), tool.query(
            f"pmix.nspace={over} pmix.rank={rank} pmix.exit.code"))
    live.check_eq(([], "NOT FOUND"), tool.query(
        f"pmix.procid={lives}/1 pmix.exit.code"))
    live.eventually(lambda: tool.query("pmix.qry.ns")[0] ==
                    [f"pmix.qry.ns {rig.name},{lives}"], 60, "what lives")
    said, status = tool.query("pmix.qry.nsinfo")
    live.check_eq("SUCCESS", status)
    rows = [row.strip() for row in said]
    for name, command in ((rig.name, "sh -c "), (lives, "sleep 1000"),
                          (over, "sh -c ")):
        at = rows.index("pmix.nspace " + name)
        live.check(rows[at - 1].endswith("pmix.job.arr 2"), rows[at - 1])
        live.check(rows[at + 1].startswith("pmix.cmd.line " + command),
                   rows[at + 1])
    live.check_eq((["pmix.job.size 3", "pmix.qry.jst JOB STARTED"], "SUCCESS"),
                  tool.query(f"pmix.nspace={lives} pmix.job.size,pmix.qry.jst"))
    live.check_eq(0, tool.end())
    rig.end()


def keys():
    """Several queries of several keys; some of them fail. The library of a
    tool then returns nothing of what is known, before PMIx 5."""
    rig = Rig()
    tool = rig.tool()
    said, status = tool.query("pmix.qry.jst,pmix.qry.ns | pmix.qry.ns")
    live.check_eq(["pmix.qry.jst JOB STARTED", f"pmix.qry.ns {rig.name}",
                   f"pmix.qry.ns {rig.name}"], said)
    live.check_eq("SUCCESS", status)
    for order, want in (
            ("pmix.qry.qlst", "NOT SUPPORTED"),
            ("pmix.nspace=nobody pmix.qry.ptable", "NOT FOUND"),
            (f"pmix.nspace={rig.name} pmix.rank=99 pmix.qry.ptable",
             "NOT FOUND"),
            ("pmix.hname=nowhere pmix.qry.ptable", "NOT FOUND"),
            ("pmix.nodeid=9 pmix.lpeers", "NOT FOUND"),
            ("pmix.hname=#0 pmix.qry.lptable", "BAD PARAM"),
            ("pmix.nodeid=#0 pmix.lpeers", "BAD PARAM"),
            (f"pmix.rank=1 pmix.procid={rig.name}/2 pmix.qry.ptable",
             "BAD PARAM"),
            ("pmix.exit.code", "BAD PARAM")):
        live.check_eq(([], want), tool.query(order), order)
    some = [f"pmix.qry.ns {rig.name}"] if pmix.is_5() else []
    live.check_eq((some, "PARTIAL SUCCESS"),
                  tool.query("pmix.qry.qlst,pmix.qry.ns"))
    live.check_eq(([f"pmix.lprocs {RANKS}"] +
                   [f"  {rig.name} {rank}" for rank in range(RANKS)],
                   "SUCCESS"), tool.query("pmix.lprocs"))
    (named,), _ = tool.query("pmix.qry.keys")
    live.check("pmix.qry.ptable" in named.split()[1].split(","), named)
    (spawn, debug), status = tool.query("pmix.qry.spawn,pmix.qry.debug")
    live.check_eq("SUCCESS", status)
    live.check({"pmix.wdir", "pmix.fwd.stdin", "pmix.nohup"} <=
               set(spawn.split()[1].split(",")), spawn)
    live.check_eq("pmix.qry.debug", debug.strip(), "no debuggers yet")
    live.check_eq(0, tool.end())
    rig.end()


def odd_keys():
    """A name is no name, a rank has no namespace; what is supported."""
    pmix.until_5("its library ends the tool")
    rig = Rig()
    tool = rig.tool()
    for order, want in (
            ("pmix.nspace=#3 pmix.qry.ptable", "BAD PARAM"),
            ("pmix.rank=#0 pmix.qry.ptable", "BAD PARAM"),
            ("pmix.procid=#0 pmix.qry.ptable", "BAD PARAM"),
            ("pmix.rank=1 pmix.exit.code", "NOT FOUND")):
        live.check_eq(([], want), tool.query(order), order)
    (_, head, *rows), status = tool.ask(
        "query pmix.host.attrs=PMIx_Query_info pmix.qry.attrs")
    live.check_eq(("SUCCESS", "PMIx_Query_info"), (status, head.split()[0]))
    live.check({"PMIX_QUERY_PROC_TABLE", "PMIX_PROCID"} <=
               {row.strip() for row in rows}, rows)
    live.check_eq(0, tool.end())
    rig.end()


class Played(helped.Proxy):
    """The session has one more job, a large one, which is not described before
    the gate is open."""

    def __init__(self, job):
        super().__init__(job)
        self.asked, self.may_tell = threading.Event(), threading.Event()

    def pass_on(self, packet, one, other):
        kind, word = packet[0], struct.pack("<I", BASE)
        if kind == doors.NUMBER["WATCHED"]:
            other.send(bytes([doors.NUMBER["BEGUN"]]) +
                       struct.pack("<IIBB", BASE, BIG, 6, 0) +
                       struct.pack("<III", doors.ALL, 0, 0) + b"big")
        if kind == doors.NUMBER["DESCRIBE"] and packet[1:5] == word:
            self.asked.set()
            self._spawn(self._tell, one)
        else:
            other.send(packet)

    def _tell(self, client):
        self.may_tell.wait()

        def say(kind, *body):
            client.send(bytes([doors.NUMBER[kind]]) + b"".join(body))

        try:
            for rank in range(0, BIG, HOSTS_OF):
                say("PLACE", struct.pack("<III", 0, BASE + rank,
                                         min(HOSTS_OF, BIG - rank)),
                    b"node-%05d\0prog" % rank)
            for kind, of in (("PIDS", lambda rank: rank + 1),
                             ("EXITS", lambda rank: doors.ALL)):
                for rank in range(0, BIG, 8192):
                    say(kind, struct.pack("<I", BASE + rank), *(
                        struct.pack("<I", of(rank + i))
                        for i in range(min(8192, BIG - rank))))
            say("DESCRIBED", b"\0")
        except OSError:
            pass


def large():
    """A table of many processes comes whole."""
    rig = Rig(proxy=Played)
    tool = rig.tool()
    rig.helpers[0].proxy.may_tell.set()
    rows, status = tool.query("pmix.nspace=big pmix.qry.ptable")
    live.check_eq("SUCCESS", status)
    want = [f"  big {rank} node-{rank - rank % HOSTS_OF:05} prog {rank + 1} 0 "
            "PROC EXECUTING" for rank in range(BIG)]
    live.check(rows[1:] == want, "%d rows: %r" % (len(rows), rows[:3]))
    live.check_eq((["pmix.qry.ptable 1", want[BIG - 1]], "SUCCESS"),
                  tool.query(f"pmix.procid=big/{BIG - 1} pmix.qry.ptable"))
    rows, status = tool.query("pmix.nspace=big pmix.hname=node-00128 "
                              "pmix.lprocs")
    live.check_eq([f"  big {rank}" for rank in range(128, 256)], rows[1:])
    peak = rig.helpers[0].peak()
    live.check(peak < 64 * live.MIB, "%.1f MiB" % (peak / live.MIB))
    live.check_eq(0, tool.end())
    rig.end()


def ends():
    """The session ends, or the tool is killed, while a query waits."""
    rig = Rig(proxy=Played)
    tools = [rig.tool(), rig.tool()]
    for tool, helper in zip(tools, rig.helpers):
        tool.tell("query pmix.qry.rfsh=1 pmix.nspace=big pmix.qry.ptable")
        helper.proxy.asked.wait(60 * live.SLOW)
    tools[0].proc.kill()
    tools[0].proc.wait()
    live.check_eq(0, rig.helpers[0].helper.wait(60 * live.SLOW), "the helper")
    rig.end()
    live.check_eq(pmix.Asker.CUT, tools[1].proc.wait(60 * live.SLOW))


def logs():
    """Lines of two tools and of the processes, all of them whole."""
    last = pmix.Gate()
    rig = Rig("-N", RANKS, "-l", command='seq -f "%%06g of a process" 2000; '
              ': <"%s"' % last.path)
    tools = [rig.tool(), rig.tool()]
    reader = pmix.Reader(rig.job)
    rig.gate.open()
    text = "x" * 9000
    for n in range(50):
        for i, tool in enumerate(tools):
            tool.tell(f"log {'out' if n % 2 else 'err'} {i} {n} {text}")
    for tool in tools:
        for _ in range(50):
            live.check_eq(([], "SUCCESS"), tool.answer())
        live.check_eq(([], "SUCCESS"), tool.ask("log out one\\ntwo\\n"))
        live.check_eq(([], "SUCCESS"), tool.ask("log err " + 60000 * "y"))
        live.check_eq(([], "BAD PARAM"), tool.ask("log out " + 60001 * "x"))
        live.check_eq(([], "NOT SUPPORTED"), tool.ask("log out+no.such x"))
        live.check_eq(([], "NOT SUPPORTED"),
                      tool.ask("log out+pmix.log.tsout x"))
        live.check_eq(([], "SUCCESS"), tool.ask("log out+pmix.log.once three"))
        live.check_eq(0, tool.end())
    last.open()
    rig.end()
    out = reader.end().decode().splitlines()
    err = rig.job.said().splitlines()
    for lines, odd in ((out, 1), (err, 0)):
        mine = [line for line in lines if line.startswith("tool: ") and
                line.endswith("x")]
        want = [f"tool: {i} {n} {text}" for i in range(2)
                for n in range(50) if n % 2 == odd]
        live.check(sorted(mine) == sorted(want), "%d lines" % len(mine))
    for word in ("one", "two", "three"):
        live.check_eq(2, out.count("tool: " + word), word)
    live.check_eq(2, err.count("tool: " + 60000 * "y"))
    live.check_eq(0, out.count("tool: x"), "refused ones")
    live.check(any("no.such is not supported" in line for line in err),
               "a note says which one")
    for rank in range(RANKS):
        mine = [line for line in out if line.startswith(f"{rank}: ")]
        live.check(mine == ["%d: %06d of a process" % (rank, n)
                            for n in range(1, 2001)], f"rank {rank}")


def signals():
    """A signal for some processes reaches each of them once, and no other. Two
    of them are on the launcher's host."""
    teller = shlex.join([sys.executable, "-c", live.TELLER, str(RANKS)])
    rig = Rig("-i", "all", "-w", HOST + ",other", "--ppn", RANKS // 2,
              command="exec " + teller, stdin=subprocess.PIPE)
    rig.gate.open()
    tool, seen = rig.tool(), []

    def read_until(count, word):
        while sum(word in line for line in seen) < count:
            line = rig.job.stdout.readline().decode()
            if not line:
                break
            seen.append(line.rstrip("\n"))

    read_until(RANKS, "up ")
    live.check_eq(([], "SUCCESS"),
                  tool.ask("control pmix.jctrl.sig=10 1 3 1"))
    read_until(2, "SIGUSR1")
    for count, whom in ((4, "node"), (6, "peers"), (6 + RANKS, "")):
        live.check_eq(([], "SUCCESS"),
                      tool.ask(f"control pmix.jctrl.sig=10 {whom}".strip()))
        read_until(count, "SIGUSR1")
    for order, want in (("pmix.jctrl.sig=0 *", "BAD PARAM"),
                        ("pmix.jctrl.sig=99 *", "BAD PARAM"),
                        ("pmix.jctrl.sig=10 7", "NOT FOUND"),
                        ("pmix.jctrl.ckpt *", "NOT SUPPORTED")):
        live.check_eq(([], want), tool.ask("control " + order), order)
    rig.job.proc.stdin.write(b"line\n")
    rig.job.proc.stdin.close()
    read_until(RANKS, "had ")
    seen += rig.job.stdout.read().decode().splitlines()
    rig.job.check_ok()
    times = [3, 4, 1, 2]
    for rank in range(RANKS):
        live.check_eq(times[rank], seen.count(f"{rank} SIGUSR1"), rank)
        live.check(f"{rank} had {times[rank]}" in seen, rank)
    live.check_eq(pmix.Asker.CUT, tool.proc.wait(60 * live.SLOW))
    rig.end()


def state(pid):
    return live.read_proc(pid, "stat").rsplit(b")", 1)[1].split()[0]


def paused():
    """Pause and resume of one process, then all are told to terminate; the tool
    is cut off with the session."""
    rig = Rig(command="exec sleep 1000")
    rig.gate.open()
    tool = rig.tool()
    pids = [row.split()[4] for row in tool.query("pmix.qry.ptable")[0][1:]]
    live.check_eq(([], "SUCCESS"), tool.ask("control pmix.jctrl.pause 1"))
    live.eventually(lambda: state(pids[1]) == b"T", 60, "rank 1 stands")
    live.check(state(pids[0]) != b"T", "rank 0 runs")
    live.check_eq(([], "SUCCESS"), tool.ask("control pmix.jctrl.resume 1"))
    live.eventually(lambda: state(pids[1]) != b"T", 60, "rank 1 runs")
    live.check_eq(([], "SUCCESS"), tool.ask("control pmix.jctrl.term *"))
    rig.end(128 + 15)
    live.check_eq(pmix.Asker.CUT, tool.proc.wait(60 * live.SLOW))


class Daemons(helped.Proxy):
    """The daemons of a dvm without a job."""

    def _ask_job(self):
        return struct.pack("<BIIBII", helped.JOB, 0, 0, 0, 0, 0)


def daemons():
    """A dvm lists its jobs; of its own name the processes are its daemons, who
    get no signals."""
    dvm = pmix.Dvm("-v", "-N", 2)
    dvm.wait_up()
    helper = helped.Helper(dvm, Daemons)
    tool = helper.asker()
    (uri,) = re.findall(r"xylem-dvm-[0-9a-f]+", tool.ask("name")[0][0])
    live.check_eq((["pmix.qry.ns "], "SUCCESS"), tool.query("pmix.qry.ns"))
    rows, status = tool.query(f"pmix.nspace={uri} pmix.qry.ptable")
    live.check_eq("SUCCESS", status)
    live.check_eq([(uri, str(rank), "0", "0", "PROC EXECUTING")
                   for rank in range(2)],
                  [(*row.split()[:2], *row.split(None, 6)[4:])
                   for row in rows[1:]])
    live.check_eq(([], "NOT_AVAILABLE"), tool.ask("control pmix.jctrl.term"))
    live.check_eq(0, tool.end())
    dvm.proc.terminate()
    live.check_eq(0, dvm.wait(), dvm.said())
    helper.gone()


def main():
    pmix.need()
    if live.is_sanitized():
        live.skip("a helper ends with what libpmix has not freed")
    for test, sentence in (
            (table, "processes, field by field"),
            (hosts, "processes of several hosts"),
            (other_jobs, "jobs that come and go"),
            (keys, "keys and qualifiers"),
            (odd_keys, "odd keys and qualifiers"),
            (large, "a job of many processes"),
            (ends, "ends while a query waits"),
            (logs, "lines of tools"),
            (signals, "signals"),
            (paused, "pause, resume, terminate"),
            (daemons, "a dvm")):
        if len(sys.argv) > 1 and sys.argv[1] != test.__name__:
            continue
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
