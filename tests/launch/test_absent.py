#!/usr/bin/env python3
"""Hosts that do not connect, and hosts that vanish: each is named soon."""
import os
import signal
import subprocess
import sys
import time

import rig
import live
import services
from live import check, check_eq

COUNT = 7  # at arity 2: login has h1 and h2, h1 has h3 and h4, h2 h5 and h6
AWAIT_S = 8  # for what is silent; logins of all others take less
BOUND_S = 30


def start(where, *args, **more):
    return live.Job("--launcher", "ssh", "-w", where, "--arity", 2,
                    "--topology", "none", *args, **more)


def fails(*words, where="h[1-%d]" % COUNT, options=(), await_s=60):
    """The launch ends with a message that has these words, without output."""
    begin = time.monotonic()
    job = start(where, "--launch-timeout", await_s * live.SLOW, *options, "--",
                "hostname")
    text = job.stdout.read()
    code = job.wait(BOUND_S)
    taken_s = time.monotonic() - begin
    said = job.said()
    print("#", *said.splitlines(), sep="\n#   ")
    check_eq((1, b""), (code, text), "exit code and output:")
    for word in words:
        check(word in said, "no %r in: %s" % (word, said))
    check((taken_s >= await_s) == (await_s == AWAIT_S),
          "it took %.1f s" % taken_s)
    live.check_gone()


def not_listening(hosts, sshd):
    """Nobody listens there: ssh is refused."""
    for name in "h2", "h7":  # of the launcher's children, and at the bottom
        sshd.stop(name)
        fails(name, "Connection refused")
        sshd.restart(name)


def silent(hosts, sshd):
    """Its sshd is stopped: the system takes the call, and that is all."""
    os.kill(sshd.daemons["h6"].pid, signal.SIGSTOP)
    fails("h6", await_s=AWAIT_S)
    os.kill(sshd.daemons["h6"].pid, signal.SIGCONT)


def mute(hosts, sshd):
    """A port that takes the call and never says a word."""
    sshd.stop("h4")
    listener = hosts.hosts["h4"].popen(
        [sys.executable, "-c", "import signal, socket\n"
         "here = socket.create_server(('', 22))\nprint('up', flush=True)\n"
         "signal.pause()"], stdout=subprocess.PIPE)
    check_eq(b"up\n", listener.stdout.readline())
    fails("h4", await_s=AWAIT_S)
    listener.kill()
    listener.wait()
    sshd.restart("h4")


def another_version(hosts, sshd):
    """The daemon of one host is of another version."""
    other = os.path.join(live.TMP, "xylemd")
    own = os.path.join(live.BUILD, "commands", "xylemd")
    with open(own, "rb") as file:
        found = os.environ["XYLEM_VERSION"].encode()
        spoiled = file.read().replace(found + b"\0", b"9.8.7\0")
    with open(other + ".old", "wb") as file:
        file.write(spoiled)
    with open(other, "w") as file:
        file.write("#!/bin/sh\nold=\ntest \"$(hostname)\" != h5 || old=.old\n"
                   f"case $old in .old) exec '{other}.old' \"$@\" ;; esac\n"
                   f"exec '{own}' \"$@\"\n")
    for path in other, other + ".old":
        os.chmod(path, 0o755)
    fails("h5", "version", "9.8.7", os.environ["XYLEM_VERSION"],
          options=["--xylemd", other])


def no_such_name(hosts, sshd):
    fails("nowhere", "resolve", where="h[1-5],nowhere")


def host_dies(hosts, sshd):
    """All of a host ends at once, its system sends no more: with
    --on-node-loss=continue the others go on whole."""
    job = start("h[1-%d]" % COUNT, "--heartbeat", 1, "--on-node-loss",
                "continue", "--label=host", "--", "sh", "-c",
                "echo up; exec cat", stdin=subprocess.PIPE)
    for _ in range(COUNT):
        job.stdout.readline()
    hosts.cut("h1")  # so that nobody is told
    job.stdin.write(b"on\n")
    job.stdin.flush()
    rest = [name for name in hosts.names if name != "h1"]
    check_eq(sorted(name + ": on\n" for name in rest),
             sorted(job.stdout.readline().decode() for _ in rest), job.said())
    live.eventually(lambda: "node 0 on h1 is lost" in job.said(), 20,
                    "h1 is lost")
    hosts.uncut("h1")
    job.stdin.close()
    check_eq(b"", job.stdout.read(), "then")
    check_eq(1, job.wait(BOUND_S), "exit code:")
    live.check_gone(20)


def daemon_dies(hosts, sshd):
    """kill -9 of one host's xylemd: as above, and ssh still connected."""
    job = start("h[1-%d]" % COUNT, "--on-node-loss", "continue",
                "--label=host", "--", "sh", "-c", "echo up; exec cat",
                stdin=subprocess.PIPE)
    for _ in range(COUNT):
        job.stdout.readline()
    os.kill(next(pid for pid, name in live.ours().items()
                 if name == "xylemd" and hosts.host_of(pid) == "h2"), 9)
    job.stdin.write(b"on\n")
    job.stdin.close()
    rest = [name for name in hosts.names if name != "h2"]
    check_eq(sorted(name + ": on" for name in rest),
             sorted(job.stdout.read().decode().splitlines()), job.said())
    check_eq(1, job.wait(BOUND_S), "exit code:")
    check("node 1 on h2 is lost" in job.said(), job.said())
    live.check_gone()


CASES = (
    ("nobody listens for ssh", not_listening),
    ("sshd is stopped", silent),
    ("a port that says nothing", mute),
    ("xylemd of another version", another_version),
    ("a name that does not resolve", no_such_name),
    ("kill -9 of a daemon", daemon_dies),
    ("a host is cut off in the middle", host_dies),
)


def main():
    rig.start()
    if not services.Sshd.is_here():
        live.skip("no ssh and sshd here")
    with rig.Rig(COUNT) as hosts:
        sshd = services.Sshd(hosts)
        for sentence, scenario in CASES:
            with live.case(sentence):
                scenario(hosts, sshd)
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
