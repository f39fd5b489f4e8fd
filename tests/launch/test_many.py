#!/usr/bin/env python3
"""Very many nodes on this machine: all join, all output arrives, and memory
stays within its bounds."""
import hashlib
import json
import os
import random
import subprocess
import sys

import live
from live import check, check_eq

# The pipes of a user who is not root have 64 MiB in all (pipe-user-pages-soft),
# which 300 nodes come near to: pipes of tests beside this one then have two
# pages.
FEW = 300 if os.getuid() == 0 else 150
NODES = live.full(1000, FEW)
SIZE = live.full(16, 1) * live.MIB
CROWD = live.full(10000, FEW)
COMPUTING = live.full(1000, min(FEW, 200))


def told(path):
    """What the report says; memory is held to its bound."""
    with open(path) as file:
        stats = json.load(file)
    daemons = stats["daemons"]
    each = -(-NODES // daemons["count"])
    print("# %d daemons: all running after %.2f s, over after %.2f s; "
          "greatest %.1f MiB, launcher %.1f MiB"
          % (daemons["count"], stats["launch_s"], stats["wall_s"],
             daemons["rss_peak_bytes_max"] / live.MIB,
             stats["launcher"]["rss_peak_bytes"] / live.MIB))
    check_eq(NODES, stats["procs"])
    for peak, more in ((daemons["rss_peak_bytes_max"], each - 1),
                       (stats["launcher"]["rss_peak_bytes"], 0)):
        check(live.is_sanitized() or peak <= (32 + more) * live.MIB,
              "%.1f MiB" % (peak / live.MIB))


def run(*args, **more):
    path = os.path.join(live.TMP, "stats")
    return path, live.Job("-N", NODES, "--stats", path, "-l", *args, **more)


def label(rank, size):
    """What -l puts before the lines of a rank: as wide as the last one's, so
    that sorted lines are in the order of ranks."""
    return "%0*d: " % (len(str(size - 1)), rank)


def all_speak():
    path, job = run("--", "sh", "-c", 'echo "$XYLEM_RANK of $XYLEM_SIZE"')
    lines = job.stdout.read().decode().splitlines()
    job.check_ok(120)
    check_eq([label(rank, NODES) + "%d of %d" % (rank, NODES)
              for rank in range(NODES)], sorted(lines))
    told(path)


def all_hear():
    path, job = run("--", "sha256sum", stdin=subprocess.PIPE)
    feeder = live.Feeder(job.stdin, SIZE)
    feeder.start()
    lines = job.stdout.read().decode().splitlines()
    job.check_ok(120)
    right = feeder.digest(hashlib.sha256())
    check_eq([label(rank, NODES) + right + "  -" for rank in range(NODES)],
             sorted(lines))
    told(path)


def hear_beside_others(busy):
    """10,000 processes on few processors, which two others want, too: each sum
    is right, none is lost, and the launcher keeps to its bound."""
    path = os.path.join(live.TMP, "stats")
    data = random.Random(SIZE).randbytes(live.MIB)
    source = os.path.join(live.TMP, "source")
    with open(source, "wb") as file:
        file.write(data)
    with open(source, "rb") as file:
        job = live.Job("-N", CROWD, "--stats", path, "-l", "--", "sha256sum",
                       stdin=file)
    lines = job.stdout.read().decode().splitlines()
    job.check_ok(600)
    right = hashlib.sha256(data).hexdigest()
    check_eq([label(rank, CROWD) + right + "  -" for rank in range(CROWD)],
             sorted(lines))
    check(all(loop.poll() is None for loop in busy), "a loop has ended")
    with open(path) as file:
        stats = json.load(file)
    peak = stats["launcher"]["rss_peak_bytes"]
    print("# all running after %.0f s, over after %.0f s, launcher %.1f MiB"
          % (stats["launch_s"], stats["wall_s"], peak / live.MIB))
    check_eq([], stats["lost_nodes"])
    check(live.is_sanitized() or peak <= 32 * live.MIB,
          "%.1f MiB" % (peak / live.MIB))


def crowd():
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"],
                             preexec_fn=lambda: os.nice(10))
            for _ in range(2)]
    try:
        for _ in range(live.full(3, 1)):
            hear_beside_others(busy)
    finally:
        for loop in busy:
            loop.kill()
            loop.wait()


def compute():
    """Processes that take all they get do not keep daemons from starting the
    others, nor from ending them."""
    job = live.Job("-N", COMPUTING, "--", "sh", "-c",
                   'echo; trap "exit 0" TERM; while :; do :; done')
    for _ in range(COMPUTING):
        job.stdout.readline()
    job.proc.kill()
    job.proc.wait()
    live.check_gone(10)


def widest():
    """As many children as a node may have, all of them with full frames in
    both directions; one more is refused."""
    path = os.path.join(live.TMP, "stats")
    job = live.Job("-N", 256, "--arity", 1000, "--stats", path, "--raw", "--",
                   "sh", "-c", "head -c 100000; cat >/dev/null",
                   stdin=subprocess.PIPE)
    live.Feeder(job.stdin, 2 * live.MIB).start()
    check_eq(256 * 100000, len(job.stdout.read()))
    job.check_ok(120)
    with open(path) as file:
        stats = json.load(file)
    peak = stats["launcher"]["rss_peak_bytes"]
    print("# launcher %.1f MiB" % (peak / live.MIB))
    check_eq((256, 1), (stats["nodes"], stats["depth"]))
    check(live.is_sanitized() or peak <= 32 * live.MIB,
          "%.1f MiB" % (peak / live.MIB))
    job = live.Job("-N", 257, "--arity", 1000, "--", "true")
    check_eq(2, job.wait(), "exit code:")
    check("smaller" in job.said(), job.said())


def main():
    with live.case("%d processes on %d nodes say one line each"
                   % (NODES, NODES)):
        all_speak()
    with live.case("each gets %d MiB" % (SIZE // live.MIB)):
        all_hear()
    with live.case("each of %d gets 1 MiB beside two busy loops" % CROWD):
        crowd()
    with live.case("%d that compute are started, and ended by kill -9 of the "
                   "launcher" % COMPUTING):
        compute()
    with live.case("256 children of one node"):
        widest()
    with live.case("nothing is left"):
        live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
