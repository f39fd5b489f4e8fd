#!/usr/bin/env python3
"""Exit codes, and jobs that end by a bad exit, by a time limit or because a
reader closes."""
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time

import live
from live import case, check, check_eq, check_has, check_lacks, launch
from terminal import Terminal

FOR_EVER = ("tail", "-f", "/dev/null")

with case("0 when all return 0, else the code of one that failed"):
    launch("-N", 5, "--", "true")
    ran = launch("-N", 5, "--arity", 2, "--nodes-per-daemon", 1, "--", "sh",
                 "-c", 'test "$XYLEM_RANK" != 4 || exit 42', code=42)
    check_has("4", ran.said)

with case("of the lowest rank among the first that were seen to fail"):
    gate = live.Gate()
    job = live.Job("-N", 4, "--", "sh", "-c", """
        case $XYLEM_RANK in
        2) exit 7 ;;
        1) read -r _ <"$0"; exit 9 ;;
        esac""", gate.path)
    live.eventually(lambda: re.search("(?m)^xylem: rank 2 on .* returned 7",
                                      job.said()), 60, "rank 2 is told")
    time.sleep(0.3)  # sleep-ok: what fails within 100 ms is the same moment
    gate.open()
    os.write(gate.fd, b"go\n")
    check_eq(7, job.wait(), job.said())
    check(not re.search("exit 7", job.said()), job.said())
    check_has("exit 9: rank 1 on ", job.said())

with case("of the one that failed first, though another one is heard of first"):
    # A child holds the output of rank 0, so that its end is reported later.
    gate = live.Gate()
    job = live.Job("-N", 2, "--nodes-per-daemon", 1, "--linger", 60, "--", "sh",
                   "-c", """
        if test "$XYLEM_RANK" = 0; then
            read -r _ <"$0" &
            echo $$ >"$1.new"
            mv "$1.new" "$1"
            exit 5
        fi
        until read -r pid 2>/dev/null <"$1"; do sleep 0.1; done
        while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
        sleep 0.2
        exit 7""", gate.path, os.path.join(live.TMP, "first"))
    live.eventually(lambda: re.search("(?m)^xylem: rank 1 on .* returned 7$",
                                      job.said()), 60, "rank 1 is told")
    gate.open()
    os.write(gate.fd, b"go\n")
    check_eq(5, job.wait(), job.said())
    check(re.search("(?m)^xylem: before that rank 0 on .* returned 5$",
                    job.said()), job.said())
    check_has("exit 7: rank 1 on ", job.said())

with case("of the one that failed first, though its daemon is stopped then"):
    # The daemon of rank 0 notices the end of rank 0 after rank 1 has ended.
    place = os.path.join(live.TMP, "stopped")
    gate = live.Gate()
    job = live.Job("-N", 2, "--nodes-per-daemon", 1, "--", "sh", "-c", """
        echo $XYLEM_RANK $$ $PPID
        if test "$XYLEM_RANK" = 0; then read -r _ <"$0"; exit 5; fi
        until read -r pid 2>/dev/null <"$1"; do sleep 0.1; done
        while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
        sleep 0.2
        exit 7""", gate.path, place)
    ranks = dict((int(words[0]), [int(word) for word in words[1:]])
                 for words in (job.stdout.readline().split() for _ in "12"))
    daemon = live.parent(ranks[0][1])
    os.kill(daemon, signal.SIGSTOP)
    live.eventually(lambda: live.state(daemon) == b"T", 60, "it is stopped")
    gate.open()
    os.write(gate.fd, b"go\n")
    with open(place + ".new", "w", encoding="ascii") as file:
        file.write(f"{ranks[0][0]}\n")
    os.rename(place + ".new", place)
    live.eventually(lambda: re.search("(?m)^xylem: rank 1 on .* returned 7$",
                                      job.said()), 60, "rank 1 is told")
    os.kill(daemon, signal.SIGCONT)
    check_eq(5, job.wait(), job.said())
    check(re.search("(?m)^xylem: before that rank 0 on .* returned 5$",
                    job.said()), job.said())

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
    seq 1 "$1"
"""

with case("the last lines of the first failure, where they have scrolled away"):
    ran = launch("-N", 2, "--", "sh", "-c", TALKS,
                 os.path.join(live.TMP, "talks"), 5000, code=3)
    host = os.uname().nodename
    check_eq([f"xylem: rank 1 on {host} returned 3",
              f"xylem: the last lines of rank 1 on {host}:",
              *(f"xylem:   {number}" for number in range(1, 13)),
              "xylem:   the cell.7 is empty"], ran.said.splitlines()[-15:],
             ran.said)
    ran = launch("-N", 2, "--", "sh", "-c", TALKS,
                 os.path.join(live.TMP, "talks2"), 5, code=3)
    check_lacks("the last lines", ran.said)

with case("ten of them on a terminal"):
    term = Terminal(live.XYLEM, "run", "-N", 2, "--", "sh", "-c", TALKS,
                    os.path.join(live.TMP, "talks3"), 5000)
    check_eq(3, term.wait())
    check(term.text.endswith(b"\r\n".join([
        b"xylem: the last lines of rank 1 on %s:" % host.encode(),
        *(b"xylem:   %d" % number for number in range(4, 13)),
        b"xylem:   the cell.7 is empty", b""])), term.text[-1000:])

with case("fifty of them, though the daemon is killed a moment later"):
    gate = live.Gate()
    stats = os.path.join(live.TMP, "stats")
    job = live.Job("-N", 2, "--nodes-per-daemon", 1, "--on-node-loss=continue",
                   "--stats", stats, "--", "sh", "-c", """
        echo rank $XYLEM_RANK $PPID
        if test "$XYLEM_RANK" = 1; then seq 70; exit 3; fi
        read -r _ <"$0"
        seq 5000""", gate.path)
    live.eventually(lambda: f"rank 1 on {host} returned 3" in job.said(), 60,
                    "it is told")
    shown = [job.stdout.readline().split() for _ in range(72)]
    daemon = live.parent(next(int(words[2]) for words in shown
                              if words[:2] == [b"rank", b"1"]))
    os.kill(daemon, signal.SIGKILL)
    live.eventually(lambda: live.state(daemon) in (b"", b"Z"), 60, "it is dead")
    gate.open()
    os.write(gate.fd, b"go\n")
    job.stdout.read()
    check_eq(3, job.wait(), job.said())
    check_has(f"xylem: the last lines of rank 1 on {host}:\n" + "".join(
        f"xylem:   {number}\n" for number in range(21, 71)), job.said())
    with open(stats, encoding="ascii") as file:
        check_eq([str(number) for number in range(21, 71)],
                 json.load(file)["last_lines"])

with case("128 and the number of a signal"):
    launch("-N", 3, "--", "sh", "-c",
           'test "$XYLEM_RANK" != 1 || kill -SEGV $$', code=139)

with case("--kill-on-bad-exit ends the others"):
    launch("-N", 6, "--arity", 2, "-K", "--", "sh", "-c",
           'test "$XYLEM_RANK" != 3 || exit 3; exec "$0" "$@"', *FOR_EVER,
           code=3)
    live.check_all_gone()



def own_lines(said):
    """What xylem said of the end, without the names of hosts at the end."""
    return re.findall("(?m)^xylem: (?!no hosts given)(.*?)(?: on [^ ]*)?$",
                      said)


with case("one that fails alone has one line"):
    ran = launch("-N", 4, "--", "sh", "-c", 'test "$XYLEM_RANK" != 2 || exit 9',
                 code=9)
    check_eq([f"rank 2 on {os.uname().nodename} returned 9"],
             own_lines(ran.said))

with case("each way to end has a line, with the ranks"):
    ran = launch("-N", 20, "--nodes-per-daemon", 20, "--", "sh", "-c", """
        case $XYLEM_RANK in
        0) ;;
        7) kill -SEGV $$ ;;
        *) exit $((XYLEM_RANK % 2 + 3)) ;;
        esac""", code=None)
    check_eq(["exit 3: ranks 2,4,6,8,10,12,14,16,... (9)",
              "exit 4: ranks 1,3,5,9,11,13,15,17,... (9)",
              "signal 11 (Segmentation fault): rank 7"],
             sorted(own_lines(ran.said)[1:]))

with case("many ways to end are ten lines"):
    ran = launch("-N", 40, "--nodes-per-daemon", 40, "--", "sh", "-c",
                 "exit $((XYLEM_RANK / 2 + 1))", code=None)
    check_eq(10, len(own_lines(ran.said)), ran.said)
    check_has("24 more processes ended in 12 other ways", ran.said)

with case("what -K has killed is told apart"):
    ran = launch("-N", 6, "--arity", 2, "-K", "--", "sh", "-c",
                 'test "$XYLEM_RANK" != 3 || exit 3; exec "$0" "$@"',
                 *FOR_EVER, code=3)
    check_eq(["ended by xylem: 5 processes"], own_lines(ran.said)[1:])
    live.check_all_gone()

with case("what a signal of the user has ended is told apart"):
    job = live.Job("-N", 4, "--", "sh", "-c", """
        test "$XYLEM_RANK" != 0 || trap "exit 5" INT
        echo up
        test "$XYLEM_RANK" = 0 || exec "$@"
        "$@" >/dev/null 2>&1 &
        wait""", "sh", *FOR_EVER)
    for _ in range(4):
        job.stdout.readline()
    job.proc.send_signal(signal.SIGINT)
    job.wait()
    lines = own_lines(job.said())
    check_lacks("(Interrupt)", job.said())
    check("ended by your SIGINT: ranks 1-3 (3)" in lines, job.said())
    live.check_all_gone()

with case("--timeout ends the job with 124"):
    launch("-N", 4, "--arity", 2, "--timeout", 1, "--", *FOR_EVER, code=124)
    live.check_all_gone()

with case("a reader that leaves ends the job quietly with 141"):
    job = live.Job("-N", 4, "--arity", 2, "--", "yes")
    head = subprocess.run(["head", "-n", "1"], stdin=job.stdout, check=True,
                          stdout=subprocess.PIPE)
    job.stdout.close()
    check_eq(141, job.wait(), job.said())
    check_eq(b"y\n", head.stdout)
    check(not re.search("(?m)^xylem: [^n]", job.said()), job.said())
    live.check_all_gone()

with case("a background child that holds the channels is waited for, not for "
          "ever"):
    # The process ends when its child has spoken.
    ran = launch("-N", 2, "--linger", 1, "--", "sh", "-c", """
        spoke=$0/spoke.$XYLEM_RANK
        mkfifo "$spoke"
        (echo early; echo >"$spoke"; exec tail -f /dev/null) &
        echo $! >>"$0/pids"
        read -r _ <"$spoke"
        exit 0""", live.TMP)
    check_eq(2, ran.out.count(b"early"))
    for pid in live.read_file(os.path.join(live.TMP, "pids")).split():
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGTERM)
    live.check_all_gone()

with case("a late line of a background child is still read"):
    ran = launch("-N", 2, "--linger", 30, "--", "sh", "-c",
                 "(cat; echo late) & exit 0")
    check_eq(2, ran.out.count(b"late"))

sys.exit(live.end())
