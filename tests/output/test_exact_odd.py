#!/usr/bin/env python3
"""Output of unusual shape arrives as it was written."""
import os
import re
import subprocess
import sys

import live
from live import case, check, check_eq, check_has, check_lacks

LINES = live.tool("tool_lines")
BLOB = os.path.join(live.TMP, "blob")
ODD = b"one\n\n\nt\0wo\r\nlast"


def check_same(want, got):
    """Too long to be shown."""
    place = next((at for at, pair in enumerate(zip(want, got))
                  if pair[0] != pair[1]), min(len(want), len(got)))
    check(want == got, f"they differ from byte {place} on, of {len(want)} "
          f"that are wanted and {len(got)} that came")


with case("binary output of one process is byte-equal with --raw"):
    random = os.urandom(20000000)
    with open(BLOB, "wb") as file:
        file.write(random)
    check_same(random, live.launch("-N", 1, "--raw", "--", "cat", BLOB).out)

with case("also through levels of daemons, and when it comes in by stdin"):
    with open(BLOB, "rb") as file:
        ran = live.launch(
            "-N", 7, "--arity", 2, "--nodes-per-daemon", 1, "--raw", "--",
            "sh", "-c", 'if [ "$XYLEM_RANK" = 6 ]; then exec cat; fi',
            stdin=file)
    check_same(random, ran.out)

with case("a last line without newline, empty lines, a NUL byte, a carriage "
          "return"):
    PLACE = os.path.join(live.TMP, "odd")
    with open(PLACE, "wb") as file:
        file.write(ODD)
    check_eq(ODD, live.launch("-N", 1, "--raw", "--", "cat", PLACE).out)
    check_eq(ODD, live.launch("-N", 1, "--", "cat", PLACE).out[:len(ODD)])

with case("the same with labels"):
    WANT = b"0: one\n0: \n0: \n0: t\0wo\r\n0: last"
    ran = live.launch("-N", 1, "-l", "--", "printf",
                      r"one\n\n\nt\0wo\r\nlast")
    check_eq(WANT, ran.out[:len(WANT)])

with case("only an empty line; no output at all"):
    check_eq(b"0: \n", live.launch("-N", 1, "-l", "--", "echo").out)
    check_eq(b"", live.launch("-N", 3, "-l", "--", "true").out)

with case("a line of 10 MB is one line, among others that print"):
    ran = live.launch("-N", 5, "--arity", 2, "-l", "--", "sh", "-c", """
        if [ "$XYLEM_RANK" = 3 ]; then
            head -c 10000000 /dev/zero | tr "\\0" x
            echo
        fi
        "$0" --count 500""", LINES)
    LONG = re.compile(rb"^3: x{1000,}\n", re.MULTILINE)
    check_eq([10000004], list(map(len, LONG.findall(ran.out))))
    live.check_lines(LONG.sub(b"", ran.out), 5, "--count", 500, "--label")

with case("processes that close their stdout and live on"):
    OUT = os.path.join(live.TMP, "out")
    with open(OUT, "wb") as file:
        job = live.Job("-N", 4, "-l", "--", LINES, "--count", 500, "--close",
                       stdin=subprocess.PIPE, stdout=file)
    live.eventually(lambda: not live.wrong_lines(
        live.read_file(OUT), 4, "--count", 500, "--label"), 20,
        "all lines are there")
    check(job.proc.poll() is None, "their processes live on")
    job.stdin.close()
    job.check_ok()
    live.check_lines(live.read_file(OUT), 4, "--count", 500, "--label")

with case("processes that die with output in their pipe"):
    ran = live.launch("-N", 6, "--arity", 2, "-l", "--", LINES,
                      "--count", 3000, "--die", code=137)
    live.check_lines(ran.out, 6, "--count", 3000, "--label")
    ran = live.launch("-N", 6, "--arity", 2, "--", LINES, "--count", 3000,
                      "--no-last-newline", "--die", code=137)
    live.check_lines(ran.out, 6, "--count", 3000)

with case("standard error of a process that dies is not lost"):
    ran = live.launch("-N", 3, "-l", "--", "sh", "-c",
                      'echo out; echo "last words" >&2; kill -9 $$', code=137)
    for rank in range(3):
        check_has(f"{rank}: last words", ran.said)
        check_has(b"%d: out" % rank, ran.out)

with case("stdout and stderr stay apart, or come together with "
          "--merge-stderr"):
    BOTH = ("--", "sh", "-c", "echo to-out; echo to-err >&2")
    ran = live.launch("-N", 2, "-l", *BOTH)
    check_lacks(b"to-err", ran.out)
    check_lacks("to-out", ran.said)
    ran = live.launch("-N", 2, "-l", "--merge-stderr", *BOTH)
    check_has(b"1: to-out", ran.out)
    check_has(b"1: to-err", ran.out)
    check_lacks("to-err", ran.said)

with case("closed standard descriptors are as good as /dev/null"):
    ran = live.launch("-N", 2, "--", "wc", "-c",
                      preexec_fn=lambda: os.close(0))
    check_eq(b"0\n0\n", ran.out)
    live.launch("-N", 2, "--", "true", preexec_fn=lambda: os.close(1))

with case("nothing is left"):
    live.check_all_gone()

sys.exit(live.end())
