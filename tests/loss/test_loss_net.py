#!/usr/bin/env python3
"""Hosts vanish from the network: no daemon is told, and no connection is
refused.

A host's cable is cut by taking the bridge's end of it down.
"""
import sys

import rig
import live
from live import check, check_eq
from loss import ECHO, Running

GIVE_UP = 7  # heartbeat times: docs/protocol.md, Times and sizes
COUNT = 6


def start(net, heartbeat_s):
    def job(*args, **more):
        return live.Job("--launcher", "ssh", "-w", "h[1-%d]" % COUNT,
                        "--rsh", net.agent, "--topology", "none", *args,
                        **more)
    return Running(COUNT, 2, ECHO, heartbeat=heartbeat_s, start=job)


def inner_is_cut_off(net):
    """Its children notice its silence and are adopted; the host itself ends
    what runs there when nobody takes it back."""
    heartbeat_s = 3
    running = start(net, heartbeat_s)
    running.ask(b"one")
    own = set(running.pids[0])
    net.cut("h1")
    running.lost.add(0)
    taken_s = running.ask(b"two")
    print("# from the cut to the last answer: %.3f s" % taken_s)
    # See test_loss.py, frozen(), for this time.
    check(taken_s < 4 * heartbeat_s * live.SLOW, "it took %.3f s" % taken_s)
    running.await_repairs(2, 3)
    running.await_lost(0, seconds=30)
    running.ask(b"three")
    live.eventually(lambda: not own & set(live.descendants(live.RUNNER)),
                    2 * GIVE_UP * heartbeat_s,
                    "the processes that are cut off end")
    running.end()


def launcher_is_cut_off(net):
    """Everybody is lost to it, and it to everybody: both sides end."""
    heartbeat_s = 1
    running = start(net, heartbeat_s)
    running.ask(b"one")
    net.cut("login")
    running.lost |= set(range(running.nodes))
    check_eq(b"", running.job.stdout.read(), "then")
    live.eventually(lambda: running.job.proc.poll() is not None,
                    2 * GIVE_UP * heartbeat_s, "the launcher ends")
    running.end()


def main():
    rig.start()
    for sentence, scenario in (
            ("an inner host vanishes", inner_is_cut_off),
            ("the launcher's host vanishes", launcher_is_cut_off)):
        with live.case(sentence), rig.Rig(COUNT) as net:
            scenario(net)
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
