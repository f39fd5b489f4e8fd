#!/usr/bin/env python3
"""Processes of xylem that die or freeze in the middle of a job."""
import json
import os
import signal
import sys
import time

import live
from live import check, check_eq

BOUND_S = 20
# Ignores what can be ignored, in its own group, in a session of its own and
# as an orphan of that; each says when it is there.
STUBBORN = """
import os, signal
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
    signal.signal(number, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setpgid(0, 0)
os.write(1, b"up %d\\n" % os.getpid())
while True:
    signal.pause()
"""
EACH = 3


class Running:
    """A job of stubborn processes on five hosts, the tree having two levels
    of daemons: a and b, with c and d beneath a, and e beneath b."""

    HOSTS = "abcde"

    def __init__(self, *options, heartbeat=10):
        self.stats = os.path.join(live.TMP, "stats")
        self.start_s = time.monotonic()
        self.job = live.Remote(
            ",".join(self.HOSTS), "--arity", 2, "--heartbeat", heartbeat,
            "--stats", self.stats, *options, "--label=host", "--",
            sys.executable, "-c", STUBBORN)
        self.pids = {}  # of the processes, with the host
        for _ in range(len(self.HOSTS) * EACH):
            words = self.job.stdout.readline().decode().split()
            if len(words) != 3:
                raise RuntimeError("no start: " + self.job.said())
            self.pids[int(words[2])] = words[0].rstrip(":")
        self.start_s = time.monotonic()

    def daemon(self, host):
        return next(pid for pid, name in live.ours().items()
                    if name == "xylemd" and live.host_of(pid) == host)

    def spawner(self, host):
        """The spawner that has started the host's processes."""
        pid = next(pid for pid, name in self.pids.items() if name == host)
        while live.read_proc(pid, "comm") != b"xylem-spawn\n":
            pid = live.parent(pid)
        return pid

    def check_end(self, *words, lost=None):
        """Exit code 1, in time, with these words, and nothing left."""
        code = self.job.wait(BOUND_S + 20)
        taken_s = time.monotonic() - self.start_s
        said = self.job.said()
        print("# after %.1f s:" % taken_s, *said.splitlines(), sep="\n#   ")
        check_eq(1, code, "exit code:")
        check(taken_s < BOUND_S * live.SLOW, "it took %.1f s" % taken_s)
        check(len(said.splitlines()) <= 4, "too many words")
        for word in words:
            check(word in said, "no %r in %r" % (word, said))
        if lost is not None:
            with open(self.stats) as file:
                check_eq(lost, json.load(file)["lost_nodes"], "lost nodes:")
        self.check_gone()

    def check_gone(self):
        live.eventually(
            lambda: not set(self.pids) & set(live.descendants(live.RUNNER)),
            20, "every process of the job is gone")
        live.check_gone()


def daemon_dies(host, node, *options):
    running = Running(*options)
    os.kill(running.daemon(host), signal.SIGKILL)
    running.check_end("node %d on %s is lost" % (node, host), lost=[node])


def daemon_leaves(host, node):
    """A daemon that ends by a signal ends its processes, and the daemons
    beneath it follow; the message names the daemon that began."""
    running = Running()
    os.kill(running.daemon(host), signal.SIGTERM)
    running.check_end(lost=[node])
    said = [line for line in running.job.said().splitlines()
            if line.startswith("xylem: ")]
    check_eq(["xylem: the daemon of node %d on %s is lost, with rank %d; the "
              "job ends" % (node, host, node)], said)


def spawner_dies(host):
    """A daemon whose spawner dies has lost all its processes."""
    running = Running()
    os.kill(running.spawner(host), signal.SIGKILL)
    running.check_end()
    # The daemon's own words race with its parent's, who sees it leave.
    said = running.job.said()
    node = Running.HOSTS.index(host)
    check("xylem: the daemon of node %d on %s, with rank %d, has failed: "
          "xylem's process that starts the job's processes has "
          "died\n" % (node, host, node)
          in said or "on %s is lost" % host in said,
          "no word of %r in %r" % (host, said))


def daemon_freezes(host, node):
    running = Running(heartbeat=2)
    pid = running.daemon(host)
    os.kill(pid, signal.SIGSTOP)
    try:
        running.check_end("node %d on %s is lost" % (node, host), lost=[node])
    finally:
        if live.read_proc(pid, "comm"):
            os.kill(pid, signal.SIGCONT)


def launcher_dies(*options):
    running = Running(*options)
    running.job.proc.kill()
    running.job.proc.wait()
    running.check_gone()


def launcher_freezes():
    """Daemons that hear nothing of the launcher end the job themselves."""
    running = Running(heartbeat=1)
    running.job.proc.send_signal(signal.SIGSTOP)
    live.eventually(
        lambda: not set(running.pids) & set(live.descendants(live.RUNNER)),
        BOUND_S, "the processes end")
    running.job.proc.send_signal(signal.SIGCONT)
    check_eq(1, running.job.wait(BOUND_S), "exit code:")
    running.check_gone()


def main():
    with live.case("kill -9 of a daemon at the bottom"):
        daemon_dies("d", 3)
    with live.case("kill -9 of a daemon with others beneath"):
        daemon_dies("a", 0)
        daemon_dies("a", 0, "--no-tree-spawn")
    with live.case("SIGTERM to a daemon with others beneath"):
        daemon_leaves("a", 0)
    with live.case("kill -9 of a spawner"):
        spawner_dies("b")
        spawner_dies("d")
    with live.case("a daemon that freezes"):
        daemon_freezes("d", 3)
        daemon_freezes("a", 0)
    with live.case("a launcher that freezes"):
        launcher_freezes()
    with live.case("kill -9 of the launcher"):
        launcher_dies()
        launcher_dies("--no-tree-spawn")
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
