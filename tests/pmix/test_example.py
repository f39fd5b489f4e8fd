#!/usr/bin/env python3
"""The tools of docs/examples work unchanged, and have at most 50 lines: one
shows all output, one starts a job with its stdin and shows its output. Each
names the call that fails, and what its library calls the failure."""
import hashlib
import os
import re
import subprocess
import sys

import dvms
import pmix
import live
import spawning

TOOL = os.path.join(live.BUILD, "tests", "pmix", "tool_example")
START = os.path.join(live.BUILD, "tests", "pmix", "tool_example_start")
EXAMPLES = os.path.join(os.environ["top_srcdir"], "docs", "examples")
SOURCES = ("start.c", "tool.c")


def run(*words, stdin=b""):
    """The exit code, and what it shows and says."""
    done = subprocess.run([str(word) for word in words], input=stdin,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**os.environ, **pmix.leaks_of_library()},
                          timeout=60 * live.SLOW, check=False)
    return done.returncode, done.stdout, done.stderr


def start(job, stdin, *words):
    """What it shows."""
    code, shown, said = run(START, job.proc.pid, *words, stdin=stdin)
    live.check_eq((0, b""), (code, said), words)
    return shown


def check_fails(call, *words):
    """It shows nothing, names the call and a status of it, and ends with 1."""
    code, shown, said = run(*words)
    live.check_eq((1, b""), (code, shown), (words, said))
    begin = f"{'start' if words[0] == START else 'tool'}: {call}: "
    live.check(re.fullmatch(begin + r"\w.+\n", said.decode()), said)


def starts():
    gate = pmix.Gate()
    job = pmix.Job("-v", "-N", 2, "--", "sh", "-c", pmix.Gate.WAIT, gate.path)
    pmix.wait_up(job)
    live.check_eq(b"", start(job, b"", "3", "true"))
    got = start(job, b"one\ntwo\n", "2", "cat")
    live.check_eq([b"one", b"one", b"two", b"two"], sorted(got.splitlines()))
    data = os.urandom(3 << 20)
    sums = start(job, data, "4", "sha256sum").decode().splitlines()
    live.check_eq([hashlib.sha256(data).hexdigest() + "  -"] * 4, sums)
    gate.open()
    job.check_ok()


def alone():
    """There is no server with that process number: none has ever been, or it
    has gone."""
    gate = pmix.Gate()
    job = pmix.Job("-v", "-N", 1, "--", "sh", "-c", pmix.Gate.WAIT, gate.path)
    pmix.wait_up(job)
    check_fails("PMIx_tool_init", TOOL, os.getpid(), 1)
    check_fails("PMIx_tool_init", START, os.getpid(), 1, "true")
    check_fails("PMIx_Spawn", START, job.proc.pid, 1, "./no-such-program")
    gate.open()
    job.check_ok()
    check_fails("PMIx_tool_init", TOOL, job.proc.pid, 1)
    check_fails("PMIx_tool_init", START, job.proc.pid, 1, "true")


def misused():
    """Too few words, and some that are no numbers; a job that forwards nothing
    cannot be shown."""
    for words in ((), (1,), (1, 2), ("x", 1, "true"), (1, "x", "true")):
        code, shown, said = run(START, *words)
        live.check_eq((2, b""), (code, shown), words)
        live.check(said.startswith(b"usage: start PID N"), said)
    for words in ((), (1,), ("x", 1), (1, "x"), (1, 2, 3)):
        code, shown, said = run(TOOL, *words)
        live.check_eq((2, b""), (code, shown), words)
        live.check(said.startswith(b"usage: tool PID R"), said)
    dvm = dvms.start(nodes=1)
    tool = spawning.connect(dvm)
    live.check_eq("SUCCESS", tool.spawn("-- 1 sleep 1000")[1])
    check_fails("PMIx_IOF_pull", TOOL, dvm.proc.pid, 1)
    live.check_eq(0, tool.end())
    live.check_eq((0, ""), dvms.stop())
    dvms.check_end(dvm)


def main():
    pmix.need()
    with live.case("they have 50 lines"):
        for name in SOURCES:
            with open(os.path.join(EXAMPLES, name), encoding="ascii") as file:
                live.check(len(file.readlines()) <= 50, name)
    with live.case("one starts, feeds and shows a job"):
        starts()
    with live.case("what they refuse"):
        misused()
    with live.case("a call that fails is named"):
        alone()
    with live.case("one shows what a job writes"):
        gate = pmix.Gate()
        job = pmix.Job("-v", "-N", 3, "--", "sh", "-c", pmix.Gate.WAIT +
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
