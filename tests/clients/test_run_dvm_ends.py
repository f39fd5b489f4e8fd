#!/usr/bin/env python3
"""The messages of xylem run --dvm about processes that fail, while the job
runs and at its end."""
import os
import signal
import sys

import pmix
import dvms
import live
from dvms import Run, run
from live import check_eq

HOSTS = ("one", "two", "three")

# Rank 0 fails, then the others go on.
ZERO_FIRST = """
    if test "$XYLEM_RANK" = 0; then
        echo $$ >"$0.new"
        mv "$0.new" "$0"
        exit 99
    fi
    until read -r pid 2>/dev/null <"$0"; do sleep 0.1; done
    while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
    sleep 0.2
"""

# Rank 1 says why it fails; then rank 0 writes much more.
TALKS = """
    if test "$XYLEM_RANK" = 1; then
        seq 1 12
        printf 'the cell\\t7 is empty\\n' >&2
        echo $$ >"$0.new"
        mv "$0.new" "$0"
        exit 3
    fi
    until read -r pid 2>/dev/null <"$0"; do sleep 0.1; done
    while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
    seq 1 5000
"""


def census_of(*words):
    """What a run says of the end of a job: its code, the line about the first
    failure, and the others."""
    one = pmix.Command("run", *words)
    code, said = one.wait(), one.said().decode()
    first, *others = said.splitlines()
    return code, first, others


def grouped():
    """All groups are told that `xylem run' tells of, in its words, and the
    last lines of the first failure."""
    for script in (
            "exit $((XYLEM_RANK % 3 == 0 ? 0 : XYLEM_RANK % 3 + 2))",
            "test $XYLEM_RANK != 7 || kill -SEGV $$; exit 3",
            "exit $((XYLEM_RANK / 2 + 1))"):
        # which is the first may not be known on a very busy machine
        for _ in range(20):
            own, dvms = (census_of(*words, "-w", ",".join(HOSTS), "--ppn", 20,
                                   "--", "sh", "-c", ZERO_FIRST + script,
                                   os.path.join(live.TMP, words[0]))
                         for words in (("--launcher=local",), ("--dvm",)))
            for words in ("--launcher=local", "--dvm"):
                os.remove(os.path.join(live.TMP, words))
            if own[1] == dvms[1]:
                break
        check_eq(own, dvms)
        check_eq("xylem: rank 0 on one returned 99", dvms[1])
    place = os.path.join(live.TMP, "talks")
    code, _, said = run("-n", 2, "sh", "-c", TALKS, place)
    check_eq((3, ["xylem: rank 1 on two returned 3",
                  "xylem: the last lines of rank 1 on two:",
                  *(f"xylem:   {number}" for number in range(1, 13)),
                  "xylem:   the cell.7 is empty"]),
             (code, said.splitlines()[-15:]), said)


def early():
    """A failure is told while the job runs; what fails later is told at the
    end, and what a signal of the user has ended is told apart."""
    one = Run("-n", 3, "sh", "-c", """
        test $XYLEM_RANK != 2 || exit 7
        test $XYLEM_RANK != 1 || trap 'exit 5' INT
        echo up
        while :; do sleep 0.1; done""")
    live.eventually(lambda: one.shown() == b"up\nup\n" and
                    one.said().endswith("\n"), 60, "they run, and it is told")
    check_eq("xylem: rank 2 on three returned 7\n", one.said())
    one.proc.send_signal(signal.SIGINT)
    check_eq((7, ["xylem: rank 2 on three returned 7",
                  "xylem: exit 5: rank 1 on two",
                  "xylem: ended by your SIGINT: rank 0 on one"]),
             (one.wait(), one.said().splitlines()))


def main():
    pmix.need()
    dvm = dvms.start("-w", ",".join(HOSTS), nodes=3)
    for what in (grouped, early):
        with live.case(" ".join(what.__doc__.split())):
            what()
    dvm.proc.send_signal(signal.SIGTERM)
    dvm.wait()
    sys.exit(live.end())


if __name__ == "__main__":
    main()
