#!/usr/bin/env python3
"""Nodes that are lost while the others go on."""
# timeout: 180
import json
import os
import signal
import subprocess
import sys

import live
from live import check, check_eq

# Says that it is there and where, then copies its input to its output.
ECHO = ("sh", "-c", "echo up $XYLEM_RANK $PPID; exec cat")


class Running:
    """A job of ECHO on nodes with a daemon each; the others go on when one is
    lost."""

    def __init__(self, nodes, arity, *options, policy="continue", heartbeat=10):
        self.stats = os.path.join(live.TMP, "stats")
        self.job = live.Job(
            "-N", nodes, "--arity", arity, "--nodes-per-daemon", 1,
            "--heartbeat", heartbeat, "--on-node-loss", policy,
            "--stats", self.stats, *options, "--", *ECHO,
            stdin=subprocess.PIPE)
        self.daemons, self.greeted = {}, {}  # by rank; bytes of the greeting
        for _ in range(nodes):
            line = self.job.stdout.readline()
            words = line.split()
            if len(words) != 3:
                raise RuntimeError("no start: " + self.job.said())
            self.daemons[int(words[1])] = live.parent(int(words[2]))
            self.greeted[int(words[1])] = len(line)

    def kill(self, rank, number=signal.SIGKILL):
        os.kill(self.daemons[rank], number)

    def ask(self, text, ranks):
        """A line for all; as many answers as there are ranks."""
        self.job.stdin.write(text + b"\n")
        self.job.stdin.flush()
        got = [self.job.stdout.readline() for _ in range(ranks)]
        return check_eq([text + b"\n"] * ranks, got, self.job.said())

    def end(self, code, *words, lost=()):
        self.job.stdin.close()
        check_eq(b"", self.job.stdout.read(), "then")
        check_eq(code, self.job.wait(30), "exit code:")
        said = self.job.said()
        print("#", *said.splitlines(), sep="\n#   ")
        for word in words:
            check(word in said, "no %r in %r" % (word, said))
        with open(self.stats) as file:
            check_eq(sorted(lost), sorted(json.load(file)["lost_nodes"]),
                     "lost nodes:")
        live.check_gone()


def is_lost(running, node):
    return "the daemon of node %d on " % node in running.job.said()


def leaf_dies():
    running = Running(3, 4)
    running.ask(b"one", 3)
    running.kill(1)
    live.eventually(lambda: is_lost(running, 1), 20, "node 1 is lost")
    running.ask(b"two", 2)
    known = running.greeted[1] + len("one\n")
    running.end(1, "with rank 1; the job goes on without it",
                "of lost nodes came: rank 1 on",
                "(stdout: %d bytes, the end is not known)" % known, lost=[1])


def all_die():
    """Nobody waits for what cannot come."""
    running = Running(2, 4)
    running.kill(0)
    running.kill(1)
    live.eventually(lambda: running.job.proc.poll() is not None, 20,
                    "the job ends")
    running.end(1, "with rank 0; the job goes on", "with rank 1; the job goes",
                "of lost nodes came: rank 0", lost=[0, 1])


def abort():
    running = Running(3, 4, policy="abort")
    running.kill(1)
    live.eventually(lambda: running.job.proc.poll() is not None, 20,
                    "the job ends")
    running.end(1, "with rank 1; the job ends", lost=[1])


def main():
    with live.case("a leaf dies"):
        leaf_dies()
    with live.case("all die"):
        all_die()
    with live.case("abort"):
        abort()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
