#!/usr/bin/env python3
"""Progress bars of several processes: on a terminal each has a row of its own
beneath the output, and anywhere else all bytes come as they are."""
import os
import signal
import subprocess
import sys

import live
import screen
from live import case, check, check_eq

# Ranks draw bars, step by step; the last one writes lines.
STEPS = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
rank, size = int(os.environ["XYLEM_RANK"]), int(os.environ["XYLEM_SIZE"])
say = lambda text: os.write(2 if rank % 2 else 1, text.encode())
for gate, last in zip(sys.argv[2:], range(len(sys.argv))):
    if rank == size - 1 and sys.argv[1] == "lines":
        say("line %d\\n" % last)
    else:
        say("\\r\\033[2K\\033[32m%d%%\\033[K" % (10 * last + rank))
    open(gate).close()
"""


class Bars(screen.Shown):
    """A run whose processes go on step by step."""

    def __init__(self, ranks, *options, last="", first="lines", steps=3,
                 quiet=True, **more):
        self.gates = [live.Gate() for _ in range(steps)]
        self.ranks = ranks
        super().__init__("--launcher=local", "-w", "a,b", "-n", ranks,
                         *["-q"] * quiet, *options, "--", "python3", "-c",
                         STEPS + last, first,
                         *[gate.path for gate in self.gates], **more)

    def await_rows(self, *rows):
        """Waits until these are the last rows on the screen."""
        self.until(lambda: self.screen.text()[-len(rows):] == list(rows) and
                   self.screen.row == len(self.screen.rows) - len(rows),
                   "rows %s" % (rows,))

    def go_on(self):
        self.gates.pop(0).open()

    def end(self, code, *rows):
        while self.gates:
            self.go_on()
        check_eq(code, self.wait(), "exit code:")
        check_eq(sorted(rows), sorted(
            row for row in self.screen.text()
            if not row.startswith("xylem: ")))


def bars(last, *ranks, label=True):
    return ["%s%d%%" % ("%d: " % rank if label else "", 10 * last + rank)
            for rank in ranks]


with case("each bar has a row, and lines are above all of them"):
    shown = Bars(4, "-l")
    for last in range(3):
        shown.await_rows(*bars(last, 0, 1, 2))
        shown.until(lambda: "3: line %d" % last in shown.screen.text(), "line")
        shown.await_rows(*bars(last, 0, 1, 2))
        check_eq(["3: line %d" % n for n in range(last + 1)] +
                 bars(last, 0, 1, 2), shown.screen.text())
        shown.go_on()
    shown.end(0, "3: line 0", "3: line 1", "3: line 2", *bars(2, 0, 1, 2))

with case("without labels, too"):
    shown = Bars(3)
    shown.await_rows(*bars(0, 0, 1, label=False))
    shown.end(0, "line 0", "line 1", "line 2", *bars(2, 0, 1, label=False))

with case("a newline makes a line of a bar, and the others stay"):
    gate = live.Gate()
    shown = Bars(3, "-l", first="bars", steps=1,
                 last="rank or say('\\r100%\\n'); open('" + gate.path + "')")
    shown.await_rows(*bars(0, 0, 1, 2))
    shown.go_on()
    shown.await_rows(*bars(0, 1, 2))
    check_eq(["0: 100%"] + bars(0, 1, 2), shown.screen.text())
    gate.open()
    shown.end(0, "0: 100%", *bars(0, 1, 2))

with case("more bars than rows are counted"):
    shown = Bars(40, "-l", first="bars", steps=2)
    labels = ["%02d: %d%%" % (rank, rank) for rank in range(40)]
    shown.await_rows(*labels[:17], "... and 23 more")
    shown.go_on()
    shown.await_rows(*["%02d: %d%%" % (rank, 10 + rank) for rank in range(17)],
                     "... and 23 more")
    shown.end(0, *["%02d: %d%%" % (rank, 10 + rank) for rank in range(40)])

with case("the line of status is beneath them"):
    shown = Bars(3, "-l", quiet=False)
    shown.until(lambda: shown.screen.text()[-3:-1] == bars(0, 0, 1) and
                shown.screen.status() == shown.screen.text()[-1:], "all")
    shown.end(0, *["2: line %d" % n for n in range(3)], *bars(2, 0, 1))

with case("messages are above them, and they come back"):
    gate = live.Gate()
    shown = Bars(3, "-l", first="bars", steps=1, last="rank == 1 and "
                 "sys.exit(3); open('" + gate.path + "')")
    shown.await_rows(*bars(0, 0, 1, 2))
    shown.go_on()
    shown.until(lambda: "xylem: rank 1" in "\n".join(shown.screen.rows), "it")
    shown.await_rows(*bars(0, 0, 2))
    gate.open()
    shown.end(3, *bars(0, 0, 1, 2))

with case("a narrower terminal gets shorter rows"):
    shown = Bars(2, "-l", first="bars", steps=2, columns=80)
    shown.await_rows(*bars(0, 0, 1))
    shown.screen.columns = 6
    shown.set_columns(6)
    shown.go_on()
    shown.await_rows("0: 10", "1: 11")
    check_eq(0, (shown.go_on(), shown.wait())[1], "exit code:")

with case("they are gone while the run is stopped, and come back"):
    shown = Bars(3, "-l", first="bars")
    shown.await_rows(*bars(0, 0, 1, 2))
    shown.write(b"\x1a")
    shown.until(lambda: live.state(shown.proc.pid) == b"T", "stopped")
    while shown.read_more(0):
        pass
    check_eq([], shown.screen.text())
    shown.proc.send_signal(signal.SIGCONT)
    shown.await_rows(*bars(0, 0, 1, 2))
    shown.end(0, *bars(2, 0, 1, 2))

with case("they are gone when a signal ends the launcher"):
    shown = Bars(3, "-l", first="bars")
    shown.await_rows(*bars(0, 0, 1, 2))
    shown.proc.send_signal(signal.SIGALRM)
    shown.until(lambda: shown.proc.poll() is not None, "ended")
    while shown.read_more(0):
        pass
    check_eq(-signal.SIGALRM, shown.wait(), "exit code:")
    check_eq([], shown.screen.text())
    live.check_gone()

with case("a signal to the job makes lines of them"):
    shown = Bars(3, "-l", first="bars")
    shown.await_rows(*bars(0, 0, 1, 2))
    shown.write(b"\x03")
    check_eq(128 + signal.SIGINT, shown.wait(), "exit code:")
    check_eq(bars(0, 0, 1, 2), sorted(
        row for row in shown.screen.text() if not row.startswith("xylem: ")))

BAR = ("sh", "-c", r"for n in 1 2 3; do printf '\r%s%%' $n; done; "
       "printf 'end'")
with case("files, pipes, --raw and one process alone have the bytes as they "
          "are"):
    want = b"\r1%\r2%\r3%end"
    with open(os.path.join(live.TMP, "out"), "w+b") as out:
        shown = screen.Shown("-qn", 2, "--order=rank", "--", *BAR, stdout=out)
        check_eq(0, shown.wait(), "exit code:")
        out.seek(0)
        check_eq(want + b"\n" + want, out.read())
    check_eq(want + b"\n" + want,
             live.launch("-qn", 2, "--order=rank", "--", *BAR).out)
    for options in (["-n", 1], ["-n", 2, "--order=rank", "--raw"]):
        shown = screen.Shown("-q", *options, "--", *BAR)
        check_eq(0, shown.wait(), "exit code:")
        check_eq(want * options[1], shown.text)

with case("nor are there rows on a dumb terminal, nor beside a pipe"):
    shown = screen.Shown("-qn", 2, "-l", "--order=rank", "--", *BAR,
                         term="dumb")
    check_eq(0, shown.wait(), "exit code:")
    check(b"\x1b" not in shown.text, shown.text)
    shown = screen.Shown("-qn", 2, "-l", "--", "sh", "-c",
                         BAR[2] + " >&2", stdout=subprocess.PIPE)
    check_eq(0, shown.wait(), "exit code:")
    check(b"\x1b" not in shown.text, shown.text)

with case("nothing is left"):
    live.check_all_gone()

sys.exit(live.end())
