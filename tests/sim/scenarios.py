#!/usr/bin/env python3
"""Runs every scenario and compares its trace with the golden one beside it.

A scenario with the line `# Fails where MUTANT.` is run with that mutant of
breaks.py, too: without the rule something has to differ from what it expects.
(Not in a build with sanitizers, and with XYLEM_TEST_BRIEF=1.)

usage: scenarios.py [--write] [NAME...]     --write: the traces are right now
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

import breaks

TOP = os.environ.get("top_srcdir", ".")
PROGRAM = os.path.join(os.environ.get("top_builddir", "."),
                       "tests/sim/scenario")
# What must be refused, and the words.
WRONG = (("nodes 3\nstdin x\nstart\n", "line 2: 'x' is not a value for stdin"),
         ("nodes 3\nmelt 1\n", "line 2: there is no 'melt' here"),
         ("nodes 1\nstart\n", "line 2: there must be at least two nodes"),
         ("nodes 3\nstart\nkill 9\n", "line 3: there is no node '9'"),
         ("nodes 3\nstart\ncut 0-1\n", "line 3: a fault must happen to a node"),
         ("nodes 3\nstart\nkill says:ask:0\n", "'says:ask:0' is no node"),
         ("nodes 3\nstart\nkill x:ask:1\n", "'x:ask:1' is no node"),
         ("nodes 3\nstart\nkill says::1\n", "'says::1' is no node"),
         ("nodes 3\nstart\nkill says:as:1\n", "'says:as:1' is no node"),
         ("nodes 3\nstart\nexpect hello 1\n", "there is no 'expect hello'"),
         ("nodes 3\nstart\nwait stalled\n", "line 3: waited for 'stalled'"),
         ("nodes 3\nstart\nwait over\nexpect lost 1\n",
          "line 4: the value is 0"),
         ("", "nothing was started"))


# What never ends, with the real time it gets, and who waits then.
ENDLESS = "nodes 40\nstdin 3M\nreader 7 never\nstart\nwait over\n"
STOPS = (("60", "line 5: waited for 'over', which did not happen\nwho "
                "waits:\n"),
         ("0", "line 5: waited for 'over', which did not happen: the limit "
               "of real time is reached\nwho waits:\n  nodes 1 to 39 wait "
               "for every node to join\n"))


def run(text, *args, program=PROGRAM):
    return subprocess.run([program, *args], input=text, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def run_mutant(text, folder):
    """Returns the last thing that the run without the rule reports; None when
    it went as expected. An empty text means that no rule is named."""
    found = re.search(r"^# Fails where (.*)\.$", text, re.M)
    if found is None or os.environ.get("XYLEM_SAN") or \
            os.environ.get("XYLEM_TEST_BRIEF") == "1":
        return ""
    objects = breaks.objects(breaks.changes(found[1]), folder)
    breaks.program(f"{folder}/scenario",
                   [f"{breaks.TOP}/tests/sim/scenario.c", *objects],
                   *breaks.SIM)
    ran = run(text, program=f"{folder}/scenario")
    if ran.returncode == 0:
        return None
    said = [line for line in (ran.stdout + ran.stderr).splitlines()
            if line.startswith("line ") or ".c:" in line]
    return f"{found[1]}: {said[0] if said else ran.returncode}"


def main(args):
    write = "--write" in args
    names = [name for name in args if name != "--write"] or sorted(
        os.path.basename(path)[:-4]
        for path in glob.glob(f"{TOP}/tests/scenario/*.txt"))
    bad = 0
    for name in names:
        base = f"{TOP}/tests/scenario/{name}"
        with open(base + ".txt", encoding="utf-8") as file:
            text = file.read()
        ran = run(text)
        if write:
            with open(base + ".trace", "w", encoding="utf-8") as file:
                file.write(ran.stdout)
        with open(base + ".trace", encoding="utf-8") as file:
            golden = file.read()
        if ran.returncode != 0 or ran.stdout != golden:
            bad += 1
            print(f"{name}: status {ran.returncode}, its trace:\n{ran.stdout}"
                  f"where the golden one is:\n{golden}")
        with tempfile.TemporaryDirectory() as folder:
            words = run_mutant(text, f"{folder}/mutant")
        if words is None:
            bad += 1
            print(f"{name}: does not need the rule")
        elif words:
            print(f"{name}: fails where {words}", flush=True)
    for text, words, *args in (*WRONG, *((ENDLESS, words, limit)
                                         for limit, words in STOPS)):
        ran = run(text, *args)
        if ran.returncode != 1 or words not in ran.stdout:
            bad += 1
            print(f"{text!r} says {ran.stdout!r} instead of {words!r}")
    print(f"{len(names)} scenarios")
    sys.exit(bad > 0 or not names)


if __name__ == "__main__":
    main(sys.argv[1:])
