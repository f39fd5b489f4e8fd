#!/usr/bin/env python3
"""Firewalls refuse connections: a node that a single host refuses is not lost.

A host rejects what another sends it, by TCP resets or by ICMP. At arity 2 h1
and h2 are children of the launcher, h3 and h4 of h1, h5 and h6 of h2.
"""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import rig
import live
from live import check, check_eq
from loss import ECHO, Running, told

COUNT = 6
HEARTBEAT_S = 3
GONE_S = 10
RESET = "reject with tcp reset"
# What is up is reset all the same: ICMP does not end it.
ICMP = "tcp flags & (syn | ack) == syn reject with icmp port-unreachable"


def nft(host, lines):
    proc = host.popen(["nft", "-f", "-"], stdin=subprocess.PIPE, text=True)
    proc.communicate(lines + "\n")
    check_eq(0, proc.returncode, "nft:")


def reject(net, name, whom, *how, match=""):
    """From now on host `name` answers so what `whom` sends it."""
    address = net.address(net.hosts[whom].number, 0, 4)
    nft(net.hosts[name], "add table ip f\n"
        "add chain ip f in { type filter hook input priority 0; }\n"
        + "\n".join(f"add rule ip f in ip saddr {address} ip protocol tcp "
                    f"{match} {line}".replace("reject", "counter reject")
                    for line in how))


def accept(net, name):
    nft(net.hosts[name], "delete table ip f")


def hits(net, name):
    """How much it has rejected."""
    said = net.hosts[name].popen(["nft", "list", "ruleset"], text=True,
                                 stdout=subprocess.PIPE).communicate()[0]
    return sum(map(int, re.findall(r"counter packets (\d+)", said)))


def links(net, name, whom):
    """Ports at which `name` has connections to `whom`, but for ssh."""
    address = net.address(net.hosts[whom].number, 0, 4)
    said = net.hosts[name].popen(
        ["ss", "-Htn", "state", "established", "dst", address],
        stdout=subprocess.PIPE, text=True).communicate()[0]
    return [int(port) for port in re.findall(r":(\d+) +\S+:\d+ *$", said, re.M)]


def start(net, *options, heartbeat=HEARTBEAT_S):
    def job(*args, **more):
        return live.Job("--launcher", "ssh", "-w", "h[1-%d]" % COUNT,
                        "--rsh", net.agent, "--topology", "none", "--no-pmix",
                        *options, *args, **more)
    return Running(COUNT, 2, ECHO, heartbeat=heartbeat, start=job)


def check_nobody_lost(running):
    check_eq({}, told(running.job.said()), "lost:")
    running.end(code=0)


def parent_is_refused(net, *how):
    """h3 answers its parent so: the launcher is not refused, and takes it."""
    running = start(net)
    running.ask(b"one")
    reject(net, "h3", "h1", *how)
    running.ask(b"two")
    running.await_repairs(2, seconds=10 * HEARTBEAT_S)
    running.ask(b"three")
    check_nobody_lost(running)


def launcher_is_refused(net):
    """h1 answers the launcher so, for a time: another child of the launcher
    is asked to look, and is not refused."""
    running = start(net)
    running.ask(b"one")
    reject(net, "h1", "login", RESET)
    running.job.stdin.write(b"two\n")
    running.job.stdin.flush()
    live.eventually(lambda: not links(net, "login", "h1"), 20,
                    "the launcher's end is reset")
    time.sleep(HEARTBEAT_S / 3)  # sleep-ok: a verdict needs a sixth of it
    accept(net, "h1")
    check_eq([b"two\n"] * COUNT,
             [running.job.stdout.readline() for _ in range(COUNT)], "answers:")
    running.ask(b"three")
    check_nobody_lost(running)


def refused_by_the_launcher_alone(net):
    """h3 loses its parent for a moment, and the launcher's host refuses it: it
    has its old parent again, which has the launcher."""
    running = start(net)
    running.ask(b"one")
    reject(net, "login", "h3", RESET)
    ports = links(net, "h3", "h1")
    check_eq(1, len(ports), "links:")
    reject(net, "h1", "h3", RESET, match=f"tcp sport {ports[0]}")
    running.ask(b"two")
    running.await_repairs(2)
    check("node 2 on h3 has a new parent, node 0," in running.job.said(),
          running.job.said())
    running.ask(b"three")
    check_nobody_lost(running)


def shell_of_a_refused_one_dies(net):
    """h3 is started by the launcher, which refuses it now: its remote shell
    ends, and so it looks whether the launcher is there."""
    agent = os.path.join(live.TMP, "agent")
    with open(agent, "w") as file:  # one that stays, as ssh does
        file.write(f'#!/bin/sh\n{net.agent} "$@"\nexit $?\n')
    os.chmod(agent, 0o755)
    running = start(net, "--no-tree-spawn", "--rsh", agent)
    running.ask(b"one")
    reject(net, "login", "h3", ICMP, RESET)
    os.kill(live.parent(running.daemons[2]), signal.SIGKILL)
    live.eventually(lambda: hits(net, "login"), 20, "it looks")
    running.ask(b"two")
    running.ask(b"three")
    check_nobody_lost(running)


def inner_port(net, pid):
    """The port of the link that begins and ends in this process."""
    own = {port for _, port in live.sockets(pid, live.ESTABLISHED)}
    said = net.hosts["login"].popen(
        ["ss", "-Htn", "state", "established"],
        stdout=subprocess.PIPE, text=True).communicate()[0]
    pairs = [tuple(map(int, pair)) for pair in
             re.findall(r":(\d+) +\S+:(\d+) *$", said, re.M)]
    found = [local for local, other in pairs if {local, other} <= own]
    check_eq(2, len(found), "ends:")
    return found[0]


def one_of_a_daemon_is_lost(net):
    """Two virtual nodes of one daemon, of which the second is cut off: what the
    first runs goes on, as its daemon lives."""
    job = live.Job("-N", 2, "--nodes-per-daemon", 2, "--arity", 1,
                   "--heartbeat", HEARTBEAT_S, "--on-node-loss", "continue",
                   "--no-pmix", "--", "sh", "-c", ECHO,
                   stdin=subprocess.PIPE)
    check_eq([b"up", b"up"], [job.stdout.readline()[:2] for _ in range(2)],
             "processes:")
    daemon = next(pid for pid, name in live.ours().items()
                  if name.endswith("xylemd"))
    port = inner_port(net, daemon)
    nft(net.hosts["login"], f"""add table ip f
        add chain ip f out {{ type filter hook output priority 0; }}
        add rule ip f out tcp flags & (syn | ack) == syn {RESET}
        add rule ip f out tcp sport {port} {RESET}
        add rule ip f out tcp dport {port} {RESET}""")
    live.eventually(lambda: told(job.said()), 20 * HEARTBEAT_S, "one is lost")
    live.await_sweepers()
    job.stdin.write(b"still here\n")
    job.stdin.flush()
    check_eq(b"still here\n", job.stdout.readline(), "answer:")
    job.stdin.close()
    check_eq([{1}], [ranks for _, ranks, _ in told(job.said()).values()],
             "lost:")
    check_eq(1, job.wait(), "exit code:")


def launcher_dies(net):
    """Nothing is left, whoever refused whom before and whatever the heartbeat,
    also where a daemon does not answer."""
    running = start(net, heartbeat=60)
    running.ask(b"one")
    reject(net, "h3", "h1", RESET)
    reject(net, "login", "h4", ICMP, RESET)
    running.signal(signal.SIGSTOP, 4)
    own = set().union(*running.pids.values(), running.daemons.values())
    own -= set(running.pids[4]) | {running.daemons[4]}
    start_s = time.monotonic()
    running.job.proc.kill()
    live.eventually(lambda: not own & set(live.descendants(live.RUNNER)),
                    GONE_S, "nothing is left")
    print("# after %.1f s" % (time.monotonic() - start_s))
    with contextlib.suppress(ProcessLookupError):
        running.signal(signal.SIGKILL, 4)
    live.eventually(lambda: not set(running.pids[4])
                    & set(live.descendants(live.RUNNER)), GONE_S,
                    "the one that stood still is gone")
    running.job.proc.wait()


def main():
    if not shutil.which("nft"):
        live.skip("no nft here")
    rig.start()
    scenarios = (
        ("a parent is refused by ICMP",
         lambda net: parent_is_refused(net, ICMP, RESET)),
        ("the launcher refuses one", refused_by_the_launcher_alone),
        ("the launcher dies", launcher_dies),
        ("one node of a daemon is lost", one_of_a_daemon_is_lost),
        ("a parent is refused by resets",
         lambda net: parent_is_refused(net, RESET)),
        ("the launcher is refused", launcher_is_refused),
        ("the launcher refuses one whose shell dies",
         shell_of_a_refused_one_dies))
    brief = os.environ.get("XYLEM_TEST_BRIEF") == "1"
    for sentence, scenario in scenarios[:4 if brief else None]:
        with live.case(sentence), rig.Rig(COUNT, families=(4,)) as net:
            scenario(net)
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
