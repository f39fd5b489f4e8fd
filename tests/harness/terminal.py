"""Runs programs on a pseudo terminal, for the live tests in Python."""
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time

import live

# Makes the terminal its controlling terminal, then becomes the program.
LEADER = ("import fcntl, os, sys, termios; os.setsid(); "
          "fcntl.ioctl(next(filter(os.isatty, range(3))), termios.TIOCSCTTY, "
          "0); "
          "os.execvp(sys.argv[1], sys.argv[1:])")


def open_pair():
    """Returns both ends of a new terminal."""
    try:
        return pty.openpty()
    except OSError as why:
        raise live.LeftOut(f"no terminal can be made here: {why}") from why


class Terminal:
    """A program with a terminal of its own for stdin, stdout and stderr, which
    can nothing but show text, unless `env` says so.

    `text` is all that was shown so far."""

    def __init__(self, *words, columns=0, **more):
        self.fd, slave = open_pair()
        if columns:
            self.set_columns(columns)
        self.text = b""
        self.at = 0  # where read_until begins to look
        self.proc = subprocess.Popen(
            [sys.executable, "-c", LEADER, *map(str, words)],
            **{"stdin": slave, "stdout": slave, "stderr": slave,
               "env": {**os.environ, "TERM": "dumb"}, **more})
        os.close(slave)

    def set_columns(self, columns):
        termios.tcsetwinsize(self.fd, (24, columns))

    def write(self, text):
        os.write(self.fd, text)

    def read_more(self, seconds):
        """Reads once; False when nothing came or no process holds the
        terminal."""
        if not select.select([self.fd], [], [], max(seconds, 0))[0]:
            return False
        try:
            more = os.read(self.fd, 65536)
        except OSError:  # the last program has closed the terminal
            return False
        self.text += more
        return more != b""

    def behind(self, words):
        """Returns the place in the text after all of these, or None."""
        found = [self.at]
        for word in set(words):
            place = self.at
            for _ in range(words.count(word)):
                place = self.text.find(word, place)
                if place < 0:
                    return None
                place += len(word)
            found.append(place)
        return max(found)

    def read_until(self, *words, seconds=30):
        """Reads until all words were shown, in any order, after those of the
        last call. Text that came with them is for the next call."""
        limit = time.monotonic() + seconds * live.SLOW
        while (place := self.behind(words)) is None:
            rest = limit - time.monotonic()
            if rest < 0 or (not self.read_more(rest) and
                            self.proc.poll() is not None):
                return live.check(False, "not shown: %r, but %r" % (
                    words, self.text[self.at:][-1000:]))
        self.at = place
        return True

    def wait(self, seconds=60):
        limit = time.monotonic() + seconds * live.SLOW
        while self.proc.poll() is None and time.monotonic() < limit:
            self.read_more(0.1)
        while self.read_more(0):
            pass
        if self.proc.poll() is None:
            live.check(False, "it did not end in %d s" % seconds)
            self.proc.send_signal(signal.SIGKILL)
        return self.proc.wait()
