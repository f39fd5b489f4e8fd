"""Runs a helper with one tool, one_tool.c, for the tests of
pmix_api/helper/lib/."""
import os
import queue
import subprocess
import threading

import live

ONE = os.path.join(live.BUILD, "tests", "pmix", "one_tool")
RANKS, CHANNELS, SHIFT = 2, ("stdout", "stderr"), 4099


class One:
    """A one_tool; pmix.Tool uses it like a job."""
    count = 0

    def __init__(self, size, *options):
        One.count += 1
        self.dir = os.path.join(live.TMP, "one-%d" % One.count)
        os.mkdir(self.dir)
        self.source = os.urandom(size)
        with open(os.path.join(self.dir, "source"), "wb") as file:
            file.write(self.source)
        self.proc = subprocess.Popen([ONE, *map(str, options), self.dir],
                                     stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, text=True)
        self.lines, self.seen, self.peak = queue.Queue(), [], 0
        threading.Thread(target=self.read, daemon=True).start()
        self.port = int(self.wait("port")[0])
        self.uri = self.wait("uri")[0]

    def read(self):
        for line in self.proc.stdout:
            self.lines.put(line.split())
        self.lines.put(None)

    def said(self):
        return ""

    def wait(self, word):
        """Returns the words after the beginning of the next line that begins
        like this; None at the end."""
        while True:
            try:
                line = self.lines.get(timeout=60 * live.SLOW)
            except queue.Empty:
                line = None
            if line is None:
                live.check(False, "no line: " + word)
                return None
            self.seen.append(line)
            self.peak = max(self.peak, live.peak(self.proc.pid))
            if line[0] == word:
                return line[1:]

    def tell(self, order):
        self.proc.stdin.write(order + "\n")
        self.proc.stdin.flush()

    def told(self, order):
        """Gives an order that is answered with a code."""
        self.tell(order)
        return int(self.wait("told")[0])

    def now(self):
        """Returns the numbers of deliveries: taken, given."""
        self.tell("?")
        return [int(word) for word in self.wait("now")]

    def gone(self):
        """Does the same when the tool has gone, and the helper with it."""
        counts = [int(word) for word in self.wait("gone") or (-1, -1)]
        live.check_eq(0, self.proc.wait(60 * live.SLOW), "the helper")
        return counts

    def wanted(self, rank, channel):
        at = (len(CHANNELS) * rank + CHANNELS.index(channel)) * SHIFT
        return self.source[at:] + self.source[:at]

    def check_whole(self, tool):
        for rank in range(RANKS):
            for channel in CHANNELS:
                live.check(tool.got(rank, channel) ==
                           self.wanted(rank, channel),
                           "all of %d.%s" % (rank, channel))
                live.check_eq(1, tool.ends(rank, channel), "its end")
