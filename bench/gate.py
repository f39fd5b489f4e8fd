"""The script's side of a start line for processes (gate.h has the other)."""
import os
import select
import shutil
import tempfile
import threading
import time

LIMIT_S = 120
PIECE = 1 << 18


class Failed(Exception):
    pass


class Gate:
    """The start line: counts who has come, and lets them go."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="xylem-bench-")
        os.mkfifo(self.path + "/ready")
        os.mkfifo(self.path + "/go")
        self.ready = os.open(self.path + "/ready", os.O_RDWR)
        self.go = -1

    def open(self):
        self.go = os.open(self.path + "/go", os.O_RDWR)

    def close(self):
        os.close(self.ready)
        if self.go >= 0:
            os.close(self.go)
        shutil.rmtree(self.path)

    def wait(self, count, job, is_end=False, limit_s=LIMIT_S):
        """With is_end the job may end at the same moment."""
        end = time.monotonic() + limit_s
        while count > 0:
            if select.select([self.ready], [], [], 0.1)[0]:
                count -= len(os.read(self.ready, count))
            elif time.monotonic() > end:
                raise Failed("%d processes never came to the gate" % count)
            elif not is_end:
                job.check()


class Feeder(threading.Thread):
    """Writes the start of a file into a pipe, by sendfile: no copy here. It
    has sent `sent` bytes so far."""

    def __init__(self, pipe, file, size):
        super().__init__(daemon=True)
        self.pipe, self.file, self.size, self.sent = pipe, file, size, 0
        self.start()

    def run(self):
        try:
            while self.sent < self.size:
                self.sent += os.sendfile(self.pipe, self.file.fileno(),
                                         self.sent, min(
                                             PIECE, self.size - self.sent))
        except BrokenPipeError:
            pass  # the job's exit code says more
        os.close(self.pipe)
