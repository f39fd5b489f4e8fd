"""Jobs in unusual surroundings: FIFOs instead of files, and limits.

What each option does with a FIFO stands in docs/running.md ("Files that options
name"), what a machine cannot hold in docs/launcher-local.md.
"""
import contextlib
import errno
import os
import threading
import time

import writer

FIFO_LIMIT_S = 5  # seconds of --timeout, when no process opens the FIFO
LATE_LIMIT_S = 600
HOSTS = b"a\nb\n"
FEW_PIDS = "400\n"
MANY_NODES = 1000
TINY = 256 << 10  # size of a disk that fills up soon
# The names of these jobs in a plan, with their exit codes and words of the
# reason.
REFUSED = {
    "stats-fifo": ({2}, "start its reader first"),
    "input-fifo": ({124}, "waiting for a program that writes to"),
    "hostfile-fifo": ({124}, "waiting for a program that writes to"),
    "too-many": ({1}, "processes and threads are needed here"),
}
# The jobs that go on: a process opens the FIFO, or a limit is met on the way.
CARRIED_OUT = ("stats-fifo-late", "input-fifo-late", "hostfile-fifo-late",
               "nofile", "disk-full")


def option(name):
    """The option that names the FIFO, or None."""
    return "--" + name.partition("-")[0] if name and "-fifo" in name else None


def is_met(name):
    """True when a process opens the FIFO."""
    return name is not None and name.endswith("-late")


class Visitor(threading.Thread):
    """A process that opens a FIFO late, and reads or writes all of it; `fed`
    counts the bytes."""

    def __init__(self, job, path, is_over):
        super().__init__(daemon=True)
        self.job, self.path, self.is_over = job, path, is_over
        self.fed, self.data = 0, b""

    def open(self, flags):
        """Opens the FIFO when another process has; there may never be one."""
        while not self.is_over():
            try:
                return os.open(self.path, flags | os.O_NONBLOCK)
            except OSError as why:
                if why.errno != errno.ENXIO:
                    raise
            time.sleep(0.01)  # sleep-ok: a pause between two looks
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
    """The writer for the list of hosts, or for the job's input."""

    def __init__(self, job, path, is_over, is_input):
        super().__init__(job, path, is_over)
        self.is_input = is_input

    def run(self):
        time.sleep(self.job["span_s"])  # sleep-ok: the writer comes late
        self.write(writer.stdin_pieces(self.job, self.job["stdin"]["size"])
                   if self.is_input else [HOSTS])


class Reader(Visitor):
    """The reader of the report, which writes it into a file. The reader must
    come within five seconds."""

    def __init__(self, job, path, is_over, report):
        super().__init__(job, path, is_over)
        self.report = report

    def take(self, fd):
        """Reads what is there now; reads nothing before another process
        writes."""
        with contextlib.suppress(BlockingIOError):
            while True:
                data = os.read(fd, 1 << 16)
                if not data:
                    break
                self.data += data

    def run(self):
        time.sleep(min(self.job["span_s"], 1))  # sleep-ok: the reader is late
        fd = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        while not self.is_over():
            self.take(fd)
            time.sleep(0.02)  # sleep-ok: a pause between two looks
        self.take(fd)
        os.close(fd)
        if self.data:
            with open(self.report, "wb") as file:
                file.write(self.data)


def visitor(run):
    """Makes the process that opens the FIFO of this run, or returns None."""
    name, job = run.plan["odd"], run.plan["jobs"][0]
    if not is_met(name):
        return None
    path = run.folder.at("fifo")
    if name.startswith("stats"):
        return Reader(job, path, run.is_over, run.folder.stats)
    return Writer(job, path, run.is_over, name.startswith("input"))
