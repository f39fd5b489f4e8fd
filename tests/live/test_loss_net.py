#!/usr/bin/env python3
"""Hosts that vanish from the network: nobody is told, nobody is refused.

Each host is a network namespace on a bridge, its cable is cut by taking the
bridge's end of it down. Needs root and ip(8); skipped without.
"""
# timeout: 240
import os
import shutil
import subprocess
import sys

import live
from live import check, check_eq
from loss import ECHO, Running

HEARTBEAT_S = 1
GIVE_UP_S = 7 * HEARTBEAT_S  # docs/protocol.md, Times and sizes
NAME = "xl%d" % (os.getpid() % 10000)


def sh(command, must=True):
    return subprocess.run(command, shell=True, check=must, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


class Net:
    """The launcher's host, l, and h0, h1 and so on."""

    def __init__(self, count):
        self.names = ["l"] + ["h%d" % n for n in range(count)]
        self.rsh = os.path.join(live.TMP, "rsh")
        with open(self.rsh, "w") as file:
            file.write('#!/bin/sh\nhost=$1\nshift\nexport RSH_HOST="$host"\n'
                       'exec nsenter --net="/run/netns/%s$host" sh -c "$*"\n'
                       % NAME)
        os.chmod(self.rsh, 0o755)

    def __enter__(self):
        try:
            sh(f"ip netns add {NAME}sw && "
               f"ip -n {NAME}sw link add br0 type bridge && "
               f"ip -n {NAME}sw link set br0 up")
            for number, name in enumerate(self.names, 1):
                host, far = NAME + name, NAME + "b" + name
                sh(f"ip netns add {host} && ip -n {host} link set lo up && "
                   f"ip -n {NAME}sw link add {far} type veth peer name eth0 "
                   f"netns {host} && "
                   f"ip -n {host} addr add 10.98.0.{number}/24 dev eth0 && "
                   f"ip -n {host} link set eth0 up && "
                   f"ip -n {NAME}sw link set {far} master br0 up")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name in self.names + ["sw"]:
            sh(f"ip netns del {NAME}{name}", must=False)

    def cut(self, name):
        sh(f"ip -n {NAME}sw link set {NAME}b{name} down")

    def job(self, *args, **more):
        return live.Job(
            "--launcher", "ssh", "-w", ",".join(self.names[1:]), "--rsh",
            self.rsh, "--interface", "10.98.0.0/24", *args,
            wrap=("nsenter", "--net=/run/netns/%sl" % NAME), **more)


def start(net):
    return Running(len(net.names) - 1, 2, ECHO, heartbeat=HEARTBEAT_S,
                   start=net.job)


def inner_is_cut_off(net):
    """Its children notice its silence and are adopted; the host itself ends
    what runs there when nobody takes it back."""
    running = start(net)
    running.ask(b"one")
    own = set(running.pids[0])
    net.cut("h0")
    running.lost.add(0)
    taken_s = running.ask(b"two")
    print("# from the cut to the last answer: %.3f s" % taken_s)
    check(taken_s < (HEARTBEAT_S + 1) * live.SLOW, "it took %.3f s" % taken_s)
    running.await_repairs(2, 3)
    running.await_lost(0)
    running.ask(b"three")
    live.eventually(lambda: not own & set(live.descendants(live.RUNNER)),
                    2 * GIVE_UP_S, "the processes that are cut off end")
    running.end()


def launcher_is_cut_off(net):
    """Everybody is lost to it, and it to everybody: both sides end."""
    running = start(net)
    running.ask(b"one")
    net.cut("l")
    running.lost |= set(range(running.nodes))
    check_eq(b"", running.job.stdout.read(), "then")
    live.eventually(lambda: running.job.proc.poll() is not None,
                    2 * GIVE_UP_S, "the launcher ends")
    running.end()


def main():
    if os.geteuid() != 0 or not shutil.which("ip") \
            or not shutil.which("nsenter") \
            or sh(f"ip netns add {NAME}x && ip netns del {NAME}x",
                  must=False).returncode:
        live.skip("network namespaces need root, ip(8) and nsenter(1)")
    for sentence, scenario in (
            ("an inner host vanishes", inner_is_cut_off),
            ("the launcher's host vanishes", launcher_is_cut_off)):
        with live.case(sentence), Net(6) as net:
            scenario(net)
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
