#!/usr/bin/env python3
"""Tools pull output of a running job: by rank, list and wildcard, several at
once, byte for byte, while the console keeps its own.

The output is compared with what the processes write: a text that follows from
rank and channel, which the test makes, too."""
import os
import subprocess
import sys

import pmix
import live

RANKS = 8
LINES = live.full(400000, 40000)  # of each rank and channel: 11 bytes each
WRITE = ('seq -f "$XYLEM_RANK o %%07g" %d & seq -f "$XYLEM_RANK e %%07g" %d '
         '>&2; wait' % (LINES, LINES))


def text(rank, channel):
    return b"".join(b"%d %s %07d\n" % (rank, channel[3:4].encode(), n)
                    for n in range(1, LINES + 1))


SIZE = 12 * LINES


def start(*options, command=WRITE, nodes=RANKS):
    gate = pmix.Gate()
    job = pmix.Job("-v", "-N", nodes, "--nodes-per-daemon", 4, *options, "--",
                   "sh", "-c", pmix.Gate.WAIT + command, gate.path)
    pmix.wait_up(job)
    return job, gate


def check_exact(tool, ranks, channels):
    for rank in range(RANKS):
        for channel in ("stdout", "stderr"):
            is_wanted = rank in ranks and channel in channels
            got = tool.got(rank, channel)
            want = text(rank, channel) if is_wanted else None
            live.check(got == want, "rank %d %s: %s bytes, want %s" % (
                rank, channel, got and len(got), want and len(want)))
            live.check_eq(1 if is_wanted else 0, tool.ends(rank, channel),
                          "ends told")
    live.check_eq(0, tool.dropped(), "bytes dropped")


def write_all(job, gate, end, tools):
    """Opens the gates; returns what the console has. The end of the job waits
    2 s for a tool that takes nothing, as one does that gets no processor: so
    all have all of it before."""
    reader = pmix.Reader(job)
    gate.open()
    for tool, ranks, channels in tools:
        for channel in channels:
            pmix.wait_taken(tool, len(ranks) * SIZE, channel)
    end.open()
    job.check_ok()
    return reader.end()


def several():
    """Overlapping requests; each tool gets what it asked for and no more."""
    end = pmix.Gate()
    job, gate = start(command='%s; : <"%s"' % (WRITE, end.path))
    tools = [
        (pmix.ready(job, "-n", 2 * RANKS), range(RANKS), ("stdout", "stderr")),
        (pmix.ready(job, "-r", "0,3", "-c", 2, "-n", 2), (0, 3), ("stdout",)),
        (pmix.ready(job, "-r", "3", "-c", 4, "-n", 1), (3,), ("stderr",)),
    ]
    out = write_all(job, gate, end, tools)
    for tool, ranks, channels in tools:
        live.check_eq(0, tool.wait(), "tool")
        check_exact(tool, ranks, channels)
    lines = out.splitlines(keepends=True)
    for rank in range(RANKS):
        mine = b"".join(line for line in lines
                        if line.startswith(b"%d " % rank))
        live.check(mine == text(rank, "stdout"), "console of rank %d" % rank)


def deregistered():
    """After it has left nothing comes, and the others go on."""
    gates = pmix.Gate()
    job, gate = start(command='echo one; : <"%s"; echo two' % gates.path)
    leaver = pmix.ready(job, "-d", stdin=subprocess.PIPE)
    stayer = pmix.ready(job, "-n", 2 * RANKS)
    gate.open()
    live.eventually(lambda: leaver.got(0, "stdout") == b"one\n", 30, "one")
    leaver.proc.stdin.write(b"leave\n")
    leaver.proc.stdin.flush()
    live.eventually(lambda: leaver.has("left"), 30, "it has left")
    gates.open()
    live.check_eq(0, stayer.wait())
    live.check_eq(b"one\n", leaver.got(0, "stdout"))
    live.check_eq(b"one\ntwo\n", stayer.got(0, "stdout"))
    leaver.proc.stdin.close()
    leaver.wait()
    job.stdout.read()
    job.check_ok()


def demands(job):
    """A required directive that is not known refuses a pull, and so does one
    that would change what comes (test_attributes.py); an unknown hint does
    not. A pull of no process makes no sense."""
    for options, status in ((("-D", "!no.such"), "NOT-SUPPORTED"),
                            (("-D", "pmix.iof.dir=/x"), "NOT-SUPPORTED"),
                            (("-r", ""), "BAD-PARAM")):
        tool = pmix.Tool(job, *options)
        live.check_eq(4, tool.wait(), options)
        said = tool.proc.stderr.read().decode().replace("_", "-")
        live.check(status in said, (options, said))
    live.eventually(lambda: "a pull was refused: pmix.iof.dir is not supported"
                    in job.said(), 30, "it says so")
    for key in "!pmix.iof.old", "no.such":
        tool = pmix.Tool(job, "-d", "-D", key, stdin=subprocess.PIPE)
        tool.wait_ready()
        tool.proc.communicate(b"leave\nend\n", 30 * live.SLOW)
        live.check_eq(0, tool.proc.returncode, key)


def refused():
    job, gate = start(command="true", nodes=2)
    # PMIX_FWD_STDIN_CHANNEL (the tool's library refuses what has stdin in
    # it), PMIX_FWD_NO_CHANNELS, PMIX_FWD_ALL_CHANNELS, no such rank
    for options, status in ((("-c", 1), "NOT-SUPPORTED"),
                            (("-c", 0), "BAD-PARAM"),
                            (("-c", 255), "NOT-SUPPORTED"),
                            (("-r", "7"), "NOT-FOUND")):
        tool = pmix.Tool(job, *options)
        live.check_eq(4, tool.wait(), options)
        said = tool.proc.stderr.read().decode().replace("_", "-")
        live.check(status in said, (options, said))
    demands(job)
    for rank, name in ("node", "NODE"), ("3,peers", "PEERS"):
        live.check_eq(4, pmix.Tool(job, "-r", rank).wait(), rank)
        live.eventually(lambda n=name: "a pull was refused: "
                                       "PMIX_RANK_LOCAL_%s cannot be pulled" % n
                        in job.said(), 30, "it says so")
    tool = pmix.Tool(job, "-k", "pmix.qry.queues")
    live.check_eq(0, tool.wait())
    live.check("NOT-SUPPORTED" in tool.said().replace("_", "-"), "queues")
    gate.open()
    job.check_ok()


def asked():
    job, gate = start(command="exit $((XYLEM_RANK * 3))", nodes=2)
    tool = pmix.Tool(job, "-q")
    live.check_eq(0, tool.wait())
    name, status, *table = tool.said().splitlines()
    live.check_eq("JOB STARTED", status)
    live.check_eq([name, name], [row.split()[0] for row in table])
    live.check_eq(["0", "1"], [row.split()[1] for row in table])
    live.check_eq(["sh", "sh"], [row.split()[3] for row in table])
    tool = pmix.Tool(job, "-q", "-s", name, "-i", "my-tool")
    live.check_eq(0, tool.wait(), "by namespace, with a name of its own")
    live.eventually(lambda: "my-tool.0 has connected" in job.said(), 60,
                    "its name was kept")
    gate.open()
    live.check_eq(3, job.wait())


def private():
    job, gate = start(command="true", nodes=1)
    file = pmix.rendezvous(job)
    folder = file[:file.index("/", file.index("/xylem-pmix-") + 1)]
    live.check_eq(0o700, os.stat(folder).st_mode & 0o777, "mode")
    gate.open()
    job.check_ok()
    live.check(not os.path.exists(folder), "the folder is left")


def main():
    pmix.need()
    for test, sentence in (
            (several, "three tools with overlapping requests"),
            (deregistered, "a tool that deregisters"),
            (refused, "what cannot be asked for is refused"),
            (asked, "namespaces, state and processes"),
            (private, "rendezvous files are private, and go")):
        with live.case(sentence):
            test()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
