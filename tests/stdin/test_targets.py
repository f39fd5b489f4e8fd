#!/usr/bin/env python3
"""Tests -i: the chosen processes get standard input, and the others do not read
it."""
import os
import sys

import live
from live import case, check, check_eq, check_has

COUNT = 1000
HOSTS = "a,b,c,d,e,f"


def write(name, count):
    """Writes a file of this many lines: 1, 2 and so on."""
    path = os.path.join(live.TMP, name)
    with open(path, "w") as file:
        file.writelines(f"{number}\n" for number in range(1, count + 1))
    return path


INPUT = write("input", COUNT)
LIST = write("list", 5)


def fed(size, ranks, *options):
    """Checks that, among `size' processes, `ranks' get all lines and the
    others none."""
    with open(INPUT) as file:
        ran = live.launch("--launcher", "local", "-w", HOSTS, "-l", *options,
                          "--", "wc", "-l", stdin=file)
    check_eq("", ran.said)
    width = len(str(size - 1))
    check_eq([f"{rank:0{width}}: {COUNT if rank in ranks else 0}"
              for rank in range(size)], sorted(ran.lines()))


def cannot(ranks, words):
    mark = os.path.join(live.TMP, "ran")
    ran = live.launch("-N", 4, "-i", ranks, "--", "touch", mark, code=2)
    check_eq(b"", ran.out)
    check_has("xylem: --stdin", ran.said)
    check_has(words, ran.said)
    check(not os.path.exists(mark), f"it ran with -i {ranks!r}")


with case("all, which is the default"):
    fed(6, range(6))
    fed(6, range(6), "-i", "all")
    fed(12, range(12), "--stdin=all", "--ppn", 2)

with case("none"):
    fed(6, [], "-i", "none")

with case("one rank: the first, the last, one between, one of several on a "
          "node"):
    fed(6, [0], "-i", 0)
    fed(6, [5], "-i", 5)
    fed(6, [3], "-i", 3, "--nodes-per-daemon", 1, "--arity", 1)
    fed(12, [9], "-i", 9, "--ppn", 2)

with case("lists and ranges in any order, over the bounds of nodes and "
          "daemons"):
    fed(6, [1, 4], "-i", "4,1")
    fed(6, [1, 2, 3, 5], "-i", "5,1-3", "--nodes-per-daemon", 1, "--arity", 2)
    fed(12, range(3, 9), "-i", "3-8", "--ppn", 2, "--nodes-per-daemon", 2)
    fed(6, [0, 2, 3, 4, 5], "-i", "2-4,0,3-5,3")
    fed(6, range(6), "-i", "0-5")

with case("what names no rank of the job is refused before anything runs"):
    cannot("4", "names rank 4 but the job has ranks 0 to 3")
    cannot("0-4", "names rank 4 but the job has ranks 0 to 3")
    cannot("1,7-9", "names rank 9 but the job has ranks 0 to 3")
    cannot("", "needs a value that is not empty")
    cannot("3-1", "the lower number first")
    cannot("1-", "has no end")
    cannot("1,,2", "a number is missing")
    cannot("1 2", "numbers and ranges with commas")
    cannot("all,1", "a number is missing")
    cannot("-1", "a number is missing")
    cannot("99999999999", "too large")
    live.check_all_gone()

with case("a shell loop keeps its lines"):
    with open(LIST) as file:
        ran = live.Ran("bash", "-c", """
            while read -r line; do
                "$0" run -N 2 -i none -l -- echo "line $line"
            done""", live.XYLEM, stdin=file)
    # The order of the two is theirs.
    lines = ran.lines()
    check_eq([[f"0: line {line}", f"1: line {line}"] for line in range(1, 6)],
             [sorted(lines[at:at + 2]) for at in range(0, len(lines), 2)])

with case("also where the list comes through a pipe, from hosts, with an "
          "input file"):
    ran = live.Ran("bash", "-c", """
        while read -r line; do
            "$0" run --launcher local -w a,b -i none -- cat
            "$0" run --launcher local -w a,b --input "$1" -i 1 -- head -n 1
            echo "$line"
        done""", live.XYLEM, LIST, given=b"1\n2\n3\n")
    check_eq(b"1\n1\n1\n2\n1\n3\n", ran.out)

with case("nothing is left"):
    live.check_all_gone()

sys.exit(live.end())
