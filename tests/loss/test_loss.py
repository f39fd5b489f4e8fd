#!/usr/bin/env python3
"""Nodes are lost while the others go on. There is a daemon for each node, so
that one can be killed; with -v each orphan reports how long it was without a
parent. Whatever dies, the survivors read all of the input and all they write
arrives once and in order."""
# timeout: 1200
import hashlib
import os
import signal
import sys
import threading
import time

import live
from live import check, check_eq
from loss import ECHO, GREETING, SUM, Running, beneath, told

# Lines that say whose they are and count; of those ranks without an end: they
# are killed in the middle, wherever their lines wait.
LINES = GREETING + """n=$1
case " $2 " in *" $XYLEM_RANK "*) n=-1 ;; esac
exec awk -v n="$n" -v r="$XYLEM_RANK" \
'BEGIN { for (i = 0; i != n; i++) printf "%d %d %050d\\n", r, i, 0 }'"""

# Inner ones of 64 with arity 4, of both levels.
TEN = (0, 4, 8, 1, 5, 9, 2, 12, 10, 13)


# --- small jobs, one kind of loss each

def leaf_dies():
    running = Running(3, 4, ECHO, options=("-N", 3, "--nodes-per-daemon", 1))
    running.ask(b"one")
    running.kill(1)
    running.await_lost(1)
    running.ask(b"two")
    known = running.greeted[1] + len("one\n")
    times = running.end("with rank 1; the job goes on without it",
                        "output received from lost nodes: rank 1 on",
                        "(stdout: %d bytes, the end is not known)" % known)
    check_eq([], times, "nobody lost a parent:")


def many_die_at_once():
    """The losses are reported in one line: the launcher, stopped meanwhile,
    notices all of them in the same moment."""
    hosts = ["h%d" % n for n in range(5)]
    running = Running(5, 5, ECHO, options=(",".join(hosts),),
                      start=live.Remote)
    running.ask(b"one")
    running.job.proc.send_signal(signal.SIGSTOP)
    live.eventually(lambda: live.state(running.job.proc.pid) == b"T", 60,
                    "the launcher is stopped")
    running.kill(1, 2, 3)
    live.eventually(lambda: all(live.state(running.daemons[rank]) in (b"", b"Z")
                                for rank in (1, 2, 3)), 60, "they are dead")
    running.job.proc.send_signal(signal.SIGCONT)
    running.await_lost(1, 2, 3)
    running.ask(b"two")
    running.end("the daemons of nodes 1-3 on h[1-3] are lost, with ranks 1-3; "
                "the job goes on without them")


def inner_dies():
    """Its children find their grandparent at the first attempt, and long
    before a node is judged by its silence. An attempt takes a quarter of the
    heartbeat time: more than any of them may be held up."""
    heartbeat_s = 40
    running = Running(6, 2, ECHO, heartbeat=heartbeat_s,
                      options=("-N", 6, "--nodes-per-daemon", 1))
    running.ask(b"one")
    running.kill(0)
    taken_s = running.ask(b"two")
    print("# from the loss to the last answer: %.3f s" % taken_s)
    check(taken_s < heartbeat_s * 3 // 4, "it took %.3f s" % taken_s)
    running.await_repairs(2, 3)
    running.ask(b"three")
    running.await_lost(0)
    times = running.end("node 2 on", "a new parent, the launcher")
    check(max(times) < heartbeat_s / 4, "repairs took %s" % times)


def two_levels_die():
    """Parent and grandparent die at once: the orphans go to the root. The node
    that had a link only to the dead parent is given up just as soon."""
    running = Running(14, 2, ECHO, options=("-N", 14, "--nodes-per-daemon", 1))
    running.kill(0, 2)
    running.ask(b"one")
    running.await_repairs(3, *beneath(2, 2))
    running.await_lost(0, 2)  # by silence it would take 35 s
    running.ask(b"two")
    running.end()


def two_levels_die_while_reading():
    """An inner daemon and its inner child, then another with its leaf, while
    much more than a window goes down: all of it is read by the others long
    before the heartbeat time is over."""
    heartbeat_s = 30
    running = Running(14, 2, SUM, heartbeat=heartbeat_s,
                      options=("-N", 14, "--nodes-per-daemon", 1))
    size = 96 << 20
    feeder = live.Feeder(running.job.stdin, size, endless=True)
    feeder.start()
    for part, pair in enumerate(((0, 2), (5, 12)), 1):
        live.eventually(lambda: feeder.fed >= part * size // 3, 60,
                        "part %d of the input is read" % part)
        running.kill(*pair)
        if part == 2:
            feeder.may_end.set()
        start_s = time.monotonic()
        running.await_lost(*pair)
        print("# %s were given up after %.1f s"
              % (pair, time.monotonic() - start_s))
    feeder.join()
    taken_s = time.monotonic() - start_s
    print("# from the loss to the last byte: %.1f s" % taken_s)
    check(taken_s < heartbeat_s * 3 // 4, "stdin stood still: %.1f s" % taken_s)
    want = feeder.digest(hashlib.sha256()).encode() + b"  -"
    got = running.rest + running.job.stdout.read().splitlines()
    check_eq([want] * running.left(), got, running.job.said())
    running.end()


def all_die():
    """What cannot come is not waited for."""
    running = Running(2, 4, ECHO, options=("-N", 2, "--nodes-per-daemon", 1))
    running.kill(0, 1)
    live.eventually(lambda: running.job.proc.poll() is not None, 20,
                    "the job ends")
    running.end("; the job goes on", "output received from lost nodes: rank 0")
    check_eq({0, 1}, set(told(running.job.said())), running.job.said())


def abort():
    running = Running(6, 2, ECHO, policy="abort",
                      options=("-N", 6, "--nodes-per-daemon", 1))
    running.kill(0)
    live.eventually(lambda: running.job.proc.poll() is not None, 20,
                    "the job ends")
    running.end("with rank 0; the job ends")


def failed_before():
    """The exit code is that of a process that failed before the loss."""
    running = Running(3, 4, GREETING + "read x; exit $((XYLEM_RANK == 1 ? "
                      "$x : 0))", options=("-N", 3, "--nodes-per-daemon", 1))
    running.signal(signal.SIGSTOP, 2)
    running.job.stdin.write(b"7\n")
    running.job.stdin.flush()
    live.eventually(lambda: "rank 1 on" in running.job.said(), 20,
                    "the failure is told")
    running.kill(2)
    running.end(code=7)


def frozen_briefly():
    """Its children leave it, and when it runs again it is found where its
    parent left it: no node is lost, and what it missed comes."""
    running = Running(6, 2, ECHO, heartbeat=2,
                      options=("-N", 6, "--nodes-per-daemon", 1))
    running.signal(signal.SIGSTOP, 0)
    try:
        running.job.stdin.write(b"one\n")
        running.job.stdin.flush()
        got = [running.job.stdout.readline() for _ in range(5)]
        check_eq([b"one\n"] * 5, got, running.job.said())
    finally:
        running.signal(signal.SIGCONT, 0)
    check_eq(b"one\n", running.job.stdout.readline(), running.job.said())
    running.ask(b"two")
    running.end(code=0)


def frozen():
    """It counts as silent; when it runs again it learns that it was given up,
    and ends its processes."""
    heartbeat_s = 6
    running = Running(6, 2, ECHO, heartbeat=heartbeat_s,
                      options=("-N", 6, "--nodes-per-daemon", 1))
    own = running.pids[0]
    check(own, "no processes")
    running.signal(signal.SIGSTOP, 0)
    running.lost.add(0)
    try:
        taken_s = running.ask(b"one")
        print("# from the silence to the last answer: %.3f s" % taken_s)
        # A child that was held up itself, by more than a third of that, begins
        # anew to listen for its parent: with less than 6 s, two times 3 s would
        # be too long. After 4.5 times that the others would be asked about the
        # silent one.
        check(taken_s < 4 * heartbeat_s, "with a heartbeat of %d s it took "
              "%.3f s" % (heartbeat_s, taken_s))
        running.await_lost(0, seconds=60)
        running.ask(b"two")
    finally:
        running.signal(signal.SIGCONT, 0)
    live.eventually(lambda: not set(own) & set(live.descendants(live.RUNNER)),
                    20, "the processes of the frozen node end")
    live.eventually(lambda: running.daemons[0] not in live.ours(), 20,
                    "its daemon ends")
    running.ask(b"three")
    running.end()


def several_nodes():
    """A daemon with five nodes dies, and one freezes: all of its nodes are
    lost, parents and children among them."""
    running = Running(20, 3, ECHO, heartbeat=2,
                      options=("-N", 20, "--nodes-per-daemon", 5))

    def beside(rank):
        return [one for one, pid in running.daemons.items()
                if pid == running.daemons[rank]]

    first, second = beside(0), beside(1)
    check_eq([5, 5], [len(first), len(second)], "nodes of a daemon:")
    running.signal(signal.SIGKILL, 0)
    running.lost |= set(first)
    running.ask(b"one")
    running.await_lost(*first)
    running.signal(signal.SIGSTOP, 1)
    running.lost |= set(second)
    try:
        running.ask(b"two")
        running.await_lost(*second, seconds=30)
    finally:
        running.signal(signal.SIGCONT, 1)
    live.eventually(lambda: running.daemons[1] not in live.ours(), 20,
                    "the daemon that was given up ends")
    running.ask(b"three")
    running.end()


def nothing_leaks():
    """Nodes that lose and adopt again and again have as many descriptors as
    links: the root has one for each of its children, and those of its
    start."""
    running = Running(14, 2, ECHO, options=("-N", 14, "--nodes-per-daemon", 1,
                                            "--no-pmix"))
    running.ask(b"first")

    def descriptors():
        return len(os.listdir("/proc/%d/fd" % running.job.proc.pid))

    before, orphans = descriptors(), 0
    for rank in (0, 1):
        running.kill(rank)
        orphans += 1  # two children for one
        running.await_repairs(*beneath(2, rank))
        running.await_lost(rank)
        running.ask(b"after %d" % rank)
    # The link of a dead daemon goes, and so do its three start-up pipes. The
    # process that ends what the daemon has left behind has one descriptor.
    live.eventually(
        lambda: descriptors() <= before + orphans - 2 * 3 + 1, 10,
        "descriptors of the launcher: %d, then %d" % (before, descriptors()))
    running.end()


# --- much traffic

class Killer(threading.Thread):
    """Kills ranks, one after another, each when `go` says so, until the job is
    over."""

    def __init__(self, running, ranks, go):
        super().__init__(daemon=True)
        self.running, self.ranks, self.go = running, ranks, go
        self.start()

    def run(self):
        for number, rank in enumerate(self.ranks, 1):
            self.go(number)
            try:
                self.running.kill(rank)
            except ProcessLookupError:
                self.running.lost.discard(rank)
                return


def each_second(_):
    threading.Event().wait(1)


def while_reading(nodes, arity, ranks, size, seconds=None):
    """Inner daemons die in the middle of the input."""
    running = Running(nodes, arity, SUM,
                      options=("-N", nodes, "--nodes-per-daemon", 1))
    feeder = live.Feeder(running.job.stdin, size, endless=not seconds)
    share = size // (len(ranks) + 1)

    def reached(number):
        live.eventually(lambda: feeder.fed >= number * share, 60,
                        "part %d of the input is read" % number)

    killer = Killer(running, ranks, each_second if seconds else reached)
    feeder.start()
    killer.join()
    feeder.may_end.set()
    feeder.join()
    got = running.rest + running.job.stdout.read().splitlines()
    want = feeder.digest(hashlib.sha256()).encode()
    good = [line for line in got if line.split()[:1] == [want]]
    check(len(good) >= running.left(), "%d right sums of %d, %d survive; %s"
          % (len(good), len(got), running.left(), running.job.said()))
    check_eq(len(got), len(good), "sums that are right:")
    running.end(seconds=120, may_be_over=bool(seconds))


def while_writing(nodes, arity, ranks, lines, seconds=None):
    """Inner daemons die in the middle of the output."""
    running = Running(nodes, arity, LINES, lines, " ".join(map(str, ranks)),
                      options=("-N", nodes, "--nodes-per-daemon", 1))
    seen = [0] * nodes
    total, bad = 0, 0
    share = lines * nodes // (len(ranks) + 1) // 2
    turn = threading.Semaphore(0)
    killer = Killer(running, ranks, each_second if seconds
                    else lambda _: turn.acquire())
    for line in running.rest:
        rank, number, _ = map(int, line.split())
        bad += number != seen[rank]
        seen[rank] += 1
    for line in running.job.stdout:
        rank, number, _ = map(int, line.split())
        bad += number != seen[rank]
        seen[rank] += 1
        total += 1
        if total % share == 0:
            turn.release()
    turn.release(len(ranks))
    killer.join()
    check_eq(0, bad, "lines that are not the next of their rank:")
    short = {rank: seen[rank] for rank in range(nodes)
             if seen[rank] < lines and rank not in running.lost}
    check_eq({}, short, "survivors with fewer lines than %d:" % lines)
    running.end(seconds=120)


# --- how daemons are started

def slow_launch():
    """A host may take its time to start, however short the heartbeat: no node
    is given up, and none gives up, before the launch itself takes too long."""
    gate = os.path.join(live.TMP, "gate")
    os.mkfifo(gate)
    job = live.Remote("h0,h1,h2", "--arity", 1, "--heartbeat", 1, "--", "true",
                      RSH_HELD="h1", RSH_GATE=gate)
    time.sleep(11)  # sleep-ok: give-up and adoption time, and more
    with open(gate, "w") as file:
        file.write("go\n")
    job.check_ok()
    live.check_gone()


class Hosts(Running):
    """The same on hosts: each daemon starts those beneath it."""

    def __init__(self, nodes, *words, **more):
        names = ",".join("h%d" % rank for rank in range(nodes))
        super().__init__(nodes, 2, *words, **more,
                         start=lambda *args, **env: live.Remote(
                             names, *args, **env))


def starter_dies():
    """The daemons that it has started go on, and the end is clean all the
    same."""
    running = Hosts(6, ECHO)
    running.ask(b"one")
    running.kill(0)
    running.ask(b"two")
    running.await_lost(0)
    running.ask(b"three")
    running.end("node 2 on h2 has a new parent, the launcher")


def starter_and_launcher_die():
    """When nothing is left above them, the daemons that it has started end."""
    running = Hosts(6, ECHO)
    running.kill(0)
    running.await_lost(0)
    running.ask(b"one")
    running.job.proc.kill()
    running.job.proc.wait()
    live.check_gone()


def launch_breaks():
    """A daemon that dies before all have joined ends the launch: here the
    last one never comes."""
    job = live.Remote("h0,h1,h2", "--arity", 1, "--on-node-loss", "continue",
                      "-v", "--", "true", RSH_MUTE="h2")
    live.eventually(lambda: "node 1 on h1: listening" in job.said(), 30,
                    "h1 is there")
    victim = next(pid for pid, name in live.ours().items()
                  if name == "xylemd" and live.host_of(pid) == "h0")
    os.kill(victim, signal.SIGKILL)
    check_eq(1, job.wait(20), "exit code:")
    check("h0: it ended (signal 9) before the job began"
          in job.said() or "node 0 on h0 is lost" in job.said()
          or "h0: it was lost before the job began" in job.said(), job.said())
    live.check_gone()


def main():
    for sentence, scenario in (
            ("a leaf dies", leaf_dies),
            ("an inner daemon dies", inner_dies),
            ("two levels die at once", two_levels_die),
            ("two levels die in the middle of stdin",
             two_levels_die_while_reading),
            ("all die", all_die),
            ("abort", abort),
            ("a process had failed before", failed_before),
            ("many die at once", many_die_at_once),
            ("a daemon freezes for a short time", frozen_briefly),
            ("a daemon freezes, is given up and thaws", frozen),
            ("daemons with several nodes", several_nodes),
            ("no descriptor leaks", nothing_leaks),
            ("a launch takes its time", slow_launch),
            ("the starter of others dies", starter_dies),
            ("then the launcher", starter_and_launcher_die),
            ("a daemon dies while others start", launch_breaks)):
        with live.case(sentence):
            scenario()
    with live.case("inner daemons die while stdin goes down"):
        while_reading(14, 2, (0, 3, 5), 64 << 20)
    with live.case("inner daemons die while lines come up"):
        while_writing(14, 2, (1, 2, 4), 20000)
    if live.FULL:
        with live.case("64 daemons: one dies each second, 512 MiB down"):
            while_reading(64, 4, TEN, 512 << 20, seconds=1)
        with live.case("64 daemons: one dies each second, 1 GiB of lines up"):
            while_writing(64, 4, TEN, (1 << 30) // 64 // 57, seconds=1)
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
