#!/usr/bin/env python3
"""An inner daemon dies while stdin is sent down, and all processes run under
valgrind.

The launcher, every daemon and what starts their processes: no error, nothing
leaked, no descriptor left open, and the sums of the survivors are right.
Skipped without valgrind, where sanitizers look for the same, and with
XYLEM_TEST_BRIEF=1.
"""
import glob
import hashlib
import os
import re
import shlex
import shutil
import sys

import live
from live import check, check_eq
from loss import SUM, Running

NODES = 9
KILLED = 0  # has a parent and two children
SIZE = 8 * live.MIB
LOGS = os.path.join(live.TMP, "valgrind")
VALGRIND = ("valgrind", "--leak-check=full", "--show-leak-kinds=definite",
            "--track-fds=yes", "--log-file=%s/%%p" % LOGS)
# Launcher and daemons, each with the process that starts others; one is killed.
PROCESSES = 2 * (NODES + 1) - 1
TRIES = 3  # who has not ended 3 s after the job is killed: it may be slow


def wrapper():
    """A command that is xylemd under valgrind."""
    path = os.path.join(live.TMP, "xylemd")
    xylemd = os.path.join(live.BUILD, "commands", "xylemd")
    with open(path, "w") as file:
        print("#!/bin/sh\nexec %s \"$@\""
              % " ".join(map(shlex.quote, (*VALGRIND, xylemd))), file=file)
    os.chmod(path, 0o755)
    return path


def run():
    running = Running(
        NODES, 2, SUM, wrap=VALGRIND,
        options=("-N", NODES, "--nodes-per-daemon", 1, "--launch-timeout", 200,
                 "--xylemd", wrapper()))
    feeder = live.Feeder(running.job.stdin, SIZE, endless=True)
    feeder.start()
    live.eventually(lambda: feeder.fed >= SIZE // 4, 60, "stdin flows")
    running.kill(KILLED)
    check(feeder.is_alive(), "stdin ended before")
    feeder.may_end.set()
    feeder.join()
    got = running.rest + running.job.stdout.read().splitlines()
    want = b"%s  -" % feeder.digest(hashlib.sha256()).encode()
    check_eq([want] * running.left(), [line.rstrip() for line in got])
    running.end("has a new parent, the launcher")


def look(text):
    """What valgrind says of one process; the parent's pid when it is all."""
    words = re.sub(r"==\d+== ?", "", text)
    parent = re.search(r"Parent PID: (\d+)\s*$", words, re.M)
    if "ERROR SUMMARY" not in words:  # it was killed, or is a command now
        check(re.search(r"Parent PID: \d+\s*$", words), words)
        return None
    check("ERROR SUMMARY: 0 errors" in words, words)
    check("definitely lost: 0 bytes" in words or "no leaks are" in words, words)
    # The process that starts others ends with its socket and its signals open.
    for left in re.findall(r"^Open (?:.+\n)+", words, re.M):
        check("<inherited" in left or "ep_spawn_setup" in left, left)
    return parent.group(1)


def count_ended():
    """Counts the processes that have ended by themselves. One child of the
    launcher, and one of each daemon, starts processes. The other children look
    for what dead sessions have left; not each parent has one."""
    parents = {os.path.basename(path):
               look(live.read_file(path).decode(errors="replace"))
               for path in glob.glob(LOGS + "/*")}
    ended = {pid: parent for pid, parent in parents.items() if parent}
    launcher = [pid for pid, parent in ended.items() if parent not in parents]
    starter = [pid for pid, parent in ended.items()
               if parent in launcher and pid in ended.values()]
    daemons = [pid for pid, parent in ended.items() if parent in starter]
    below = set(ended.values()).difference(launcher, starter,
                                           map(ended.get, launcher))
    return len(launcher) + len(starter) + len(daemons) + len(below)


def main():
    if live.is_sanitized():
        live.skip("sanitizers and valgrind do not go together")
    if live.BRIEF:
        live.skip("who runs it is nothing to valgrind")
    if not shutil.which("valgrind"):
        live.skip("there is no valgrind")
    for _ in range(TRIES):
        os.mkdir(LOGS)
        with live.case("an inner daemon dies while stdin goes down"):
            run()
        with live.case("valgrind has nothing to complain about"):
            ended = count_ended()
        shutil.rmtree(LOGS)
        if ended == PROCESSES:
            break
    check_eq(PROCESSES, ended, "processes that have ended under valgrind:")
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
