#!/usr/bin/env python3
"""A tool that connects late is told, once each, which channels have ended
before; and that those of a lost node have failed."""
import os
import signal
import sys

import pmix
import live

RANKS = 3
CHANNELS = ("stdout", "stderr")


def start(command, *options):
    """Ranks do what the command says, then all but rank 0 wait at a gate."""
    gate = pmix.Gate()
    job = pmix.Job("-v", "-N", RANKS, *options, "--", "sh", "-c",
                   'trap "" PIPE; ' + command +
                   '; [ "$XYLEM_RANK" = 0 ] || : <"$0"', gate.path)
    pmix.wait_up(job)
    return job, gate


def ends(tool, channels=CHANNELS):
    """Returns how often the tool was told the end of each channel, by rank."""
    return [[tool.ends(rank, channel) for channel in channels]
            for rank in range(RANKS)]


def before(job, *options):
    """A tool that ends when what is to come before the late one has."""
    tool = pmix.Tool(job, *options)
    live.check_eq(0, tool.wait(60), "the first tool")
    live.check(job.proc.poll() is None, "the job has ended")


def late(job, *options):
    tool = pmix.Tool(job, *options)
    tool.wait_ready()
    return tool


def finish(job, gate, *tools):
    gate.open()
    job.stdout.read()
    job.check_ok()
    for tool in tools:
        live.check_eq(0, tool.wait(60), "a tool")


def whole():
    """Rank 0 has ended, with all of its channels."""
    job, gate = start("echo word")
    before(job, "-r", 0, "-n", 2)
    tool = late(job, "-n", 2 * RANKS)
    twice = late(job, "-r", "0,0", "-n", 2)
    live.check_eq(0, twice.wait(60), "it is told of rank 0 alone")
    live.eventually(lambda: ends(tool)[0] == [1, 1], 60, "rank 0")
    live.check_eq([[0, 0], [0, 0]], ends(tool)[1:], "the others go on")
    finish(job, gate, tool)
    live.check_eq([[1, 1]] * RANKS, ends(tool), "at the end")
    live.check_eq([1, 1], ends(twice)[0], "named twice")
    live.check_eq(None, tool.got(0, "stdout"), "nothing from before")


def one_channel():
    """All have closed their stderr and go on."""
    job, gate = start("exec 2>&-")
    before(job, "-c", 4, "-n", RANKS)
    tool = late(job, "-R", "-n", 2 * RANKS)
    live.eventually(lambda: ends(tool, ["stderr"]) == [[1]] * RANKS, 60,
                    "stderr of all")
    live.check_eq([[0]] * (RANKS - 1), ends(tool, ["stdout"])[1:])
    finish(job, gate, tool)
    live.check_eq([[1, 1]] * RANKS, ends(tool), "at the end")


def never():
    """Channels that a process never had end with it."""
    job, gate = start("echo word", "--merge-stderr")
    every = CHANNELS + ("stddiag",)
    tool = late(job, "-c", 14, "-n", 3 * RANKS)
    before(job, "-c", 14, "-r", 0, "-n", 3)
    after = late(job, "-c", 14, "-n", 3 * RANKS)
    finish(job, gate, tool, after)
    live.check_eq([[1, 1, 1]] * RANKS, ends(tool, every))
    live.check_eq([[1, 1, 1]] * RANKS, ends(after, every), "the late one")


def spawner(job):
    """The daemon of rank 1, which has said who its parent is."""
    for line in iter(job.stdout.readline, b""):
        rank, pid = map(int, line.split())
        if rank == 1:
            return live.parent(pid)
    raise RuntimeError(job.said())


def failed(tool):
    """Rank 1 alone, both channels; its end is told as well."""
    live.eventually(lambda: all(tool.broken(1, channel)
                                for channel in CHANNELS), 60, "failures")
    live.eventually(lambda: ends(tool)[1] == [1, 1], 60, "its ends")
    for rank in (0, 2):
        live.check_eq([0, 0], [tool.broken(rank, channel)
                               for channel in CHANNELS], "rank %d" % rank)


def lost():
    """A node is lost: a tool that was there, a late one, and one of the next
    helper are told that its channels have failed."""
    job, gate = start('echo "$XYLEM_RANK $PPID"', "--on-node-loss", "continue",
                      "--nodes-per-daemon", 1)
    daemon = spawner(job)
    early = late(job)
    os.kill(daemon, signal.SIGKILL)
    live.eventually(lambda: "is lost" in job.said(), 60, "the loss")
    failed(early)
    failed(late(job))
    pmix.kill_helper(job)
    pmix.wait_up(job)
    failed(late(job))
    gate.open()
    job.stdout.read()
    live.check_eq(1, job.wait(60), "exit code")


def main():
    pmix.need()
    for test, sentence in ((whole, "a process that has ended"),
                           (one_channel, "a channel that was closed"),
                           (never, "channels that there never were"),
                           (lost, "a node that is lost")):
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
