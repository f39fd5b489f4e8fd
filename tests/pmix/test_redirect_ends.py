#!/usr/bin/env python3
"""Tools that redirect a flood end at random moments, or their helpers do.

The console and a tool together have every byte of each channel, in order. The
launcher reports how many bytes both may have: at most those that the tool was
sent and had not acknowledged. Bytes that a killed tool had read and not saved
are lost.
"""
import os
import random
import re
import signal
import sys
import tempfile

import pmix
import live
from test_redirect_back import write

RANKS = 4
ENDS = live.full(400, 52)
WIDTH = 100  # of a line
LINES = {"stdout": 100, "stderr": 2}  # of a rank at a time
TAKEN = live.MIB // 4  # by a tool before its end, at most
UNPUT = live.MIB // 2  # that a killed tool had in its memory, at most
HEADS = re.compile(rb"^(\d) (\d{7}) x+$", re.M)
SEED = int(os.environ.get("XYLEM_TEST_SEED") or random.randrange(1 << 31))


def flow(folder):
    """Each rank writes to both channels until there is a file `stop`; a file of
    its own says how many times."""
    parts = "; ".join(
        "%s >&%d" % (write('"$((n * %d + 1))"' % count,
                           '"$((n * %d + %d))"' % (count, count), WIDTH), fd)
        for fd, count in ((1, LINES["stdout"]), (2, LINES["stderr"])))
    return ('n=0; while ! [ -e "%s/stop" ]; do %s; n=$((n + 1)); '
            'echo "$n" > "%s/$XYLEM_RANK"; sleep 0.01; done' % (
                folder, parts, folder))


def flown(folder):
    """How many times each rank has written."""
    return [int(live.read_file(os.path.join(folder, str(rank))) or 0)
            for rank in range(RANKS)]


def text(rank, first, lines):
    return b"".join(b"%d %07d %s\n" % (rank, n, b"x" * (WIDTH - 11))
                    for n in range(first, first + lines))


class Flood:
    """A job that writes, and the tools that have come so far."""

    def __init__(self, chance):
        self.chance, self.folder = chance, tempfile.mkdtemp(dir=live.TMP)
        self.job = pmix.Job("-v", "-N", RANKS, "--", "sh", "-c",
                            flow(self.folder))
        self.reader = pmix.Reader(self.job)
        self.tools = []  # (tool, rank, whether it is killed itself)
        pmix.wait_up(self.job)

    def come(self, rank):
        """A tool, and its helper: the last one that began was in reserve."""
        helper = pmix.helpers_of(self.job)[-1]
        return pmix.ready(self.job, "-R", "-c", 6, "-r", rank), helper

    def ends(self, kinds):
        """A tool for each rank; all of them end."""
        pairs = [self.come(rank) for rank in range(len(kinds))]
        for tool, _ in pairs:
            least = self.chance.randrange(TAKEN)
            live.eventually(lambda it=tool, n=least: it.taken() >= n, 60,
                            "it has some")
        stopped = [pair for pair in pairs if self.chance.random() < 0.5]
        for tool, _ in stopped:
            live.stop(tool.proc.pid)
        before = flown(self.folder)
        more = self.chance.randrange(1, 10)
        live.eventually(lambda: all(now >= then + more for then, now in zip(
            before, flown(self.folder))), 60, "more is written")
        order = list(range(len(kinds)))
        self.chance.shuffle(order)
        for rank in order:
            tool, helper = pairs[rank]
            os.kill(tool.proc.pid if kinds[rank] == "tool" else helper,
                    signal.SIGKILL)
            os.kill(tool.proc.pid, signal.SIGCONT)
        for rank, (tool, _) in enumerate(pairs):
            is_killed = kinds[rank] == "tool"
            live.check_eq(-signal.SIGKILL if is_killed else 0, tool.wait(),
                          "end of a tool, of its " + kinds[rank])
            self.tools.append((tool, rank, is_killed))

    def end(self):
        """Returns how many lines were written to each channel, and what the
        console has."""
        with open(os.path.join(self.folder, "stop"), "wb"):
            pass
        self.job.check_ok()
        times = flown(self.folder)
        shown = {}
        for stream, out in (("stdout", self.reader.end()),
                            ("stderr", self.job.said().encode())):
            for rank in range(RANKS):
                shown[rank, stream] = []
            for rank, number in HEADS.findall(out):
                shown[int(rank), stream].append(int(number))
        return {at: (times[at[0]] * LINES[at[1]], lines)
                for at, lines in shown.items()}


def span(tool, rank, stream):
    """The lines that a tool has, and what it has of one more; they follow each
    other."""
    got = tool.got(rank, stream) or b""
    first = int(got[2:9]) if len(got) >= WIDTH else 1
    lines = len(got) // WIDTH
    live.check(got == text(rank, first, lines + 1)[:len(got)] or not got,
               "bytes of a tool, %s of rank %d" % (stream, rank))
    return range(first, first + lines), len(got) % WIDTH


def check_channel(at, last, console, spans):
    """Returns how many bytes are there twice, and how many nowhere."""
    what = "%s of rank %d: " % at[::-1]
    live.check(console == sorted(set(console)), what + "order on the console")
    shown, twice = set(console), 0
    missing = set(range(1, last + 1)) - shown
    ends = set()
    for lines, rest, is_killed in spans:
        missing -= set(lines)
        twice += WIDTH * len(shown.intersection(lines)) + rest
        if is_killed:
            ends.add(lines.stop)
    # They follow what a killed tool has, each run of them.
    begun = {n for n in missing if n - 1 not in missing}
    live.check(begun <= ends, what + "missing from %s on" % sorted(
        begun - ends)[:9])
    return twice, WIDTH * len(missing)


def main():
    pmix.need()
    print("seed %d (XYLEM_TEST_SEED chooses another)" % SEED, flush=True)
    with live.case("%d ends" % ENDS):
        chance = random.Random(SEED)
        flood = Flood(chance)
        kinds = ["tool", "helper"] * (ENDS // 2)
        chance.shuffle(kinds)
        for nth in range(0, ENDS, RANKS):
            flood.ends(kinds[nth:nth + RANKS])
        twice = missing = 0
        for at, (last, console) in flood.end().items():
            spans = [(*span(tool, *at), is_killed)
                     for tool, rank, is_killed in flood.tools if rank == at[0]]
            found = check_channel(at, last, console, spans)
            twice, missing = twice + found[0], missing + found[1]
        told = pmix.told_twice(flood.job)
        print("# %d bytes twice, of %d told; %d nowhere" % (
            twice, told, missing), flush=True)
        live.check(twice <= told, "twice")
        live.check(missing <= UNPUT * (ENDS // 2), "nowhere")
        live.check("are lost" not in flood.job.said(), "some are lost")
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
