#!/usr/bin/env python3
"""xylem run --dvm: processes that make no progress are told to who has started
them, and to nobody else; of progress bars the last state comes."""
import os
import signal
import sys

import pmix
import dvms
import live
from dvms import Run, run
from live import check_eq, check_has, check_lacks

HOSTS = ("one", "two", "three")
# Rank 1 waits, the others compute.
SCRIPT = """
echo "$XYLEM_RANK $$"
trap 'exit 0' USR1
test "$XYLEM_RANK" != 1 || read line
while :; do :; done
"""
BAR = """
i=0
while [ $i -lt 50 ]; do i=$((i + 1)); printf '\\r%5d' $i; done
echo
"""


def begin(*options):
    """A job, and the pids of its processes, of which rank 1 reads what nobody
    writes."""
    one = Run("-n", 3, "-i", 1, *options, "sh", "-c", SCRIPT,
              stdin=os.open(FIFO, os.O_RDWR))
    live.eventually(lambda: one.shown().count(b"\n") == 3, 60, "it runs")
    return one, dict(map(int, line.split())
                     for line in one.shown().splitlines())


def end(one, pids):
    os.kill(pids[1], signal.SIGUSR1)
    one.proc.send_signal(signal.SIGUSR1)
    check_eq(0, one.wait(), one.said())


def await_words(one, words):
    live.eventually(lambda: words in one.said() or
                    one.proc.poll() is not None, 60, words)
    check_has(words, one.said())


def told():
    """To who has asked for it, with others beside it that have not, or that
    have another limit; and that it goes on."""
    plain, plain_pids = begin()
    late, late_pids = begin("--on-stall", 10000)
    one, pids = begin("--on-stall", 2)
    await_words(one, "xylem: no progress for 2 s: rank 1 on two, reading "
                     "stdin\n")
    os.kill(pids[2], signal.SIGSTOP)
    await_words(one, "xylem: no progress for 2 s: rank 2 on three, stopped\n")
    os.kill(pids[2], signal.SIGCONT)
    await_words(one, "xylem: going on again: rank 2 on three\n")
    for job, its in ((one, pids), (late, late_pids), (plain, plain_pids)):
        end(job, its)
    check_eq(2, one.said().count("no progress"), one.said())
    check_eq("", late.said() + plain.said())


def beside():
    """The command is run beside the processes of that job."""
    other, other_pids = begin("--on-stall", 10000)
    one, pids = begin("--on-stall", "2:echo beside $XYLEM_RANK:")
    await_words(one, f"beside 1: {pids[1]}\n")
    end(one, pids)
    end(other, other_pids)
    check_eq(1, one.said().count("beside "), one.said())


def stopped():
    """A job that its user has stopped is not told, and another one is."""
    still, still_pids = begin("--on-stall", 2)
    await_words(still, "rank 1 on two")
    still.proc.send_signal(signal.SIGTSTP)
    live.eventually(lambda: all(live.state(pid) == b"T"
                                for pid in still_pids.values()), 60,
                    "they are stopped")
    one, pids = begin("--on-stall", 2)
    await_words(one, "rank 1 on two")
    still.proc.send_signal(signal.SIGCONT)
    await_words(still, "going on again: rank 1 on two")
    end(one, pids)
    end(still, still_pids)
    check_lacks("stopped", still.said())


def last_states():
    """What was left out is told at the end of each job, if it is asked for."""
    for count in 1, 2:
        code, out, said = run("-n", count, "--progress=last", "sh", "-c", BAR)
        check_eq((0, b"   50\n" * count), (code, out), said)
        check_eq(f"xylem: {49 * count} earlier states of progress bars were "
                 f"left out, {(50 * 6 - 5) * count} bytes (--progress=last)\n",
                 said)
    check_eq((0, b"   50\n", ""), run("-q", "-n", 1, "--progress=last",
                                      "sh", "-c", BAR))
    code, out, said = run("-n", 1, "sh", "-c", BAR)
    check_eq((0, 50, ""), (code, out.count(b"\r"), said))


def main():
    pmix.need()
    dvm = dvms.start("-w", ",".join(HOSTS), nodes=3)
    for what in (told, beside, stopped, last_states):
        with live.case(" ".join(what.__doc__.split())):
            what()
    dvm.proc.send_signal(signal.SIGTERM)
    dvm.wait()
    check_lacks("progress", dvm.said())
    sys.exit(live.end())


FIFO = os.path.join(live.TMP, "fifo")
os.mkfifo(FIFO)
if __name__ == "__main__":
    main()
