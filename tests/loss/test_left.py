#!/usr/bin/env python3
"""Whichever processes of xylem are killed, no process of the job is left ten
seconds later, and no other process is touched."""
import contextlib
import errno
import itertools
import os
import shlex
import signal
import socket
import subprocess
import sys

import agent
import live
from live import check, check_eq

GONE_S = 10
# Two that it does not wait for, one of them in a session of its own; then it
# lives as long as its input.
FAMILY = ("sleep 302 & echo up $!; setsid sleep 302 & echo up $!; "
          "echo up $$; exec cat")
# The same where only one rank lives on: the others' nodes have no process
# that is awaited any more, and their output has ended.
ENDED = ("sleep 302 >/dev/null 2>&1 & echo up $!; "
         "setsid sleep 302 >/dev/null 2>&1 & echo up $!; echo up $$; "
         "test $XYLEM_RANK = 1 || exit 0; exec cat")
WHO = ("launcher", "its spawner", "daemon", "the daemon's spawners", "helper")
SUN_PATH = 108  # bytes of the name of a socket
HOST = "a"  # where it happens; b is beneath it and goes on


class Session(live.Job):
    def __init__(self, hosts, *options, command=FAMILY, **more):
        super().__init__("--launcher", "ssh", "--rsh", agent.Agent.rsh(), "-w",
                         hosts, "--arity", 1, "--on-node-loss", "continue",
                         *options, "--label=host", "--", "sh", "-c", command,
                         stdin=subprocess.PIPE, env=AGENT.env(), **more)
        self.pids = {host: set() for host in hosts.split(",")}

    def await_up(self, each=3):
        """Waits until all are there; returns which processes they are."""
        for _ in range(each * len(self.pids)):
            words = self.stdout.readline().decode().split()
            if len(words) != 3:
                raise RuntimeError("no start: " + self.said())
            self.pids[words[0].rstrip(":")].add(int(words[2]))
        self.daemons = {host: live.parent(self.spawner(host))
                        for host in self.pids}

    def spawner(self, host):
        return next(pid for pid in map(live.parent, self.pids[host])
                    if live.read_proc(pid, "comm") == b"xylem-spawn\n")

    def find(self, who, host=HOST):
        """The processes of one kind."""
        children = {
            "its spawner": (self.proc.pid, b"xylem-spawn\n"),
            "the daemon's spawners": (self.daemons[host], b"xylem-spawn\n"),
            "helper": (self.proc.pid, b"xylem-pmix\n")}
        if who == "launcher":
            return [self.proc.pid]
        if who == "daemon":
            return [self.daemons[host]]
        if who == "the processes' spawner":
            return [self.spawner(host)]
        parent, comm = children[who]
        return [pid for pid in live.descendants(parent)
                if live.parent(pid) == parent
                and live.read_proc(pid, "comm") == comm]

    def kill(self, *who, host=HOST):
        """Kills all at once: none of them sees the end of another one. Lower
        ones go first: when a parent ends, the kernel continues (SIGCONT)
        stopped groups of its children that have no other parent in their
        session."""
        pids = sum((self.find(one, host) for one in who), [])
        for pid in pids:
            live.stop(pid)
        for pid in reversed(pids):
            with contextlib.suppress(ProcessLookupError):  # by its parent's end
                os.kill(pid, signal.SIGKILL)

    def left(self, *hosts):
        alive = set(live.descendants(live.RUNNER))
        return {pid for host in hosts or self.pids
                for pid in self.pids[host] & alive}


    def mark(self, host):
        """What its processes have in their environment, as soon as one of them
        has been read: one that is about to run another program has none."""
        live.eventually(lambda: self.marks(host), 60, "a mark")
        return min(self.marks(host))

    def marks(self, host):
        return {entry.decode().partition("=")[2]
                for pid in self.pids[host]
                for entry in live.read_proc(pid, "environ").split(b"\0")
                if entry.startswith(b"XYLEM_MARK=")}

    def check_gone(self, what, *hosts):
        gone = live.eventually(lambda: not self.left(*hosts), GONE_S, what)
        check(gone, "%s: %s of %s are left: %s"
              % (what, self.left(*hosts), self.pids, self.said()))


def subsets():
    """All that leave one of launcher, daemon and its spawners alive."""
    every = itertools.chain.from_iterable(
        itertools.combinations(WHO, count) for count in range(1, 6))
    found = [who for who in every
             if not set(who) >= {"launcher", "daemon", "the daemon's spawners"}]
    if live.BRIEF:
        found = [who for who in found if "helper" not in who or len(who) == 4]
    # The spawner that is left is the one of the daemons beneath.
    return [*found, ("launcher", "daemon", "the processes' spawner")]


@contextlib.contextmanager
def turn_is_taken():
    """No other process looks meanwhile, as daemons of other tests would. The
    name is made as take_turn() of endpoints/spawn/leftover.c makes it."""
    space = os.stat("/proc/self/ns/pid").st_ino
    name = b"\0xylem-sweep-%d-%d" % (os.geteuid(), space)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as turn:
        def take():
            try:
                turn.bind(name.ljust(SUN_PATH, b"\0"))
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
                return False
            return True
        live.eventually(take, 60, "it is our turn to look")
        yield


def killed_at_once():
    running = [(who, Session("a,b")) for who in subsets()]
    for _, job in running:
        job.await_up()
    live.await_sweepers()
    for who, job in running:
        job.kill(*who)
    for _, job in running:
        job.stdin.close()
    for who, job in running:
        job.check_gone(", ".join(who) + " killed")
        job.wait()
        if who == ("the daemon's spawners",):
            told = ("xylem: the daemon of node 0 on a, with rank 0, has "
                    "failed: xylem's process that starts the job's processes "
                    "has died\n")
            check(told in job.said(), job.said())
    live.check_gone(GONE_S)


def spawners_of(launcher):
    """The launcher's own spawners, and then those of its daemons."""
    return sorted((pid for pid in live.descendants(launcher)
                   if live.read_proc(pid, "comm") == b"xylem-spawn\n"),
                  key=lambda pid: live.parent(pid) != launcher)


def kill_all(pids):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):  # by its parent's end
            os.kill(pid, signal.SIGKILL)


def start_here(command):
    """Virtual nodes in a chain, so that one daemon after the other is found to
    be dead; and their processes."""
    job = live.Job("-N", 4, "--nodes-per-daemon", 1, "--arity", 1,
                   "--on-node-loss", "continue", "--", "sh", "-c", command,
                   stdin=subprocess.PIPE)
    return job, {int(job.stdout.readline().split()[1]) for _ in range(4 * 3)}


def there(pids):
    return pids & set(live.descendants(live.RUNNER))


def check_none(job, pids):
    live.eventually(lambda: not there(pids), GONE_S,
                    "nothing is left: " + job.said())
    check_eq(1, job.wait(), "exit code:")


def killed_here():
    """All spawners at once."""
    job, pids = start_here(FAMILY)
    spawners = spawners_of(job.proc.pid)
    check_eq(5, len(spawners), "spawners:")
    for pid in spawners:
        live.stop(pid)
    kill_all(spawners)
    check_none(job, pids)
    live.check_gone(GONE_S)


def killed_after_the_end():
    """The same when three of four have ended: their daemons are not waited
    for. Which of these sees the end of others is chance, so there are
    several."""
    running = [start_here(ENDED) for _ in range(4)]
    for _, pids in running:
        live.eventually(lambda pids=pids: len(there(pids)) == 9, GONE_S,
                        "three have ended")
    live.await_sweepers()
    with turn_is_taken():
        for job, _ in running:
            kill_all(spawners_of(job.proc.pid))
        for job, pids in running:
            check_none(job, pids)
    live.check_gone(GONE_S)


def others_are_left_alone():
    """A neighbour on the same host, and a run inside the job, by a process on
    another host, whose daemon is on the one that loses its own."""
    nested = " ".join(map(shlex.quote, [
        live.XYLEM, "run", "--launcher", "ssh", "--rsh", agent.Agent.rsh(),
        "-w", "a", "--label=host", "--", "sh", "-c", FAMILY]))
    AGENT.ended.clear()
    job = Session("a,b", command="test $XYLEM_NODE = 0 || exec %s; %s"
                  % (nested, FAMILY))
    neighbour = Session("a")
    inner = set()
    for _ in range(6):
        words = job.stdout.readline().decode().split()
        (job.pids["a"] if words[0] == "a:" else inner).add(int(words[-1]))
    job.pids["b"] = inner
    neighbour.await_up()
    job.daemons = {"a": live.parent(job.spawner("a"))}
    job.kill("daemon", "the daemon's spawners")
    job.check_gone("daemon and spawner killed", "a")
    live.eventually(lambda: any(host == "a" and "--sweep" in line
                                for host, line in AGENT.ended),
                    GONE_S, "the host is looked at")
    check_eq(inner, job.left("b"), "of the run inside:")
    check_eq(neighbour.pids["a"], neighbour.left(), "of the neighbour:")
    job.stdin.close()
    check_eq(1, job.wait(), "exit code:")
    job.check_gone("the end", "b")
    neighbour.stdin.close()
    neighbour.check_ok()


class Groups:
    """Two cgroups side by side, where they can be made."""

    def __init__(self):
        self.made = []
        with open("/proc/self/cgroup") as file:
            lines = [line.rstrip("\n").split(":", 2) for line in file]
        for _, names, path in lines:
            top = {"": "/sys/fs/cgroup/unified"}.get(
                names, "/sys/fs/cgroup/" + names.replace("name=", ""))
            if names == "" and not os.path.isdir(top):
                top = "/sys/fs/cgroup"
            here = top + path.rstrip("/") + "/xylem-test-%d-" % os.getpid()
            if names in ("", "pids", "freezer", "name=systemd") and \
                    self.make(here + "1", here + "2", here + "1/below"):
                return

    def make(self, *folders):
        try:
            for folder in folders:
                os.mkdir(folder)
                self.made.append(folder)
            with subprocess.Popen(["sleep", "302"]) as proc:
                try:
                    self.put(proc.pid, folders[1])
                finally:
                    proc.kill()
        except OSError:
            self.remove()
        return bool(self.made)

    @staticmethod
    def put(pid, folder):
        with open(os.path.join(folder, "cgroup.procs"), "w") as file:
            file.write("%d\n" % pid)

    def remove(self):
        for folder in sorted(self.made, reverse=True):
            def gone(folder=folder):
                with contextlib.suppress(OSError):
                    os.rmdir(folder)
                return not os.path.isdir(folder)
            live.eventually(gone, GONE_S, "%s can be removed" % folder)
        self.made = []


class Strangers:
    """Processes with marks, which another program starts."""

    def __init__(self):
        self.found = {}

    def add(self, name, mark, folder=None):
        proc = subprocess.Popen(["sleep", "302"],
                                env={**os.environ, "XYLEM_MARK": mark})
        self.found[name] = proc
        if folder is not None:
            Groups.put(proc.pid, folder)

    def alive(self):
        return {name for name, proc in self.found.items()
                if proc.poll() is None}

    def end(self):
        for proc in self.found.values():
            proc.kill()
            proc.wait()


def changed(mark, field, value):
    words = mark.split(".", 5)
    words[field] = value
    return ".".join(words)


def mark_alone_does_not_kill():
    groups, strangers = Groups(), Strangers()
    if not groups.made:
        print("# left out: no cgroup can be made here")
    AGENT.before = "".join("echo $$ >%s/cgroup.procs; " % folder
                           for folder in groups.made[:1])
    job = Session("a")
    job.await_up()
    AGENT.before = ""
    mark = job.mark("a")
    start = int(mark.split(".")[3])
    first = groups.made[0] if groups.made else None
    strangers.add("handed on", mark, first)
    strangers.add("older", changed(mark, 3, str(start + 10 ** 9)), first)
    # These have daemons that run: else any session may end them.
    other = changed(mark, 2, str(os.getpid()))
    other = changed(other, 3, live.stat(os.getpid())[19].decode())
    strangers.add("of another node", changed(other, 1, "2"), first)
    strangers.add("of another boot", changed(mark, 4, "0" * 16), first)
    strangers.add("of another session", changed(other, 0, "0" * 16), first)
    strangers.add("not well-formed", "xylem", first)
    if groups.made:
        strangers.add("in another cgroup", mark, groups.made[1])
        strangers.add("below the cgroup", mark, groups.made[2])
    expected = set(strangers.found) - {"handed on", "below the cgroup"}
    job.kill("daemon", "the daemon's spawners")
    job.stdin.close()
    job.check_gone("daemon and spawner killed")
    job.wait()
    live.eventually(lambda: strangers.alive() == expected, GONE_S,
                    "%s live, not %s" % (strangers.alive(), expected))
    strangers.end()
    groups.remove()


def check_swept(job, *hosts):
    """By the next session; or the one after that, as the first leaves it to
    one that is looking just then, perhaps since before."""
    def sweep():
        live.Job("--launcher", "ssh", "--rsh", agent.Agent.rsh(), "-w", "a",
                 "--", "true", env=AGENT.env()).check_ok()
        live.await_sweepers()
        return not job.left(*hosts)
    live.eventually(sweep, GONE_S, "the next session ends what is left")
    job.check_gone("the next session", *hosts)


def next_session_sweeps():
    """No process is left that could sweep: the next session that starts a
    daemon there does. Another session beside it goes on."""
    job, neighbour = Session("a"), Session("a")
    job.await_up()
    neighbour.await_up()
    with turn_is_taken():
        job.kill("launcher", "its spawner", "daemon", "the daemon's spawners")
        job.wait()
        # The process dies after its spawner: until then there are three.
        live.eventually(lambda: len(job.left()) == 2, GONE_S,
                        lambda: "two are left, as nobody is there: %s" %
                        job.left())
    check_swept(job, "a")
    check_eq(neighbour.pids["a"], neighbour.left(), "of the neighbour:")
    neighbour.stdin.close()
    neighbour.check_ok()


def not_reached():
    """One host that refuses, one that says nothing."""
    job = Session("x,y,z", "--arity", 3)
    job.await_up()
    AGENT.bad.add("y")
    AGENT.mute.add("z")
    for host in "xyz":
        job.kill("daemon", "the daemon's spawners", host=host)
    return job


def check_not_reached(job):
    job.stdin.close()
    check_eq(1, job.wait(), "exit code:")
    job.check_gone("daemon and spawner killed", "x")
    check(job.said().endswith("xylem: could not check for processes that the "
                              "job may have left on: y,z\n"), job.said())
    check_swept(job, "y", "z")


def subreaper_before_children():
    """The kernel may lose that a spawner is a subreaper where its daemon
    becomes one at that moment (endpoints/daemon/daemon.h): what its processes
    leave goes by it then, and is left."""
    if live.is_sanitized():
        raise live.LeftOut("sanitizers have to be loaded first")
    told = os.path.join(live.TMP, "reapers")
    env = live.preload("harness", "preload_reaper.c")
    live.Job("-N", 3, "--arity", 1, "--", "true",
             env={**env, "TEST_REAPER": told}).check_ok()
    with open(told, encoding="utf-8") as file:
        lines = file.read().splitlines()
    check("xylemd early" in lines, "no daemon is a subreaper: %s" % lines)
    check("late" not in " ".join(lines).split(), "with children: %s" % lines)


AGENT = None


def main():
    global AGENT
    AGENT = agent.Agent(live.TMP)
    with live.case("hosts refuse, or say nothing"):
        unreached = not_reached()
    with live.case("whoever survives ends what the dead ones have left"):
        killed_at_once()
    with live.case("all spawners of virtual nodes are killed"):
        killed_here()
    with live.case("the same when most processes have ended before"):
        killed_after_the_end()
    with live.case("a daemon becomes a subreaper before it has children"):
        subreaper_before_children()
    with live.case("a neighbour and a run inside the job are left alone"):
        others_are_left_alone()
    with live.case("a mark alone kills nobody"):
        mark_alone_does_not_kill()
    with live.case("the next session ends what nobody has ended"):
        next_session_sweeps()
    with live.case("hosts that are not reached are named"):
        check_not_reached(unreached)
    with live.case("nothing is left"):
        live.check_gone(GONE_S)
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
