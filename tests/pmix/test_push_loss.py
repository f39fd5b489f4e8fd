#!/usr/bin/env python3
"""An inner daemon dies while a tool pushes to changing targets: every process
that is left gets each push once and in order. For tools a process of the lost
node has ended."""
import os
import signal
import subprocess
import sys

import pmix
import live

CALLS = 1500
BASE = os.path.join(live.TMP, "taken")
COMMAND = 'echo up $XYLEM_RANK $PPID; exec cat >"$0.$XYLEM_RANK"'
SETS = ("*", "2,3", "1,3,4", "2,5")


def got(rank):
    try:
        with open("%s.%d" % (BASE, rank), "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


def line(n):
    return "%06d %s" % (n, "x" * 900)


def truth(rank):
    return "".join(line(n) + "\n" for n in range(CALLS)
                   if SETS[n % 4] == "*" or
                   str(rank) in SETS[n % 4].split(",")).encode()


def start():
    """The job and the daemon of rank 0, which has those of 2 and 3 beneath."""
    job = pmix.Job("-v", "-N", 6, "--nodes-per-daemon", 1, "--arity", 2,
                   "--keep-stdin", "--on-node-loss", "continue", "--",
                   "sh", "-c", COMMAND, BASE)
    daemons = {}
    while len(daemons) < 6:
        _, rank, spawner = job.stdout.readline().split()
        daemons[int(rank)] = live.parent(int(spawner))
    pmix.wait_up(job)
    return job, daemons[0]


def pusher(job, *args):
    return subprocess.Popen(
        [os.path.join(live.BUILD, "tests", "pmix", "tool_push"), *args,
         str(job.proc.pid)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def midst():
    """Pushes go on."""
    job, inner = start()
    tool = pusher(job, "-w", "4")
    for n in range(CALLS):
        tool.stdin.write(("p %s %s\n" % (SETS[n % 4], line(n))).encode())
        if n == CALLS // 3:
            tool.stdin.flush()
            live.eventually(lambda: len(got(3)) > 50000, 60,
                            "some is there")
            os.kill(inner, signal.SIGKILL)
    tool.stdin.write(b"z *\n")
    tool.stdin.close()
    live.check_eq(0, tool.wait(60 * live.SLOW), "the tool")
    job.stdout.read()
    live.check_eq(1, job.wait(60), "exit code")
    for rank in range(1, 6):
        mine, want = got(rank), truth(rank)
        live.check(mine == want, "rank %d: %d bytes of %d, equal to %d" % (
            rank, len(mine), len(want),
            len(os.path.commonprefix([mine, want]))))


def over():
    """A process of a lost node has ended for tools: it takes no pushes, is no
    longer in a table as one that runs, and is the first that has failed."""
    job, inner = start()
    asker = pmix.Asker(job)
    live.check(asker.connect(), "connected")
    live.check_eq("SUCCESS", asker.ask("events")[1])
    os.kill(inner, signal.SIGKILL)
    live.eventually(lambda: [
        " ".join(row.split()[6:])
        for row in asker.query("pmix.qry.ptable")[0][1:]] ==
        ["PROC ABORTED BY SIGNAL"] + 5 * ["PROC EXECUTING"], 60, "it is over")
    for targets, goes in (("0", False), ("0,1", False), ("1", True),
                          ("*", True)):
        said, _ = pusher(job).communicate(f"p {targets} x\n".encode())
        live.check_eq(b"1 0\n" if goes else b"0 1\n", said, targets)
    pusher(job).communicate(b"z *\n")
    event = asker.wait_event("JOB ENDED")
    live.check_eq(("0", "137"), (event["pmix.procid"].split()[1],
                                 event["pmix.exit.code"]))
    job.stdout.read()
    live.check_eq(1, job.wait(60), "exit code")
    asker.proc.wait()
    for rank in range(1, 6):
        live.check_eq(b"x\n" * (1 + (rank == 1)), got(rank))


def main():
    pmix.need()
    for case in (midst, over):
        with live.case(case.__doc__.split(":")[0]):
            case()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
