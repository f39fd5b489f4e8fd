#!/usr/bin/env python3
"""The status line of a long run is shown on a terminal only, and is removed at
the end."""
import os
import re
import signal
import subprocess
import sys
import threading

import live
import screen
from live import case, check, check_eq

WAITS = "echo begun; " + live.Gate.WAIT + "echo out; exit 3"
RUNNING = r"xylem: 2 running, 0:\d\d$"
# Its own answer to ^S is that of a terminal that takes nothing for a while.
STOP, GO_ON = b"\x13", b"\x11"


class Shown(screen.Shown):
    """A run on a terminal, and its line of status."""

    def judge(self):
        """There is never more than one line, at the end, and it fits."""
        rows = self.screen.status()
        if len(rows) > 1 or any(len(row) >= self.screen.columns
                                for row in rows):
            raise AssertionError(f"on the screen: {self.screen.rows}")

    def await_status(self, pattern):
        """Waits until the last whole line of status is like this."""
        begin = len(self.screen.shown)
        self.until(lambda: any(re.match(pattern, line)
                               for line in self.screen.shown[begin:]),
                   pattern)

    def end(self, code, *rows):
        """The end: these rows are left, in any order, and messages."""
        check_eq(code, self.wait(), "exit code:")
        check_eq([], self.screen.status())
        check_eq(sorted(rows), sorted(
            row for row in self.screen.text()
            if not row.startswith("xylem: ")))


def start(*options, words=WAITS, **more):
    gate = live.Gate()
    return Shown("--launcher=local", "-w", "a,b", *options, "--", "sh", "-c",
                 words, gate.path, **more), gate


def make_ssh():
    """A folder with an ssh that leads to this machine, and is slow."""
    folder = os.path.join(live.TMP, "bin")
    os.mkdir(folder)
    path = os.path.join(folder, "ssh")
    with open(path, "w") as file:
        file.write('#!/bin/sh\n[ "$1" != -o ] || shift 2\nexec %s "$@"\n' %
                   live.RSH)
    os.chmod(path, 0o755)
    return folder


def launch(columns, awaited):
    """Twelve of sixteen hosts are held back."""
    gate = live.Gate()
    held = ["rack%d-node%02d" % (n % 3, n) for n in range(12)]
    hosts = ["login%d" % n for n in range(4)] + held
    shown = Shown("--launcher", "ssh", "--interface", "lo", "--arity", 16,
                  "-w", ",".join(hosts), "-l", "--", "echo", "hi",
                  columns=columns,
                  env={"PATH": SSH + ":" + os.environ["PATH"],
                       "RSH_HELD": " ".join(held), "RSH_GATE": gate.path})
    shown.await_status(r"xylem: 4 of 16 nodes joined, 0:\d\d, waiting for " +
                       awaited + "$")
    gate.open()
    os.write(gate.fd, b"go\n" * len(held))
    shown.end(0, *["%02d: hi" % rank for rank in range(16)])
    check(b"still waits" not in shown.text, "what the line has said is said "
          "again: %s" % shown.text)
    live.check_gone()


def feed(pipe, block, count):
    with pipe:
        for _ in range(count):
            pipe.write(block)


SSH = make_ssh()
for columns, awaited in ((80, "rack0-node00 and 11 more"),
                         (200, "(rack.-node..,){6,}rack.-node.. and . more")):
    with case("a launch names whom it waits for, on %d columns" % columns):
        launch(columns, awaited)

for columns in (80, 200):
    with case("stdin, its rate, and who reads slowest; %d columns" % columns):
        gate = live.Gate()
        shown = Shown("--launcher=local", "-w", "a,b,c,d", "--", "sh", "-c",
                      'test $XYLEM_RANK != 2 || read -r _ <"$0"; '
                      "test $XYLEM_RANK != 3 || exit 0; wc -c", gate.path,
                      columns=columns, stdin=subprocess.PIPE)
        feeder = threading.Thread(target=feed, args=(
            shown.proc.stdin, bytes(live.MIB), 48))
        feeder.start()
        rate = r" \([\d.]+ (KiB|bytes)/s\)" if columns > 80 else ""
        shown.await_status(r"xylem: 3 running, 1 done, 0:\d\d, stdin "
                           r"[\d.]+ KiB%s, slowest: rank 2 on c$" % rate)
        gate.open()
        os.write(gate.fd, b"go\n")
        feeder.join()
        shown.end(0, *3 * [str(48 * live.MIB)])

with case("it is erased before output and messages"):
    shown, gate = start()
    shown.await_status(RUNNING)
    gate.open()
    shown.end(3, *2 * ["begun", "out"])
    check(re.search(rb"\nxylem: rank [01] on [ab] returned 3\r\n", shown.text),
          shown.text)

with case("lines that come and go leave it whole, and are whole"):
    gates = [live.Gate() for _ in range(3)]
    shown = Shown("--launcher=local", "-w", "a", "--", "sh", "-c",
                  'echo one; : <"$0"; printf tw; : <"$1"; echo o; '
                  ': <"$2"; printf "three\nfour"',
                  *[gate.path for gate in gates])
    alone = r"xylem: 1 running, 0:\d\d$"
    shown.await_status(alone)
    gates[0].open()
    shown.until(lambda: "tw" in shown.screen.text(), "tw")
    begin = len(shown.screen.shown)
    for _ in range(35):
        shown.read_more(0.1)  # sleep-ok: no line of status comes meanwhile
    check_eq(["one", "tw"], shown.screen.text())
    check_eq(begin, len(shown.screen.shown), "behind an unfinished line:")
    gates[1].open()
    shown.until(lambda: "two" in shown.screen.text(), "two")
    shown.await_status(alone)
    gates[2].open()
    shown.end(0, "one", "two", "three", "four")

with case("it is gone when a signal ends the run"):
    shown, gate = start()
    shown.await_status(RUNNING)
    shown.write(b"\x03")
    check_eq(128 + signal.SIGINT, shown.wait(), "exit code:")
    check_eq([], shown.screen.status())

with case("it is gone while the run is stopped, and comes back"):
    shown, gate = start()
    shown.await_status(RUNNING)
    shown.write(b"\x1a")
    shown.until(lambda: live.state(shown.proc.pid) == b"T", "stopped")
    while shown.read_more(0):
        pass
    check_eq(["begun", "begun"], shown.screen.text())
    shown.proc.send_signal(signal.SIGCONT)
    shown.await_status(RUNNING)
    gate.open()
    check_eq(3, shown.wait(), "exit code:")
    check_eq([], shown.screen.status())

with case("it is gone when a signal that nobody handles ends the launcher"):
    shown, gate = start()
    shown.await_status(RUNNING)
    shown.proc.send_signal(signal.SIGALRM)
    shown.until(lambda: shown.proc.poll() is not None, "ended")
    while shown.read_more(0):
        pass
    check_eq(-signal.SIGALRM, shown.wait(), "exit code:")
    check_eq([], shown.screen.status())
    live.check_gone()

with case("a narrower terminal gets a shorter line"):
    shown, gate = start()
    shown.await_status(RUNNING)
    shown.screen.columns = 18
    shown.screen.rows[-1] = ""
    shown.set_columns(18)
    shown.await_status("xylem: 2 running *$")
    gate.open()
    check_eq(3, shown.wait(), "exit code:")

with case("a terminal that takes nothing holds up nothing else"):
    with open(os.path.join(live.TMP, "held"), "w+b") as out:
        shown, gate = start(stdout=out, words=WAITS.replace("exit 3", ""))
        shown.await_status(RUNNING)
        shown.write(STOP)
        gate.open()
        live.eventually(lambda: live.read_file(out.name).count(b"out\n") == 2,
                        60, "output of both")
        live.eventually(lambda: shown.proc.poll() is not None, 60, "the end")
        shown.write(GO_ON)
        check_eq(0, shown.wait(), "exit code:")

for name, options in (("a file has the output", []),
                      ("files have it all",
                       ["--file-only", "--output-dir",
                        os.path.join(live.TMP, "files")])):
    with case(name + ", and the terminal the line"):
        with open(os.path.join(live.TMP, "out"), "w+b") as out:
            shown, gate = start(*options, stdout=out)
            shown.await_status(RUNNING)
            gate.open()
            check_eq(3, shown.wait(), "exit code:")
            check_eq([], shown.screen.status())
            out.seek(0)
            check_eq([] if options else sorted(2 * ["begun", "out"]),
                     sorted(out.read().decode().split()))

with case("not with -q, not where stdout is a pipe, nor a dumb terminal, nor "
          "in the background of a script"):
    runs = [start("-q", words="sleep 4"), start(words="sleep 4", term="dumb"),
            start(words="sleep 4", stdout=subprocess.PIPE),
            start(words="sleep 4", preexec_fn=lambda: signal.signal(
                signal.SIGINT, signal.SIG_IGN))]
    for shown, gate in runs:
        check_eq(0, shown.wait(), "exit code:")
        check_eq(b"", shown.text)

with case("a pipe gets none"):
    ran = live.Ran(live.XYLEM, "run", "--launcher=local", "-w", "a,b", "--",
                   "sleep", 4)
    check_eq(b"", ran.err)

with case("short work has none"):
    shown = Shown("--launcher=local", "-w", "a", "--", "echo", "hi")
    check_eq(0, shown.wait(), "exit code:")
    check(live.SLOW > 1 or shown.text == b"hi\r\n", shown.text)

sys.exit(live.end())
