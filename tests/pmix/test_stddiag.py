#!/usr/bin/env python3
"""Tools and `xylem attach` get the channel stddiag: alone, with other channels,
and instead of the console."""
import sys

import pmix
import clients
import live

RANKS = 3
LINES = live.full(200000, 20000)  # of each rank and channel
WRITE = ("".join(f'seq -f "$XYLEM_RANK {name} %g" {LINES} >&{fd} & '
                 for fd, name in ((1, "o"), (2, "e"), (3, "d"))) +
         'wait; : <"$1"')
CHANNELS = {"stdout": "o", "stderr": "e", "stddiag": "d"}


def text(rank, channel):
    return "".join("%d %s %d\n" % (rank, CHANNELS[channel], n)
                   for n in range(1, LINES + 1)).encode()


def start():
    """The processes write at the first gate, and end at the second one."""
    gates = pmix.Gate(), pmix.Gate()
    job = pmix.Job("-v", "-N", RANKS, "--stddiag", "--", "sh", "-c",
                   pmix.Gate.WAIT + WRITE, *(gate.path for gate in gates))
    pmix.wait_up(job)
    return job, gates


def size_of(channel):
    return sum(len(text(rank, channel)) for rank in range(RANKS))


def finish(job, gate):
    gate.open()
    live.check_eq(b"", job.stdout.read(), "no more")
    job.check_ok()


def shows_all(shown):
    return (shown.shown().count(b"]<stdout>: ") == RANKS * LINES and
            shown.said().count(b"]<stderr>: ") >= RANKS * LINES and
            shown.said().count(b"]<stddiag>: ") == RANKS * LINES)


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
    job, gates = start()
    alone = pmix.Tool(job, "-c", 8, "-n", RANKS)
    every = pmix.Tool(job, "-c", 14, "-n", 3 * RANKS)
    shown = clients.Attach("--pid", job.proc.pid, "--label=full")
    alone.wait_ready()
    every.wait_ready()
    shown.wait_attached()
    gates[0].open()
    job.stdout.read(size_of("stdout"))
    for channel in CHANNELS:
        pmix.wait_taken(every, size_of(channel), channel)
    pmix.wait_taken(alone, size_of("stddiag"), "stddiag")
    live.eventually(lambda: shows_all(shown), 120, "attach shows all")
    finish(job, gates[1])
    live.check_eq(0, alone.wait(), "tool")
    live.check_eq(0, every.wait(), "tool")
    live.check_eq(0, shown.wait(), "attach: " + shown.said().decode()[-500:])
    check_exact(alone, ("stddiag",))
    check_exact(every, CHANNELS)
    live.check_eq(RANKS * LINES, console_has(job), "the console's copy")
    live.check_eq(RANKS * LINES, shown.said().count(b"]<stddiag>: "))
    live.check_eq(RANKS * LINES, shown.shown().count(b"]<stdout>: "))


def redirected():
    job, gates = start()
    tool = pmix.Tool(job, "-R", "-c", 8, "-n", RANKS)
    tool.wait_ready()
    gates[0].open()
    job.stdout.read(size_of("stdout"))
    pmix.wait_taken(tool, size_of("stddiag"), "stddiag")
    finish(job, gates[1])
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
