#!/usr/bin/env python3
"""A job with nothing to do sleeps: only heartbeats wake its processes."""
# alone
import os
import re
import statistics
import subprocess
import sys
import time

import live
from live import check

NODES = 21
ARITY = 4
HEARTBEAT_S = 4
BEAT_S = HEARTBEAT_S * 0.47
WATCH_S = 16
LAUNCH_S = 6  # until the transport has looked for silent strangers, after 5


def waits(pid):
    """How often each thread of a process gave up the processor to wait; the
    first is the one that runs the loop."""
    found = []
    for thread in sorted(os.listdir("/proc/%d/task" % pid), key=int):
        status = live.read_proc(pid, "task/%s/status" % thread)
        found.append(int(re.search(rb"\nvoluntary_ctxt_switches:\s*(\d+)",
                                   status)[1]))
    return found


class Idle:
    """A job whose processes say who they are and then wait for nothing."""

    def __init__(self):
        self.job = live.Job("-N", NODES, "--arity", ARITY,
                            "--nodes-per-daemon", 1,
                            "--heartbeat", HEARTBEAT_S, "--", "sh", "-c",
                            "echo $XYLEM_RANK $PPID; exec cat",
                            stdin=subprocess.PIPE)
        starters = {}
        for _ in range(NODES):
            rank, pid = map(int, self.job.stdout.readline().split())
            starters[rank] = pid
        daemon = {rank + 1: live.parent(pid)
                  for rank, pid in starters.items()}
        self.leaves = [pid for node, pid in daemon.items()
                       if node * ARITY + 1 > NODES]
        self.inner = [pid for pid in daemon.values()
                      if pid not in self.leaves]
        time.sleep(LAUNCH_S)  # sleep-ok: the launch has echoes
        live.await_sweepers()
        looping = set(daemon.values()) | {self.job.proc.pid}
        ours = live.ours()
        self.helper = [pid for pid, name in ours.items()
                       if name == "xylem-pmix"]
        self.rest = [pid for pid in ours
                     if pid not in looping and pid not in self.helper]

    def watch(self):
        """The wake-ups of each thread, and for how long that was."""
        pids = live.ours()
        before = {pid: waits(pid) for pid in pids}
        start = time.monotonic()
        time.sleep(WATCH_S)  # sleep-ok: what happens meanwhile is the test
        wakes = {pid: [now - was for now, was in zip(waits(pid), before[pid])]
                 for pid in pids}
        return wakes, time.monotonic() - start

    def end(self):
        self.job.stdin.close()
        self.job.stdout.read()
        self.job.check_ok()


def too_often(idle, wakes, seconds):
    """The processes that were woken too often, or never. A beat of the root
    wakes each node once, and each answer wakes the parent once more, if
    answers come one by one. One beat may be under way at the beginning.
    Beneath a node that is held up a beat comes late, and wakes again those
    that have begun by themselves: at most twice for each, and most leaves less
    often."""
    beats = int(seconds / BEAT_S) + 1
    leaves = [wakes[pid][0] for pid in idle.leaves]
    inner = [wakes[pid][0] for pid in idle.inner]
    root, *threads = wakes[idle.job.proc.pid]
    still = [wakes[pid] for pid in idle.rest]
    helper = [wakes[pid] for pid in idle.helper]
    print("# in %.1f s, %d beats: leaves %s; inner nodes %s; root %d; its "
          "other threads %s; other processes %d; PMIx helper %s" % (
              seconds, beats, sorted(leaves), sorted(inner), root, threads,
              len(still), helper))
    return [text for text, is_right in (
        ("leaves: %s" % leaves,
         0 < min(leaves) and statistics.median(leaves) <= beats and
         max(leaves) <= 2 * beats),
        ("inner nodes: %s" % inner, max(inner) <= beats * (1 + ARITY)),
        ("root: %d" % root, root <= beats * (1 + ARITY)),
        ("threads of the launcher: %s" % threads, not any(threads)),
        ("spawners: %s" % still,
         len(still) == NODES + 1 and not any(map(any, still))),
        # libpmix looks at its port every 2 s
        ("PMIx helper: %s" % helper,
         all(first == 0 and sum(others) <= seconds / 2 + 1
             for first, *others in helper))) if not is_right]


def check_wakes(idle):
    """When the root itself is held up, all are woken more often: what is so
    by itself is so each time."""
    wrong = too_often(idle, *idle.watch())
    for _ in range(2):
        if wrong:
            print("# once more:", *wrong)
            wrong = too_often(idle, *idle.watch())
    check(not wrong, "; ".join(wrong))


def main():
    with live.case("%d idle nodes, one to a daemon" % NODES):
        idle = Idle()
        check_wakes(idle)
        idle.end()
    with live.case("nothing is left"):
        live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
