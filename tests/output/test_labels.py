#!/usr/bin/env python3
"""Labels on the console are as wide as their job needs, so that its lines begin
in one column; in files they are not."""
import os
import subprocess
import sys

import clients
import live
from live import case, check_eq

RANKS = 12
SAY = ("sh", "-c", "echo said by $XYLEM_RANK; echo also >&2")
ALL = [f"{rank:02}: said by {rank}" for rank in range(RANKS)]
ALSO = [f"{rank:02}: also" for rank in range(RANKS)]
HOSTS = "node[8-10],a,longer-one:8"
NAMES = ["node8", "node9", "node10", "a"] + ["longer-one"] * 8


with case("ranks have as many digits as the largest one"):
    ran = live.launch("-qN", RANKS, "-l", "--", *SAY)
    check_eq(ALL, sorted(ran.lines()))
    check_eq(ALSO, sorted(ran.said.splitlines()))
    check_eq([str(rank) + ": x" for rank in range(10)],
             sorted(live.launch("-N", 10, "-l", "--", "echo", "x").lines()))

with case("hosts are as wide as the longest one of the job"):
    ran = live.launch("--launcher", "local", "-w", HOSTS, "-n", RANKS,
                      "--label=host", "--", "printenv", "XYLEM_RANK")
    check_eq(sorted("%-10s: %d" % (name, rank)
                    for rank, name in enumerate(NAMES)), sorted(ran.lines()))
    ran = live.launch("--launcher", "local", "-w", HOSTS, "-n", 2,
                      "--label=host", "--", "printenv", "XYLEM_RANK")
    check_eq(["node8: 0", "node9: 1"], sorted(ran.lines()))

with case("full labels, objects and files have the number as it is"):
    ran = live.launch("-N", RANKS, "--label=full", "--", "echo", "x")
    check_eq(sorted(f"{rank}]<stdout>: x" for rank in range(RANKS)),
             sorted(line.split(",")[1] for line in ran.lines()))
    ran = live.launch("-N", RANKS, "-l", "--format=json", "--", "echo", "x")
    check_eq(RANKS, sum(any(f'"rank":{rank},' in line for line in ran.lines())
                        for rank in range(RANKS)))
    path = os.path.join(live.TMP, "of-%t")
    check_eq(b"", live.launch("-N", RANKS, "-l", "-o", path, "--", "echo",
                              "x").out)
    check_eq([b"%d: x\n" % rank for rank in range(RANKS)],
             [live.read_file(path.replace("%t", str(rank)))
              for rank in range(RANKS)])

with case("who attaches sees them as wide as in the job itself"):
    job = live.Job("-N", RANKS, "--", "cat", stdin=subprocess.PIPE)
    one = clients.attached("--pid", job.proc.pid, "--ranks", "3,11", "-l")
    job.stdin.write(b"x\n")
    job.stdin.close()
    check_eq(0, one.wait())
    check_eq([b"03: x", b"11: x"], sorted(one.shown().splitlines()))
    check_eq(b"x\n" * RANKS, job.stdout.read())

with case("nothing is left"):
    live.check_all_gone()

sys.exit(live.end())
