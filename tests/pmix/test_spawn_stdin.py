#!/usr/bin/env python3
"""Tools push to processes of jobs that they have started, beside the stdin of
the run's own job: each target gets the bytes that were pushed to it, and then
the end of its stdin."""
import collections
import os
import sys

import pmix
import live
import spawning
from live import check, check_eq
from spawning import ALL, Kept, finish, wait_end


def exact():
    """Several jobs at a time, ranks and all of them; then the end of each. The
    run's own job has no stdin."""
    job, gate = spawning.start("true", "--stdin", "none", "--arity", 2,
                               nodes=4)
    tool = spawning.connect(job)
    jobs = [Kept(tool, ranks) for ranks in (1, 3, 2)]
    want = {}
    for n in range(live.full(500, 60)):
        for nth, kept in enumerate(jobs):
            rank = "*" if n % 3 else 0
            text = "%d %d %s" % (n, nth, "x" * (n * 97 % 3000))
            tool.do(f"push {kept.space} {rank} "
                    + text.replace(" ", "\\s") + "\\n")
            for r in range((1, 3, 2)[nth] if rank == "*" else 1):
                want[nth, r] = want.get((nth, r), b"") + text.encode() + b"\n"
    for nth, kept in enumerate(jobs):
        tool.do(f"push {kept.space} *")
        wait_end(tool, kept.space)
        for rank in range((1, 3, 2)[nth]):
            kept.wait(rank, want[nth, rank])
    finish(job, gate, tool)


def some():
    """One rank has a stdin, the others none; what is refused, and how."""
    job, gate = spawning.start("true", "--stdin", "none")
    tool = spawning.connect(job)
    kept = Kept(tool, 3, "!pmix.fwd.stdin:1 ")
    tool.do(f"push {kept.space} 1 mine\\n")
    tool.do(f"push {kept.space} * ours\\n")
    for order in (f"push {kept.space} 0 x", f"push {kept.space} 2 x"):
        check("COMPLETE" in tool.ask(order)[1], order)
    check("NOT FOUND" in tool.ask(f"push {kept.space} 3 x")[1], "no such rank")
    none = tool.spawn("-- 1 sleep 1000")[0]
    check("COMPLETE" in tool.ask(f"push {none} * x")[1], "it has no stdin")
    tool.do(f"push {kept.space} *")
    wait_end(tool, kept.space)
    kept.wait(1, b"mine\nours\n")
    check_eq(b"", kept.got(0) + kept.got(2))
    check("COMPLETE" in tool.ask(f"push {kept.space} 1 x")[1], "it has ended")
    check("BAD" in tool.spawn("!pmix.fwd.stdin:3 -- 3 cat")[1], "rank 3 of 3")
    live.eventually(lambda: "rank 3 is to have stdin, but the job has ranks 0 "
                    "to 2" in job.said(), 60, "it says so")
    finish(job, gate, tool)


def shut():
    """A process that has closed its own stdin and goes on cannot be pushed to;
    the other one of its job can."""
    job, gate = spawning.start("true", "--stdin", "none")
    tool = spawning.connect(job)
    kept = Kept(tool, 2, command="test\\s$XYLEM_RANK\\s=\\s1\\s||\\sexec\\s"
                "sleep\\s1000\\s<&-;" + spawning.KEEP)
    live.eventually(lambda: "COMPLETE" in tool.ask(f"push {kept.space} 0 x")[1],
                    60, "it is told")
    tool.do(f"push {kept.space} * last\\n")
    tool.do(f"push {kept.space} *")
    kept.wait(1, b"last\n")
    tool.do(f"signal {kept.space} 0 9")
    wait_end(tool, kept.space)
    finish(job, gate, tool)


def beside():
    """The run's own stdin, which is not read, delays nothing. What is pushed
    to both jobs goes to both, and in order to each. The last push ends the
    stdin of the run's own job, too; it stays until the tool has heard all."""
    path = os.path.join(live.TMP, "own")
    with open(path, "wb") as file:
        file.write(b"\n" * (8 << 20))
    stay = pmix.Gate()
    job, gate = spawning.start(f'grep .; : <"{stay.path}"', "--input", path,
                               "--keep-stdin", nodes=2)
    tool = spawning.connect(job)
    first = Kept(tool, 2)
    tool.do(f"push {first.space} * one\\n")
    tool.do(f"push {first.space} *")
    wait_end(tool, first.space)
    first.wait(0, b"one\n")
    first.wait(1, b"one\n")
    own, both = first.space.rsplit(".", 1)[0], Kept(tool, 2)
    gate.open()
    for n in range(100):
        tool.do(f"also {own} *")
        tool.do(f"push {both.space} * both{n}\\n")
        tool.do(f"push {both.space} * its{n}\\n")
        tool.do(f"push {own} * own{n}\\n")
    tool.do(f"also {own} *")
    tool.do(f"push {both.space} *")
    wait_end(tool, both.space)
    for rank in range(2):
        both.wait(rank, b"".join(b"both%d\nits%d\n" % (n, n)
                                 for n in range(100)))
    check_eq(0, tool.end())
    stay.open()
    got = job.stdout.read().splitlines()
    check_eq({b"%s%d" % (word, n): 2 for n in range(100)
              for word in (b"both", b"own")}, dict(collections.Counter(got)))
    job.check_ok()


def killed():
    """A tool that pushes is killed in the middle: what was taken of it has
    come, push by push, and another tool goes on, to a job of its own and to
    that one (which does not end with its tool: it has its stdin to the
    end)."""
    job, gate = spawning.start("true", "--stdin", "none")
    stays = spawning.connect(job)
    kept = Kept(stays, 2)
    for n in range(3):
        tool = spawning.connect(job)
        its = Kept(tool, 2, ALL + "!pmix.nohup ")
        for _ in range(50):
            tool.tell(f"push {its.space} * " + "k" * 5000)
        stays.do(f"push {kept.space} * {n}\\n")
        live.eventually(lambda: its.got(0), 60, "some has come")
        tool.proc.kill()
        tool.proc.wait()
        live.eventually(lambda: job.said().count(" has disconnected") > n, 60,
                        "it has gone")
        stays.do(f"push {its.space} *")
        wait_end(stays, its.space)
        got = its.got(0)
        check(set(got) == {ord("k")} and len(got) % 5000 == 0,
              "whole pushes: %d bytes" % len(got))
        its.wait(1, got)
    stays.do(f"push {kept.space} *")
    wait_end(stays, kept.space)
    for rank in range(2):
        kept.wait(rank, b"0\n1\n2\n")
    finish(job, gate, stays)


def main():
    pmix.need()
    for test, sentence in (
            (exact, "several jobs, byte for byte"),
            (some, "one rank of three, and what is refused"),
            (shut, "one that has closed its stdin"),
            (beside, "beside the run's own stdin"),
            (killed, "tools that are killed")):
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
