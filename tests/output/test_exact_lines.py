#!/usr/bin/env python3
"""Every line of every process arrives once, whole, in its process's order."""
import re
import sys

import live
from live import case

# A busy machine may leave a writer in the middle of a line for longer than
# memory has room for the others'.
try:
    live.need_disk()
except live.LeftOut as why:
    live.skip(why)

NODES = live.full(64, 16)
COUNT = live.full(200000, 6000)
LINES = live.tool("tool_lines")


def collect(procs, count, *args, label=True, writer=(), program=(LINES,)):
    """The lines that the writers of a job with these options write are all
    right."""
    job = live.Job(*args, *(["-l"] if label else []), "--", *program,
                   "--count", count, *writer)
    live.check_lines(job.stdout, procs, "--count", count,
                     *(["--label"] if label else []))
    job.check_ok()


with case(f"{NODES} processes, {COUNT} lines each"):
    collect(NODES, COUNT, "-N", NODES, label=False)

with case("with labels"):
    collect(NODES, COUNT, "-N", NODES)

with case("one daemon for each node, three levels"):
    collect(13, COUNT, "-N", 13, "--arity", 2, "--nodes-per-daemon", 1)

with case("several processes on a node"):
    collect(12, 2000, "-N", 3, "--ppn", 4)

with case("writers that stop for 300 ms in the middle of a line"):
    for with_label in (True, False):
        collect(9, 3000, "-N", 9, "--arity", 3, label=with_label,
                writer=("--pause-at", "0,7,501,502,2999"))

with case("some stop and some do not, and nobody is lost"):
    collect(8, 4000, "-N", 8, "--arity", 2, program=("sh", "-c", """
        if [ $((XYLEM_RANK % 2)) = 0 ]; then
            exec "$0" "$@" --pause-at 100,900,3000
        fi
        exec "$0" "$@" """, LINES))

with case("writers that write line by line"):
    collect(8, 3000, "-N", 8, "--arity", 2, writer=("--each",))

with case("last lines without a newline stay whole lines"):
    for with_label in (True, False):
        collect(8, 500, "-N", 8, label=with_label,
                writer=("--no-last-newline",))

with case("standard error arrives whole as well, beside standard output"):
    ran = live.launch("-N", 8, "--arity", 2, "-l", "--", "sh", "-c",
                      '"$0" --count 3000 --seed 2 --fd 2 & '
                      '"$0" --count 3000; wait', LINES)
    live.check_lines(ran.out, 8, "--count", 3000, "--label")
    # A remark of xylem itself is no line of the job.
    live.check_lines(re.sub(rb"(?m)^xylem: .*\n", b"", ran.err), 8,
                     "--count", 3000, "--label", "--seed", 2)

with case("nothing is left"):
    live.check_all_gone()

sys.exit(live.end())
