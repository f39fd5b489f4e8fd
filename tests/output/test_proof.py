#!/usr/bin/env python3
"""The proof that all output has arrived, in the report of every job: it is
complete with all kinds of output, and reports output that was cut off."""
import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import live
from live import check, check_eq

NODES = 5
SHAPE = ("-N", NODES, "--arity", 2, "--nodes-per-daemon", 1)
LINES = live.full(1000000, 20000)

# Rank 0 says nothing, 1 speaks on stderr alone, the others on both; 2 ends
# within a line, 3 has a line longer than any record.
SPEAKER = """
import os, sys
rank, lines = int(os.environ["XYLEM_RANK"]), int(sys.argv[1])
both = [sys.stderr] if rank == 1 else [sys.stdout, sys.stderr]
for out in both if rank > 0 else []:
    for number in range(lines):
        print(rank, "says", number, file=out)
    if rank == 2:
        out.write("no end")
    if rank == 3:
        print("x" * 500000, file=out)
    out.flush()
"""
SPEAK = (sys.executable, "-c", SPEAKER, LINES)


def said_bytes():
    """What SPEAKER writes, in all."""
    lines = sum(len("0 says %d\n" % number) for number in range(LINES))
    return (2 * NODES - 3) * lines + 2 * len("no end") + 2 * 500001


class Proved:
    """A job with a report; `proof` is there after `end`."""

    def __init__(self, *args, **more):
        self.path = os.path.join(live.TMP, "stats")
        self.job = live.Job("--stats", self.path, *args, **more)

    def end(self, code, seconds=60):
        check_eq(code, self.job.wait(seconds), "exit: " + self.job.said())
        with open(self.path) as file:
            self.stats = json.load(file)
        os.unlink(self.path)
        self.proof = self.stats["proof"]
        print("#", self.proof)
        return self.proof

    def check_sum(self):
        """Every channel has one place in the account."""
        proof = self.proof
        check_eq(proof["channels"], proof["complete"] + proof["given_up"] +
                 len(proof["gaps"]), "channels:")


def check_complete(proof, channels, size):
    check_eq({"channels": channels, "complete": channels, "given_up": 0,
              "bytes": size, "gaps": []}, proof, "the proof:")


def ways_of_output():
    for options in ((), ("--raw",), ("-l",), ("--label=full",),
                    ("--unbuffered",), ("--merge-stderr",),
                    ("--merge-stderr", "-l"), ("--nodes-per-daemon", NODES)):
        run = Proved(*SHAPE, *options, "--", *SPEAK,
                     stdout=subprocess.DEVNULL)
        proof = run.end(0)
        channels = NODES if "--merge-stderr" in options else 2 * NODES
        check_complete(proof, channels, said_bytes())


def failures():
    """Processes that fail or are killed have reported all the same what they
    wrote."""
    run = Proved(*SHAPE, "--", "sh", "-c", "echo $XYLEM_RANK; exit 3")
    check_complete(run.end(3), 2 * NODES, 2 * NODES)
    run = Proved(*SHAPE, "-K", "--", "sh", "-c",
                 'echo a; test $XYLEM_RANK = 1 && exit 3; sleep 100')
    proof = run.end(3)
    check_eq((2 * NODES, []), (proof["complete"], proof["gaps"]))
    run = Proved(*SHAPE, "--", "no-such-program")
    run.end(1)
    check_eq([], run.proof["gaps"])
    run.check_sum()


def linger():
    """What the daemon has read when it gives the channel up is what counts."""
    run = Proved(*SHAPE, "--linger", 0.2, "--", "sh", "-c",
                 "(sleep 60; echo late) & echo early")
    check_complete(run.end(0), 2 * NODES, NODES * len("early\n"))


def held_up():
    """A child that waits because stdout is not read is not silent: it is read
    on after --linger."""
    size = 64 * live.MIB
    job = live.Job("-N", 1, "--linger", 0.1, "--", "sh", "-c",
                   f"yes | head -c {size} & exit 0")
    time.sleep(1)  # sleep-ok: the time of --linger is over
    got = 0
    while piece := job.stdout.read(live.MIB):
        got += len(piece)
    check_eq(size, got)
    check_eq(0, job.wait())


def cut_short(least_bytes, *command):
    """Ends the job by --timeout, a second after its start at the earliest, and
    when it has written so much, however long that takes on this machine."""
    for limit_s in (2, 8, 32):
        run = Proved(*SHAPE, "--timeout", limit_s, "--", *command)
        run.end(124)
        if 0 < run.stats["launch_s"] < limit_s - 1 and \
                run.proof["bytes"] >= least_bytes:
            break
    return run


def timeout():
    """What the job wrote before it was cut short is read: all is complete. It
    is not read: some of it is given up, and nothing is a gap."""
    said = NODES * len("up\n")
    run = cut_short(said, "sh", "-c", "echo up; exec sleep 100")
    check_complete(run.proof, 2 * NODES, said)
    run = cut_short(0, "yes")
    proof = run.proof
    check(proof["given_up"] > 0, "nothing was given up")
    check_eq([], proof["gaps"])
    run.check_sum()
    check("incomplete" not in run.job.said(), run.job.said())


def reader_leaves():
    run = Proved(*SHAPE, "--", "yes")
    run.job.stdout.readline()
    run.job.stdout.close()
    proof = run.end(141)
    check(proof["given_up"] > 0, "nothing was given up")
    check_eq([], proof["gaps"])
    run.check_sum()
    check_eq("xylem: no hosts given: 5 virtual nodes on this machine\n",
             run.job.said())


def second_signal():
    run = Proved(*SHAPE, "--", "sh", "-c", 'trap "" INT; echo up; yes',
                 start_new_session=True)
    for _ in range(NODES):
        while run.job.stdout.readline() != b"up\n":
            pass
    live.deliver(run.job.proc.pid, signal.SIGINT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        check(run.job.proc.wait(0.5) is None, "ended at the first")
    run.job.proc.send_signal(signal.SIGINT)
    proof = run.end(128 + signal.SIGINT)
    check(proof["given_up"] > 0, "nothing was given up")
    check_eq([], proof["gaps"])
    run.check_sum()
    check("incomplete" not in run.job.said(), run.job.said())


def lost_node():
    """It is known how far the output of a lost node came; that of the others
    is complete."""
    run = Proved("-v", *SHAPE, "--", "sh", "-c",
                 "echo $PPID $XYLEM_RANK; exec sleep 100")
    parents = {}
    for _ in range(NODES):
        pid, rank = run.job.stdout.readline().split()
        parents[int(rank)] = int(pid)
    # Node 5 is a leaf. The spawner's parent is the daemon.
    os.kill(live.parent(parents[4]), signal.SIGKILL)
    proof = run.end(1)
    check_eq([4], run.stats["lost_nodes"])
    check_eq([{"rank": 4, "channel": channel, "expected_bytes": None,
               "delivered_bytes": size, "reason": "lost"}
              for channel, size in (
                  ("stdout", len("%d 4\n" % parents[4])), ("stderr", 0))],
             proof["gaps"], "gaps:")
    check_eq(2 * (NODES - 1), proof["complete"])
    run.check_sum()
    check("output received from lost nodes: rank 4 on " in run.job.said(),
          run.job.said())


def main():
    with live.case("all ways of output are proved complete"):
        ways_of_output()
    with live.case("processes that end badly"):
        failures()
    with live.case("channels that are cut at --linger"):
        linger()
    with live.case("a child that waits at the end of --linger"):
        held_up()
    with live.case("a job that is cut short"):
        timeout()
    with live.case("a reader who leaves"):
        reader_leaves()
    with live.case("a second signal"):
        second_signal()
    with live.case("a node that is lost"):
        lost_node()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
