#!/usr/bin/env python3
"""Tools and `xylem attach` get stddiag: alone, with the others, in place of the
console."""
# timeout: 120
import sys

import pmix
import live

RANKS = 3
LINES = live.full(200000, 20000)  # of each rank and channel
WRITE = ("".join(f'seq -f "$XYLEM_RANK {name} %g" {LINES} >&{fd} & '
                 for fd, name in ((1, "o"), (2, "e"), (3, "d"))) + "wait")
CHANNELS = {"stdout": "o", "stderr": "e", "stddiag": "d"}


def text(rank, channel):
    return "".join("%d %s %d\n" % (rank, CHANNELS[channel], n)
                   for n in range(1, LINES + 1)).encode()


def start():
    gate = pmix.Gate()
    job = pmix.Job("-v", "-N", RANKS, "--stddiag", "--", "sh", "-c",
                   pmix.Gate.WAIT + WRITE, gate.path)
    pmix.wait_up(job)
    return job, gate


def check_exact(tool, channels):
    for rank in range(RANKS):
        for channel in CHANNELS:
            want = text(rank, channel) if channel in channels else None
            live.check(tool.got(rank, channel) == want,
                       f"rank {rank} {channel}")
            live.check_eq(int(channel in channels), tool.ends(rank, channel),
                          "ends told")


def console_has(job):
    return sum(" d " in line for line in job.said().splitlines())


def copies():
    job, gate = start()
    alone = pmix.Tool(job, "-c", 8, "-n", RANKS)
    every = pmix.Tool(job, "-c", 14, "-n", 3 * RANKS)
    shown = pmix.Attach("--pid", job.proc.pid, "--label=full")
    alone.wait_ready()
    every.wait_ready()
    shown.wait_attached()
    gate.open()
    job.stdout.read()
    job.check_ok()
    live.check_eq(0, alone.wait(), "tool")
    live.check_eq(0, every.wait(), "tool")
    live.check_eq(0, shown.wait(), "attach: " + shown.said().decode()[-500:])
    check_exact(alone, ("stddiag",))
    check_exact(every, CHANNELS)
    live.check_eq(RANKS * LINES, console_has(job), "the console's copy")
    live.check_eq(RANKS * LINES, shown.said().count(b"]<stddiag>: "))
    live.check_eq(RANKS * LINES, shown.shown().count(b"]<stdout>: "))


def redirected():
    job, gate = start()
    tool = pmix.Tool(job, "-R", "-c", 8, "-n", RANKS)
    tool.wait_ready()
    gate.open()
    job.stdout.read()
    job.check_ok()
    live.check_eq(0, tool.wait(), "tool")
    check_exact(tool, ("stddiag",))
    live.check_eq(0, console_has(job), "on the console")


def main():
    pmix.need()
    for test, sentence in ((copies, "two tools and xylem attach"),
                           (redirected, "a tool in place of the console")):
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
