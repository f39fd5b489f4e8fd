#!/usr/bin/env python3
"""Signals to the launcher reach the processes; so do those of a terminal."""
import contextlib
import os
import signal
import subprocess
import sys
import time

import live
from live import check, check_eq
from terminal import Terminal

NODES = 5
SHAPE = ("-N", NODES, "--arity", 2, "--nodes-per-daemon", 2)
HOSTS = "a,b,c,d,e"

# Tells every signal that it gets, first in a file and then on its stdout;
# SIGUSR2 makes it leave. They are taken where it waits for them: a handler in
# Python may have to wait for the next one.
TELLER = """
import os, signal, sys
heard = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
names = sys.argv[2].split(",") + ["SIGUSR2"]
numbers = [signal.Signals[name] for name in names]
for number in numbers:
    signal.signal(number, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
word = b"up"
while word != b"SIGUSR2":
    os.write(1, word + b"\\n")
    word = signal.Signals(signal.sigwait(numbers)).name.encode()
    os.write(heard, word + b"\\n")
os.write(1, word + b"\\n")
"""
HEARD = os.path.join(live.TMP, "heard")


def read_all(job, word):
    """Every process says this word, and nothing else, next."""
    got = [job.stdout.readline().decode().strip() for _ in range(NODES)]
    check_eq([word] * NODES, got, job.said())


def teller(*signals, remote=False):
    with contextlib.suppress(FileNotFoundError):
        os.unlink(HEARD)
    what = ("--", sys.executable, "-c", TELLER, HEARD,
            ",".join(number.name for number in signals))
    job = live.Remote(HOSTS, "--arity", 2, *what) if remote \
        else live.Job(*SHAPE, *what)
    read_all(job, "up")
    return job


def end(job):
    job.proc.send_signal(signal.SIGUSR2)
    read_all(job, "SIGUSR2")
    job.check_ok()


def as_shell(code):
    """A signal that comes before the launcher looks after it ends it as any
    program."""
    return 128 - code if code < 0 else code


def stop(job):
    """SIGTSTP stops the launcher itself."""
    job.proc.send_signal(signal.SIGTSTP)
    live.eventually(lambda: live.state(job.proc.pid) == b"T", 20,
                    "the launcher is stopped: " + job.said())


def each_arrives(remote):
    """The signal arrives at the processes, and neither at daemons nor at the
    processes that start others."""
    passed = (signal.SIGUSR1, signal.SIGCONT, signal.SIGTERM)
    job = teller(*passed, signal.SIGTSTP, remote=remote)
    for number in (*passed, *passed[:2]):
        job.proc.send_signal(number)
        read_all(job, number.name)
    stop(job)
    # SIGCONT takes back a SIGTSTP that a process has not looked at, and a
    # launcher that is stopped shows nothing.
    live.eventually(
        lambda: live.read_file(HEARD).count(b"SIGTSTP\n") == NODES, 60,
        "all have heard SIGTSTP")
    job.proc.send_signal(signal.SIGCONT)
    got = [job.stdout.readline().decode().strip() for _ in range(2 * NODES)]
    check_eq(["SIGCONT"] * NODES + ["SIGTSTP"] * NODES, sorted(got))
    end(job)


def first_of(number, arrives):
    """The first one is passed on; the job goes on if the processes do."""
    job = teller(arrives)
    job.proc.send_signal(number)
    read_all(job, arrives.name)
    check(job.proc.poll() is None, "the job has ended")
    end(job)


def stops_and_goes():
    """SIGTSTP stops processes that have no handler, and the launcher; SIGCONT
    wakes them."""
    job = live.Job(*SHAPE, "-i", "none", "--", "sh", "-c",
                   "echo $$; exec tail -f /dev/null")
    pids = [int(job.stdout.readline()) for _ in range(NODES)]

    def are(what):
        return all(live.state(pid) == what for pid in pids)

    for _ in range(2):
        stop(job)
        live.eventually(lambda: are(b"T"), 20, "all are stopped")
        job.proc.send_signal(signal.SIGCONT)
        live.eventually(lambda: are(b"S"), 20, "all go on")
        check(live.state(job.proc.pid) != b"T", "the launcher does not go on")
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    live.eventually(lambda: are(b"T"), 20, "all are stopped again")
    # Two that come together may be one: again until it ends.
    live.eventually(lambda: job.proc.send_signal(signal.SIGINT) or
                    job.proc.poll() is not None, 20,
                    "SIGINT ends stopped processes")
    check_eq(128 + signal.SIGINT, job.wait(), "exit code:")
    live.check_gone()


def stopped_for_long(remote):
    """Longer than the heartbeat: no node is given up, and nothing is lost."""
    what = ("--heartbeat", 2, "--", "cat")
    job = live.Remote(HOSTS, "--arity", 2, *what, stdin=subprocess.PIPE) \
        if remote else live.Job(*SHAPE, *what, stdin=subprocess.PIPE)
    job.stdin.write(b"one\n")
    job.stdin.flush()
    read_all(job, "one")
    for word, seconds in ("two", 5), ("three", 0):
        stop(job)
        time.sleep(seconds)  # sleep-ok: the silence is the test
        job.stdin.write(word.encode() + b"\n")
        job.stdin.flush()
        job.proc.send_signal(signal.SIGCONT)
        read_all(job, word)
    job.stdin.close()
    job.check_ok()
    check("lost" not in job.said(), job.said())


def stopped_at_any_time():
    """While daemons are started, or not yet: it stops, and goes on. (Before it
    looks after signals one may be lost: there is no shell here.)"""
    for _ in range(3):
        job = live.Job(*SHAPE, "--", "cat", stdin=subprocess.PIPE)
        live.eventually(lambda: live.state(job.proc.pid) == b"T" or
                        job.proc.send_signal(signal.SIGTSTP), 20, "stopped")
        job.proc.send_signal(signal.SIGCONT)
        job.stdin.write(b"here\n")
        job.stdin.close()
        read_all(job, "here")
        job.check_ok()


def stopped_twice_at_once():
    """Two SIGTSTP that come together, of which one is heard late, are one: the
    launcher does not stop again after SIGCONT."""
    job = live.Job(*SHAPE, "--", "cat", stdin=subprocess.PIPE,
                   env=live.preload("harness", "preload_stop.c"))
    job.stdin.write(b"here\n")
    job.stdin.flush()
    read_all(job, "here")
    stop(job)
    job.proc.send_signal(signal.SIGCONT)
    job.stdin.close()
    live.eventually(lambda: job.proc.poll() is not None, 60, "it ends")
    job.proc.send_signal(signal.SIGCONT)
    job.check_ok()


def who_ignores_it_is_named():
    """One line says who still runs a second after SIGINT."""
    job = live.Job(*SHAPE, "--", "sh", "-c", """
        test "$XYLEM_RANK" != 3 || trap "" INT
        echo up; exec tail -f /dev/null""")
    read_all(job, "up")
    job.proc.send_signal(signal.SIGINT)
    live.eventually(lambda: "still running after SIGINT: rank 3 on "
                    in job.said(), 60, "who still runs")
    check(f"(1 of {NODES})" in job.said(), job.said())
    job.proc.send_signal(signal.SIGINT)
    check_eq(128 + signal.SIGINT, job.wait(), job.said())
    check_eq(1, job.said().count("still running"), job.said())
    live.check_gone()


def a_question_harms_nobody():
    """SIGQUIT of a terminal is answered; a second one at once ends the
    launcher."""
    term = Terminal(live.XYLEM, "run", "-N", 3, "-i", "none", "--", "sh", "-c",
                    "echo up; exec tail -f /dev/null")
    term.read_until(b"up\r\n", b"up\r\n", b"up\r\n")
    term.write(b"\x1c")
    term.read_until(b"xylem: still running: ranks 0-2 on ", b"(3 of 3)")
    check(term.proc.poll() is None, "the launcher goes on")
    time.sleep(1.1)  # sleep-ok: two within a second mean something else
    term.write(b"\x1c")
    term.read_until(b"xylem: still running: ranks 0-2 on ", b"(3 of 3)")
    term.write(b"\x1c")
    check_eq(-signal.SIGQUIT, term.wait())
    live.check_gone()


def the_timeout_names_them():
    said = live.launch("-N", 2, "--timeout", 1, "--", "sh", "-c",
                       'test "$XYLEM_RANK" = 0 || exec tail -f /dev/null',
                       code=124).said
    check("xylem: still running at the timeout: rank 1 on " in said, said)
    check("(1 of 2)" in said, said)


def killed_while_stopped():
    """A launcher that will not come back is not waited for, nor one that was
    stopped without a word."""
    for number in (signal.SIGTSTP, signal.SIGSTOP):
        job = live.Job(*SHAPE, "--heartbeat", 2, "--", "sh", "-c",
                       "echo up; exec tail -f /dev/null")
        read_all(job, "up")
        job.proc.send_signal(number)
        live.eventually(lambda: live.state(job.proc.pid) == b"T", 20, "stopped")
        if number == signal.SIGTSTP:
            job.proc.kill()
            check_eq(-signal.SIGKILL, job.wait())
        else:
            daemons = [pid for pid, name in live.ours().items()
                       if name == "xylemd"]
            live.eventually(
                lambda: not any(pid in live.ours() for pid in daemons), 60,
                "the daemons give the launcher up")
            job.proc.send_signal(signal.SIGCONT)
            check_eq(1, job.wait(20), "exit code: " + job.said())
        live.check_gone(10)


def second_kills():
    """Processes that ignore the first signal are killed by the second, and
    output that is not read is given up."""
    job = live.Job(*SHAPE, "--", "sh", "-c",
                   'trap "" INT TERM; echo up; yes flood',
                   start_new_session=True)
    for _ in range(NODES):
        while job.stdout.readline() != b"up\n":
            pass
    # The output is not read from here on.
    live.deliver(job.proc.pid, signal.SIGINT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        check(job.proc.wait(1) is None, "ended at the first: " + job.said())
    job.proc.send_signal(signal.SIGINT)
    check_eq(128 + signal.SIGINT, job.wait(15), "exit code:")
    check("discarded" in job.said(), "not a word: " + job.said())
    live.check_gone()


def while_it_starts():
    """However early it comes, the job ends."""
    for _ in range(5):
        job = live.Job(*SHAPE, "--", "tail", "-f", "/dev/null")
        job.proc.send_signal(signal.SIGINT)
        check_eq(128 + signal.SIGINT, as_shell(job.wait(20)), "exit code:")
        live.check_gone()


def spawners(job):
    """The spawners of the launcher itself."""
    return [pid for pid in live.descendants(job.proc.pid)
            if live.parent(pid) == job.proc.pid
            and live.read_proc(pid, "comm") == b"xylem-spawn\n"]


def while_it_cleans_up():
    """The job is over, its report written: a signal changes nothing. The
    process that starts all others is stopped, so that the launcher has to
    wait for it at the end."""
    report = os.path.join(live.TMP, "report")
    job = live.Job("-N", 1, "--no-pmix", "--stats", report, "--", "cat",
                   stdin=subprocess.PIPE)
    job.stdin.write(b"x\n")
    job.stdin.flush()
    check_eq(b"x\n", job.stdout.readline(), job.said())
    # One that has just been forked to look for leftovers has the same name.
    live.eventually(lambda: len(spawners(job)) == 1, 60, "one spawner")
    live.await_sweepers()
    spawner = spawners(job)
    os.kill(spawner[0], signal.SIGSTOP)
    job.stdin.close()
    live.eventually(lambda: os.path.exists(report), 20, "the report")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        job.proc.send_signal(number)
    os.kill(spawner[0], signal.SIGCONT)
    check_eq(0, job.wait(20), "exit code: " + job.said())
    live.check_gone()


def from_a_terminal():
    """Ctrl-C on the launcher's terminal reaches each process once."""
    job = Terminal(live.XYLEM, "run", *SHAPE, "--", sys.executable, "-c",
                   TELLER, HEARD, "SIGINT")
    job.read_until(*[b"up\r\n"] * NODES)
    job.write(b"\x03")
    job.read_until(*[b"SIGINT\r\n"] * NODES)
    job.write(b"\x03")
    check_eq(128 + signal.SIGINT, job.wait(20), "exit code:")
    check_eq(NODES, job.text.count(b"SIGINT\r\n"), "told in all:")


def main():
    with live.case("SIGUSR1, SIGTSTP, SIGCONT and SIGUSR2 arrive"):
        each_arrives(False)
    with live.case("the same where daemons start daemons"):
        each_arrives(True)
    with live.case("SIGINT and SIGTERM arrive, SIGHUP as SIGTERM"):
        first_of(signal.SIGINT, signal.SIGINT)
        first_of(signal.SIGTERM, signal.SIGTERM)
        first_of(signal.SIGHUP, signal.SIGTERM)
    with live.case("processes and launcher stop and go on"):
        stops_and_goes()
    with live.case("a launcher that is stopped for long"):
        stopped_for_long(False)
        stopped_for_long(True)
    with live.case("SIGTSTP while the job starts"):
        stopped_at_any_time()
    if not live.is_sanitized():  # which has to be loaded first
        with live.case("two SIGTSTP are one"):
            stopped_twice_at_once()
    with live.case("a launcher that is killed while it is stopped"):
        killed_while_stopped()
    with live.case("the second SIGINT kills and gives up output"):
        second_kills()
    with live.case("SIGINT while the job starts"):
        while_it_starts()
    with live.case("signals while the last is cleaned up"):
        while_it_cleans_up()
    with live.case("Ctrl-C on a terminal"):
        from_a_terminal()
    with live.case("who ignores SIGINT is named"):
        who_ignores_it_is_named()
    with live.case("SIGQUIT on a terminal"):
        a_question_harms_nobody()
    with live.case("who still runs at the timeout"):
        the_timeout_names_them()
    with live.case("nothing is left"):
        live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
