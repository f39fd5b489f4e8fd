#!/usr/bin/env python3
"""Networks with IPv6 only, several networks one of which leads nowhere, and
names that lead to loopback."""
import subprocess
import sys
import time

import rig
import live
import services
from live import check, check_eq

COUNT = 5  # at arity 2 one of the hosts has children
LIST = "h[1-%d]" % COUNT
AWAIT_S = 5
BOUND_S = 30


def job(*options):
    return live.Job("--launcher", "ssh", "-w", LIST, "--arity", 2,
                    "--label=host", "--no-pmix", *options, "--", "cat",
                    stdin=subprocess.PIPE)


def works(hosts, *options, listen="10.77."):
    """A line gets to all and back; they all listen on that network."""
    running = job(*options)
    running.stdin.write(b"a line\n")
    running.stdin.flush()
    check_eq(sorted(name + ": a line\n" for name in hosts.names),
             sorted(running.stdout.readline().decode() for _ in hosts.names),
             running.said())
    for host in hosts.hosts.values():
        found = listening(host)
        check(len(found) == 1 and found[0].lstrip("[").startswith(listen),
              "%s listens at %s" % (host.name, found))
    running.stdin.close()
    check_eq(b"", running.stdout.read())
    running.check_ok()
    live.check_gone()


def listening(host):
    """Where somebody does so there, but for sshd."""
    lines = host.popen(["ss", "-Hltn"], stdout=subprocess.PIPE,
                       text=True).communicate()[0].splitlines()
    return [line.split()[3] for line in lines
            if not line.split()[3].endswith(":22")]


def two_networks(hosts):
    """Names, and so ssh, lead to the second; the first passes nothing on,
    though all cables are in place."""
    hosts.shut(0)
    works(hosts, "--interface", "eth1", listen="10.78.")
    works(hosts, "--interface", "10.78.0.0/16", listen="10.78.")
    works(hosts, "--interface", "fd78::/64", listen="fd78::")
    nobody_joins(hosts)


def nobody_joins(hosts):
    """Without a word about it the first interface is taken. That is told when
    the time for the launch is over, with a way out."""
    start = time.monotonic()
    running = job("--launch-timeout", AWAIT_S * live.SLOW)
    running.stdin.close()
    check_eq(b"", running.stdout.read())
    check_eq(1, running.wait(BOUND_S), "exit code:")
    check(time.monotonic() - start < BOUND_S * live.SLOW, "it took too long")
    said = running.said()
    print("#", said.strip())
    for word in "launcher at 10.77.", "--interface":
        check(word in said, "no %r in: %s" % (word, said))
    live.check_gone()


def containers(hosts):
    """Bridges of container engines have one address everywhere and may come
    first in the list; some hosts have nobody behind theirs."""
    hosts.shut(0)
    waiting = []
    for host in hosts.hosts.values():
        lines = ["link del eth0", "link add index 2 name docker0 type bridge",
                 "addr add 172.17.0.1/16 dev docker0", "link set docker0 up"]
        if host.number % 2:
            lines += ["link add c0 type veth peer name c1",
                      "link set c0 master docker0 up", "link set c1 up"]
        waiting.append(host.ip(lines))
    check_eq({0}, {proc.wait() for proc in waiting})
    works(hosts, listen="10.78.")


CASES = (
    ("IPv6 alone", {"families": (6,)},
     lambda hosts: works(hosts, listen="fd77::")),
    ("own names lead to loopback", {"own_loopback": True}, works),
    ("bridges for containers", {"networks": 2, "named": 1}, containers),
    ("two networks, and the first leads nowhere",
     {"networks": 2, "named": 1}, two_networks),
)


def main():
    rig.start()
    if not services.Sshd.is_here():
        live.skip("no ssh and sshd here")
    for sentence, what, scenario in CASES:
        with live.case(sentence), rig.Rig(COUNT, **what) as hosts:
            services.Sshd(hosts)
            scenario(hosts)
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
