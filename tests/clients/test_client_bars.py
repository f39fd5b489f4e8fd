#!/usr/bin/env python3
"""Progress bars on the terminal of a client: each process's bar has a row of
its own, which is gone while the client is stopped and when it has ended."""
import signal
import sys

import clients
import live
import screen
from live import case, check_eq

BAR = r"printf '\r10%%\r2%s%%' $XYLEM_RANK; " + live.Gate.WAIT + (
    r"printf '\r30%%'; exec sleep 1000")


def await_rows(shown, rows):
    shown.until(lambda: [row for row in shown.screen.text()
                         if not row.startswith("xylem")] == rows, rows)


def stop(shown):
    """A client that is stopped leaves nothing on the screen, and draws again
    when it goes on."""
    shown.write(b"\x1a")
    shown.until(lambda: live.state(shown.proc.pid) == b"T", "stopped")
    while shown.read_more(0):
        pass
    check_eq([], [row for row in shown.screen.text() if "%" in row])
    shown.proc.send_signal(signal.SIGCONT)


with case("of a job that is attached"):
    gate = live.Gate()
    run = clients.Command("run", "--launcher=local", "-w", "a,b", "-n", 2,
                          "--unbuffered", "--", "sh", "-c", BAR, gate.path)
    live.eventually(lambda: run.shown().count(b"%") == 4, 60, "both")
    shown = screen.Shown("-l", verb="attach")
    shown.until(lambda: b"attached" in shown.text, "attached")
    gate.open()
    await_rows(shown, ["0: 30%", "1: 30%"])
    stop(shown)
    await_rows(shown, ["0: 30%", "1: 30%"])
    shown.write(b"\x03")
    check_eq(0, shown.wait(), "exit code:")
    run.proc.send_signal(signal.SIGINT)
    check_eq(128 + signal.SIGINT, run.wait(), "exit code:")

with case("nothing is left"):
    live.check_all_gone()

sys.exit(live.end())
