"""Jobs with an odd surrounding: FIFOs in the place of files, and limits.

What each option does with a FIFO stands in docs/running.md ("Files that options
name"), what a machine cannot hold in docs/launcher-local.md.
"""
import contextlib
import errno
import os
import threading
import time

import writer

FIFO_LIMIT_S = 5  # of --timeout, where nobody comes
LATE_LIMIT_S = 600
HOSTS = b"a\nb\n"
FEW_PIDS = "400\n"
MANY_NODES = 1000
TINY = 256 << 10  # bytes of a disk that is full soon
# What it is called in a plan: exit codes, and words of the reason.
REFUSED = {
    "stats-fifo": ({2}, "start its reader first"),
    "input-fifo": ({124}, "waiting for a program that writes to"),
    "hostfile-fifo": ({124}, "waiting for a program that writes to"),
    "too-many": ({1}, "processes and threads are needed here"),
}
# Those that go on: somebody comes to the FIFO, or a limit is met on the way.
CARRIED_OUT = ("stats-fifo-late", "input-fifo-late", "hostfile-fifo-late",
               "nofile", "disk-full")


def option(name):
    """What names the FIFO, or None."""
    return "--" + name.partition("-")[0] if name and "-fifo" in name else None


def is_met(name):
    """Somebody comes."""
    return name is not None and name.endswith("-late")


class Visitor(threading.Thread):
    """Comes to a FIFO late, and reads or writes all of it; `fed` counts."""

    def __init__(self, job, path, is_over):
        super().__init__(daemon=True)
        self.job, self.path, self.is_over = job, path, is_over
        self.fed, self.data = 0, b""

    def open(self, flags):
        """Nobody may be there yet, or ever."""
        while not self.is_over():
            try:
                return os.open(self.path, flags | os.O_NONBLOCK)
            except OSError as why:
                if why.errno != errno.ENXIO:
                    raise
            time.sleep(0.01)  # sleep-ok: between two looks
        return -1

    def write(self, pieces):
        fd = self.open(os.O_WRONLY)
        if fd < 0:
            return
        try:
            os.set_blocking(fd, True)
            for piece in pieces:
                self.fed += os.write(fd, piece)
        except BrokenPipeError:
            pass
        finally:
            os.close(fd)


class Writer(Visitor):
    """Of the hosts, or of the job's input."""

    def __init__(self, job, path, is_over, is_input):
        super().__init__(job, path, is_over)
        self.is_input = is_input

    def run(self):
        time.sleep(self.job["span_s"])  # sleep-ok: it comes late
        self.write(writer.stdin_pieces(self.job, self.job["stdin"]["size"])
                   if self.is_input else [HOSTS])


class Reader(Visitor):
    """Of the report, which is put into a file then. It has to be there within
    five seconds."""

    def __init__(self, job, path, is_over, report):
        super().__init__(job, path, is_over)
        self.report = report

    def take(self, fd):
        """What is there now; nothing at all before somebody writes."""
        with contextlib.suppress(BlockingIOError):
            while True:
                data = os.read(fd, 1 << 16)
                if not data:
                    break
                self.data += data

    def run(self):
        time.sleep(min(self.job["span_s"], 1))  # sleep-ok: it comes late
        fd = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        while not self.is_over():
            self.take(fd)
            time.sleep(0.02)  # sleep-ok: between two looks
        self.take(fd)
        os.close(fd)
        if self.data:
            with open(self.report, "wb") as file:
                file.write(self.data)


def visitor(run):
    """Who comes to the FIFO of this run, or None."""
    name, job = run.plan["odd"], run.plan["jobs"][0]
    if not is_met(name):
        return None
    path = run.folder.at("fifo")
    if name.startswith("stats"):
        return Reader(job, path, run.is_over, run.folder.stats)
    return Writer(job, path, run.is_over, name.startswith("input"))
