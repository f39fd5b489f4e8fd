#!/usr/bin/env python3
"""stddiag, the third channel of output: where it is shown, that it is
complete, and that a process that holds it open is treated as with stdout. The
output is compared with text that the test computes from rank and channel."""
import glob
import json
import os
import sys

import live
import loss
from live import check, check_eq

NODES = 3
LINES = live.full(200000, 20000)  # of each channel of a process
CHANNELS = ("stdout", "stderr", "stddiag")

# All three at once, so that they share the way up.
SPEAKER = """
import os, sys, threading
def say(fd, name):
    with os.fdopen(fd, "w") as out:
        for number in range(int(sys.argv[1])):
            print(os.environ["XYLEM_RANK"], name, number, file=out)
        out.write("no end")
ways = [(1, "stdout"), (2, "stderr"),
        (int(os.environ["XYLEM_STDDIAG_FD"]), "stddiag")]
threads = [threading.Thread(target=say, args=way) for way in ways]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""


def text(rank, channel):
    lines = (b"%d %s %d\n" % (rank, channel.encode(), n) for n in range(LINES))
    return b"".join(lines) + b"no end"


def run(*args, code=0, nodes=NODES):
    """Runs the job; returns its stdout, stderr without notices, and report."""
    stats = os.path.join(live.TMP, "stats")
    job = live.Job("--no-pmix", "--stats", stats, "-N", nodes,
                   "--stddiag", *args)
    out = job.stdout.read().decode()
    check_eq(code, job.wait(), "exit code: " + job.said())
    with open(stats, encoding="ascii") as file:
        report = json.load(file)
    said = "".join(line for line in job.said().splitlines(keepends=True)
                   if "no hosts given" not in line)
    return out, said, report


SAY = "echo o; echo e >&2; printf d1 >&$XYLEM_STDDIAG_FD"


def shown():
    """stddiag is shown on stderr, by the name of its channel, whatever becomes
    of stderr."""
    out, said, _ = run("--", "sh", "-c", SAY)
    check_eq("o\n" * NODES, out)
    check_eq(NODES, said.count("e\n"))
    check_eq(NODES, said.count("d1"))
    for merged in ((), ("--merge-stderr",)):
        out, said, report = run("--label=full", *merged, "--", "sh", "-c", SAY,
                                nodes=1)
        check_eq((0, 1), (out.count("d1\n"), said.count(",0]<stddiag>: d1\n")))
        check_eq(2 if merged else 3, report["proof"]["complete"])
        check_eq(2, report["stddiag_bytes"])
    _, said, _ = run("--format", "json", "--", "sh", "-c", SAY, nodes=1)
    rows = {row["channel"]: row for row in map(json.loads, said.splitlines())}
    check_eq(("d1", False), (rows["stddiag"]["text"],
                             rows["stddiag"]["newline"]))
    _, said, _ = run("--format", "xml", "--", "sh", "-c", SAY, nodes=1)
    check('<stddiag rank="0">d1</stddiag>\n' in said, said)


def asked_for():
    """Without the option there is neither descriptor nor variable."""
    job = live.Job("--no-pmix", "-N", 1, "--", "sh", "-c",
                   "echo ${XYLEM_STDDIAG_FD-none}; ! readlink /proc/$$/fd/3")
    check_eq(b"none\n", job.stdout.read())
    job.check_ok()


def whole():
    where = os.path.join(live.TMP, "files")
    _, _, report = run("--file-only", "--output-dir", where, "--arity", 2,
                       "--nodes-per-daemon", 1, "--", sys.executable, "-c",
                       SPEAKER, LINES)
    for rank in range(NODES):
        for channel in CHANNELS:
            path, = glob.glob(f"{where}/*/rank.{rank}/{channel}")
            with open(path, "rb") as file:
                check(file.read() == text(rank, channel), path)
    size = sum(len(text(rank, channel)) for rank in range(NODES)
               for channel in CHANNELS)
    check_eq({"channels": 9, "complete": 9, "given_up": 0, "bytes": size,
              "gaps": []}, report["proof"])


def held():
    """A child has let go of all descriptors but this one. Its parent ends when
    it has spoken."""
    pids = os.path.join(live.TMP, "pids")
    _, said, report = run(
        "--linger", 1, "--", "sh", "-c",
        'mkfifo "$0.$XYLEM_RANK"; (exec >/dev/null 2>&1; echo early >&3; '
        'echo >"$0.$XYLEM_RANK"; exec tail -f /dev/null) & '
        'echo $! >>"$0"; read -r _ <"$0.$XYLEM_RANK"', pids)
    check_eq("early\n" * NODES, said)
    check_eq(3 * NODES, report["proof"]["complete"])
    with open(pids, encoding="ascii") as file:
        for pid in file.read().split():
            live.eventually(lambda pid=pid: not os.path.exists("/proc/" + pid),
                            60, "the child is killed at the end of the job")
    # What says something later, and ends, is waited for.
    _, said, _ = run(
        "--linger", 60, "-i", "none", "--", "sh", "-c",
        "(exec >/dev/null 2>&1; while kill -0 $$; do :; done; echo late >&3) &")
    check_eq("late\n" * NODES, said)


def lost():
    """For a lost node it is told how far each channel has come."""
    job = loss.Running(2, 2, "echo d >&3; " + loss.ECHO,
                       options=("--no-pmix", "--stddiag", "-N", 2,
                                "--nodes-per-daemon", 1))
    live.eventually(lambda: job.job.said().count("d\n") == 2, 60, "both lines")
    job.kill(1)
    live.eventually(lambda: "goes on without it" in job.job.said(), 60, "loss")
    job.job.stdin.close()
    check_eq(1, job.job.wait())
    check("rank 1 on %s (stddiag: 2 bytes, the end is not known)"
          % os.uname().nodename in job.job.said(), job.job.said())


def main():
    for test, sentence in (
            (shown, "on stderr, by its name"),
            (asked_for, "no process has it unasked"),
            (whole, "whole beside the others, in files of its own"),
            (held, "a child that holds it open"),
            (lost, "that of a lost node")):
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
