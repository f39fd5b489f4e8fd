#!/usr/bin/env python3
"""However a job ends, no process or file of it is left five seconds later."""
import contextlib
import os
import signal
import subprocess
import sys

import live

NODES = live.full(32, 7)
GONE_S = 5
# Folders of other tests, benchmarks and builds that go on at the same time.
OTHERS = ("xylem-test-", "xylem-bench-", "xylem-ci-", "xylem-fuzz-",
          "xylem-chaos-")

# A process with a child in its group and one in a session of its own. Each
# says when it is there, then all wait for a signal.
PROCESS = """
import os, signal, sys
for away in (False, True):
    if os.fork() == 0:
        if away:
            os.setsid()
        break
ignore = sys.argv[1] == "ignore"
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN if ignore else signal.SIG_DFL)
os.write(1, b"up %d\\n" % os.getpid())
while True:
    signal.pause()
"""


def files():
    """What a job may leave on disk: TMPDIR is the test's own."""
    found = set()
    for folder in (live.TMP, "/dev/shm"):
        with contextlib.suppress(OSError):
            found |= {os.path.join(folder, name)
                      for name in os.listdir(folder) if "xylem" in name
                      and not name.startswith(OTHERS)}
    return found


def listening():
    """The listening sockets of processes below this test."""
    inodes = set()
    for pid in live.descendants(live.RUNNER):
        with contextlib.suppress(OSError):
            for fd in os.listdir("/proc/%d/fd" % pid):
                with contextlib.suppress(OSError):
                    name = os.readlink("/proc/%d/fd/%s" % (pid, fd))
                    if name.startswith("socket:["):
                        inodes.add(name[8:-1])
    return inodes


class Running:
    """A job whose processes have all said that they are there."""

    def __init__(self, *options, behave="die"):
        self.files = files()
        self.job = live.Job("-N", NODES, "--arity", 2, *options, "--",
                            sys.executable, "-c", PROCESS, behave,
                            start_new_session=True)
        self.pids = set()
        for _ in range(NODES * 3):
            line = self.job.stdout.readline().split()
            if len(line) != 2:
                raise RuntimeError("no start: " + self.job.said())
            self.pids.add(int(line[1]))

    def alive(self):
        return self.pids & set(live.descendants(live.RUNNER))

    def check_gone(self):
        live.eventually(lambda: not self.alive(), GONE_S,
                        "every process of the job is gone")
        live.check_gone(GONE_S)
        live.eventually(lambda: not listening(), GONE_S, "no socket is left")
        live.check_eq(set(), files() - self.files, "files:")


def by_signal(number, *options, passed=None):
    """`passed` is the signal that the processes get; the same one by
    default."""
    running = Running(*options)
    running.job.proc.send_signal(number)
    code = running.job.wait()
    live.check_eq(128 + (passed or number), code, "exit code of the processes:")
    running.check_gone()


def by_second_signal(number):
    running = Running(behave="ignore")
    live.deliver(running.job.proc.pid, number)
    with contextlib.suppress(subprocess.TimeoutExpired):
        # The processes ignore it, so the job goes on.
        live.check(running.job.proc.wait(0.5) is None, "ended at the first")
    running.job.proc.send_signal(number)
    code = running.job.wait(10)
    live.check(code != 0, "exit code 0")
    running.check_gone()


def by_kill(*options, behave="die"):
    running = Running(*options, behave=behave)
    running.job.proc.kill()
    running.job.proc.wait()
    running.check_gone()


def by_daemon_loss():
    """A daemon is killed: the job ends with an error that names the node."""
    running = Running("--nodes-per-daemon", 1, "--heartbeat", 2)
    daemons = [pid for pid, name in live.ours().items()
               if name.endswith("xylemd")]
    os.kill(daemons[len(daemons) // 2], signal.SIGKILL)
    code = running.job.wait(30)
    live.check(code == 1, "exit code %d" % code)
    live.check("xylem: " in running.job.said(), "not a word about it")
    print("#", running.job.said().strip().splitlines()[0:1])
    running.check_gone()


def normal():
    before = files()
    job = live.Job("-N", NODES, "--nodes-per-daemon", 1, "--", "true")
    job.check_ok()
    live.check_gone(GONE_S)
    live.check_eq(set(), files() - before, "files:")


def main():
    one = ("--nodes-per-daemon", 1)
    with live.case("a normal end"):
        normal()
    with live.case("SIGINT and SIGTERM are passed on, SIGHUP as SIGTERM"):
        by_signal(signal.SIGINT)
        by_signal(signal.SIGTERM, *one)
        by_signal(signal.SIGHUP, passed=signal.SIGTERM)
    with live.case("a second one ends processes that ignore the first"):
        by_second_signal(signal.SIGINT)
        by_second_signal(signal.SIGTERM)
    with live.case("kill -9 of the launcher"):
        by_kill()
        by_kill(*one, behave="ignore")
    with live.case("kill -9 of a daemon"):
        by_daemon_loss()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
