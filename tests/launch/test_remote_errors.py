#!/usr/bin/env python3
"""Hosts that do not connect are named soon, and nothing is left."""
import os
import re
import signal
import socket
import sys
import time

import live
from live import check, check_eq

LIST = "h[01-21]"
FEW = "h[01-07]"  # h06 is at the bottom, at any arity
AWAIT_S = 5  # far above what the others take
BOUND_S = 20  # far below the time that a launch may take


def fails(*options, hosts=LIST, arity=3, **env):
    """What xylem said when the launch failed."""
    start = time.monotonic()
    job = live.Remote(hosts, "--arity", arity, *options, "--", "hostname",
                      **env)
    text = job.stdout.read()
    code = job.wait()
    taken_s = time.monotonic() - start
    said = job.said()
    print("#", *said.splitlines(), sep="\n#   ")
    check_eq(1, code, "exit code:")
    check_eq(b"", text, "output:")
    check(taken_s < BOUND_S * live.SLOW, "it took %.1f s" % taken_s)
    check(len(said.splitlines()) <= 12, "too many words:\n" + said)
    live.check_gone()
    return said


def names(said, *hosts):
    for host in hosts:
        check(host in said, "%s is not named in: %s" % (host, said))


def unreachable(*options):
    said = fails(*options, RSH_BAD="h13")
    names(said, "h13", "No route to host")


def several_unreachable():
    said = fails(RSH_BAD="h02 h09 h21")
    check(re.search(r"\bh(\[[0-9,-]*)?(02|09|21)", said),
          "none is named in: " + said)
    names(said, "No route to host")


def mute():
    """One that takes the call and never answers."""
    said = fails("--launch-timeout", AWAIT_S * live.SLOW, hosts=FEW, arity=2,
                 RSH_MUTE="h06")
    names(said, "h06")


def out_of_reach():
    """Its daemon comes, but finds nothing at its parent's address."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        port = sock.getsockname()[1]
    said = fails("--launch-timeout", 2 * AWAIT_S * live.SLOW, hosts=FEW,
                 arity=2, RSH_TAPPED="h06", RSH_TAP="/dev/null",
                 RSH_VIA=str(port))
    names(said, "h06", "127.0.0.1:%d" % port)


def dies_while_others_are_awaited(host):
    """Killed between listening and the beginning of the job."""
    start = time.monotonic()
    job = live.Remote(LIST, "--arity", 3, "-v", "--", "hostname",
                      RSH_MUTE="h02")
    live.eventually(lambda: job.said().count("listening") == 17, 30,
                    "all are ready but h02 and those beneath it")
    for pid, name in live.ours().items():
        if name == "xylemd" and live.host_of(pid) == host:
            os.kill(pid, signal.SIGKILL)
    check_eq(1, job.wait(BOUND_S), "exit code:")
    check(time.monotonic() - start < BOUND_S * live.SLOW, "it took too long")
    words = [line for line in job.said().splitlines()
             if "cannot start" in line]
    print("#", *words, sep="\n#   ")
    names(words[0], host)
    live.check_gone()


def daemon_of(host):
    return next((pid for pid, name in live.ours().items()
                 if name == "xylemd" and live.host_of(pid) == host), None)


def has_joined(pid):
    """It has a connection to its parent, and has said all that it has to."""
    if pid is None or not live.sockets(pid, live.ESTABLISHED):
        return False
    before = live.read_proc(pid, "schedstat").split()[2:]
    time.sleep(0.2)  # sleep-ok: less than to the next heartbeat
    return live.read_proc(pid, "schedstat").split()[2:] == before


def dies_before_the_last_one_comes():
    """The daemon had joined, and the tree knows all nodes as soon as the last
    one has joined: even so the job must not begin, and wait for it for ever.
    Its death may be heard before the job begins, or a moment after."""
    gate = os.path.join(live.TMP, "gate")
    os.mkfifo(gate)
    job = live.Remote("h1,h2,h3", "--arity", 3, "--heartbeat", 1, "-v",
                      "--timeout", int(BOUND_S * live.SLOW), "--", "true",
                      RSH_HELD="h3", RSH_GATE=gate)
    for node, host in enumerate(("h1", "h2")):
        text = "the daemon of node %d on %s: listening" % (node, host)
        live.eventually(lambda: text in job.said(), 30, text)
        live.eventually(lambda: has_joined(daemon_of(host)), 30, host)
    os.kill(daemon_of("h1"), signal.SIGKILL)
    with open(gate, "w") as file:
        file.write("go\n")
    check_eq(1, job.wait(2 * BOUND_S), "exit code: " + job.said())
    check("cannot start the daemon on h1: " in job.said() or
          "the daemon of node 0 on h1 is lost" in job.said(),
          "h1 is not named in: " + job.said())
    live.check_gone()


def interrupted_anew():
    """A launch that follows one without all hosts hears signals, too."""
    job = live.Remote(FEW, "--arity", 2, "--min-nodes", 6, "--", "sh", "-c",
                      "echo up; exec sleep 1000", RSH_BAD="h06")
    check_eq(b"up\n" * 6, b"".join(job.stdout.readline() for _ in range(6)))
    job.proc.terminate()
    check_eq(128 + 15, job.wait(BOUND_S), "exit code: " + job.said())
    live.check_gone()


def out_of_time_anew():
    """--timeout is that of all launches: the first takes most of it."""
    start = time.monotonic()
    job = live.Remote(FEW, "--arity", 2, "--min-nodes", 6, "--timeout",
                      8 * live.SLOW, "--launch-timeout", 4 * live.SLOW, "--",
                      "sleep", 1000, RSH_MUTE="h06")
    check_eq(124, job.wait(BOUND_S), "exit code: " + job.said())
    taken_s = time.monotonic() - start
    check(taken_s < 12 * live.SLOW, "it took %.1f s" % taken_s)
    live.check_gone()


def interrupted():
    """While some hosts are awaited: the end is quiet, and soon."""
    job = live.Remote(LIST, "--arity", 3, "-v", "--", "hostname",
                      RSH_MUTE="h13")
    live.eventually(lambda: "ready" in job.said(), 30, "some are ready")
    job.proc.terminate()
    check_eq(128 + 15, job.wait(BOUND_S), "exit code:")
    live.check_gone()


def killed():
    """The launcher dies while some are awaited."""
    job = live.Remote(LIST, "--arity", 3, "-v", "--", "hostname",
                      RSH_MUTE="h13")
    live.eventually(lambda: "ready" in job.said(), 30, "some are ready")
    job.proc.kill()
    job.wait()
    live.check_gone()


def refused():
    """Two daemons that both take themselves for node 2 of the tree: the later
    one is told why it is refused, and says so."""
    shell = os.path.join(live.TMP, "twice")
    with open(shell, "w") as out:
        out.write("#!/bin/sh\n"
                  "test $1 = c || exec sh -c \"$2\"\n"
                  "sed -u 's/^hosted 3 3$/hosted 2 2/' | sh -c \"$2\"\n")
    os.chmod(shell, 0o755)
    job = live.Job("--launcher", "ssh", "--rsh", shell, "-w", "a,b,c", "-v",
                   "--launch-timeout", 60 * live.SLOW, "--", "true")
    words = "node 1 is refused by the launcher: that node has a newer"
    live.eventually(lambda: words in job.said() or job.proc.poll() is not None,
                    60, "one is refused")
    check(words in job.said(), "not a word of it: " + job.said())
    job.proc.terminate()
    check_eq(128 + 15, job.wait(BOUND_S), "exit code:")
    live.check_gone()


def main():
    with live.case("one at the bottom of the tree"):
        unreachable()
    with live.case("the same with all started by the launcher"):
        unreachable("--no-tree-spawn")
    with live.case("several, near and far"):
        several_unreachable()
    with live.case("one that never answers"):
        mute()
    with live.case("one that cannot reach its parent"):
        out_of_reach()
    with live.case("one that dies while another is awaited"):
        dies_while_others_are_awaited("h01")
        dies_while_others_are_awaited("h13")
    with live.case("one that dies just before the last one comes"):
        dies_before_the_last_one_comes()
    with live.case("SIGTERM when the job was started anew"):
        interrupted_anew()
    with live.case("--timeout when the job was started anew"):
        out_of_time_anew()
    with live.case("SIGTERM while one is awaited"):
        interrupted()
    with live.case("kill -9 of the launcher while one is awaited"):
        killed()
    with live.case("a daemon that is refused says why"):
        refused()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
