#!/usr/bin/env python3
"""xylem attach finds the session by the address at which PMIx tools connect.
It does not connect to that address: the process that serves the tools may
die."""
import os
import signal
import sys

import pmix
import clients
import live


def start():
    gate = pmix.Gate()
    job = pmix.Job("-v", "-N", 2, "--", "sh", "-c", pmix.Gate.WAIT + "seq 1000",
                   gate.path)
    pmix.wait_up(job)
    with open(pmix.rendezvous(job), encoding="ascii") as file:
        uri = file.readline().strip()
    tool = clients.attached("--uri", uri, "--merge-stderr", "--label")
    live.check(b"attached to " + uri.partition("-server.")[0].encode() + b":"
               in tool.said(), tool.said())
    return job, gate, tool


def finish(job, gate, tool):
    gate.open()
    shown = job.stdout.read().splitlines()
    job.check_ok()
    live.check_eq(2000, len(shown), "lines of the job")
    live.check_eq(0, tool.wait(), tool.said())
    live.check_eq(sorted(b"%d: %d" % (rank, n + 1) for rank in range(2)
                         for n in range(1000)),
                  sorted(tool.shown().splitlines()))


def helper_dies():
    job, gate, tool = start()
    os.kill(pmix.helper_of(job), signal.SIGKILL)
    finish(job, gate, tool)


def main():
    pmix.need()
    for test, sentence in ((lambda: finish(*start()), "by address"),
                           (helper_dies, "who serves tools is killed")):
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
