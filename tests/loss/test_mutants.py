#!/usr/bin/env python3
"""Breaks rules of the core in real daemons: a short job must fail each time.

The changes are those of tests/sim/breaks.py; `xylem` and `xylemd` are linked
anew with what was changed, the rest is the build's own. There are two jobs, in
which each process says again what it reads, and every byte is compared: one on
a tree, and one on a chain where a daemon in the middle is killed under load.
A mutant is caught by the first of them that does not come out as it should, or
does not end. How long a job may take is measured with the core as it is, which
is linked in the same way and has to pass, alone and beside the mutants. With
XYLEM_TEST_BRIEF=1 there are two mutants.
"""
# timeout: 600
import concurrent.futures
import contextlib
import ctypes
import os
import signal
import sys
import tempfile
import threading
import time

import live
import loss

sys.path.insert(0, os.path.join(os.environ["top_srcdir"], "tests", "sim"))
import breaks  # noqa: E402

BESIDE = 6  # jobs at a time
LEAST_S = 10
TIMES = 5  # as long as the core as it is takes
PATIENCE = 4  # times that, for the core as it is when others run beside it
HANG = 3  # exit code
LINES = 12000
FIRST_LINES = 100
# This many bytes of the first lines reach a client that does not read: they
# travel in frames of 4 KiB at least, as a process writes them, some of which
# may be under way.
FIRST_BYTES = 7500
STEADY_S = 0.5
TRIES = 3  # what a mutant breaks may need some luck to be met
# The last rank begins when a file is there, and has something to say first.
ECHO = loss.GREETING + """
while test "$XYLEM_RANK" = "$1" && ! test -e "$2"; do sleep 0.1; done
test "$XYLEM_RANK" = "$1" || set -- "$1" "$2" 0
exec awk -v first="$3" -v rank="$XYLEM_RANK" '
BEGIN { for (i = 0; i < first; i++) printf "%d %0500d\\n", rank, i; fflush() }
{ print rank, $0 }'"""
PR_SET_CHILD_SUBREAPER = 36


# --- the jobs, in a process of their own

class Failure(Exception):
    pass


def need(truth, what):
    if not truth:
        raise Failure(what)


def unread_bytes(pid):
    """What waits in the sockets of a process that is stopped."""
    own = {os.readlink(f"/proc/{pid}/fd/{fd}")
           for fd in os.listdir(f"/proc/{pid}/fd")}
    lines = live.read_proc(pid, "net/tcp").decode().splitlines()[1:]
    return sum(int(words[4].partition(":")[2], 16)
               for words in map(str.split, lines)
               if f"socket:[{words[9]}]" in own)


def switches(pid):
    """How often the process went to sleep: the same again when nothing
    happens."""
    for line in live.read_proc(pid, "status").splitlines():
        if line.startswith(b"voluntary_ctxt_switches"):
            return line
    return b""


class Echo:
    """A job whose processes say again what they read, each behind its rank."""

    def __init__(self, nodes, arity):
        live.need_wide_pipes()
        self.go = os.path.join(live.TMP, "go")
        self.running = loss.Running(
            nodes, arity, ECHO, nodes - 1, self.go, FIRST_LINES,
            options=("-N", nodes, "--nodes-per-daemon", 1))
        self.job = self.running.job
        self.said = {}  # by rank, as it stands in the line
        self.fed, self.lines = 0, 0
        self.may_read = threading.Event()
        self.may_read.set()
        self.feeder = threading.Thread(target=self.feed, daemon=True)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def want(self, rank):
        first = FIRST_LINES if rank == self.running.nodes - 1 else 0
        return [b"%0500d" % number
                for number in [*range(first), *range(LINES)]]

    def feed(self):
        with contextlib.suppress(BrokenPipeError), self.job.stdin as pipe:
            for line in self.want(0):
                pipe.write(line + b"\n")
                self.fed += 1

    def read(self):
        for line in self.job.stdout:
            self.may_read.wait()
            rank, _, rest = line.partition(b" ")
            self.said.setdefault(rank, []).append(rest.rstrip(b"\n"))
            self.lines += 1

    def last_begins(self):
        with open(self.go, "w"):
            pass

    def settle(self, look):
        """Waits until it sees the same twice."""
        before = None
        while before != (before := look()):
            time.sleep(STEADY_S * live.SLOW)  # sleep-ok: for that long

    def steady(self):
        """Waits until nothing moves."""
        self.settle(lambda: (self.fed, self.lines) if self.fed else object())

    def idle(self):
        """Waits until all daemons have answered what came to them."""
        self.settle(lambda: [switches(pid)
                             for pid in self.running.daemons.values()])

    def need_held(self, why):
        need(self.fed < LINES, f"all of the input is taken, although {why}")

    def end(self, *victims):
        self.reader.join()
        code, told = self.job.proc.wait(), self.job.said()
        need(code == (len(victims) > 0), f"exit code {code}: {told}")
        for rank in range(self.running.nodes):
            lines = self.said.pop(b"%d" % rank, [])
            end = max(0, len(lines) - 1) if rank in victims else None
            need(lines[:end] == self.want(rank)[:end],
                 f"rank {rank} says something else")
        need(self.said == {}, f"who says {list(self.said)[:3]}?")
        for word in ("is incomplete", "has failed"):
            need(word not in told, told)
        repairs = {rank: len(times)
                   for rank, times in self.running.repairs().items()}
        need(repairs == {rank + 1: 1 for rank in victims},
             f"repairs: {repairs}")


def tree():
    """One process does not read: all others wait for it within the window."""
    echo = Echo(6, 2)
    echo.feeder.start()
    echo.steady()
    echo.need_held("one has read nothing")
    echo.last_begins()
    echo.end()


def chain():
    """Node 3 dies with records of one two levels beneath it: these come again.
    Then the output is not read, until all windows are full, and node 4 dies,
    whose child is late: what that one has not had is kept for it."""
    echo = Echo(5, 1)
    running = echo.running
    echo.idle()  # node 3 may send as many frames as there are
    running.signal(signal.SIGSTOP, 2)
    echo.last_begins()
    while unread_bytes(running.daemons[2]) < FIRST_BYTES:
        time.sleep(0.02)  # sleep-ok: between two looks
    running.kill(2)
    while echo.lines < FIRST_LINES:
        time.sleep(0.02)  # sleep-ok: between two looks
    echo.may_read.clear()
    echo.feeder.start()
    echo.steady()
    running.signal(signal.SIGSTOP, 4)
    running.kill(3)
    echo.may_read.set()
    echo.steady()
    echo.need_held("the orphan has not had it")
    running.signal(signal.SIGCONT, 4)
    echo.end(2, 3)


JOBS = {"tree": tree, "chain": chain}


def on_alarm(*_):
    raise TimeoutError


def main_job(name, limit_s):
    """Exit code 0, 1 or HANG, and why. Nothing is left behind, ever."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    signal.signal(signal.SIGALRM, on_alarm)
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    code, why = 1, ""
    try:
        JOBS[name]()
        code = 0
    except TimeoutError:
        code, why = HANG, f"does not end in {limit_s:.0f} s"
    except (Failure, RuntimeError, ValueError, LookupError, OSError) as wrong:
        why = f"{type(wrong).__name__}: {wrong}"
    signal.setitimer(signal.ITIMER_REAL, 0)
    print(" ".join(why.split())[-300:])
    sys.stdout.flush()
    while left := live.descendants(os.getpid()):
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)  # sleep-ok: between two looks
    os._exit(code)


# --- the mutants

def link(changes, folder):
    """xylem and xylemd in folder/commands, with their module beside."""
    changed = breaks.objects(changes, folder)
    for sub in ("commands", "endpoints"):
        os.mkdir(f"{folder}/{sub}")
    os.symlink(os.path.abspath(f"{breaks.BUILD}/endpoints/.libs"),
               f"{folder}/endpoints/.libs")
    for name in ("xylem", "xylemd"):
        breaks.relink(f"{folder}/commands/{name}", name, changed)


def job(folder, name, limit_s):
    """Runs a job with the programs there: exit code and words."""
    scratch = tempfile.mkdtemp(dir=folder)
    ran = breaks.run([sys.executable, __file__, name, str(limit_s)], env={
        **os.environ, "XYLEM": f"{folder}/commands/xylem", "TMPDIR": scratch})
    return ran.returncode, ran.stdout.strip()


def try_out(folder, changes, limits):
    """The words of the first job that fails, or None."""
    link(changes, folder)
    for _ in range(TRIES if changes else 1):
        for name, limit_s in limits.items():
            code, words = job(folder, name, limit_s)
            if code != 0:
                return f"{name}: {words}"
    return None


def measure(folder):
    """How long each job may take: none that is right is near it."""
    link([], folder)
    limits = {}
    for name in JOBS:
        start_s = time.monotonic()
        code, words = job(folder, name, 60 * live.SLOW)
        taken_s = time.monotonic() - start_s
        live.check_eq(0, code, f"{name}: {words}:")
        limits[name] = max(LEAST_S, TIMES * taken_s)
        print(f"# {name}: {taken_s:.1f} s, of {limits[name]:.0f} s")
    return limits


def main(names):
    if live.is_sanitized():
        live.skip("the plain build shows it, and much faster")
    names = names or list(breaks.LIVE)[:2 if live.BRIEF else None]
    everything = {name: breaks.MUTANTS[name] for name in names}
    with live.case("the core as it is"):
        limits = measure(f"{live.TMP}/plain")
    with concurrent.futures.ThreadPoolExecutor(BESIDE) as pool:
        # The core as it is again, now beside the others.
        more = {name: PATIENCE * limit_s for name, limit_s in limits.items()}
        plain = pool.submit(try_out, f"{live.TMP}/beside", [], more)
        tries = {name: pool.submit(try_out, f"{live.TMP}/{number}", changes,
                                   limits)
                 for number, (name, changes) in enumerate(everything.items())}
        with live.case("the core as it is, beside others"):
            live.check_eq(None, plain.result())
        for name, tried in tries.items():
            with live.case(name):
                words = tried.result()
                print("#   caught by", words)
                live.check(words is not None, "was not caught")
    return live.end()


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] in JOBS:
        main_job(sys.argv[1], float(sys.argv[2]))
    sys.exit(main(sys.argv[1:]))
