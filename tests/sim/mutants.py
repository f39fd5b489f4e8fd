#!/usr/bin/env python3
# timeout: 1200
"""Breaks rules of the core: the simulator's checks must notice each.

Each mutant of breaks.py is compiled beside the core as it is and linked with
the swarm of random jobs, where it has to fail: by a rule that breaks, an
assertion, or a run that does not end. The core without a change has to pass.
When another rule makes up for the broken one, the mutant has to pass there, and
to fail in the unit test that is named with it. A build with sanitizers skips
this test.

usage: mutants.py [NAME...]     all when none is named; with XYLEM_TEST_BRIEF=1
                                every tenth, and fewer jobs
"""
import os
import sys
import tempfile

import breaks

BRIEF = os.environ.get("XYLEM_TEST_BRIEF") == "1"
SEEDS = 1000
PASSES = 100 if BRIEF else 300  # of what has to pass
NODES = 30  # small trees: more repairs a second
SWARM = f"{breaks.TOP}/tests/sim/swarm.c"
# With what a unit test of the core is linked.
UNIT = f"{breaks.TOP}/tests/unit"
LAB = [f"{UNIT}/{name}.c" for name in ("lab", "words", "words_frame")]


def swarm(folder, objects, seeds):
    breaks.program(f"{folder}/swarm", [SWARM, *objects], *breaks.SIM)
    return breaks.run([f"{folder}/swarm", "-x", "-n", str(NODES), "1",
                       str(seeds)])


def unit(folder, objects, test):
    breaks.program(f"{folder}/{test}", [f"{UNIT}/{test}.c", *LAB, *objects],
                   *breaks.CORE, "-lcmocka")
    return breaks.run([f"{folder}/{test}"])


def what_broke(ran):
    lines = [line for line in ran.stdout.splitlines()
             if line.startswith(("BROKEN", "[  FAILED  ] test"))
             or ".c:" in line or "did not" in line]
    return lines[0].replace("[   LINE   ] --- ", "") if lines \
        else f"status {ran.returncode}"


def expect(ran, is_good, what):
    if (ran.returncode == 0) != is_good:
        raise ValueError(f"in {what}: {what_broke(ran)}")
    return f"{'passed' if is_good else 'caught'} in {what}: {what_broke(ran)}"


def judge(name, folder):
    """What came of a mutant, in words. ValueError: not what should have."""
    changes, test = breaks.BACKED.get(name, (None, None))
    if test is None:
        changes = {**breaks.ALLOWED, **breaks.MUTANTS}[name]
    objects = breaks.objects(changes, folder)
    is_good = name not in breaks.MUTANTS
    told = expect(swarm(folder, objects, PASSES if is_good else SEEDS),
                  is_good, "the swarm")
    if test is not None:
        told += "; " + expect(unit(folder, objects, test), False, test)
    return told


def main(names):
    bad = 0
    if os.environ.get("XYLEM_SAN"):
        print("skipped: the plain build shows it, and much faster")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as top:
        print("no mutant:", expect(swarm(top, [], PASSES), True, "the swarm"))
        for test in sorted({test for _, test in breaks.BACKED.values()}):
            print("no mutant:", expect(unit(top, [], test), True, test))
        everything = [*breaks.ALLOWED, *breaks.BACKED, *breaks.MUTANTS]
        named = names or everything[::10 if BRIEF else 1]
        for number, name in enumerate(named):
            try:
                print(f"{name}: {judge(name, f'{top}/{number}')}", flush=True)
            except ValueError as wrong:
                print(f"WRONG: {name}: {wrong}", flush=True)
                bad += 1
    sys.exit(bad > 0)


if __name__ == "__main__":
    main(sys.argv[1:])
