#!/usr/bin/env python3
"""Memory stays bounded in nodes that adopt, however many orphans they take in.

Most inner daemons are killed, one after another, while stdin goes down and
lines come up and the launcher's stdout is not read: in the end the launcher
has many times the planned number of children, each with its frames in
flight.
"""
import collections
import hashlib
import sys

import live
from live import check_eq
from loss import GREETING, Running

NODES = live.full(85, 40)
ARITY = 3
SIZE = live.full(256, 24) * live.MIB
WROTE = live.full(8, 3) * live.MIB
INNER = list(range(12))  # ranks of the first two levels
SPARED = (4, 9)          # some of them stay and adopt, too
WORK = GREETING + """read -r go
yes "$(printf %063d "$XYLEM_RANK")" | head -c "$1" & exec sha256sum"""


def main():
    with live.case("inner daemons die, and stdout is stuck"):
        memory = live.Memory()
        memory.start()
        running = Running(NODES, ARITY, WORK, WROTE,
                          options=("-N", NODES, "--nodes-per-daemon", 1))
        running.job.stdin.write(b"go\n")
        running.job.stdin.flush()
        feeder = live.Feeder(running.job.stdin, SIZE)
        feeder.start()
        for rank in INNER:
            if rank in SPARED:
                continue
            running.kill(rank)
            running.await_lost(rank)
        seen, sums = collections.Counter(), []
        for line in running.rest + list(running.job.stdout):
            if line.endswith(b"-\n"):
                sums.append(line)
            else:
                seen[int(line)] += len(line)
        want = feeder.digest(hashlib.sha256()).encode() + b"  -\n"
        check_eq([want] * running.left(), sums, running.job.said())
        short = {rank: seen[rank] for rank in range(NODES)
                 if seen[rank] != WROTE and rank not in running.lost}
        check_eq({}, short, "survivors that have not written %d:" % WROTE)
        running.end(seconds=120)
        memory.check(1, NODES + 1)
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
