#!/usr/bin/env python3
"""Checks the manual pages: mandoc gives no warning, and each page has the
options of its program.

An option that is only in the --help of a command, or only in its page, fails.
"""
import os
import re
import shutil
import subprocess
import sys

PAGES = ("xylem.1", "xylem-run.1", "xylem-sim.1", "xylem-tree.1",
         "xylemd.8")
COMMANDS = ("run", "sim")
# options that every program has
COMMON = {"--help", "--version"}


def lint(folder):
    """The messages of mandoc, or else of groff; None when neither is
    installed."""
    if shutil.which("mandoc"):
        command = ["mandoc", "-Tlint", "-Wwarning"]
    elif shutil.which("groff"):
        command = ["groff", "-mandoc", "-ww", "-z", "-Tutf8"]
    else:
        return None
    said = []
    for page in PAGES:
        run = subprocess.run([*command, os.path.join(folder, page)],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, check=False)
        said += run.stdout.splitlines()
        if run.returncode and not run.stdout:
            said.append(f"{page}: {command[0]} exits with {run.returncode}")
    return said


def options_of_page(path):
    """The long options that have an entry of their own."""
    with open(path, encoding="utf-8") as page:
        entries = [line for line in page if line.startswith(".It Fl")]
    names = {name for line in entries
             for name in re.findall(r"\bFl (-[a-z-]+)", line)}
    return {"-" + name for name in names}


def options_of_program(program, command):
    run = subprocess.run([program, command, "--help"], stdout=subprocess.PIPE,
                         text=True, check=True)
    return set(re.findall(r"--[a-z][a-z-]+", "\n".join(
        line for line in run.stdout.splitlines()
        if re.match(r"\s+-", line)))) - COMMON


def main():
    folder = os.path.join(os.environ["top_srcdir"], "docs/man")
    program = os.path.join(os.environ["top_builddir"], "commands/xylem")
    said = lint(folder)
    bad = list(said or [])
    count = 0
    for command in COMMANDS:
        name = f"xylem-{command}.1"
        page = options_of_page(os.path.join(folder, name))
        count += len(page)
        if len(page) < 20:
            bad.append(f"only {len(page)} options found in {name}")
        if os.access(program, os.X_OK):
            has = options_of_program(program, command)
            bad += [f"{option} is not in {name}"
                    for option in sorted(has - page)]
            bad += [f"{option} is in {name} alone"
                    for option in sorted(page - has)]
    print("\n".join(bad) or f"{count} options, no complaint")
    if said is None:
        print("# left out: form of the pages: neither mandoc nor groff is here")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
