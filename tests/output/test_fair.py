#!/usr/bin/env python3
"""A process in a tight print loop does not hold back the line of another."""
# alone
import os
import statistics
import subprocess
import sys
import time

import live

TRIES = 20
LIMIT_S = 0.1
NODES = live.full(64, 8)

# Rank 0 prints without a rest until it is killed; the last rank says the time
# when it is asked to by a line on a fifo; the others keep still.
PROCESS = """
import os, sys, time
rank, size = int(os.environ["XYLEM_RANK"]), int(os.environ["XYLEM_SIZE"])
if rank == 0:
    block = b"this is a line of a process that never rests\\n" * 1000
    while True:
        os.write(1, block)
elif rank == size - 1:
    with open(sys.argv[1]) as asked:
        for line in asked:
            os.write(1, b"PING %d\\n" % time.monotonic_ns())
else:
    sys.stdin.read()
"""


class Pings:
    """Finds the pings in the flood, at the speed of a memory search."""

    def __init__(self, pipe):
        self.pipe, self.rest = pipe, b""

    def next_s(self):
        """How long the next one took. None at the end of the output."""
        while True:
            at = self.rest.find(b"PING ")
            end = self.rest.find(b"\n", at)
            if at >= 0 and end >= 0:
                sent = int(self.rest[at + 5:end])
                taken = time.monotonic_ns() - sent
                self.rest = self.rest[end:]
                return taken / 1e9
            block = os.read(self.pipe.fileno(), 1 << 18)
            if not block:
                return None
            # What may be the beginning of a ping stays.
            self.rest = (self.rest if at >= 0 else self.rest[-64:]) + block


def one_shape(per_daemon):
    asking = os.path.join(live.TMP, "ask-%d" % per_daemon)
    os.mkfifo(asking)
    job = live.Job("-N", NODES, "--arity", 2, "--nodes-per-daemon", per_daemon,
                   "--", sys.executable, "-c", PROCESS, asking,
                   stdin=subprocess.PIPE)
    pings, taken = Pings(job.stdout), []
    with open(asking, "w", buffering=1) as ask:
        for _ in range(TRIES):
            ask.write("ping\n")
            took = pings.next_s()
            if not live.check(took is not None, "ended: " + job.said()):
                break
            taken.append(took)
    job.proc.terminate()
    while os.read(job.stdout.fileno(), 1 << 20):
        pass
    job.wait()
    if taken:
        median = statistics.median(taken)
        print("# median %.1f ms, greatest %.1f ms"
              % (median * 1e3, max(taken) * 1e3))
        live.check(live.is_sanitized() or median <= LIMIT_S * live.SLOW,
                   "median of %.0f ms" % (median * 1e3))


def main():
    with live.case("one daemon for each node"):
        one_shape(1)
    with live.case("all nodes in one daemon"):
        one_shape(NODES)
    with live.case("nothing is left"):
        live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
