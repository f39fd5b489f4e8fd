#!/usr/bin/env python3
"""Runs the scenarios of the simulator (tests/scenario) over the real
transport.

The words are those of sim/scenario.h. One daemon hosts each node; a process is
a shell that writes its lines, counts its stdin and leaves the count in a file.
What differs from virtual time:

- times are limits: after `wait 60s` an expectation may take so long to be true;
- silence and freeze both stop a daemon (SIGSTOP), which nobody is told either;
- sizes of frames and windows are the program's own, so a count of bytes means
  `not all`, and how many nodes gave up by themselves is not seen;
- stdin is longer if need be: much of it is to come when the last daemon is hit;
- a link of one who lives cannot be broken here, nothing can be aimed at a word
  on it or at the time before all have joined, and counts are not seen:
  scenarios that do so are left out.
"""
import contextlib
import glob
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

import live
from loss import told

FOLDER = os.path.join(os.environ["top_srcdir"], "tests", "scenario")
LINE_BYTES = 64
START_S = 60
END_S = 60
EXPECT_S = 20
HITS = ("kill", "silence", "freeze")
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1}
PROCESS = """
: >"$0/up.$XYLEM_NODE"
(yes "$(printf %063d "$XYLEM_RANK")" | head -c "$1") &
case " $2 " in *" $XYLEM_NODE "*) exec tail -f /dev/null ;; esac
wc -c >"$0/count.$XYLEM_NODE" && mv "$0/count.$XYLEM_NODE" "$0/read.$XYLEM_NODE"
wait
"""


def size_of(word):
    scale = {"K": 1 << 10, "M": 1 << 20}.get(word[-1])
    return int(word[:-1]) * scale if scale else int(word)


def seconds_of(word):
    number, unit = re.fullmatch(r"(\d+)(us|ms|s)", word).groups()
    return int(number) * UNITS[unit]


class Reader(threading.Thread):
    """Reads the job's output; keeps how much of each rank came."""

    def __init__(self, pipe):
        super().__init__(daemon=True)
        self.pipe, self.shown = pipe, {}
        self.may_read = threading.Event()
        self.may_read.set()

    def run(self):
        while self.may_read.wait():
            line = self.pipe.readline()
            if not line:
                return
            rank = int(line)
            self.shown[rank] = self.shown.get(rank, 0) + len(line)


class Scenario:
    SETTINGS = ("nodes", "arity", "stdin", "output", "every", "window",
                "heartbeat", "on-loss")
    EXPECTED = ("lost", "stall", "read", "shown", "end", "given-up")

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.lines = [words for words in (
                line.partition("#")[0].split() for line in file) if words]
        self.set = {"stdin": "0", "output": "0", "arity": "16",
                    "heartbeat": "10s", "on-loss": "abort"}
        self.never = []
        self.wait_s = 0
        self.stopped = []
        self.job = self.feeder = None
        self.hits = sum(words[0] in HITS for words in self.lines)

    # --- what is set up

    def start(self):
        nodes = int(self.set["nodes"]) - 1
        self.output = size_of(self.set["output"]) // LINE_BYTES * LINE_BYTES
        self.folder = tempfile.mkdtemp(dir=live.TMP)
        self.job = live.Job(
            "-N", nodes, "--arity", self.set["arity"],
            "--nodes-per-daemon", 1,
            "--heartbeat", seconds_of(self.set["heartbeat"]),
            "--on-node-loss", self.set["on-loss"],
            "--", "sh", "-c", PROCESS, self.folder, self.output,
            " ".join(str(node - 1) for node in self.never),
            stdin=subprocess.PIPE)
        self.feeder = live.Feeder(self.job.stdin, size_of(self.set["stdin"]),
                                  endless=self.hits > 0)
        self.feeder.start()
        self.reader = Reader(self.job.stdout)
        if any(words[0] == "console" for words in self.lines):
            self.reader.may_read.clear()  # or all is read by the time it stops
        self.reader.start()

    # --- what happens

    def daemon(self, node):
        """The daemon of a node: its processes know whose they are."""
        mark = f"\0XYLEM_NODE={node - 1}\0".encode()
        for pid in live.descendants(self.job.proc.pid):
            if mark in b"\0" + live.read_proc(pid, "environ"):
                spawner = live.parent(pid)
                while b"spawn" not in live.read_proc(spawner, "comm"):
                    spawner = live.parent(spawner)
                return live.parent(spawner)
        raise LookupError(f"no process of node {node}")

    def wait(self, what):
        said = {"lost": told,
                "stalled": lambda said: " does not read its stdin" in said}
        nodes = int(self.set["nodes"]) - 1
        if what == "joined":
            live.eventually(
                lambda: len(glob.glob(f"{self.folder}/up.*")) == nodes,
                START_S, "all processes run")
        elif what == "over":
            self.job.wait(END_S)
        elif what in said:
            live.eventually(lambda: said[what](self.job.said()), END_S, what)
        else:
            self.wait_s = seconds_of(what)
            if self.wait_s < 1:
                time.sleep(self.wait_s)  # sleep-ok: the scenario says so

    def stop(self, node, seconds=None):
        pid = self.daemon(node)
        os.kill(pid, signal.SIGSTOP)
        self.stopped.append(pid)
        if seconds is not None:
            time.sleep(seconds)  # sleep-ok: how long it is frozen
            self.go_on()

    def go_on(self):
        for pid in self.stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        self.stopped = []

    # --- what must be so then

    def is_lost(self, node):
        said = self.job.said()
        if node == 0:
            return not told(said)
        return node - 1 in told(said)

    def has_read(self, node, count):
        got = 0
        with contextlib.suppress(OSError):
            with open(f"{self.folder}/read.{node - 1}", encoding="ascii") as f:
                got = int(f.read())
        return got == self.feeder.size if count == "all" \
            else got < self.feeder.size

    def has_ended(self, how):
        code = self.job.proc.poll()
        if how == "stuck":
            return code is None
        return code is not None and (code == 0) == (how == "well")

    def expect(self, what, *words):
        truth = {
            "lost": lambda node: self.is_lost(int(node)),
            "stall": lambda node: f"rank {int(node) - 1} on " in
                                  self.job.said(),
            "read": lambda node, count: self.has_read(int(node), count),
            "shown": lambda node, _: self.reader.shown.get(
                int(node) - 1, 0) == self.output,
            "end": self.has_ended,
            "given-up": lambda _: True,
        }[what]
        if live.eventually(lambda: truth(*words), max(self.wait_s, EXPECT_S),
                           " ".join(["expect", what, *words])):
            live.check(True, what)

    def line(self, word, *rest):
        if word == "reader" and rest[1] == "never":
            self.never.append(int(rest[0]))
        elif word in ("start", "expect", "wait"):
            getattr(self, word)(*rest)
        elif word == "kill":
            os.kill(self.daemon(int(rest[0])), signal.SIGKILL)
        elif word == "silence":
            self.stop(int(rest[0]))
        elif word == "freeze":
            self.stop(int(rest[0]), seconds_of(rest[1]))
        elif word == "console":
            self.reader.may_read.clear()
        elif self.job is None:
            self.set[word] = rest[0]
        else:
            raise ValueError(f"'{word}' has no meaning here")

    def run(self):
        try:
            for words in self.lines:
                self.line(*words)
                if words[0] in HITS:
                    self.hits -= 1
                    if self.hits == 0:
                        self.feeder.may_end.set()
        finally:
            self.go_on()
            self.feeder.may_end.set()
            self.reader.may_read.set()
            if self.job.proc.poll() is None:
                self.job.proc.terminate()
            self.job.wait()


KNOWN = {*HITS, "console", "wait", "start", "expect",
         "reader", *Scenario.SETTINGS}


def can_run(lines):
    """All of its words have a meaning here."""
    words = [line[0] for line in lines]
    return (set(words) <= KNOWN and "wait" in words and
            lines[words.index("wait")][1] == "joined" and
            all(line[1].isdigit() for line in lines
                if line[0] in HITS) and
            all(line[1] in Scenario.EXPECTED for line in lines
                if line[0] == "expect"))


for path in sorted(glob.glob(f"{FOLDER}/*.txt")):
    scenario = Scenario(path)
    if not can_run(scenario.lines):
        continue
    with live.case(os.path.basename(path)[:-4]):
        scenario.run()
        live.check_gone()
sys.exit(live.end())
