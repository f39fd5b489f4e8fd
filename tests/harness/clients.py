"""Runs commands that are clients of a session, in the background."""
import os
import subprocess
import tempfile

import live

CONNECT_S = 30


class Command:
    """A running `xylem WORDS`; its stdout is a file unless given, its stderr
    always is one."""

    def __init__(self, *words, stdin=subprocess.DEVNULL, stdout=None, wrap=(),
                 env=None, **more):
        self.out = tempfile.TemporaryFile(dir=live.TMP)
        self.errors = tempfile.TemporaryFile(dir=live.TMP)
        self.proc = subprocess.Popen(
            [*wrap, live.XYLEM, *map(str, words)],
            stdin=stdin, stdout=stdout or self.out, stderr=self.errors,
            env={**os.environ, **(env or {})}, **more)

    @staticmethod
    def _read(file):
        return os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0)

    def shown(self):
        return self._read(self.out)

    def said(self):
        return self._read(self.errors)

    def wait(self, seconds=60):
        try:
            return self.proc.wait(seconds * live.SLOW)
        except subprocess.TimeoutExpired:
            live.check(False, "it did not end in %d s: %s" % (
                seconds, self.said()))
            self.proc.kill()
            return self.proc.wait()


class Attach(Command):
    """A running `xylem attach -v ARGS`."""

    def __init__(self, *args, **more):
        super().__init__("attach", "-v", *args, **more)

    def is_attached(self):
        return b"xylem: attached to " in self.said()

    def wait_attached(self):
        live.eventually(lambda: self.is_attached() or
                        self.proc.poll() is not None, CONNECT_S,
                        "it is attached")
        return live.check(self.is_attached(),
                          "it is attached: %s" % self.said().decode())


def attached(*args, **more):
    """Starts an Attach, and waits until it has been let in."""
    tool = Attach(*args, **more)
    tool.wait_attached()
    return tool
