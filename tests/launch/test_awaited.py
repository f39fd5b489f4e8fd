#!/usr/bin/env python3
"""The messages about hosts that a launch waits for: when it takes long, at ^C,
and at its end."""
import os
import signal
import sys

import live
from live import case, check, check_eq, check_has

HOSTS = "node[1-8]"
LONG = "the launch still waits for "


def start(*args, where=HOSTS, arity=8, **env):
    return live.Job("--launcher", "ssh", "--rsh", live.RSH, "--interface",
                    "lo", "-w", where, "--arity", arity, *args, "--", "echo",
                    "hi", env={**os.environ, **env})


def await_said(job, words):
    live.eventually(lambda: words in job.said(waits=True), 60, words)


def held(hosts):
    """Variables that hold these hosts back, and the FIFO that lets them go."""
    gate = live.Gate()
    return gate, {"RSH_HELD": hosts, "RSH_GATE": gate.path}


with case("a long launch names those who have not come"):
    gate, env = held("node3 node4 node7")
    job = start(**env)
    await_said(job, LONG + "node[3-4,7]: 3 of 8 nodes have not joined\n")
    gate.open()
    os.write(gate.fd, b"go\n" * 3)
    check_eq(b"hi\n" * 8, job.stdout.read())
    job.check_ok()
    live.check_gone()

with case("a host is named, and all beneath it are counted"):
    gate, env = held("node1")
    job = start(where="node[1-6]", arity=2, **env)
    await_said(job, LONG + "node1: 3 of 6 nodes have not joined\n")
    gate.open()
    os.write(gate.fd, b"go\n")
    check_eq(b"hi\n" * 6, job.stdout.read())
    job.check_ok()
    live.check_gone()

for number in signal.SIGINT, signal.SIGTERM:
    with case("%s names those who had not come" % number.name):
        job = start(RSH_MUTE="node3 node4 node7")
        await_said(job, LONG)
        job.proc.send_signal(number)
        check_eq(128 + number, job.wait(), "exit code:")
        check_has("xylem: the launch still waited for node[3-4,7]: 3 of 8 "
                  "nodes had not joined\n", job.said())
        check_eq(b"", job.stdout.read())
        live.check_gone()

with case("a launch that fails counts the hosts that were not tried"):
    job = start("--launch-timeout", 3 * live.SLOW, where="node[1-6]", arity=2,
                RSH_MUTE="node1")
    check_eq(1, job.wait(), "exit code:")
    check_has("cannot start the daemon on node1: ", job.said())
    check_has("xylem: 4 of 6 hosts were tried; the other 2 were not, as the "
              "daemons that start their daemons had not connected\n",
              job.said())
    live.check_gone()

with case("and says nothing of them when all were tried"):
    job = start("--launch-timeout", 3 * live.SLOW, RSH_MUTE="node1")
    check_eq(1, job.wait(), "exit code:")
    check("were tried" not in job.said(), job.said())
    live.check_gone()

sys.exit(live.end())
