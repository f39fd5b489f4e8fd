#!/usr/bin/env python3
"""The launcher starts a helper for each tool. This tests the part of the
launcher; test_tool*.py test the helpers.

Tools come and go beside each other, each with its helper; a helper that dies
takes no other with it. Output is compared with what the processes write."""
import os
import signal
import sys

import pmix  # noqa: E402  (reads the environment)
import live  # noqa: E402

RANKS = 2
LINES = live.full(200000, 40000)
WRITE = "seq -f '%%09.0f '$XYLEM_RANK %d" % LINES


def text(rank):
    return b"".join(b"%09d %d\n" % (n, rank) for n in range(1, LINES + 1))


def start(command=WRITE, **more):
    gate = pmix.Gate()
    job = pmix.Job("-v", "-N", RANKS, "--", "sh", "-c",
                   pmix.Gate.WAIT + command, gate.path, **more)
    pmix.wait_up(job)
    return job, gate


def check_whole(tool):
    for rank in range(RANKS):
        live.check(tool.got(rank, "stdout") == text(rank), "rank %d" % rank)
        live.check_eq(1, tool.ends(rank, "stdout"), "its ends")


def beside():
    """Three tools come, of which one is killed, and so is the helper of
    another one: the third has all, and the launcher has no files or processes
    of them left."""
    job, gate = start()
    tools = [pmix.ready(job, "-n", 2 * RANKS) for _ in range(3)]
    live.eventually(lambda: len(pmix.helpers_of(job)) == 4, 60, "helpers")
    cut = pmix.helper_of(job)
    tools[2].proc.kill()
    live.eventually(lambda: len(pmix.helpers_of(job)) == 3, 60, "one has gone")
    live.check("was disconnected" not in job.said(), job.said())
    os.kill(cut, signal.SIGKILL)
    live.eventually(lambda: "a PMIx tool was disconnected: the helper "
                            "xylem-pmix was killed by signal 9; the "
                            "session goes on" in job.said(), 60,
                    "it is said")
    live.check_eq(0, tools[0].wait(60), "its server has gone")
    reader = pmix.Reader(job)
    gate.open()
    live.check_eq(0, tools[1].wait(60), "the third")
    check_whole(tools[1])
    job.check_ok()
    live.check_eq(RANKS * len(text(0)), len(reader.end()), "the console")
    live.check(pmix.rendezvous(job) is None, "its files have gone")


def to_the_end():
    """A tool that is slow still gets all that came, though the job is over
    before it has taken it."""
    job, gate = start()
    path = os.path.join(live.TMP, "pace")
    os.mkfifo(path)
    pace = os.open(path, os.O_RDWR)
    tool = pmix.ready(job, "-n", 2 * RANKS, "-P", path)
    reader = pmix.Reader(job)
    gate.open()
    live.eventually(lambda: reader.size == RANKS * len(text(0)), 60, "written")
    os.close(pace)
    live.check_eq(0, tool.wait(60), "the tool")
    check_whole(tool)
    job.check_ok()


def reserve():
    """The helper in reserve dies: another one takes its place, and no tool is
    told."""
    job, gate = start("true")
    dead = pmix.helper_of(job)
    pmix.kill_helper(job)
    live.eventually(lambda: pmix.helper_of(job) not in (None, dead), 60,
                    "another one")
    tool = pmix.ready(job, "-n", 2 * RANKS)
    gate.open()
    live.check_eq(0, tool.wait(60), "the tool")
    live.check("was disconnected" not in job.said(), job.said())
    job.check_ok()


def named():
    """A name that a tool has already is refused; the one that has it stays."""
    job, gate = start("true")
    first = pmix.ready(job, "-n", 2 * RANKS, "-i", "mine")
    second = pmix.Tool(job, "-i", "mine")
    live.check_eq(3, second.wait(60), "it is refused")
    live.eventually(lambda: "one with the same name" in job.said(), 60,
                    "it is said")
    gate.open()
    live.check_eq(0, first.wait(60), "the first")
    job.check_ok()


def killed():
    """The launcher is killed: no helper stays."""
    job, _ = start("true")
    tool = pmix.ready(job)
    helpers = pmix.helpers_of(job)
    job.proc.kill()
    job.proc.wait()
    live.eventually(lambda: not any(pid in live.ours() for pid in helpers), 60,
                    "they end")
    live.check_eq(0, tool.wait(60), "its server has gone")
    job.over.set()


def main():
    pmix.need()
    if live.is_sanitized():
        live.skip("a helper ends with what libpmix has not freed")
    for test, sentence in (
            (beside, "tools beside each other"),
            (to_the_end, "a slow tool at the end"),
            (reserve, "the helper in reserve dies"),
            (named, "two of one name"),
            (killed, "the launcher is killed")):
        if len(sys.argv) > 1 and sys.argv[1] != test.__name__:
            continue
        with live.case(sentence):
            test()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
