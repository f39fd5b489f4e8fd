#!/usr/bin/env python3
"""Ten tools at once pull binary output of many processes, byte for byte, from
a launcher and a helper that take little memory.

The source of the output is one random file: each process writes two stretches
of it, each of which begins at a place of its own."""
# timeout: 600
import os
import signal
import sys

import pmix
import live

RANKS = live.full(64, 16)
SIZE = live.full(100000000, 32000000) // (2 * RANKS)  # of each channel
STEP = 4099
TOOLS = 10
MUCH = 16 * live.MIB  # more than sockets hold
WRITE = ('part() { tail -c +$((1 + (2 * XYLEM_RANK + $1) * %d)) "$FILE" | '
         'head -c %d; }; part 0 & part 1 >&2; wait; : <"$1"' % (STEP, SIZE))
CHANNELS = ("stdout", "stderr")


def check_exact(tool, ranks, channels, mem):
    for rank in range(RANKS):
        for number, channel in enumerate(CHANNELS):
            at = (2 * rank + number) * STEP
            want = (mem[at:at + SIZE] if rank in ranks and channel in channels
                    else None)
            got = tool.got(rank, channel)
            live.check(got == want, "rank %d %s: %s bytes, want %s" % (
                rank, channel, got and len(got), want and len(want)))
    live.check_eq(0, tool.dropped(), "bytes dropped")


def tools_start(job):
    """One after another asks for all, for some ranks, for one channel."""
    kinds = (((), range(RANKS), CHANNELS),
             (("-r", "0,3,7"), (0, 3, 7), CHANNELS),
             (("-c", 2), range(RANKS), ("stdout",)))
    for i in range(TOOLS):
        options, ranks, channels = kinds[i % len(kinds)]
        yield (pmix.ready(job, *options, "-n", len(ranks) * len(channels)),
               ranks, channels)


def wait_taken(tools):
    """All have all of it: the end of the job waits for a tool no longer than
    that needs which has kept pace."""
    for tool, ranks, channels in tools:
        live.eventually(lambda at=tool, size=len(ranks) * SIZE, of=channels:
                        all(at.taken(channel) >= size for channel in of),
                        300, "a tool has it")


def slow_to_hear():
    """The helper takes some ms over each word of the launcher, also the last
    one, and more than sockets hold waits for the tools then: they get all of
    it."""
    gate = pmix.Gate()
    job = pmix.Job("-v", "-N", 1, "--raw", "--", "sh", "-c",
                   pmix.Gate.WAIT + "head -c %d /dev/zero" % MUCH, gate.path,
                   env=live.preload("pmix", "preload_slow.c"))
    pmix.wait_up(job)
    tools = [pmix.ready(job, "-n", 2) for _ in range(TOOLS)]
    for tool in tools:
        live.stop(tool.proc.pid)
    gate.open()
    left = MUCH
    while left > live.MIB:  # the job is not over: it does not wait for long
        left -= len(os.read(job.stdout.fileno(), left - live.MIB))
    for tool in tools:
        os.kill(tool.proc.pid, signal.SIGCONT)
    for tool in tools:  # the end waits for them 10 s in all
        live.eventually(lambda at=tool: at.taken() >= MUCH - 2 * live.MIB, 300,
                        "a tool has most of it")
    live.check_eq(live.MIB, len(job.stdout.read()), "the rest")
    job.check_ok()
    for tool in tools:
        live.check_eq(0, tool.wait(), "tool")
        live.check_eq((MUCH, 1), (len(tool.got(0, "stdout") or b""),
                                  tool.ends(0, "stdout")), "its bytes, its end")


def main():
    pmix.need()
    if not live.is_sanitized():  # they have to be loaded first
        with live.case("the helper is slow to hear"):
            slow_to_hear()
    path = os.path.join(live.TMP, "random")
    mem = os.urandom(SIZE + 2 * RANKS * STEP)
    with open(path, "wb") as file:
        file.write(mem)
    with live.case("%d tools, %d processes, %d bytes of each channel" % (
            TOOLS, RANKS, SIZE)):
        gate, end = pmix.Gate(), pmix.Gate()
        job = pmix.Job("-v", "-N", RANKS, "--nodes-per-daemon", 16, "--raw",
                       "--", "sh", "-c", pmix.Gate.WAIT + WRITE, gate.path,
                       end.path, stdout=os.open(os.devnull, os.O_WRONLY),
                       env={**os.environ, "FILE": path})
        pmix.wait_up(job)
        tools = list(tools_start(job))
        memory = live.Memory()
        memory.start()
        live.eventually(lambda at=memory: len(at.peak) >= 3, 60,
                        "all are seen")
        gate.open()
        wait_taken(tools)
        end.open()
        job.check_ok(300)
        for tool, ranks, channels in tools:
            live.check_eq(0, tool.wait(300), "tool")
            check_exact(tool, ranks, channels, mem)
        memory.check(16, 3)
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
