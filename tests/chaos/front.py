"""The programs by which a job is started, fed and read: `xylem run`, and the
clients that attach to it."""
import contextlib
import os
import select
import signal
import subprocess
import threading
import time
import zlib

import bounds
import command
import writer

PIECE = 1 << 16
CLIENT_S = 60
ATTACH_S = 60


def read_file(path):
    with contextlib.suppress(OSError), open(path, "rb") as file:
        return file.read()
    return b""


class Feeder(threading.Thread):
    """Writes the job's stdin into a pipe; `fed` counts the bytes. When a tool
    pushes without --keep-stdin the end comes when that tool has left."""

    def __init__(self, job, pipe, pushed):
        super().__init__(daemon=True)
        self.job, self.pipe, self.pushed = job, pipe, pushed
        self.fed = 0

    def run(self):
        size, pauses = self.job["stdin"]["size"], self.job["stdin"]["pauses"]
        nap_s = self.job["span_s"] / pauses if pauses else 0
        every = max(size // PIECE // pauses, 1) if pauses else 1
        with contextlib.suppress(BrokenPipeError), self.pipe:
            for number, piece in enumerate(writer.stdin_pieces(self.job, size)):
                self.fed += os.write(self.pipe.fileno(), piece)
                if nap_s and number % every == 0 and pauses > 0:
                    pauses -= 1
                    time.sleep(nap_s)  # sleep-ok: the input comes slowly
            if "push" in self.job and self.job["push"]["end"] != "stay":
                self.pushed.wait()


class Reader(threading.Thread):
    """Copies the launcher's stdout to a file; `size` counts the bytes."""

    def __init__(self, number, pipe, path, how):
        super().__init__(daemon=True)
        self.number, self.pipe, self.path, self.how = number, pipe, path, how
        self.size, self.left = 0, False
        self.may_read = threading.Event()
        self.may_read.set()
        self.wake, self.waker = os.pipe()

    def run(self):
        kind, late_s = self.how["kind"], self.how["late_s"]
        if kind == "late":
            select.select([self.wake], [], [], late_s)
        naps = 50 if kind == "slow" else 0
        with open(self.path, "wb") as file:
            while True:
                if self.wake in select.select([self.pipe, self.wake], [],
                                              [])[0]:
                    break
                data = os.read(self.pipe.fileno(), PIECE)
                if not data:
                    break
                file.write(data)
                self.size += len(data)
                self.may_read.wait()
                if naps > 0:
                    naps -= 1
                    select.select([self.wake], [], [], late_s / 50)
        self.pipe.close()

    def leave(self):
        self.left = True
        os.write(self.waker, b"x")


class Front:
    """One `xylem run`."""

    def __init__(self, run, number, words):
        self.run, self.number = run, number
        self.job = run.plan["jobs"][number]
        self.path = run.folder.output(number)
        self.errors = run.folder.errors(number)
        stdin = self.open_stdin()
        with open(self.errors, "wb") as errors:
            self.proc = run.popen(words, stdin=stdin, stderr=errors,
                                  stdout=subprocess.PIPE)
        self.feeder = Feeder(self.job, self.proc.stdin, run.pushed) \
            if stdin == subprocess.PIPE else None
        self.reader = Reader(number, self.proc.stdout, self.path,
                             self.job["reader"])
        self.words = words

    def open_stdin(self):
        self.file = None
        if self.job["stdin"]["kind"] != "file":
            return subprocess.PIPE if self.job["stdin"]["kind"] == "pipe" \
                else subprocess.DEVNULL
        path = self.run.folder.at("in.%d" % self.number)
        with open(path, "wb") as file:
            for piece in writer.stdin_pieces(self.job,
                                             self.job["stdin"]["size"]):
                file.write(piece)
        self.file = open(path, "rb", buffering=0)
        return self.file

    def start(self):
        self.reader.start()
        if self.feeder:
            self.feeder.start()

    def fed(self):
        """The number of bytes that the launcher, or the pipe to it, has
        taken."""
        if self.file:
            return self.file.seek(0, 1)
        giver = self.feeder or self.run.visitor
        return giver.fed if giver else 0

    def end(self):
        """Waits until the launcher is gone, and all processes that held its
        descriptors."""
        self.reader.join(CLIENT_S)

    def tell(self):
        return {"code": self.proc.returncode, "left": self.reader.left,
                "read": self.reader.size, "words": self.words,
                "fed": self.fed(), "stuck": self.reader.is_alive()}


class Client(threading.Thread):
    """One `xylem attach`, which connects, and leaves in its own way."""

    def __init__(self, run, number, client):
        super().__init__(daemon=True)
        self.run_, self.number, self.client = run, number, client
        self.proc, self.attached, self.hung = None, False, False
        self.pusher = threading.Thread(target=self.push, daemon=True)

    def said(self):
        return read_file(self.run_.folder.client(self.number, "err"))

    def begin(self):
        folder = self.run_.folder
        stdin = subprocess.DEVNULL
        if self.client.get("push") is not None:
            stdin = subprocess.PIPE
        out = open(folder.client(self.number, "out"), "wb")
        errors = open(folder.client(self.number, "err"), "wb")
        with out, errors:
            is_shut = self.client["end"] == "shut"
            self.proc = self.run_.popen(
                command.attach(self.client, self.run_.launcher.pid),
                keeper=True, stdin=stdin, stderr=errors,
                stdout=subprocess.PIPE if is_shut else out)

    def run(self):
        if not self.run_.wait_for(self.client["when"]):
            return
        self.begin()
        patience = bounds.Patience(ATTACH_S)
        while b"attached to " not in self.said() and \
                self.proc.poll() is None and patience.look():
            pass
        self.attached = b"attached to " in self.said()
        if self.client.get("push") is not None:
            self.pusher.start()
        if self.client["end"] == "stay" and "push" in self.client:
            self.proc.wait()
        elif self.client["end"] != "stay":
            time.sleep(self.client["end_s"])  # sleep-ok: then the client leaves
            self.leave()
            self.run_.pushed.set()

    def push(self):
        job = self.run_.plan["jobs"][0]
        with contextlib.suppress(BrokenPipeError, ValueError), self.proc.stdin:
            for piece in writer.stdin_pieces(job, job["push"]["size"]):
                self.proc.stdin.write(piece)

    def leave(self):
        end = self.client["end"]
        if end == "shut":
            self.proc.stdout.close()
            return
        number = {"leave": signal.SIGTERM, "kill": signal.SIGKILL,
                  "stop": signal.SIGSTOP}[end]
        self.proc.send_signal(number)

    def end(self):
        """When the job has ended, the client ends, too."""
        self.join()
        if self.proc is None:
            return
        self.proc.send_signal(signal.SIGCONT)
        patience = bounds.Patience(CLIENT_S)
        while self.proc.poll() is None and patience.look():
            pass
        self.hung = self.proc.poll() is None
        if self.hung:
            self.proc.kill()
            self.proc.wait()

    def tell(self):
        return {"attached": self.attached, "hung": self.hung,
                "came": self.proc is not None,
                "code": self.proc.returncode if self.proc else None,
                "crc": zlib.crc32(self.said())}
