#!/usr/bin/env python3
"""A tool has many pulls that redirect output, for each of which much waits, and
deregisters them one after another while it takes nothing: it is sent no more
than for one pull, the console gets all the rest, and the helper's memory is
bounded (pmix.Job)."""
import os
import re
import signal
import subprocess
import sys
import tempfile

import pmix
import live
from test_redirect_back import ended, write

RANKS = 16
LINES = 40000  # of 100 bytes
HEADS = re.compile(rb"^(\d+) (\d{7}) x+$", re.M)
SENT = 16 * live.MIB  # to it, at most
ORDER_BYTES = 22  # of each call of the tool, at least


def unread(port):
    """Bytes that have come to a port of this machine and wait there."""
    rows = live.read_file("/proc/net/tcp").decode().splitlines()[1:]
    cells = [row.split() for row in rows]
    return sum(int(cell[4].split(":")[1], 16) for cell in cells
               if int(cell[1].split(":")[1], 16) == port)


def lines(out, found):
    for rank, number in HEADS.findall(out or b""):
        found[int(rank)].append(int(number))


def one_after_another():
    gates = [pmix.Gate(), pmix.Gate()]
    job = pmix.Job("-v", "-N", RANKS, "--", "sh", "-c",
                   ': <"%s"; %s; echo "$XYLEM_RANK wrote" >&2; : <"%s"' % (
                       gates[0].path, write(1, LINES, 100), gates[1].path))
    reader = pmix.Reader(job)
    pmix.wait_up(job)
    port = pmix.server(job)[1]
    shown = tempfile.TemporaryFile(dir=live.TMP)
    tool = pmix.Tool(job, "-R", "-A", "-d", "-c", 2, "-r",
                     ",".join(map(str, range(RANKS))),
                     stdin=subprocess.PIPE, stdout=shown)
    tool.wait_ready()
    live.stop(tool.proc.pid)
    pid = pmix.helper_of(job)
    gates[0].open()
    live.eventually(lambda: len(re.findall(r"^\d+ wrote$", job.said(), re.M))
                    == RANKS, 60, "all is written")
    live.stop(pid)
    os.kill(tool.proc.pid, signal.SIGCONT)
    tool.proc.stdin.write(b"leave\n")
    tool.proc.stdin.flush()
    live.eventually(lambda: unread(port) >= RANKS * ORDER_BYTES, 60,
                    "all calls are there")
    live.stop(tool.proc.pid)
    os.kill(pid, signal.SIGCONT)
    live.eventually(lambda: unread(port) == 0, 60, "all calls are heard")
    os.kill(tool.proc.pid, signal.SIGCONT)
    live.eventually(lambda: ended(job, RANKS), 60, "its ends")
    tool.proc.stdin.close()
    live.check_eq(0, tool.wait())
    gates[1].open()
    job.check_ok()
    found = {rank: [] for rank in range(RANKS)}
    shown.seek(0)
    own = shown.read()
    live.check(tool.taken() + len(own) < SENT, "it is sent too much")
    for out in (reader.end(), own):
        lines(out, found)
    for rank in range(RANKS):
        lines(tool.got(rank, "stdout"), found)
        live.check(sorted(found[rank]) == list(range(1, LINES + 1)),
                   "rank %d: %d, together %d of %d" % (
                       rank, len(found[rank]), len(set(found[rank])), LINES))
    live.check("are lost" not in job.said(), job.said())


def main():
    pmix.need()
    with live.case("much waits for each of many pulls"):
        one_after_another()
    live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
