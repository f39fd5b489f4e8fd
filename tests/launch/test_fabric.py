#!/usr/bin/env python3
"""Which libfabric a process uses: tcp linked in, or all of it as a module.

Where configure found no archive of libfabric it is the module each time.
"""
import os
import subprocess
import sys

import live
from live import check, check_eq

BUILT_IN = bool(os.environ.get("FABRIC_ARCHIVE"))
MODULES = os.path.join(live.BUILD, "endpoints", ".libs")
LINE = b"to and fro\n"


def loaded():
    """{process: it has loaded the shared libfabric} of those with a fabric:
    spawners have none. hwloc is for jobs that ask for sockets or cores."""
    maps = {pid: live.read_proc(pid, "maps")
            for pid, name in live.ours().items()
            if name.endswith(("xylem", "xylemd"))}
    check(not any(b"hwloc" in text for text in maps.values()),
          "hwloc was loaded")
    return {pid: b"libfabric" in text for pid, text in maps.items()}


def job(start):
    """The processes that have loaded it while all are there and carry
    bytes."""
    running = start("--", "sh", "-c", "echo up; exec cat")
    check_eq([b"up\n"] * 2, [running.stdout.readline() for _ in range(2)],
             running.said())
    found = loaded()
    running.stdin.write(LINE)
    running.stdin.close()
    check_eq(LINE * 2, running.stdout.read())
    running.check_ok()
    live.check_gone()
    return found


def virtual(*options, **env):
    return job(lambda *args: live.Job(
        "-N", 2, "--nodes-per-daemon", 1, *options, *args,
        stdin=subprocess.PIPE, env={**os.environ, **env}))


def all_are(want, found):
    check_eq([want] * 3, list(found.values()), "loaded libfabric.so:")


def mixed():
    """The daemon of one host has the module, and all understand each other."""
    shell = os.path.join(live.TMP, "mixed")
    with open(shell, "w") as file:
        file.write("#!/bin/sh\ntest $1 != b || "
                   f"export XYLEM_MODULE_DIR='{MODULES}'\n"
                   'exec sh -c "$2"\n')
    os.chmod(shell, 0o755)
    found = job(lambda *args: live.Job(
        "--launcher", "ssh", "--rsh", shell, "-w", "a,b", "--interface", "lo",
        "--arity", 1, *args, stdin=subprocess.PIPE))
    check_eq(1 if BUILT_IN else 3, sum(found.values()),
             "loaded libfabric.so:")


def no_other_files():
    """Where tcp is linked in, no process looks for files of other
    providers."""
    folder = os.path.join(live.TMP, "opened")
    os.makedirs(folder)
    virtual(LD_DEBUG="files", LD_DEBUG_OUTPUT=os.path.join(folder, "of"))
    found = ""
    for name in os.listdir(folder):
        with open(os.path.join(folder, name)) as file:
            found += file.read()
    check("libevent" in found, "not even libevent was opened")
    check(not BUILT_IN or "-fi.so" not in found, "files of providers")


def main():
    devices = os.path.exists("/sys/class/infiniband")
    with live.case("by itself: tcp, unless there is a device"):
        all_are(not BUILT_IN or devices, virtual())
    with live.case("tcp is asked for"):
        all_are(not BUILT_IN, virtual("--provider", "tcp"))
        all_are(not BUILT_IN, virtual(FI_PROVIDER="tcp"))
    with live.case("libfabric is to choose, or is another one"):
        all_are(True, virtual(FI_PROVIDER="^udp"))
        all_are(True, virtual(FI_PROVIDER="tcp,udp"))
        all_are(True, virtual(XYLEM_MODULE_DIR=MODULES))
        all_are(True, virtual(FI_PROVIDER_PATH=live.TMP))
    if not devices:
        with live.case("files of providers"):
            no_other_files()
    with live.case("both in one job"):
        mixed()
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
