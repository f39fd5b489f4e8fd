#!/usr/bin/env python3
"""The relay tree, with which xylem is compared, does the whole work: a tree
that skipped some of it would be no fair comparison."""
import hashlib
import os
import subprocess
import sys

import live
from live import case, check_eq

RELAY = os.path.join(live.BUILD, "bench", "relay")
LINES = live.tool("tool_lines")
DATA = os.urandom(3000000)
SUM = hashlib.sha256(DATA).hexdigest() + "  -"


def lines(nodes, arity, count, *how):
    """All lines come through a pipe."""
    with subprocess.Popen(
            [RELAY, "up", "-N", str(nodes), "-k", str(arity), "--", LINES,
             "--count", str(count), *how], stdout=subprocess.PIPE) as proc:
        live.check_lines(proc.stdout, nodes, "--count", count)
    check_eq(0, proc.returncode, "exit code:")


with case("every process gets every byte"):
    with open(os.path.join(live.TMP, "in"), "w+b", buffering=0) as file:
        file.write(DATA)
        file.seek(0)
        ran = live.Ran(RELAY, "down", "-N", 11, "-k", 3, "--", "sha256sum",
                       stdin=file)
    check_eq([SUM] * 11, ran.lines())

with case("a process that takes a part, or nothing, holds nobody up"):
    ran = live.Ran(RELAY, "down", "-N", 11, "-k", 3, "--", "sh", "-c", """
        case $XYLEM_RANK in
        1) head -c 100 >/dev/null ;; 2) ;; *) sha256sum ;;
        esac""", given=DATA)
    check_eq([SUM] * 9, ran.lines())

with case("every line comes once, whole and in order"):
    lines(11, 3, 5000)

with case("also through processes that stop in the middle of a line"):
    lines(5, 2, 3000, "--pause-ms", "20", "--pause-at", "100,700,2000",
          "--no-last-newline")

with case("lines of more than a buffer are not torn"):
    ran = live.Ran(RELAY, "up", "-N", 7, "-k", 2, "--", "sh", "-c", """
        for i in 1 2 3; do
            head -c 300000 /dev/zero | tr "\\0" "$XYLEM_RANK"; echo
        done""")
    check_eq([str(rank) * 300000 for rank in range(7) for _ in range(3)],
             sorted(ran.lines()))

with case("the worst exit code is handed on"):
    live.Ran(RELAY, "up", "-N", 6, "-k", 2, "--", "sh", "-c",
             "exit $XYLEM_RANK", code=5)

sys.exit(live.end())
