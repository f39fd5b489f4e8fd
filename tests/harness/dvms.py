"""Starts and ends dvms for tests."""
import glob
import os
import re
import subprocess

import pmix
import live
from live import check_eq


def start(*options, nodes=3, **more):
    dvm = pmix.Dvm("-v", "-N", nodes, *options, **more)
    dvm.wait_up()
    return dvm


class Run(pmix.Command):
    """A running `xylem run --dvm ARGS`."""

    def __init__(self, *args, **more):
        super().__init__("run", "--dvm", *args, **more)

    def said(self):
        return super().said().decode()


def run(*args, **more):
    """Returns the exit code, stdout and stderr."""
    one = Run(*args, **more)
    return one.wait(), one.shown(), one.said()


def patient(said):
    """Returns the messages, without those that only a busy machine causes."""
    return "".join(line for line in said.splitlines(True)
                   if not line.startswith("xylem: waiting for process "))


def stop(*words, wrap=()):
    """Returns the exit code and the messages of `xylem dvm --stop`."""
    done = subprocess.run(
        [*wrap, live.XYLEM, "dvm", "--stop", *map(str, words)],
        stderr=subprocess.PIPE, check=False)
    return done.returncode, patient(done.stderr.decode())


def asks(dvm, keys):
    asker = pmix.Asker(dvm)
    asker.connect()
    said, status = asker.query(keys)
    asker.end()
    return said, status


def names_of(dvm, key):
    """Returns the names of jobs in an answer."""
    return re.findall(r"xylem-dvm-[0-9a-f]+\.[0-9]+", "\n".join(
        asks(dvm, key)[0]))


def check_end(dvm, code=0):
    """Checks that the dvm has gone, and left nothing."""
    check_eq(code, dvm.wait(), dvm.said())
    live.check_gone(60)
    check_eq([], glob.glob(os.path.join(live.TMP, "xylem-pmix-*")), "files")
