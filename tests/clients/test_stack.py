#!/usr/bin/env python3
"""xylem stack shows in which functions the ranks of a job are.

The processes run a small program, which prints that it has reached the
function in which it then stays."""
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading

import clients
import live
from live import check, check_eq, check_has

RANKS = 6
# Rank 3 writes, odd ones have a second thread; each says when it is there.
SOURCE = r"""
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#define APART __attribute__((noinline, noclone))
#define STAYS __asm__ volatile("" ::: "memory")
APART void stay(void) { (void)!write(1, "here\n", 5); for (;;) pause(); }
APART void solve(void) { stay(); STAYS; }
APART void write_result(void) { stay(); STAYS; }
static void *compute(void *arg) { solve(); STAYS; return arg; }
int main(void)
{
    int rank = atoi(getenv("XYLEM_RANK"));
    pthread_t thread;
    if (rank % 2 == 1)
        pthread_create(&thread, NULL, compute, NULL);
    if (rank == 3)
        write_result();
    else
        solve();
    STAYS;
    return 0;
}
"""


def compiled():
    """The program, with lines of its source."""
    path = os.path.join(live.TMP, "stays")
    if not os.path.exists(path):
        with open(path + ".c", "w", encoding="ascii") as file:
            file.write(SOURCE)
        subprocess.run([*os.environ.get("CC", "cc").split(), "-g", "-O1", "-o",
                        path, path + ".c", "-lpthread"], check=True)
    return path


def start(*words, ranks=RANKS, here=RANKS + RANKS // 2, options=(), **more):
    """A job that is where it stays: it has said so that often."""
    job = live.Job("-N", ranks // 2, "--ppn", 2, *options, "--", *words, **more)
    for _ in range(here):
        check_eq(b"here\n", job.stdout.readline())
    await_known(job)
    return job


def await_known(job):
    """The launcher knows of all processes that they run: their output may come
    before that."""
    def groups():
        rows = live.Ran(live.XYLEM, "ps", "--format=json", job.proc.pid,
                        code=None).lines()
        return json.loads(rows[0]).get("groups") if rows else None

    live.eventually(lambda: groups() and "not started yet" not in
                    " ".join(groups()), 60, "all run")


def end(job, code=128 + signal.SIGTERM):
    job.proc.send_signal(signal.SIGTERM)
    job.stdout.read()
    check_eq(code, job.wait(), job.said())


def stack(*words, code=0, **more):
    return live.Ran(live.XYLEM, "stack", *words, code=code, **more)


def need(tool):
    """That tool is here, and one process may look into another."""
    if shutil.which(tool) is None:
        raise live.LeftOut(f"there is no {tool}")
    other = subprocess.Popen(["sleep", "1000"])
    words = (["gdb", "-p", str(other.pid), "-batch", "-nx", "-ex", "bt"]
             if tool == "gdb" else [tool, "-p", str(other.pid)])
    try:
        said = subprocess.run(words, check=False, stdin=subprocess.DEVNULL,
                              capture_output=True)
    finally:
        other.kill()
        other.wait()
    if b"#0 " not in said.stdout:
        raise live.LeftOut(f"{tool} may not look into a process here")


def nodes(calls, path=()):
    """Each function of a tree: {its path: the object}."""
    found = {}
    for one in calls:
        name = path + (one.get("function", one.get("program")),)
        found[name] = one
        found.update(nodes(one["calls"], name))
    return found


def merged():
    """The tree of all ranks and threads, for people and for programs."""
    need("gdb")
    job = start(compiled())
    ran = stack()
    check_eq("", ran.said)
    lines = ran.lines()
    check_eq("main  ranks 0-5 (6)", lines[0])  # at two lines of it
    check(lines[1].startswith("  solve (stays.c:8) > stay (stays.c:7) > ") and
          lines[1].endswith("  ranks 0-2,4-5 (5)"), lines)
    check(lines[2].startswith("  write_result (stays.c:9) > stay ") and
          lines[2].endswith("  rank 3"), lines)
    check_has("> compute (stays.c:10) > solve (stays.c:8) > stay ", lines[3])
    check(lines[3].endswith("  ranks 1,3,5 (3)") and len(lines) == 4, lines)
    found = json.loads(stack("--format=json", "--pid", job.proc.pid).out)
    tree = nodes(found["tree"])
    check_eq(("0-5", 6, 9), tuple(tree[("stays",)][key] for key in (
        "ranks", "count", "threads")))
    at = tree[("stays", "main", "solve")]
    check_eq(("0-2,4-5", 8, os.path.join(live.TMP, "stays.c")),
             tuple(at[key] for key in ("ranks", "line", "file")))
    check_eq(([], [], {"ranks": "", "count": 0}), tuple(
        found[key] for key in ("texts", "failed", "ended")))
    few = json.loads(stack("--format=json", "-r", "3,0", found["job"]).out)
    check_eq("0,3", nodes(few["tree"])[("stays", "main")]["ranks"])
    end(job)


def eu_stack():
    """The same by eu-stack, where there is no gdb."""
    need("eu-stack")
    job = start(compiled(), ranks=2, here=3, env={
        **os.environ, "PATH": tools("sh", "timeout", "true", "eu-stack")})
    tree = nodes(json.loads(stack("--format=json").out)["tree"])
    check_eq("0-1", tree[("stays", "main", "solve", "stay")]["ranks"])
    check_eq(8, tree[("stays", "main", "solve")]["line"])
    end(job)


def tools(*names):
    """A folder with these programs alone."""
    folder = os.path.join(live.TMP, "-".join(("tools",) + names))
    if not os.path.exists(folder):
        os.mkdir(folder)
        for name in names:
            os.symlink(shutil.which(name), os.path.join(folder, name))
    return folder


def wrapped():
    """A process below that of a rank is looked at, too."""
    need("gdb")
    job = start("sh", "-c", compiled() + "; exit 3", ranks=2, here=3)
    tree = nodes(json.loads(stack("--format=json").out)["tree"])
    check_eq("0-1", tree[("stays", "main", "solve", "stay")]["ranks"])
    check_eq("0-1", tree[("sh",)]["ranks"])
    end(job)


def commanded():
    """Another command sees the number of the process and of the rank; what it
    writes is shown as it is, equal texts once."""
    job = start("sh", "-c", "echo here; exec sleep 1000", ranks=4, here=4)
    ran = stack("--", "sh", "-c", 'cat "/proc/$0/comm"')
    check_eq((b"ranks 0-3 (4):\nsleep\n", ""), (ran.out, ran.said))
    ran = stack("-r", "1-2", "--", "sh", "-c", 'echo $XYLEM_RANK {}; '
                '[ $XYLEM_STACK_PID = {} ] && [ $# = 0 ] && echo yes', "{}")
    lines = ran.lines()
    check_eq(["rank 1:", "yes", "rank 2:", "yes"],
             [line for line in lines if line[0] in "ry"])
    pids = {int(line.split()[1]) for line in lines if line[0] in "12"}
    check(len(pids) == 2 and all(live.state(pid) == b"S" for pid in pids),
          "two processes of the job")
    ran = stack("-r", 0, "--", "printf", "\\0a\\r\\nb\\377%.0s")
    check_eq(b"rank 0:\n\0a\r\nb\xff\n", ran.out)
    ran = stack("-r", 0, "--", "sh", "-c", "echo out; echo err >&2; exit 5",
                code=1)
    check_eq((b"rank 0:\nout\nerr\n",
              "xylem: rank 0: cannot be looked at: err\n"),
             (ran.out, ran.said))
    ran = stack("--", "true")
    check_eq((b"", ""), (ran.out, ran.said))
    end(job)


def hanging():
    """A command that takes too long is killed with all that it has started; the
    other ranks are looked at."""
    job = start("sh", "-c", "echo here; exec sleep 1000", ranks=4, here=4)
    ran = stack("--timeout=1", "--", "sh", "-c",
                '[ $XYLEM_RANK != 1 ] || sleep 2000; echo looked', code=1)
    check_eq((b"ranks 0,2-3 (3):\nlooked\n", "xylem: rank 1: the command was "
              "killed after 1 s (--timeout)\n"), (ran.out, ran.said))
    check(not running("2000"), "its sleep is killed")
    end(job)


def running(word):
    """The processes of this test with such a last argument."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")[:-1]
            with open(f"/proc/{pid}/environ", "rb") as file:
                mine = os.fsencode("TMPDIR=" + live.TMP) in file.read()
        except OSError:
            continue
        if mine and words[:1] == [b"sleep"] and words[-1] == word.encode():
            found.append(int(pid))
    return found


def ended():
    """Ranks that have ended before, or end meanwhile, are told, and are no
    failure."""
    job = live.Job("-N", 3, "--on-node-loss=continue", "--", "sh", "-c",
                   "[ $XYLEM_RANK = 0 ] && exit; echo here; exec sleep 1000")
    for _ in range(2):
        check_eq(b"here\n", job.stdout.readline())
    live.eventually(lambda: "rank 0: ended, or lost with a node" in
                    stack("--", "true", code=None).said, 60, "rank 0 has ended")
    ran = stack("--", "sh", "-c", '[ $XYLEM_RANK = 1 ] && kill -9 $0 && '
                'while kill -0 $0; do :; done 2>/dev/null && exit 1; echo on')
    check_eq((b"rank 2:\non\n", "xylem: ranks 0-1 (2): ended, or lost with a "
              "node: there is nothing to see\n"), (ran.out, ran.said))
    end(job, 128 + signal.SIGKILL)


def left():
    """A stack command that is killed takes its job with it, and what that job
    runs."""
    job = start("sh", "-c", "echo here; exec sleep 1000", ranks=2, here=2)
    for signo in (signal.SIGINT, signal.SIGKILL):
        one = clients.Command("stack", "--", "sh", "-c", "sleep 3000; :")
        live.eventually(lambda: running("3000"), 60, "it looks")
        one.proc.send_signal(signo)
        check_eq(-signo, one.wait(), one.said())
        live.eventually(lambda: not running("3000"), 60, "it is killed")
        live.eventually(lambda: len(live.Ran(live.XYLEM, "ps").lines()) == 2,
                        60, "the job alone is left")
    end(job)


def undisturbed():
    """A job that is looked at writes all the same, and nothing is lost."""
    need("gdb")
    place, got = os.path.join(live.TMP, "enough"), []
    job = live.Job("-n", 1, "--", "sh", "-c",
                   "n=0; while ! test -e $0; do echo $((n += 1)); done", place)
    reader = threading.Thread(target=lambda: got.append(job.stdout.read()))
    reader.start()
    await_known(job)
    for _ in range(3):
        check_has("rank 0", stack().out.decode())
    with open(place, "w", encoding="ascii"):
        pass
    job.check_ok()
    reader.join()
    numbers = got[0].split()
    check_eq([b"%d" % (n + 1) for n in range(len(numbers))], numbers)


def behind():
    """The stacks wait after output of the job that nobody reads, which stack
    reports; they arrive when that output is read."""
    job = live.Job("-n", 1, "--", "sh", "-c",
                   "echo here; yes | head -c 9999999")
    check_eq(b"here\n", job.stdout.readline())
    live.eventually(lambda: "nobody reads stdout" in job.said(), 60,
                    "it is held back")
    one = clients.Command("stack", "--", "cat", "/proc/{}/comm")
    live.eventually(lambda: b"xylem: still waiting: a command may take 30 s" in
                    one.said(), 60, "it waits")
    check_eq(9999999, len(job.stdout.read()))
    job.check_ok()
    check_eq(0, one.wait(), one.said())


def tooless():
    """Where there is no debugger it says what to install."""
    job = start("sh", "-c", "echo here; exec sleep 1000", ranks=2, here=2, env={
        **os.environ, "PATH": tools("sh", "timeout", "true", "sleep")})
    ran = stack(code=1)
    check_eq((b"", "xylem: ranks 0-1 (2): the host has neither gdb nor "
              "eu-stack: install gdb or elfutils there, or name another "
              "command behind `--'\n"), (ran.out, ran.said))
    end(job)


def without_timeout():
    """A command that takes too long is killed where there is no timeout(1),
    too."""
    job = start("sh", "-c", "echo here; exec sleep 1000", ranks=2, here=2, env={
        **os.environ, "PATH": tools("sh", "sleep")})
    ran = stack("--timeout=1", "--", "sh", "-c",
                '[ $XYLEM_RANK != 1 ] || exec sleep 2000; echo looked', code=1)
    check_eq((b"rank 0:\nlooked\n", "xylem: rank 1: the command was killed "
              "after 1 s (--timeout)\n"), (ran.out, ran.said))
    check(not running("2000"), "its sleep is killed")
    end(job)


class Dvm(live.Job):
    COMMAND = "dvm"


def named():
    """A job in a dvm of several hosts, alone or by its name."""
    dvm = Dvm("-w", "one,two,three")
    words = ("run", "--dvm=%d" % dvm.proc.pid, "-v", "-N", 3, "--", "sh", "-c",
             "echo here; exec sleep 1000")
    jobs = []
    for count in (1, 2):
        live.eventually(lambda: len(live.Ran(live.XYLEM, "ps").lines()) ==
                        1 + count, 60, "the dvm is up")
        jobs.append(clients.Command(*words))
        live.eventually(lambda: jobs[-1].shown() == b"here\n" * 3 and
                        b" running as " in jobs[-1].said(), 60, "it runs")
        if count == 1:
            check_eq(b"ranks 0-2 (3):\nsleep\n",
                     stack("--", "cat", "/proc/{}/comm").out)
    names = sorted(one.said().decode().split()[-1] for one in jobs)
    said = stack("--", "true", code=1).said.splitlines()
    check_eq(["xylem: 2 jobs are running in this session, name one:"] +
             ["  xylem stack " + name for name in names], said)
    check_eq(b"rank 1:\nsleep\n",
             stack(names[1], "-r", 1, "--", "cat", "/proc/{}/comm").out)
    check_has("there is no job " + names[0] + "9",
              stack(names[0] + "9", code=1).said)
    for one in jobs:
        one.proc.send_signal(signal.SIGTERM)
        one.wait()
    live.eventually(lambda: "no job is running in this session" in
                    stack(code=None).said, 60, "there is none")
    dvm.proc.send_signal(signal.SIGTERM)
    dvm.stdout.read()
    dvm.wait()


def many():
    """More hosts than one further job can have programs are looked at by
    several, one after the other."""
    job = live.Job("-w", "n[1-70]", "--nodes-per-daemon", 70, "--", "sh", "-c",
                   "echo here; exec sleep 1000")
    for _ in range(70):
        check_eq(b"here\n", job.stdout.readline())
    await_known(job)
    ran = stack("--", "sh", "-c", "echo $((XYLEM_RANK / 40))")
    check_eq(["ranks 0-39 (40):", "0", "ranks 40-69 (30):", "1"], ran.lines())
    end(job)


def wrong():
    """What cannot be is refused."""
    check_has("no xylem run of yours", stack(code=1).said)
    check_has("name one job: 'b' is another (a command stands behind `--')",
              stack("a", "b", code=2).said)
    check_has("--format takes text or json", stack("--format=xml", code=2).said)
    job = start("sh", "-c", "echo here; exec sleep 1000", ranks=2, here=2)
    check_has("--ranks: there is no rank 2", stack("-r", 2, code=1).said)
    end(job)
    check_has("`xylem stack' without a number finds the one that runs",
              stack("-p", job.proc.pid, code=1).said)


def main():
    for what in (merged, eu_stack, wrapped, commanded, hanging, ended, left,
                 undisturbed, behind, tooless, without_timeout, named, many,
                 wrong):
        with live.case(" ".join(what.__doc__.split())):
            what()
    sys.exit(live.end())


if __name__ == "__main__":
    main()
