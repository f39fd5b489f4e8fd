#!/usr/bin/env python3
"""Unfinished lines of many processes: a daemon's memory stays bounded, and
each line is shown whole as long as a disk has room for it."""
# alone
# A user who is not root has 64 MiB of pipes (pipe-user-pages-soft): those of
# tests beside it would have two pages.
import collections
import json
import os
import re
import resource
import stat
import sys
import tempfile

import live

LONG = 60000
STATS = os.path.join(live.TMP, "stats")
DAEMONS = "xylemd", "lt-xylemd"
# Both lines are written, but for their ends; those come with the gate.
WORK = """printf %s "$1"; printf %s "$2" >&2
: <"$0"; echo; echo >&2"""


def spilled():
    """Bytes in the files without a name that daemons have."""
    found = 0
    for pid, name in live.ours().items():
        if name not in DAEMONS:
            continue
        folder = "/proc/%d/fd" % pid
        for fd in os.listdir(folder):
            try:
                status = os.stat(os.path.join(folder, fd))
            except OSError:
                continue
            if stat.S_ISREG(status.st_mode) and status.st_nlink == 0:
                found += status.st_blocks * 512
    return found


def is_held(job):
    """All unfinished lines have had a place so far."""
    return "unfinished lines" not in job.said()


class Open:
    """A job whose processes have two unfinished lines, of this many bytes
    each. Standard output and standard error both go to files."""

    def __init__(self, procs, length, *options, **more):
        self.procs, self.length = procs, length
        self.gate = live.Gate()
        self.out = tempfile.TemporaryFile(dir=live.TMP)
        self.job = live.Job(*options, "-l", "--stats", STATS, "--", "sh", "-c",
                            WORK, self.gate.path, "a" * length, "b" * length,
                            stdout=self.out, **more)

    def await_spilled(self, size):
        live.eventually(lambda: spilled() >= size or not is_held(self.job), 120,
                        "%d bytes are in files" % size)

    def end(self):
        self.gate.open()
        self.job.check_ok(120)
        with open(STATS) as file:
            self.stats = json.load(file)
        live.check_eq(2 * self.procs, self.stats["proof"]["complete"])
        self.out.seek(0)
        return self.out.read().decode(), self.job.said()

    def check_peak(self, nodes):
        peak = self.stats["daemons"]["rss_peak_bytes_max"]
        bound = (32 + nodes - 1) * live.MIB + self.procs * 3584
        live.check_eq(bound, self.stats["daemons"].get("rss_bound_bytes"))
        print("# %d processes, %d nodes: %.1f MiB" % (self.procs, nodes,
                                                      peak / live.MIB))
        live.check(live.is_sanitized() or peak <= bound,
                   "the daemon took %.1f MiB, %.1f are allowed" %
                   (peak / live.MIB, bound / live.MIB))


def check_lines(text, letter, procs, length):
    """Each process's line once, whole."""
    line = re.compile("([0-9]+): %s{%d}" % (letter, length))
    found = [line.fullmatch(one) for one in text.splitlines()
             if not one.startswith("xylem: ")]
    live.check(all(found), "%d lines are not whole" % found.count(None))
    live.check_eq(list(range(procs)),
                  sorted(int(one[1]) for one in found if one))


def whole(procs, length, nodes, spilled_least):
    live.need_disk()
    job = Open(procs * nodes, length, "-N", nodes, "--nodes-per-daemon", nodes,
               "--ppn", procs)
    job.await_spilled(spilled_least)
    out, said = job.end()
    if live.check(is_held(job.job), "no file can be made: " + said[-300:]):
        check_lines(out, "a", procs * nodes, length)
        check_lines(said, "b", procs * nodes, length)
        live.check_eq(0, job.stats["daemons"].get("lines_in_pieces"))
    job.check_peak(nodes)


def limit_files():
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (6 * live.MIB, hard))


def pieces():
    """The file cannot grow: some lines are in pieces, which is told once and
    counted, and all bytes come."""
    procs = 400
    gate = live.Gate()
    job = live.Job("-N", 1, "--ppn", procs, "-l", "--stats", STATS, "--", "sh",
                   "-c", 'printf %s "$1"; : <"$0"; echo', gate.path, "a" * LONG,
                   preexec_fn=limit_files)
    live.eventually(lambda: not is_held(job), 120, "the message about the disk")
    live.check(job.stdout.peek(1) != b"", "no piece came")
    gate.open()
    seen = collections.Counter()
    for line in job.stdout:
        rank, text = line.split(b": ", 1)
        seen[int(rank)] += text.count(b"a")
    job.check_ok(120)
    live.check_eq({rank: LONG for rank in range(procs)}, dict(seen))
    told = [line for line in job.said().splitlines()
            if line.startswith("xylem: ") and "unfinished" in line]
    live.check(len(told) == 1 and re.search(
        r"unfinished lines fill their buffer, and no file in TMPDIR or "
        r"/var/tmp can hold more \(.*\): some lines come out in pieces",
        told[0]),
        "it was told: %r" % told)
    with open(STATS) as file:
        stats = json.load(file)
    live.check(1 <= stats["daemons"]["lines_in_pieces"] <= procs,
               "lines in pieces: %r" % stats["daemons"])
    live.check_eq(2 * procs, stats["proof"]["complete"])


def main():
    procs = 300 if live.BRIEF else 1000
    with live.case("%d processes have two lines of %d bytes open" %
                   (procs, LONG)):
        whole(procs, LONG, 1, 2 * procs * LONG - 10 * live.MIB)
    with live.case("the same of several nodes in one daemon"):
        whole(100, 7000, 8, 2 * live.MIB)
    with live.case("the disk is full"):
        pieces()
    with live.case("nothing is left"):
        live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
