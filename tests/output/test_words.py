#!/usr/bin/env python3
"""Messages of xylem on stderr are written between the lines of the processes,
even when these are long and come without a pause."""
import json
import os
import re
import signal
import subprocess

import live
import loss

NODES = 5
LINES = live.full(250, 100)
PIECE = 3001
STEP = 1 << 20
LINE = b"%0120000d\n" % 7
WORK = 'echo "up $XYLEM_RANK $PPID" >&2; exec cat "$1" >&2'
TEXT = os.path.join(live.TMP, "text")
UP = re.compile(rb"up (\d+) (\d+)\D")


class Reader:
    """Reads a job's stderr, a little at a time."""

    def __init__(self, fd):
        self.fd, self.data = fd, bytearray()

    def read(self, size=PIECE):
        got = os.read(self.fd, size)
        self.data += got
        return bool(got)

    def read_to(self, size):
        while len(self.data) < size and self.read():
            pass

    def spawners(self):
        """The spawners of each rank, when all have begun."""
        found, place = {}, 0
        while len(found) < NODES and self.read():
            for up in UP.finditer(bytes(self.data[place:])):
                found[int(up[1])] = int(up[2])
            place = max(len(self.data) - PIECE, 0)
        return found


def begin(*options):
    far, near = os.pipe()
    job = subprocess.Popen(
        [live.XYLEM, "run", "--launcher", "local", "-N", str(NODES), "-v",
         "--nodes-per-daemon", "1", "--on-node-loss", "continue", *options,
         "--", "sh", "-c", WORK, "sh", TEXT], stdin=subprocess.DEVNULL,
        stdout=near, stderr=near)
    os.close(near)
    return job, Reader(far)


def lose(reader):
    """Those of the last nodes, one after the other, within the output. The
    later ones may have ended, as lines are spooled behind an open one."""
    spawners = reader.spawners()
    daemons = {rank: live.parent(pid) for rank, pid in spawners.items()}
    for rank in range(NODES - 1, 1, -1):
        reader.read_to(len(reader.data) + STEP)
        if live.parent(spawners[rank]) == daemons[rank]:
            os.kill(daemons[rank], signal.SIGKILL)
    while reader.read(1 << 20):
        pass


def is_own(line):
    return line.startswith(("xylem: ", "node "))


def check_object(line):
    try:
        json.loads(line)
    except ValueError:
        live.check(False, "no object: %.60r ... %.200r" % (line, line[-200:]))


def check_words(text):
    """All that is said begins a line."""
    for line in text.splitlines():
        place = line.find("xylem: ")
        live.check(place <= 0, "within a line, at byte %d: %.200r" % (
            place, line[max(place - 20, 0):]))


def judge(text, format):
    check_words(text)
    live.check(NODES - 1 in loss.told(text), "nothing is told of the loss")
    for line in text.splitlines() if format == "json" else ():
        if not is_own(line):
            check_object(line)


with open(TEXT, "wb") as file:
    file.write(LINE * LINES)
for format in "json", "xml":
    with live.case(f"{format}, whose reader takes a little at a time"):
        job, reader = begin("--format", format)
        lose(reader)
        live.check_eq(1, job.wait(), "exit code")
        os.close(reader.fd)
        judge(reader.data.decode(), format)

live.check_gone()
live.end()
