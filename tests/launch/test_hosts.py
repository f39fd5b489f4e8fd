#!/usr/bin/env python3
"""Many hosts by ssh: input and output are complete, and each daemon is started
by the right one."""
import collections
import hashlib
import os
import subprocess
import sys

import rig
import live
import services
from live import check, check_eq

COUNT = live.full(64, 32)
ARITY = 4
SIZE = live.full(64, 2) * live.MIB
LIST = "h[1-%d]" % COUNT
BUILT_IN = bool(os.environ.get("FABRIC_ARCHIVE"))


def start(*args, **more):
    return live.Job("--launcher", "ssh", "-w", LIST, "--arity", ARITY, *args,
                    **more)


def callers(hosts):
    """Who runs a remote shell for whom: {host: [hosts]}."""
    calls = collections.defaultdict(list)
    for pid in live.descendants(live.RUNNER):
        words = live.read_proc(pid, "cmdline").decode().split("\0")
        if words[0] == "ssh":
            calls[hosts.host_of(pid)].append(words[3])
    return calls


def exact(hosts, sshd):
    """Each host gets all bytes and its own output comes whole; no host runs
    more shells than it has children, and each is called once."""
    before = {name: sshd.logins(name) for name in hosts.names}
    job = start("--label=host", "--", "sh", "-c",
                "hostname; cat | sha256sum", stdin=subprocess.PIPE)
    greetings = sorted(job.stdout.readline().decode() for _ in range(COUNT))
    check_eq(sorted(live.labels(hosts.names, "%s\n")),
             greetings, job.said())
    calls = callers(hosts)
    print("#", len(calls), "hosts call", *map(len, calls.values()))
    check(max(map(len, calls.values())) <= ARITY, "calls: %s" % calls)
    check_eq(sorted(hosts.names), sorted(sum(calls.values(), [])), "called:")
    check_eq(ARITY, len(calls["login"]), "calls of the launcher:")
    feeder = live.Feeder(job.stdin, SIZE)
    feeder.start()
    lines = sorted(job.stdout.read().decode().splitlines())
    job.check_ok()
    right = feeder.digest(hashlib.sha256())
    check_eq(sorted(live.labels(hosts.names, right + "  -")), lines)
    check_eq({name: 1 for name in hosts.names},
             {name: sshd.logins(name) - before[name] for name in before},
             "logins:")
    live.check_gone()


def device(hosts):
    """A host that has a device for verbs asks all of libfabric, and comes to
    tcp with the others, which have none and hold tcp themselves."""
    for words in (["mount", "-t", "tmpfs", "none", "/sys/class"],
                  ["mkdir", "/sys/class/infiniband"]):
        check_eq(0, hosts.hosts["h2"].popen(words).wait(), words)
    job = live.Job("--launcher", "ssh", "-w", "h[1-3]", "--", "sh", "-c",
                   "echo up; exec cat", stdin=subprocess.PIPE)
    check_eq([b"up\n"] * 3, [job.stdout.readline() for _ in range(3)],
             job.said())
    found = {hosts.host_of(pid): b"libfabric" in live.read_proc(pid, "maps")
             for pid, name in live.ours().items() if name == "xylemd"}
    check_eq({"h1": not BUILT_IN, "h2": True, "h3": not BUILT_IN}, found)
    job.stdin.write(b"on\n")
    job.stdin.close()
    check_eq(b"on\n" * 3, job.stdout.read())
    job.check_ok()
    live.check_gone()


def main():
    rig.start()
    if not services.Sshd.is_here():
        live.skip("no ssh and sshd here")
    with rig.Rig(COUNT) as hosts:
        sshd = services.Sshd(hosts)
        with live.case("%d MiB to %d hosts" % (SIZE // live.MIB, COUNT)):
            exact(hosts, sshd)
        with live.case("one host has a device for verbs"):
            device(hosts)
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
