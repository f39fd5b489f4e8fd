#!/usr/bin/env python3
"""Hosts that are reached by ssh, through several sshd that the test starts."""
import contextlib
import hashlib
import os
import socket
import subprocess
import sys

import live
import sshd
from live import check, check_eq

COUNT = 5  # launcher: n1, n2; n1: n3, n4; n2: n5
LIST = "n[1-%d]" % COUNT
SIZE = live.full(256, 8) * live.MIB
BOUND_S = 30
# Says that it is there, then stays until its stdin ends.
STAY = ("sh", "-c", "echo up; exec cat")


class Ssh(live.Job):
    def __init__(self, *args, hosts=LIST, **more):
        super().__init__("--launcher", "ssh", "--rsh", sshd.RSH, "-w", hosts,
                         "--arity", 2, "--topology", "none",
                         "--interface", "lo", *args, **more)


def own_words(job):
    """What xylem said; sshd may have greeted as well."""
    return [line for line in job.said().splitlines()
            if line.startswith("xylem: ")]


def check_login(hosts):
    """The test needs it as xylem does."""
    done = subprocess.run([sshd.find("ssh"), "-F", sshd.CONFIG, "n1",
                           "true"],
                          stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        print(hosts.log())
        live.skip("no login to this machine by ssh: "
                  + done.stderr.decode(errors="replace").strip())


def over(hosts):
    """Nothing of a job is left, here and behind sshd."""
    live.check_gone()
    live.eventually(lambda: not hosts.left(), 20, "no session is left")


def all_are_up(job):
    for _ in range(COUNT):
        check_eq(b"up\n", job.stdout.readline(), job.said())


def callers():
    """The calls: {(caller, host)}, '' being the launcher."""
    calls = set()
    for pid in live.descendants(live.RUNNER):
        words = live.read_proc(pid, "cmdline").decode().split("\0")
        if words[0] == "ssh":
            calls.add((live.host_of(pid), words[3]))
    return calls


def tree_spawn(hosts):
    """Each host is called once, by its parent in the tree."""
    before = dict(hosts.calls)
    job = Ssh("--label=host", "--", *STAY, stdin=subprocess.PIPE)
    for _ in range(COUNT):
        job.stdout.readline()
    check_eq({("", "n1"), ("", "n2"), ("n1", "n3"), ("n1", "n4"),
              ("n2", "n5")}, callers())
    job.stdin.write(b"hello\n")
    job.stdin.close()
    check_eq(["n%d: hello" % number for number in range(1, COUNT + 1)],
             sorted(job.stdout.read().decode().splitlines()))
    job.check_ok()
    check_eq({name: 1 for name in hosts.names},
             {name: hosts.calls[name] - before[name] for name in before})
    check_eq([], own_words(job))
    over(hosts)


def no_tree_spawn(hosts):
    job = Ssh("--no-tree-spawn", "--", *STAY, stdin=subprocess.PIPE)
    all_are_up(job)
    check_eq({("", name) for name in hosts.names}, callers())
    job.stdin.close()
    job.check_ok()
    over(hosts)


def bytes_are_exact(hosts):
    job = Ssh("--ppn", 2, "--", "sha256sum", stdin=subprocess.PIPE)
    feeder = live.Feeder(job.stdin, SIZE)
    feeder.start()
    text = job.stdout.read().decode()
    job.check_ok()
    right = feeder.digest(hashlib.sha256())
    check_eq([right + "  -"] * 2 * COUNT, text.splitlines())
    over(hosts)


def exit_codes(hosts):
    job = Ssh("--", "sh", "-c", "exit $(( XYLEM_RANK == 4 ? 9 : 0 ))")
    check_eq(9, job.wait(), "exit code:")
    check_eq(["xylem: rank 4 on n5 returned 9"], own_words(job))
    job = Ssh("--", "sh", "-c", "test $XYLEM_RANK != 3 || kill -9 $$")
    check_eq(128 + 9, job.wait(), "exit code:")
    check("rank 3 on n4" in job.said(), job.said())
    over(hosts)


def keeping(script, tap):
    """A xylemd that keeps what it is told on stdin."""
    with open(script, "w") as file:
        file.write("#!/bin/sh\ntee %s.$$ | '%s' \"$@\"\n"
                   % (tap, os.path.join(live.BUILD, "commands", "xylemd")))
    os.chmod(script, 0o755)


def key_is_secret(hosts):
    """The key is on no command line, in no environment, in no log of sshd; and
    what is the launcher's alone gets to the processes, not to the shells."""
    tap = os.path.join(live.TMP, "tap")
    keeping(os.path.join(live.TMP, "keeping"), tap)
    job = Ssh("--xylemd", os.path.join(live.TMP, "keeping"), "--",
              "sh", "-c", 'echo "up $ONLY_HERE"; exec cat',
              stdin=subprocess.PIPE, env={**os.environ, "ONLY_HERE": "yes"})
    check_eq([b"up yes\n"] * COUNT,
             [job.stdout.readline() for _ in range(COUNT)])
    keys = set()
    for name in os.listdir(live.TMP):
        if name.startswith("tap."):
            with open(os.path.join(live.TMP, name), "rb") as file:
                keys |= {line.split()[1] for line in file
                         if line.startswith(b"key ")}
    check_eq([64], [len(key) for key in keys], "lengths of the keys:")
    seen = {"ssh": 0, "sshd": 0, "xylemd": 0}
    for pid in live.descendants(live.RUNNER):
        name = live.read_proc(pid, "comm").strip().decode()
        environ = live.read_proc(pid, "environ")
        text = (live.read_proc(pid, "cmdline") + environ).lower()
        check(not any(key.lower() in text for key in keys),
              "the key of the session is at %s" % name)
        if name in seen:
            seen[name] += 1
            check(b"ONLY_HERE" not in environ or b"RSH_HOST" not in environ,
                  "the launcher's environment is %s's" % name)
    check(all(number >= COUNT for number in seen.values()),
          "too few were looked at: %s" % seen)
    check(not any(key.decode() in hosts.log() for key in keys),
          "the key of the session is in the log of sshd")
    job.stdin.close()
    job.check_ok()
    over(hosts)


def fails(hosts, *words, options=(), where=LIST, untried=0):
    job = Ssh(*options, "--", "hostname", hosts=where)
    text = job.stdout.read()
    check_eq(1, job.wait(BOUND_S), "exit code:")
    said = own_words(job)
    print("#", *said, sep="\n#   ")
    check_eq(b"", text)
    if untried:
        check_eq("xylem: %d of %d hosts were tried; the other %d were not, as "
                 "the daemons that start their daemons had not connected"
                 % (COUNT - untried, COUNT, untried), said.pop())
    check_eq(1, len(said), "lines: " + job.said())
    for word in words:
        check(word in said[0], "no %r in: %s" % (word, job.said()))
    over(hosts)


def refused_connection(hosts):
    """Nothing listens at that port: it is ours, but shut."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        hosts.add_name("shut", *sock.getsockname(), hosts.key)
        fails(hosts, "shut: ", "Connection refused", where="n[1-4],shut")


def cut_off(hosts, name):
    """The connection to one ends while the job runs: its daemon goes on in the
    tree, with those that it has started itself, and leaves with the others."""
    job = Ssh("--", *STAY, stdin=subprocess.PIPE)
    all_are_up(job)
    for pid in hosts.left():
        below = live.descendants(pid)
        if any(live.host_of(one) == name for one in below):
            for one in [pid, *below]:
                if live.read_proc(one, "comm").startswith(b"sshd"):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(one, 9)  # it may have ended with the first
    live.eventually(lambda: "%s: Connection to 127.0.0." % name in job.said(),
                    BOUND_S, "ssh says that its connection is gone")
    job.stdin.write(b"on\n")
    job.stdin.close()
    check_eq([b"on\n"] * COUNT, job.stdout.readlines(), "what all read:")
    check_eq(0, job.wait(BOUND_S), "exit code:")
    check_eq([], own_words(job), "words of xylem:")
    over(hosts)


def daemon_dies(hosts):
    """A daemon that has called others dies: they go on behind their own
    connections."""
    job = Ssh("--on-node-loss", "continue", "--", *STAY,
              stdin=subprocess.PIPE)
    all_are_up(job)
    os.kill(next(pid for pid, name in live.ours().items()
                 if name == "xylemd" and live.host_of(pid) == "n1"), 9)
    job.stdin.write(b"on\n")
    job.stdin.flush()
    check_eq([b"on\n"] * (COUNT - 1),
             [job.stdout.readline() for _ in range(COUNT - 1)], job.said())
    live.eventually(lambda: "node 0 on n1 is lost" in job.said(), BOUND_S,
                    "n1 is lost")
    job.stdin.close()
    check_eq(b"", job.stdout.read(), "then")
    check_eq(1, job.wait(BOUND_S), "exit code:")
    over(hosts)


def killed(hosts):
    job = Ssh("--", "tail", "-f", "/dev/null")
    live.eventually(lambda: sum(b"tail" in live.read_proc(pid, "comm")
                                for pid in live.descendants(live.RUNNER))
                    == COUNT, BOUND_S, "all processes run")
    job.proc.kill()
    job.wait()
    over(hosts)


def cases(hosts):
    with live.case("each host is called by its parent in the tree"):
        tree_spawn(hosts)
    with live.case("--no-tree-spawn: the launcher calls all"):
        no_tree_spawn(hosts)
    with live.case("%d MiB into %d processes"
                   % (SIZE // live.MIB, 2 * COUNT)):
        bytes_are_exact(hosts)
    with live.case("exit codes"):
        exit_codes(hosts)
    with live.case("the key is nowhere to be seen"):
        key_is_secret(hosts)
    with live.case("a host that refuses the login"):
        hosts.shut = {"n5"}
        fails(hosts, "n5: ", "Permission denied (publickey)")
        fails(hosts, "n5: ", "Permission denied (publickey)",
              options=["--no-tree-spawn"])
        hosts.shut = set()
    with live.case("a host with another key than the known one"):
        other = sshd.make_key("other")
        address = next(sock.getsockname() for sock, name
                       in hosts.listeners.items() if name == "n5")
        hosts.add_name("changed", *address, other)
        fails(hosts, "changed: ", "Host key verification failed",
              where="n[1-4],changed")
    with live.case("a host that is not there"):
        refused_connection(hosts)
    with live.case("a host without xylemd"):
        # The name of one is in the words of all, and they are one group still.
        fails(hosts, "exit status 127", "--xylemd",
              options=["--xylemd", "/nowhere/in1to/xylemd"], untried=3)
    with live.case("the connection of one host ends"):
        cut_off(hosts, "n1")
        cut_off(hosts, "n4")
    with live.case("kill -9 of a daemon"):
        daemon_dies(hosts)
    with live.case("kill -9 of the launcher"):
        killed(hosts)


def main():
    hosts = sshd.Hosts(COUNT)
    hosts.start()
    check_login(hosts)
    cases(hosts)
    hosts.close()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
