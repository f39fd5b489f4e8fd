"""Helpers for tests of lost nodes: a job whose daemons can be killed and
stopped."""
import json
import os
import re
import signal
import statistics
import subprocess
import time

import live
from live import check, check_eq

# Prints the pids of itself and its parent, then does what PROGRAM does.
GREETING = "echo up $XYLEM_RANK $PPID; "
SUM = GREETING + "exec sha256sum"
ECHO = GREETING + "exec cat"


LOST = re.compile(r"the daemons? of nodes? (\S+) on (\S+) (?:is|are) lost"
                  r"(?:, with ranks? (\S+))?; (.*)")


def numbers(text):
    """Returns the numbers of "1,3-5"."""
    ends = [list(map(int, term.split("-"))) for term in text.split(",")]
    return {n for pair in ends for n in range(pair[0], pair[-1] + 1)}


def repairs(said):
    """Returns the orphans' reports: {node: [seconds without a parent]}."""
    found = {}
    for node, time in re.findall(
            r"node (\d+) on \S+ has a new parent, .*, after ([0-9.]+) s", said):
        found.setdefault(int(node), []).append(float(time))
    return found


def told(said):
    """Returns the nodes that were reported as lost: {node: (hosts, ranks, what
    becomes of the job)}; hosts and ranks are those of all nodes in the same
    message."""
    return {node: (hosts, numbers(ranks) if ranks else set(), then)
            for nodes, hosts, ranks, then in LOST.findall(said)
            for node in numbers(nodes)}


class Running:
    """A job of a shell command on nodes with a daemon each."""

    def __init__(self, nodes, arity, command, *words, policy="continue",
                 heartbeat=10, options=(), start=live.Job, **more):
        self.stats = os.path.join(live.TMP, "stats")
        self.nodes, self.lost, self.pids = nodes, set(), {}
        self.job = start(
            *options, "--arity", arity, "-v", "--heartbeat", heartbeat,
            "--on-node-loss", policy, "--stats", self.stats, "--", "sh", "-c",
            command, "sh", *words, stdin=subprocess.PIPE, **more)
        # by rank: the bytes of its greeting
        self.daemons, self.greeted = {}, {}
        self.rest = []  # lines after the greetings of other ranks
        while len(self.daemons) < nodes:
            line = self.job.stdout.readline()
            if not line:
                raise RuntimeError("no start: " + self.job.said())
            if not line.startswith(b"up "):
                self.rest.append(line)
                continue
            rank, spawner = map(int, line.split()[1:])
            self.pids[rank] = live.descendants(spawner)
            self.daemons[rank] = live.parent(spawner)
            self.greeted[rank] = len(line)

    def signal(self, number, *ranks):
        for rank in ranks:
            os.kill(self.daemons[rank], number)

    def kill(self, *ranks):
        self.lost |= set(ranks)
        self.signal(signal.SIGKILL, *ranks)

    def left(self):
        return self.nodes - len(self.lost)

    def repairs(self):
        return repairs(self.job.said())

    def await_lost(self, *ranks, seconds=20):
        live.eventually(lambda: set(ranks) <= set(told(self.job.said())),
                        seconds, "nodes %s are lost" % (ranks,))

    def await_repairs(self, *ranks, seconds=20):
        live.eventually(lambda: set(ranks) <= set(self.repairs()), seconds,
                        "%s have new parents" % (ranks,))

    def ask(self, text):
        """Sends a line to all ranks, and waits for an answer of each that is
        left. Returns the seconds that this takes."""
        start_s = time.monotonic()
        self.job.stdin.write(text + b"\n")
        self.job.stdin.flush()
        got = [self.job.stdout.readline() for _ in range(self.left())]
        check_eq([text + b"\n"] * self.left(), got, self.job.said())
        return time.monotonic() - start_s

    def end(self, *words, code=1, seconds=60, may_be_over=False):
        """Checks the exit code, the messages, and that nothing is left. A node
        that was killed after its last message is not lost (may_be_over)."""
        if not self.job.stdin.closed:
            self.job.stdin.close()
        check_eq(b"", self.job.stdout.read(), "then")
        check_eq(code, self.job.wait(seconds), "exit code:")
        said = self.job.said()
        for word in words:
            check(word in said, "no %r in %r" % (word, said))
        with open(self.stats) as file:
            got = json.load(file)
        lost = set(got["lost_nodes"])
        check(lost == self.lost or may_be_over and lost < self.lost,
              "lost nodes: %s, killed: %s" % (sorted(lost), sorted(self.lost)))
        times = sum(self.repairs().values(), [])
        check_eq(len(times), got["repairs"]["count"], "repairs:")
        if times:
            print("# %d repairs, median %.3f s, longest %.3f s"
                  % (len(times), statistics.median(times), max(times)))
        gaps = [gap for gap in got["proof"]["gaps"]
                if gap["rank"] not in lost]
        check_eq([], gaps, "output that is not whole:")
        live.check_gone()
        return times


def beneath(arity, *ranks):
    """Returns the ranks whose parents in the plan are these; node n has rank n
    - 1."""
    return [arity * (rank + 1) + i for rank in ranks for i in range(arity)]
