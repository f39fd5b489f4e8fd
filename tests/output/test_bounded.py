#!/usr/bin/env python3
"""Memory stays bounded and heartbeats go on while a process does not read."""
import json
import os
import re
import socket
import subprocess
import sys
import time

import live

NODES = live.full(64, 12)
SIZE = live.full(1024, 128) * live.MIB
PAUSE_S = live.full(30, 12)
LINES = live.full(200000, 40000)
STUCK = 5  # the rank that does not read
# Less than each time in which somebody does not read (where times are not
# stretched), 10 s where a message ends it: a heartbeat that waited for him
# would be missed. Beats come after just under a half of it, and the other half
# is more than a daemon may be held up.
HEARTBEAT_S = int(9 * live.SLOW)
STATS = os.path.join(live.TMP, "stats")
OPTIONS = ("-N", NODES, "--arity", 4, "--heartbeat", HEARTBEAT_S,
           "--stats", STATS)
# Each rank but the stuck one begins at once; that one waits for the gate.
HOLD = 'test "$XYLEM_RANK" != %d || read -r go <"$0"; ' % STUCK


def gate_make(name):
    path = os.path.join(live.TMP, name)
    os.mkfifo(path)
    return path


def gate_open(path):
    with open(path, "w") as gate:
        gate.write("go\n")


def check_stall(job):
    """The message that names who holds the others up, and where: once."""
    live.check_eq([], [line for line in job.said().splitlines()
                       if "rank %d" % STUCK in line][1:], "told again:")
    live.check(re.search(r"^xylem: rank %d on %s does not read its stdin: "
                         r"the job waits for it \(see --stdin-slow\)$" %
                         (STUCK, re.escape(socket.gethostname())), job.said(),
                         re.MULTILINE), job.said())


def check_beats():
    """No node left a neighbour for being silent."""
    with open(STATS) as file:
        stats = json.load(file)
    live.check_eq(0, stats["repairs"]["count"], "repairs:")
    live.check_eq([], stats["lost_nodes"], "lost nodes:")
    os.unlink(STATS)


def one_does_not_read(per_daemon):
    gate = gate_make("gate-stdin-%d" % per_daemon)
    memory = live.Memory()
    memory.start()
    job = live.Job(*OPTIONS, "--nodes-per-daemon", per_daemon, "--", "sh", "-c",
                   HOLD + "exec cksum", gate, stdin=subprocess.PIPE)
    feeder = live.Feeder(job.stdin, SIZE)
    feeder.start()
    live.eventually(lambda: "rank %d" % STUCK in job.said(), 40,
                    "the message about rank %d" % STUCK)
    fed = feeder.fed
    print("# the writer was stopped after %d MiB" % (fed // live.MIB))
    live.check(fed < SIZE, "the launcher swallowed the whole input")
    gate_open(gate)
    text = job.stdout.read().decode()
    job.check_ok()
    memory.check(per_daemon, NODES // per_daemon + 1)
    live.check_eq([live.cksum(SIZE)] * NODES, text.splitlines())
    check_stall(job)
    check_beats()


def check_lines(job, pipe):
    live.check_lines(pipe, NODES, "--count", LINES, "--label")
    job.check_ok()


def output_is_not_read():
    memory = live.Memory()
    memory.start()
    job = live.Job(*OPTIONS, "--nodes-per-daemon", 1, "-l", "--",
                   live.tool("tool_lines"), "--count", LINES)
    time.sleep(PAUSE_S)  # sleep-ok: this long it does not read; it is the test
    live.check(job.proc.poll() is None, "it ended: " + job.said())
    check_lines(job, job.stdout)
    memory.check(1, NODES + 1)
    check_beats()


def neither_is_read():
    gate = gate_make("gate-both")
    memory = live.Memory()
    memory.start()
    job = live.Job(*OPTIONS, "--nodes-per-daemon", 1, "-l", "--", "sh", "-c",
                   '"$1" --count "$2" & ' + HOLD + "cat >/dev/null; wait",
                   gate, live.tool("tool_lines"), LINES,
                   stdin=subprocess.PIPE)
    feeder = live.Feeder(job.stdin, SIZE)
    feeder.start()
    time.sleep(PAUSE_S)  # sleep-ok: this long it does not read; it is the test
    live.check(job.proc.poll() is None, "it ended: " + job.said())
    live.check(feeder.fed < SIZE, "the launcher swallowed the whole input")
    opener = subprocess.Popen(["sh", "-c", 'echo go >"$0"', gate])
    check_lines(job, job.stdout)
    opener.wait()
    memory.check(1, NODES + 1)
    check_beats()
    live.check_eq(SIZE, feeder.fed)


def main():
    with live.case("one process of %d does not read: one daemon to a node"
                   % NODES):
        one_does_not_read(1)
    with live.case("the same with several nodes to a daemon"):
        one_does_not_read(NODES // 4)
    with live.case("the launcher's stdout is not read for %d s" % PAUSE_S):
        output_is_not_read()
    with live.case("both at once"):
        neither_is_read()
    with live.case("nothing is left"):
        live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
