#!/usr/bin/env python3
"""The messages about what running processes are doing: after ^C, after ^\\, at
the end of --timeout, and with --on-stall.

Each rank does something else, and says in a file that it has begun.
"""
import os
import re
import signal
import sys

import live
from live import check, check_eq, check_has, check_lacks
from terminal import Terminal

HOST = os.uname().nodename
ACTS = os.path.join(live.TMP, "acts.sh")
# Rank 4 has ended, but what it has started holds its output.
with open(ACTS, "w") as file:
    file.write("""trap "" INT
echo "begins $XYLEM_RANK"
case $((XYLEM_RANK % 5)) in
0) while :; do :; done;;
1) exec cat;;
2) exec tail -f /dev/null;;
3) kill -STOP $$;;
4) sh -c 'exec tail -f /dev/null' & exit 0;;
esac
""")
SHAPE = ("-N", 2, "--ppn", 5, "--stdin", "all", "--keep-stdin",
         "--linger", 100000)
ALL = (f"computing: ranks 0,5 on {HOST}",
       f"reading stdin: ranks 1,6 on {HOST}",
       f"waiting: ranks 2,7 on {HOST}",
       f"stopped: ranks 3,8 on {HOST}",
       f"ended, but its output is still open: ranks 4,9 on {HOST}")


def act(*options):
    job = live.Job(*SHAPE, *options, "--", "sh", ACTS)
    check_eq({b"begins %d\n" % rank for rank in range(10)},
             {job.stdout.readline() for _ in range(10)})
    return job


def groups(job):
    """The groups that `xylem ps` shows; none where it had no answer in
    time."""
    said = live.Ran(live.XYLEM, "ps", job.proc.pid, code=None)
    return [line.strip() for line in said.lines()[2:-2]]


def check_details(job):
    """Each group that is named, or else that a busy machine has not answered in
    time."""
    said = [line[len("xylem:   "):] for line in job.said().splitlines()
            if line.startswith("xylem:   ")]
    check("no answer from their hosts" in job.said() or said == list(ALL),
          job.said())


def end(job):
    job.proc.send_signal(signal.SIGTERM)
    job.proc.send_signal(signal.SIGTERM)
    job.stdout.read()
    job.wait()
    live.check_gone()


def each_group_is_named():
    """By ps as often as it asks, and after ^C."""
    job = act()
    live.eventually(lambda: groups(job) == list(ALL), 60,
                    "ps shows five groups")
    job.proc.send_signal(signal.SIGINT)
    live.eventually(lambda: "(10 of 10)" in job.said(), 60, "the roll call")
    check_has("xylem: still running after SIGINT: ranks 0-9 on "
              f"{HOST} (10 of 10)", job.said())
    check_details(job)
    end(job)


def the_timeout_names_them():
    job = act("--timeout", 5 * live.SLOW)
    job.stdout.read()
    check_eq(124, job.wait(), job.said())
    check_has("still running at the timeout: ranks 0-9 on", job.said())
    check_details(job)
    live.check_gone()


def one_group_is_one_line():
    term = Terminal(live.XYLEM, "run", "-N", 3, "-i", "none", "--", "sh", "-c",
                    "echo up; exec tail -f /dev/null")
    term.read_until(b"up\r\n", b"up\r\n", b"up\r\n")
    term.write(b"\x1c")
    term.read_until(b"xylem: still running: ranks 0-2 on ",
                    b"(3 of 3), waiting\r\n")
    term.write(b"\x1c\x1c")
    term.wait()
    live.check_gone()


def a_host_that_does_not_answer_is_named():
    """Its daemon is stopped; the others are told all the same."""
    job = live.Job("-N", 2, "--nodes-per-daemon", 1, "--heartbeat", 1000,
                   "-i", "none", "--", "sh", "-c",
                   "trap '' INT; echo up; exec tail -f /dev/null")
    check_eq([b"up\n"] * 2, [job.stdout.readline() for _ in range(2)])
    daemon = [pid for pid in live.descendants(job.proc.pid)
              if live.read_proc(pid, "comm") == b"xylemd\n"][1]
    live.stop(daemon)
    job.proc.send_signal(signal.SIGINT)
    live.eventually(lambda: "no answer from their hosts: rank " in job.said() or
                    job.proc.poll() is not None, 60, "the roll call")
    check_has("  waiting: rank ", job.said())
    os.kill(daemon, signal.SIGCONT)
    end(job)


STALLS = "\n".join((
    "trap 'exit 0' USR1", 'echo "$XYLEM_RANK $$"',
    'if [ "$XYLEM_RANK" = 7 ]; then read line; fi', "while :; do :; done"))


def stalling(*options):
    """Its processes compute, but for rank 7, which waits for stdin."""
    job = live.Job("-N", 2, "--ppn", 6, "--stdin", "7", "--keep-stdin",
                   *options, "--", "sh", "-c", STALLS)
    pids = dict(map(int, job.stdout.readline().split()) for _ in range(12))
    return job, pids


def finish(job):
    job.proc.send_signal(signal.SIGUSR1)
    job.stdout.read()
    job.check_ok()
    live.check_gone()


def those_that_wait_are_named():
    """Processes that wait are named in the report, and so are those that have
    gone on; a process that computes is not."""
    job, pids = stalling("--on-stall", 2)
    os.kill(pids[3], signal.SIGSTOP)
    live.eventually(lambda: job.said().count("no progress") == 2, 60,
                    "two are named")
    check_has(f"xylem: no progress for 2 s: rank 3 on {HOST}, stopped\n",
              job.said())
    check_has(f"xylem: no progress for 2 s: rank 7 on {HOST}, reading stdin\n",
              job.said())
    os.kill(pids[3], signal.SIGCONT)
    live.eventually(lambda: f"going on again: rank 3 on {HOST}\n" in job.said(),
                    60, "it goes on")
    os.kill(pids[7], signal.SIGUSR1)
    finish(job)
    check_eq(2, job.said().count("no progress"), job.said())


WRITERS = 'echo "$XYLEM_RANK $$"; while :; do sleep 0.5; echo; done >/dev/null'


def one_of_many_is_named_each_time():
    """The others write now and then, and use next to no processor time."""
    job = live.Job("-N", 24, "--on-stall", 2, "-i", "none", "--", "sh", "-c",
                   WRITERS)
    pids = dict(map(int, job.stdout.readline().split()) for _ in range(24))
    for nth in 1, 2:
        os.kill(pids[17], signal.SIGSTOP)
        live.eventually(lambda: job.said().count("no progress") == nth, 60,
                        "it is named")
        os.kill(pids[17], signal.SIGCONT)
        live.eventually(lambda: job.said().count("going on") == nth, 60,
                        "it goes on")
    check_eq([f"xylem: no progress for 2 s: rank 17 on {HOST}, stopped",
              f"xylem: going on again: rank 17 on {HOST}"] * 2,
             [line for line in job.said().splitlines() if "rank" in line])
    end(job)


def a_command_is_run_beside_them():
    """With the number of each, and never beside others."""
    job, pids = stalling("--on-stall", "2:echo beside $XYLEM_RANK:")
    live.eventually(lambda: f"beside 7: {pids[7]}\n" in job.said(), 60,
                    "it is run beside the one that waits")
    os.kill(pids[3], signal.SIGSTOP)
    live.eventually(lambda: f"beside 3: {pids[3]}\n" in job.said(), 60,
                    "it is run beside the one that is stopped")
    os.kill(pids[3], signal.SIGCONT)
    os.kill(pids[7], signal.SIGUSR1)
    finish(job)
    check_eq(2, job.said().count("beside "), job.said())


def a_command_ends_with_the_job():
    job, pids = stalling("--on-stall", "2:echo begins {}; sleep 1000; echo")
    live.eventually(lambda: any(
        live.read_proc(pid, "cmdline").split(b"\0")[0] == b"sleep"
        for pid in live.descendants(job.proc.pid)), 60, "it runs")
    os.kill(pids[7], signal.SIGUSR1)
    finish(job)


def named(job, doing):
    """The ranks that are said to do this, in one line or, where they began or
    were looked at late, in several."""
    ranks = []
    for terms in re.findall(r"no progress for 2 s: ranks? (\S+)(?: \(\d+\))? "
                            r"on \S+, %s\n" % doing, job.said()):
        for term in terms.split(","):
            first, _, last = term.partition("-")
            ranks += range(int(first), int(last or first) + 1)
    return sorted(ranks)


def those_that_compute_only_if_asked_for():
    job, pids = stalling("--on-stall", "2:all")
    os.kill(pids[7], signal.SIGUSR1)
    live.eventually(lambda: len(named(job, "computing")) == 11, 60,
                    "eleven are named")
    check_eq([0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11], named(job, "computing"))
    finish(job)


def a_stop_by_the_user_is_no_stall():
    """While the launcher has stopped the job, no time passes for it."""
    job, pids = stalling("--on-stall", 2)
    os.kill(pids[7], signal.SIGUSR1)
    job.proc.send_signal(signal.SIGTSTP)
    live.eventually(lambda: live.state(job.proc.pid) == b"T", 20, "stopped")
    for pid in pids.values():
        if pid != pids[7]:
            live.eventually(lambda: live.state(pid) == b"T", 20, "stopped, too")
    # The limit passes meanwhile.
    live.Ran("sleep", 3)
    job.proc.send_signal(signal.SIGCONT)
    live.eventually(lambda: live.state(pids[3]) == b"R", 20, "it runs")
    finish(job)
    check_lacks("no progress", job.said())


def the_value_is_checked():
    for value, words in (("soon", "--on-stall"), ("0.5", "--on-stall"),
                         ("5:all:", "--on-stall")):
        check_has(words, live.Ran(live.XYLEM, "run", "--on-stall=" + value,
                                  "--", "true", code=2).said)


def main():
    cases = (each_group_is_named, the_timeout_names_them,
             one_group_is_one_line, a_host_that_does_not_answer_is_named,
             those_that_wait_are_named, one_of_many_is_named_each_time,
             a_command_is_run_beside_them,
             a_command_ends_with_the_job, those_that_compute_only_if_asked_for,
             a_stop_by_the_user_is_no_stall, the_value_is_checked)
    for case in cases:
        with live.case(case.__name__.replace("_", " ")):
            case()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
