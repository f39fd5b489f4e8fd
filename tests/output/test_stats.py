#!/usr/bin/env python3
"""The report of --stats has every field, with plausible numbers."""
import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys

import live
from live import check, check_eq

NODES, ARITY, PPN = 9, 2, 2
F_SETPIPE_SZ = 1031  # fcntl has a name for it from Python 3.10 on
KINDS = {
    "nodes": int, "procs": int, "arity": int, "depth": int, "provider": str,
    "wall_s": float, "launch_s": float, "stdin_bytes": int,
    "stdout_bytes": int, "stderr_bytes": int,
    "stddiag_bytes": int, "exit_code": int,
    "launcher": {"rss_peak_bytes": int, "rss_bound_bytes": int, "cpu_s": float},
    "daemons": {"count": int, "rss_peak_bytes_max": int, "rss_bound_bytes": int,
                "cpu_s_sum": float,
                "lines_in_pieces": int},
    "left_out": {"at_least": bool, "limited_lines": int,
                 "reasons": {reason: {"lines": int, "bytes": int} for reason in
                             ("progress", "grep", "grep_v", "rate", "lines",
                              "budget", "room")},
                 "ranks": list},
    "frames": {"up": int, "down": int},
    "repairs": {"count": int, "longest_s": float},
    "lost_nodes": list, "refused_peers": int,
    "proof": {"channels": int, "complete": int, "given_up": int,
              "bytes": int, "gaps": list},
    "first_failures": list, "first_failures_s": float, "last_lines": list,
    "ends": list,
}


def check_kinds(kinds, got, where=""):
    check_eq(sorted(kinds), sorted(got), "members of the report" + where)
    for name, kind in kinds.items():
        if isinstance(kind, dict):
            check_kinds(kind, got.get(name, {}), " in " + name)
        else:
            check(isinstance(got.get(name), kind),
                  "%s is %r" % (name, got.get(name)))


def report(*args, code=0, **more):
    """Runs a job and reads its report."""
    path = os.path.join(live.TMP, "stats")
    job = live.Job("--stats", path, *args, **more)
    if job.stdin:
        live.Feeder(job.stdin, live.MIB).start()
    size = len(job.stdout.read())
    check_eq(code, job.wait(), "exit code: " + job.said())
    with open(path) as file:
        got = json.load(file)
    os.unlink(path)
    check_kinds(KINDS, got)
    check_eq(code, got["exit_code"])
    check_eq(size, got["stdout_bytes"], "bytes of stdout:")
    return got


def plain():
    # The memory of this test is larger than theirs may be, and must not count.
    ballast = bytearray(os.urandom(64 * live.MIB))
    got = report("-N", NODES, "--ppn", PPN, "--arity", ARITY,
                 "--nodes-per-daemon", 1, "--raw", "--", "sh", "-c",
                 "cat; echo complaint >&2", stdin=subprocess.PIPE)
    del ballast
    check_eq((NODES, NODES * PPN, ARITY, 3),
             tuple(got[name] for name in ("nodes", "procs", "arity", "depth")))
    check_eq(os.environ.get("XYLEM_TEST_PROVIDER", "tcp"), got["provider"])
    check_eq(live.MIB, got["stdin_bytes"], "bytes of stdin:")
    check_eq(NODES * PPN * live.MIB, got["stdout_bytes"])
    check_eq(NODES * PPN * len("complaint\n"), got["stderr_bytes"])
    check_eq({"channels": 2 * NODES * PPN, "complete": 2 * NODES * PPN,
              "given_up": 0, "gaps": [],
              "bytes": got["stdout_bytes"] + got["stderr_bytes"]},
             got["proof"])
    check_eq([], got["lost_nodes"])
    check_eq(([], 0.0, [], []), tuple(got[name] for name in (
        "first_failures", "first_failures_s", "last_lines", "ends")))
    check_eq({"count": 0, "longest_s": 0.0}, got["repairs"])
    check_eq(0, got["refused_peers"])
    check(0 < got["launch_s"] < got["wall_s"] < 60 * live.SLOW,
          "launch %(launch_s)g s, all %(wall_s)g s" % got)
    used = [(got["launcher"]["rss_peak_bytes"], got["launcher"]["cpu_s"], 1),
            (got["daemons"]["rss_peak_bytes_max"],
             got["daemons"]["cpu_s_sum"], NODES)]
    for peak, cpu_s, count in used:
        check(live.MIB < peak < 32 * live.MIB or live.is_sanitized(),
              "peak memory %d" % peak)
        check(0 < cpu_s < got["wall_s"] * os.cpu_count() + count,
              "cpu %g s of %g s" % (cpu_s, got["wall_s"]))
    check_eq(NODES, got["daemons"]["count"], "daemons:")
    # The input goes down every link; what comes up takes frames of 64 KiB.
    least = live.MIB // 65536
    check(got["frames"]["down"] >= least * NODES, "down: %s" % got["frames"])
    check(got["frames"]["up"] >= least * NODES, "up: %s" % got["frames"])


def shared_daemons():
    got = report("-N", NODES, "--nodes-per-daemon", 4, "--", "sh", "-c",
                 "cat >&2", stdin=subprocess.PIPE)
    check_eq(3, got["daemons"]["count"], "daemons:")
    check_eq(0, got["stdout_bytes"])
    # Between nodes of one daemon there are links as between all others.
    check(got["frames"]["down"] >= live.MIB // 65536 * NODES,
          "down: %s" % got["frames"])


def bad_ends():
    report("-N", 3, "--", "sh", "-c", "exit 7", code=7)
    report("-N", 3, "--timeout", 1, "--", "tail", "-f", "/dev/null", code=124)


def no_job():
    """A job that cannot be run leaves its report, too."""
    report("-N", 3, "--", "no-such-program", code=1)


def not_writable():
    job = live.Job("-N", 2, "--stats", "/nowhere/stats", "--", "true")
    check_eq(1, job.wait(), "exit code:")
    check("/nowhere/stats" in job.said(), job.said())


LINES = "".join("%d\n" % number for number in range(20000))


def check_behind(text, name):
    """The job's output is whole, and the report follows it."""
    check_eq(LINES, text[:len(LINES)], "output with --stats %s:" % name)
    try:
        check_kinds(KINDS, json.loads(text[len(LINES):]), " on " + name)
    except ValueError as why:
        check(False, "%s on %s: %.200r" % (why, name, text[len(LINES):]))


def own_output():
    """A report on stdout or stderr costs nothing of what was written there,
    by whatever name, also where that is a file."""
    path = os.path.join(live.TMP, "own")
    for name in ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", path,
                 path + ".link"):
        with open(path, "w") as out:
            if not os.path.exists(path + ".link"):
                os.link(path, path + ".link")
            live.Job("-N", 1, "--stats", name, "--", "seq", "0", "19999",
                     stdout=out).check_ok()
        with open(path) as out:
            check_behind(out.read(), name)
    for name in ("/dev/stderr", "/dev/fd/2", path):
        with open(path, "w") as out:
            code = subprocess.run(
                [live.XYLEM, "run", "--launcher", "local", "--stats", name,
                 "--", "sh", "-c", "seq 0 19999 >&2"], stdout=out, stderr=out,
                stdin=subprocess.DEVNULL).returncode
        check_eq(0, code, "exit code:")
        with open(path) as out:
            check_behind(out.read(), name)


def own_descriptor():
    """A descriptor that the launcher was given is used; never one of its
    own."""
    ours, theirs = os.pipe()
    job = live.Job("-N", 1, "--stats", "/dev/fd/%d" % theirs, "--", "true",
                   pass_fds=[theirs])
    os.close(theirs)
    with open(ours) as file:
        check_kinds(KINDS, json.load(file))
    job.check_ok()
    for number in (3, 4, 5, 9, 500):
        job = live.Job("-N", 1, "--stats", "/dev/fd/%d" % number, "--", "true")
        check_eq(2, job.wait(), "exit code:")
        check("is not open for writing" in job.said(), job.said())


def nobody_reads(is_told=False):
    """A full pipe in place of stdout does not delay the end for ever, not even
    when signals come while a reader is awaited."""
    ours, theirs = os.pipe()
    # The launcher widens it, but not to as much.
    try:
        fcntl.fcntl(theirs, F_SETPIPE_SZ, live.MIB)
    except PermissionError as why:  # all pipes of a user have a bound
        raise live.LeftOut(f"no larger pipe can be had here: {why}") from why
    os.set_blocking(theirs, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(theirs, b"x" * 4096)
    os.set_blocking(theirs, True)
    # The leak sanitizer stops the launcher at its end, and waits for ever when
    # a signal continues the launcher in that moment.
    leaks = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") +
             ":detect_leaks=0"} if is_told else {}
    job = live.Job("-N", 1, "--timeout", 1, "--stats", "-", "--", "yes",
                   stdout=theirs, env={**os.environ, **leaks})
    os.close(theirs)

    def tell():
        os.kill(job.proc.pid, signal.SIGCONT)
        return job.proc.poll() is not None

    if is_told:
        live.eventually(tell, 30, "it is over")
    check_eq(124, job.wait(30), "exit code:")
    check("nobody reads it" in job.said(), job.said())
    os.close(ours)


def main():
    with live.case("a job with input and output on three levels"):
        plain()
    with live.case("several nodes to a daemon"):
        shared_daemons()
    with live.case("jobs that end badly"):
        bad_ends()
    with live.case("a job that cannot be run"):
        no_job()
    with live.case("a report that cannot be written"):
        not_writable()
    with live.case("a report on the launcher's own stdout or stderr"):
        own_output()
    with live.case("a report on a descriptor"):
        own_descriptor()
    with live.case("a report that nobody reads"):
        nobody_reads()
    with live.case("the same while signals come"):
        nobody_reads(True)
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
