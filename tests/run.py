#!/usr/bin/env python3
"""Run one test of the suite, a program or a script, and judge it.

usage: run.py TEST [ARGUMENTS...]     run it, exit with its status
       run.py SUBJECT...              run all tests of a subject: those of the
                                      folder tests/SUBJECT, and the unit tests
                                      that UNITS names; core: all other units
       run.py --times                 the tests whose logs are here, slowest
                                      first: seconds, and seconds of processors

The last line of what it prints says how long the test took.

A test fails when it exits with anything but 0 (77 is a skip), when it passes
its time limit, when one of its processes is alive 5 s after its end, or when a
sanitizer reported anything in any of its processes.

A script may say in its first lines, in a comment of its own:
    timeout: SECONDS    its time limit (300 when it says nothing; a program,
                        which cannot, has 600)
    alone               nothing of the suite runs beside it: it measures time,
                        or takes what others need

The test gets: a session of its own, no core dumps, default signals, stdin from
/dev/null, an empty TMPDIR that is removed afterwards, and what the tests in
Python share (tests/harness) where Python finds it. This process is the
sub-reaper of all that the test starts, so nothing can escape the count, and
only the test's own processes are ever killed.

Environment: top_srcdir, top_builddir (set by make check); XYLEM_TEST_WRAP, a
command put before test programs (valgrind); XYLEM_TEST_OVER, a script that runs
test scripts (tests/provider/over_strict.py); XYLEM_TEST_SLOW, a factor for time
limits.
"""
import contextlib
import ctypes
import fcntl
import fnmatch
import glob
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TIMEOUT_S = 300
PROGRAM_TIMEOUT_S = 600
LINGER_S = 5
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
LIBC = ctypes.CDLL(None)
HERE = os.path.dirname(os.path.abspath(__file__))
STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
# The unit tests of each subject, by their names without "test_". Names that no
# subject has are those of the core.
UNITS = {
    "output": "cache channel* console* fields files format head hoard* item "
              "lines proof replay run_log run_records run_report run_style "
              "run_verdict run_voice sink spool stats_json tails tally tape "
              "up worker writer",
    "stdin": "chunks down feed* input job_push_set job_streams job_writers "
             "push run_down stdin_stream",
    "loss": "adopt claim failure hold leftover mark orphan run_losses "
            "run_sweeps witness",
    "launch": "address allocation auth beside boot* call cost crowd fabric "
              "guess hosts inquiry life limits machine manners need order "
              "owner path peer place* prelude program programs ranges room "
              "run_advice run_counts run_environ run_launch run_missing "
              "run_nodes run_placing run_plan run_pool run_relaunch "
              "run_signals run_survey run_suspension run_watch scontrol "
              "session shape spawner* srun starter* strays suspension "
              "transport* tree",
    "clients": "client_* door job_late job_request job_route "
               "job_subscription job_wish run_history run_orders",
    "pmix": "px_* tool_*",
}
CORE = "core"


def processes():
    """All processes: pid -> parent's pid."""
    parents = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        with contextlib.suppress(OSError):
            with open(f"/proc/{name}/stat", "rb") as stat:
                fields = stat.read().rpartition(b")")[2].split()
            if fields[0] != b"Z":
                parents[int(name)] = int(fields[1])
    return parents


def descendants(root):
    """The pids below root, parents first."""
    parents = processes()
    found, level = [], [root]
    while level:
        level = [pid for pid, parent in parents.items() if parent in level]
        found += level
    return found


def read_proc(pid, name):
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    return b""


def describe(pid):
    comm, wchan, words = (
        read_proc(pid, name).decode(errors="replace").replace("\0", " ").strip()
        for name in ("comm", "wchan", "cmdline"))
    return f"  {pid} {comm} (in {wchan or '?'}): {words[:160]}"


class Test:
    def __init__(self, words):
        self.words = words
        self.timeout_s = TIMEOUT_S
        self.alone = False
        self.status = None
        self.child = None
        self.read_wishes()
        self.timeout_s *= float(os.environ.get("XYLEM_TEST_SLOW") or 1)

    def read_wishes(self):
        if not self.words[0].endswith(".py"):
            self.timeout_s = PROGRAM_TIMEOUT_S
            return
        with open(self.words[0], encoding="utf-8") as script:
            for _, line in zip(range(40), script):
                wish = re.match(r"#\s*timeout:\s*(\d+)", line)
                if wish:
                    self.timeout_s = int(wish[1])
                elif re.match(r"#\s*alone\s*$", line):
                    self.alone = True

    def command(self):
        path = os.path.abspath(self.words[0])
        over = os.environ.get("XYLEM_TEST_OVER")
        if over and path.endswith(".py"):
            return [sys.executable, over, path, *self.words[1:]]
        if path.endswith(".py"):
            return [sys.executable, path, *self.words[1:]]
        wrap = shlex.split(os.environ.get("XYLEM_TEST_WRAP") or "")
        return [*wrap, path, *self.words[1:]]

    def start(self, folder):
        env = dict(os.environ)
        for name in list(env):
            if name.startswith(("MAKE", "MFLAGS", "XYLEM_RANK", "XYLEM_NODE")):
                del env[name]
        reports = os.path.join(folder, "sanitizer", "report")
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
            env[name] = ":".join(filter(None, [
                env.get(name), f"log_path={reports}", "print_stacktrace=1"]))
        env["TMPDIR"] = os.path.join(folder, "tmp")
        env["XDG_RUNTIME_DIR"] = os.path.join(folder, "runtime")
        env["XYLEM_TEST_RUNNER"] = str(os.getpid())
        env["PYTHONDONTWRITEBYTECODE"] = "1"
        env["PYTHONPATH"] = os.path.join(HERE, "harness")

        def prepare():
            LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            for number in STOPS:
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, [])
            hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
            resource.setrlimit(resource.RLIMIT_CORE, (0, hard))

        # Kept, though only its pid is used: when it goes it collects the child.
        self.child = subprocess.Popen(
            self.command(), stdin=subprocess.DEVNULL, env=env,
            start_new_session=True, preexec_fn=prepare)

    def reap(self):
        """Collect what has ended; False when no process is left."""
        try:
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return True
                if pid == self.child.pid:
                    self.status = -os.WTERMSIG(status) \
                        if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        except ChildProcessError:
            return False

    def wait(self, seconds, done):
        """Reap until done(): True, or the time is over: False."""
        end = time.monotonic() + seconds
        while True:
            alive = self.reap()
            if done(alive):
                return True
            rest = end - time.monotonic()
            if rest <= 0:
                return False
            got = signal.sigtimedwait([signal.SIGCHLD, *STOPS], rest)
            if got and got.si_signo in STOPS:
                self.kill()
                sys.exit(128 + got.si_signo)

    def kill(self):
        while self.reap():
            for pid in descendants(os.getpid()):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            signal.sigtimedwait([signal.SIGCHLD], 0.05)

    def list_left(self):
        return "\n".join(map(describe, descendants(os.getpid())))

    def run(self, folder):
        start_s = time.monotonic()
        status = self.judge(folder)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        complain(TIMES % (time.monotonic() - start_s,
                          used.ru_utime + used.ru_stime))
        return status

    def judge(self, folder):
        self.start(folder)
        if not self.wait(self.timeout_s, lambda alive: self.status is not None):
            complain(f"took longer than {self.timeout_s:g} s; it was running\n"
                     + self.list_left())
            self.kill()
            return 1
        bad = False
        if not self.wait(LINGER_S, lambda alive: not alive):
            complain(f"left these processes {LINGER_S} s after its end\n"
                     + self.list_left())
            self.kill()
            bad = True
        if self.status < 0:
            complain(f"ended by signal {-self.status} "
                     f"({signal.Signals(-self.status).name})")
        bad |= report(os.path.join(folder, "sanitizer"))
        return 1 if bad or self.status < 0 else self.status


def complain(text):
    sys.stdout.flush()
    print(f"test runner: {text}", flush=True)


TIMES = "%.1f s, %.1f s of processors"


def times():
    """What the last runs took, by the logs below this folder."""
    line = re.compile(r"test runner: (.*) s, (.*) s of processors")
    found = []
    for folder, _, names in os.walk("tests"):
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith(".log"):
                with open(path, errors="replace") as log:
                    said = line.findall(log.read())
                found += [(*map(float, pair), path[:-4]) for pair in said[-1:]]
    print("\n".join("%7.1f %7.1f  %s" % test
                    for test in sorted(found, reverse=True)))


# Says the leak checker of a process that was killed, as a test may well do,
# while it looked at it: there is nothing left to judge. A leak says more. Just
# before, it has opened its file and not written a word.
KILLED = re.compile(r"(==\d+==Unable to get registers from thread \d+\.\s*)*")


def report(folder):
    """Print what the sanitizers wrote; True when there was anything."""
    found = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), errors="replace") as file:
            text = file.read(20000)
        if not KILLED.fullmatch(text):
            found[name] = text
    for name, text in list(found.items())[:5]:
        complain(f"a sanitizer reported ({name})")
        print(text, flush=True)
    return bool(found)


@contextlib.contextmanager
def turn(alone):
    """Hold off other tests (alone), or only those that want to be alone.

    Two locks: whoever waits for the second holds the first, so that a test
    that wants to be alone is not overtaken for ever.
    """
    folder = os.environ.get("top_builddir") or "."
    with open(os.path.join(folder, ".test-turn"), "w") as gate, \
            open(os.path.join(folder, ".test-alone"), "w") as room:
        fcntl.flock(gate, fcntl.LOCK_EX)
        fcntl.flock(room, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(gate, fcntl.LOCK_UN)
        yield


def units():
    """The names of all unit tests, without test_."""
    return [os.path.basename(path)[5:-2] for path in
            sorted(glob.glob(os.path.join(HERE, "unit", "test_*.c")))]


def is_of(name, subject):
    return any(fnmatch.fnmatchcase(name, pattern)
               for pattern in UNITS[subject].split())


def tests_of(subject):
    """The tests of a subject, as make names them."""
    if subject == CORE:
        mine = [name for name in units()
                if not any(is_of(name, other) for other in UNITS)]
    else:
        mine = [name for name in units() if is_of(name, subject)]
    scripts = sorted(glob.glob(os.path.join(HERE, subject, "test_*.py")))
    return [f"tests/{subject}/{os.path.basename(path)}" for path in scripts] + \
        [f"tests/unit/test_{name}" for name in mine]


def run_subjects(subjects):
    """Has make run their tests, as many at a time as ./bootstrap check does."""
    build = os.environ.get("XYLEM_BUILD") or os.path.join(HERE, "..", "build")
    if not os.path.isfile(os.path.join(build, "Makefile")):
        print(f"nothing is built in {build}: run ./bootstrap build first, or "
              "set XYLEM_BUILD")
        return 1
    tests = [test for subject in subjects for test in tests_of(subject)]
    return subprocess.call(
        ["make", "-s", "--no-print-directory", "-C", build,
         f"-j{3 * (os.cpu_count() or 1) + 1}", "check", "VERBOSE=1",
         "TESTS=" + " ".join(tests)])


def main():
    if sys.argv[1:] and all(word in {*UNITS, CORE} for word in sys.argv[1:]):
        return run_subjects(sys.argv[1:])
    if sys.argv[1:] == ["--times"]:
        times()
        return 0
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 2
    test = Test(sys.argv[1:])
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with turn(test.alone):
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD, *STOPS])
        folder = tempfile.mkdtemp(prefix="xylem-test-")
        try:
            os.mkdir(os.path.join(folder, "tmp"))
            os.mkdir(os.path.join(folder, "runtime"), 0o700)
            os.mkdir(os.path.join(folder, "sanitizer"))
            return test.run(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
