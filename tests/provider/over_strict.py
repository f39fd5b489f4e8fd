#!/usr/bin/env python3
"""Runs one test over the provider strict: over_strict.py TEST [ARGUMENTS...];
a test that has nothing else to do calls run().

The test finds the provider's name in XYLEM_TEST_PROVIDER, and a launcher that
names it in XYLEM; every process finds the provider itself by FI_PROVIDER_PATH.
A process may die of a violation without any message, so the test looks at the
reports of strict at its end, and fails if there is one.
"""
import collections
import os
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BUILT = os.path.join(os.environ["top_builddir"], "tests")
LIBRARIES = os.path.join(BUILT, "provider", ".libs")


def command(test):
    """A test by its path in tests/: a script, or a program of the build."""
    if test.endswith(".py"):
        return [sys.executable, os.path.join(HERE, "..", test)]
    wrap = shlex.split(os.environ.get("XYLEM_TEST_WRAP") or "")
    return [*wrap, os.path.join(BUILT, test)]


def has_violation(path):
    """Prints what strict has reported. That nobody was ready to receive is no
    violation."""
    if not os.path.exists(path):
        return False
    with open(path, errors="replace") as file:
        told = collections.Counter(file)
    for line in sorted(told):
        print("%7d %s" % (told[line], line), end="")
    return any(not line.startswith("strict: RNR: ") for line in told)


def run(test, *arguments):
    """The status of the test."""
    if not os.path.exists(os.path.join(LIBRARIES, "libstrict-fi.so")):
        print("skipped: no provider strict here: libfabric has no headers "
              "for it")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report")
        status = subprocess.run([*command(test), *arguments], check=False, env={
            "STRICT_EAGAIN": "10", **os.environ,
            "FI_PROVIDER_PATH": LIBRARIES, "XYLEM_TEST_PROVIDER": "strict",
            "XYLEM": os.path.join(HERE, "xylem_strict.sh"),
            "STRICT_REPORT": report}).returncode
        if has_violation(report):
            print("strict has caught a violation")
            return 1
    return status


if __name__ == "__main__":
    sys.exit(run(*sys.argv[1:]))
