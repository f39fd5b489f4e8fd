#!/usr/bin/env python3
"""--order=rank: one rank is shown after the other, live when it is its turn
and complete in any case, and no rank has to wait before it may write."""
import json
import os
import subprocess
import sys

import clients
import live
from live import case, check, check_eq, check_has

RANKS = 12
STATS = os.path.join(live.TMP, "stats")
MANY = live.full(200000, 20000)
# Each rank ends before the one in front of it writes anything.
BACKWARDS = """
next=%s/$((XYLEM_RANK + 1))
[ "$XYLEM_RANK" = %d ] || until [ -e $next ]; do sleep 0.01; done
echo rank $XYLEM_RANK; echo said $XYLEM_RANK >&2; printf %%s end
touch %s/$XYLEM_RANK
"""


def backwards(name):
    path = os.path.join(live.TMP, name)
    os.mkdir(path)
    return "sh", "-c", BACKWARDS % (path, RANKS - 1, path)


def numbers(rank, count):
    return b"".join(b"%d %d\n" % (rank, n) for n in range(count))


# Rank 0 ends when rank 2 has written all it has.
CROWD = ('seq -f "$XYLEM_RANK %%%%.0f" 0 %d; ' % (MANY - 1) +
         '[ $XYLEM_RANK != 2 ] || touch %s; '
         '[ $XYLEM_RANK != 0 ] || until [ -e %s ]; do sleep 0.01; done')


def crowd(name):
    path = os.path.join(live.TMP, name)
    return "sh", "-c", CROWD % (path, path)


def proof():
    with open(STATS) as file:
        stats = json.load(file)
    check_eq(stats["proof"]["channels"], stats["proof"]["complete"])
    launcher = stats["launcher"]
    if not live.is_sanitized():
        check(launcher["rss_peak_bytes"] <= launcher["rss_bound_bytes"],
              launcher)


with case("in the order of ranks, on both channels"):
    ran = live.launch("-qN", RANKS, "--order=rank", "-l", "--",
                      *backwards("both"))
    check_eq([line for rank in range(RANKS)
              for line in (f"{rank:02}: rank {rank}", f"{rank:02}: end")],
             ran.lines())
    check_eq([f"{rank:02}: said {rank}" for rank in range(RANKS)],
             ran.said.splitlines())

with case("as objects, and where both channels are one"):
    job = live.Job("-qN", RANKS, "--order=rank", "--format=json", "--",
                   *backwards("one"), wrap=["sh", "-c", 'exec "$@" 2>&1', "sh"])
    got = [json.loads(line) for line in job.stdout]
    check_eq(0, job.wait())
    check_eq([rank for rank in range(RANKS) for _ in range(3)],
             [one["rank"] for one in got])
    check_eq(3 * RANKS, len({(one["rank"], one["text"]) for one in got}))

with case("the rank whose turn it is is seen at once"):
    job = live.Job("-qN", 3, "--order=rank", "-i", 0, "--", "sh", "-c",
                   "echo up $XYLEM_RANK; exec cat", stdin=subprocess.PIPE)
    check_eq(b"up 0\n", job.stdout.readline())
    job.stdin.write(b"live\n")
    job.stdin.flush()
    check_eq(b"live\n", job.stdout.readline())
    job.stdin.close()
    check_eq(b"up 1\nup 2\n", job.stdout.read())
    job.check_ok()

with case("others write while they wait, and all of it is there"):
    ran = live.launch("-qN", 4, "--order=rank", "--stats", STATS, "--",
                      *crowd("wait"))
    check_eq("", ran.said)
    check(ran.out == b"".join(numbers(rank, MANY) for rank in range(4)),
          "it is not what was written")
    proof()

with case("without room the order is given up, and nothing else"):
    job = live.Job("-qN", 4, "--order=rank", "--stats", STATS, "--",
                   "sh", "-c", 'yes "$XYLEM_RANK %061d" | head -c 8M; '
                   'exec "$@"' % 0,
                   "sh", *crowd("full"),
                   wrap=["sh", "-c", 'ulimit -f 2048; exec "$@"', "sh"])
    out = job.stdout.read()
    check_eq(0, job.wait())
    want = {rank: b"%d %061d\n" % (rank, 0) * (8 << 14) + numbers(rank, MANY)
            for rank in range(4)}
    for rank in range(4):
        mine = b"".join(line for line in out.splitlines(True)
                        if line.startswith(b"%d" % rank))
        check(mine == want[rank], f"rank {rank} is not whole")
    said = job.said().splitlines()
    check_eq(1, len(said), said)
    check_has("has not ended, and the output of the ranks behind it cannot "
              "wait in a temporary file (", said[0])
    proof()

with case("a failure is told when it is there"):
    job = live.Job("-qN", 3, "--order=rank", "-i", 0, "--", "sh", "-c",
                   "[ $XYLEM_RANK = 0 ] || exit 3; cat; echo end",
                   stdin=subprocess.PIPE)
    live.eventually(lambda: "returned 3" in job.said(), 60, "the failure")
    job.stdin.close()
    check_eq(b"end\n", job.stdout.read())
    check_eq(3, job.wait())

with case("who attaches may order what he sees"):
    job = live.Job("-N", RANKS, "--", "sh", "-c",
                   "read x; " + backwards("seen")[-1], stdin=subprocess.PIPE)
    one = clients.attached("--pid", job.proc.pid, "--ranks", "3,5-11", "-l",
                           "--order=rank")
    job.stdin.write(b"x\n")
    job.stdin.close()
    check_eq(0, one.wait())
    check_eq(b"".join(b"%02d: rank %d\n%02d: end\n" % (3 * (rank,))
                      for rank in (3, *range(5, 12))), one.shown())
    job.stdout.read()
    check_eq(0, job.wait())

with case("nothing is left"):
    live.check_all_gone()

sys.exit(live.end())
