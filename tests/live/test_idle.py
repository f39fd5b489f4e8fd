#!/usr/bin/env python3
"""A job with nothing to do sleeps: only heartbeats wake its processes."""
# timeout: 120
# alone
import os
import re
import subprocess
import sys
import time

import live
from live import check

NODES = 21
HEARTBEAT_S = 4
WATCH_S = 8


def switches(pid):
    """How often the threads of a process gave up the processor to wait."""
    count = 0
    for thread in os.listdir("/proc/%d/task" % pid):
        status = live.read_proc(pid, "task/%s/status" % thread)
        count += int(re.search(rb"\nvoluntary_ctxt_switches:\s*(\d+)",
                               status)[1])
    return count


def most_wakes(seconds):
    """A link carries a frame each way in a third of the heartbeat time. The
    timers of most nodes are for parents that are late: a quarter of them may
    be. The launcher looks about once a second. What is under way at the begin
    and the end counts once more."""
    thirds = seconds / (HEARTBEAT_S / 3) + 1
    return int(thirds * (2 * NODES + 1 + NODES / 4) + seconds + 1)


def main():
    with live.case("%d idle nodes, one to a daemon" % NODES):
        job = live.Job("-N", NODES, "--arity", 4, "--nodes-per-daemon", 1,
                       "--heartbeat", HEARTBEAT_S, "--", "sh", "-c",
                       "echo up; exec cat", stdin=subprocess.PIPE)
        for _ in range(NODES):
            job.stdout.readline()
        time.sleep(HEARTBEAT_S / 2)  # sleep-ok: the launch has echoes
        pids = live.ours()
        check(len(pids) >= 2 * NODES + 2, "processes: %s" % pids)
        before = {pid: switches(pid) for pid in pids}
        start = time.monotonic()
        time.sleep(WATCH_S)  # sleep-ok: what happens meanwhile is the test
        wakes = {pid: switches(pid) - before[pid] for pid in pids}
        most = most_wakes(time.monotonic() - start)
        print("# %d wake-ups of %d processes in %d s, %d at most; by one: %s"
              % (sum(wakes.values()), len(pids), WATCH_S, most,
                 sorted(wakes.values(), reverse=True)[:10]))
        check(0 < sum(wakes.values()) <= most, "%s" % wakes)
        job.stdin.close()
        job.stdout.read()
        job.check_ok()
    with live.case("nothing is left"):
        live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
