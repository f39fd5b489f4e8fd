#!/usr/bin/env python3
"""The tool of docs/examples, as it stands there: it shows all output, and it
has 40 lines at most."""
import os
import subprocess
import sys

import pmix
import live

TOOL = os.path.join(live.BUILD, "tests", "pmix", "tool_example")
SOURCE = os.path.join(os.environ["top_srcdir"], "docs", "examples", "tool.c")


def main():
    pmix.need()
    with live.case("it has 40 lines"):
        with open(SOURCE, encoding="ascii") as file:
            live.check(len(file.readlines()) <= 40, "it is longer")
    with live.case("it shows what a job writes"):
        gate = pmix.Gate()
        job = live.Job("-v", "-N", 3, "--", "sh", "-c", pmix.Gate.WAIT +
                       "echo out $XYLEM_RANK; echo err $XYLEM_RANK >&2",
                       gate.path)
        pmix.wait_up(job)
        tool = subprocess.Popen([TOOL, str(job.proc.pid), "3"],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env={**os.environ, **pmix.leaks_of_library()})
        first = tool.stderr.readline()
        live.check(first.startswith(b"tool: shows xylem-"), first)
        gate.open()
        out, err = tool.communicate(timeout=60 * live.SLOW)
        live.check_eq([b"out 0", b"out 1", b"out 2"], sorted(out.splitlines()))
        live.check_eq([b"err 0", b"err 1", b"err 2"], sorted(err.splitlines()))
        live.check_eq(0, tool.returncode)
        job.check_ok()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
