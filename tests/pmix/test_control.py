#!/usr/bin/env python3
"""Tools are sent the events of a job, write lines beside its output, and
signal all or some of its processes."""
import re
import shlex
import socket
import subprocess
import sys
import threading
import time

import pmix
import live

RANKS = 4


def start(command, *options, ranks=RANKS, **more):
    gate = pmix.Gate()
    if "-w" not in options:
        options = ("-N", ranks, *options)
    job = pmix.Job("-v", *options, "--", "sh", "-c", command,
                   gate.path, **more)
    pmix.wait_up(job)
    live.eventually(lambda: "processes are running" in job.said(), 60,
                    "all run")
    return job, gate


def connect(job):
    tool = pmix.Asker(job)
    live.check(tool.connect(), "connected")
    return tool


def course():
    """One tool registers late for events, one for another job. A tool that
    asks for the events of the job is told of its start, of the launch and of
    its end, with the first process that failed."""
    before = int(time.time())
    job, gate = start(': <"$0"; test $XYLEM_RANK != 2 || exit 3')
    tool, other, both, neither = [connect(job) for _ in range(4)]
    space = tool.query("pmix.qry.ns")[0][0].split()[1]
    live.check_eq("SUCCESS", other.ask("events another-job")[1])
    live.check_eq("SUCCESS", both.ask(f"events another-job {space}")[1])
    live.check_eq("SUCCESS", neither.ask("events another-job one-more")[1])
    live.check_eq("SUCCESS", tool.ask("events")[1])
    for name in ("JOB STARTED", "PMIX LAUNCH COMPLETE"):
        event = tool.wait_event(name)
        live.check_eq(space, event["pmix.nspace"])
        live.check(before <= int(event["pmix.evtstamp"]) <= time.time(),
                   event)
    live.check("JOB ENDED end" not in tool.events, "it runs")
    gate.open()
    event = tool.wait_event("JOB ENDED")
    live.check_eq(space, event["pmix.nspace"])
    live.check_eq(f"{space} 2", event["pmix.procid"])
    live.check_eq("3", event["pmix.exit.code"])
    live.check(before <= int(event["pmix.evtstamp"]) <= time.time(), event)
    live.check("NON" in event["pmix.job.term.status"].replace("-", " "),
               event)
    live.check_eq(3, job.proc.wait())
    live.check_eq(pmix.Asker.CUT, tool.proc.wait())
    both.wait_event("JOB ENDED")
    for one in (other, both, neither):
        live.check_eq(pmix.Asker.CUT, one.proc.wait())
    live.check_eq([], other.events + neither.events, "other jobs' events")


def logs():
    """Lines of two tools and of the processes, all of them whole."""
    last = pmix.Gate()
    job, gate = start(': <"$0"; seq -f "%%06g of a process" 2000; : <"%s"' %
                      last.path, "-l")
    tools = [connect(job), connect(job)]
    console = []
    reader = threading.Thread(target=lambda: console.append(job.stdout.read()))
    reader.start()
    gate.open()
    text = "x" * 9000
    for n in range(50):
        for i, tool in enumerate(tools):
            tool.tell(f"log {'out' if n % 2 else 'err'} {i} {n} {text}")
    for tool in tools:
        for _ in range(50):
            live.check_eq(([], "SUCCESS"), tool.answer())
        live.check_eq(([], "SUCCESS"), tool.ask("log out one\\ntwo\\n"))
        live.check_eq(([], "BAD PARAM"), tool.ask("log out " + 60001 * "x"))
        live.check_eq(([], "NOT SUPPORTED"), tool.ask("log out+no.such x"))
        # PMIX_LOG_SYSLOG and its like, which the helper's library writes.
        for place in "pmix.log.syslog", "pmix.log.lsys", "pmix.log.gsys":
            live.check_eq(([], "SUCCESS"), tool.ask(f"log {place} x"), place)
        live.check_eq(([], "NOT SUPPORTED"), tool.ask("log no.such.place x"))
        live.check_eq(([], "NOT SUPPORTED"),
                      tool.ask("log out+pmix.log.tsout x"))
        live.check_eq(([], "SUCCESS"), tool.ask("log out+pmix.log.once three"))
        tool.end()
    last.open()
    job.check_ok()
    reader.join()
    out = console[0].decode().splitlines()
    err = job.said().splitlines()
    for lines, odd in ((out, 1), (err, 0)):
        mine = [line for line in lines if line.startswith("tool: ") and
                line.endswith("x")]
        want = [f"tool: {i} {n} {text}" for i in range(2)
                for n in range(50) if n % 2 == odd]
        live.check(sorted(mine) == sorted(want), "%d lines" % len(mine))
    live.check_eq(2, out.count("tool: one"))
    live.check_eq(2, out.count("tool: two"))
    live.check_eq(2, out.count("tool: three"))
    live.check_eq(0, out.count("tool: x"), "refused ones")
    live.check(not any(len(line) > 60000 for line in out), "too long a text")
    for rank in range(RANKS):
        mine = [line for line in out if line.startswith(f"{rank}: ")]
        live.check(mine == ["%d: %06d of a process" % (rank, n)
                            for n in range(1, 2001)], f"rank {rank}")



def signals():
    """A signal for some processes reaches each of them once, and no other. Two
    of them are on the launcher's host."""
    teller = shlex.join([sys.executable, "-c", live.TELLER, str(RANKS)])
    job, _ = start("exec " + teller, "-i", "all", "-w",
                   socket.gethostname() + ",other", "--ppn", RANKS // 2,
                   stdin=subprocess.PIPE)
    tool = connect(job)
    seen = []

    def read_until(count, word):
        while sum(word in line for line in seen) < count:
            line = job.stdout.readline().decode()
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
    job.proc.stdin.write(b"line\n")
    job.proc.stdin.close()
    read_until(RANKS, "had ")
    seen += job.stdout.read().decode().splitlines()
    job.check_ok()
    times = [3, 4, 1, 2]
    for rank in range(RANKS):
        live.check_eq(times[rank], seen.count(f"{rank} SIGUSR1"), rank)
        live.check(f"{rank} had {times[rank]}" in seen, rank)
    tool.end()


def state(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


def paused():
    """Pause and resume of one process, then all are told to terminate."""
    job, _ = start("exec sleep 1000")
    tool = connect(job)
    pids = [row.split()[4] for row in tool.query("pmix.qry.ptable")[0][1:]]
    live.check_eq(([], "SUCCESS"), tool.ask("control pmix.jctrl.pause 1"))
    live.eventually(lambda: state(pids[1]) == "T", 60, "rank 1 stands")
    live.check(state(pids[0]) != "T", "rank 0 runs")
    live.check_eq(([], "SUCCESS"), tool.ask("control pmix.jctrl.resume 1"))
    live.eventually(lambda: state(pids[1]) != "T", 60, "rank 1 runs")
    live.check_eq(([], "SUCCESS"), tool.ask("events"))
    live.check_eq(([], "SUCCESS"), tool.ask("control pmix.jctrl.term *"))
    event = tool.wait_event("JOB ENDED")
    live.check(re.search("SIGNAL", event["pmix.job.term.status"]), event)
    live.check_eq(128 + 15, job.proc.wait())
    tool.proc.wait()


def main():
    pmix.need()
    for test, sentence in (
            (course, "the course of the job"),
            (logs, "lines of tools"),
            (signals, "signals"),
            (paused, "pause, resume, terminate")):
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
