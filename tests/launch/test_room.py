#!/usr/bin/env python3
"""A job for which the machine has no room is not started: one line says what
is too much. On a crowded machine that has room, time limits are longer, which
-v reports."""
import os
import re
import resource
import subprocess
import sys

import live
from live import check, check_eq

NOBODY = 65534
# More than the user has: other tests of the same user come and go beside this.
MARGIN = 1500

# In the place of the daemon: it tells that it was started.
MARK = os.path.join(live.TMP, "started")
WITNESS = os.path.join(live.TMP, "witness")


def limit(which, most):
    """For a process that is about to become xylem."""
    def apply():
        resource.setrlimit(which, (most, most))
    return apply


def limit_nobody(processes):
    """The same for processes of a user; limits do not hold for root."""
    def apply():
        resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
    return apply


def one_processor():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def check_refused(words, *args, **more):
    """Told in words, at once, and no daemon was started."""
    job = live.Job("--xylemd", WITNESS, *args, "--", "true", **more)
    check_eq(1, job.wait(), "exit code:")
    check(re.search(words, job.said()), "want %s: %s" % (words, job.said()))
    said = [line for line in job.said().splitlines()
            if not line.startswith("xylem: no hosts given")]
    check_eq(1, len(said), "lines: %s" % said)
    check(not os.path.exists(MARK), "a daemon was started")


def too_many():
    check_refused(r"are needed here, but .*: (raise it, or )?run fewer nodes "
                  r"or processes on this machine", "-N", 1000000)


def too_many_files():
    check_refused(r"\d+ open files are needed here, but the hard limit is 200:"
                  r" raise it", "-N", 300,
                  preexec_fn=limit(resource.RLIMIT_NOFILE, 200))


def can_be_nobody():
    """True when another user can use what was built, under a limit."""
    if os.geteuid() != 0:
        return True
    try:
        return subprocess.run([live.XYLEM, "--version"],
                              stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL,
                              preexec_fn=limit_nobody(4000)).returncode == 0
    except OSError:
        return False


def processes_of(user):
    """Those that there are of it, threads included."""
    count = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.stat("/proc/%s" % name).st_uid == user:
                count += len(os.listdir("/proc/%s/task" % name))
        except OSError:
            pass
    return count


def most_of_a_user():
    return MARGIN + processes_of(
        NOBODY if os.geteuid() == 0 else os.geteuid())


def too_many_of_a_user():
    most = most_of_a_user()
    check_refused(r"\d+ processes and threads are needed here, but there is "
                  r"room for \d+ \(the limit of this user, `ulimit -u`, is %d\)"
                  % most, "-N", 6000, preexec_fn=limit_nobody(most))


def too_many_on_a_host():
    """Its daemon says so, before it starts any of them."""
    procs = 4000
    if 0 <= resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 5 * procs:
        print("# left out: a daemon may not open files for so many")
        return
    home = os.path.join(live.TMP, "home")
    os.mkdir(home)
    os.chmod(home, 0o777)
    job = live.Job("--launcher", "ssh", "--rsh", live.RSH, "-w", "h1,h2",
                   "--ppn", procs, "--", "echo", "started",
                   preexec_fn=limit_nobody(most_of_a_user()), cwd=home,
                   env={**os.environ, "TMPDIR": home})
    out = job.stdout.read()
    check_eq(1, job.wait(), "exit code:")
    check_eq(b"", out, "a process has run:")
    check(re.search(r"the daemon of node [01] on h[12], with ranks [0-9-]+, "
                    r"has failed: %d processes and threads are needed here, "
                    r"but there is room for \d+" % procs,
                    job.said()),
          job.said())


def tell_heartbeat():
    job = live.Job("-v", "-N", 2, "--", "true")
    job.check_ok()
    check("xylem: heartbeat 10 s, " in job.said(), job.said())
    job = live.Job("-v", "-N", 1500, "--xylemd", WITNESS, "--", "true",
                   preexec_fn=lambda: (one_processor(), limit(
                       resource.RLIMIT_NOFILE, 200)()))
    check_eq(1, job.wait(), "exit code:")
    check("xylem: heartbeat 15 s, daemons started 8 at a time, nice 18: for "
          "1500 processes on 1 processor\n" in job.said(), job.said())
    job = live.Job("-v", "-N", 1500, "--heartbeat", 7, "--xylemd", WITNESS,
                   "--", "true",
                   preexec_fn=limit(resource.RLIMIT_NOFILE, 200))
    check_eq(1, job.wait(), "exit code:")
    check("xylem: heartbeat 7 s, " in job.said(), job.said())


def give_way():
    """257 processes on one processor are a crowd, 80 are not; on hosts of
    their own processes keep their priority."""
    own = os.nice(0)
    for nodes, more in ((257, 10), (80, 0)):
        job = live.Job("-N", nodes, "--", "nice", preexec_fn=one_processor)
        told = job.stdout.read().decode().split()
        job.check_ok()
        check_eq([str(min(own + more, 19))] * nodes, told)
    job = live.Remote("h1", "--ppn", 257, "--", "nice")
    told = job.stdout.read().decode().split()
    job.check_ok()
    check_eq([str(own)] * 257, told)


def main():
    with open(WITNESS, "w") as file:
        file.write("#!/bin/sh\n: >%s\n" % MARK)
    os.chmod(WITNESS, 0o755)
    os.chmod(live.TMP, 0o711)
    with live.case("a million nodes are refused, and nothing is started"):
        too_many()
    with live.case("so are more files than a process may open"):
        too_many_files()
    if can_be_nobody():
        with live.case("so are more processes than a user may have"):
            too_many_of_a_user()
        with live.case("of those on a host its daemon says so"):
            too_many_on_a_host()
    else:
        print("# left out: no other user can reach what was built, and root "
              "has no limit on processes")
    with live.case("-v says which heartbeat is used"):
        tell_heartbeat()
    with live.case("processes give way to the daemons in a crowd"):
        give_way()
    with live.case("nothing is left"):
        live.check_gone()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
