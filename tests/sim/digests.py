#!/usr/bin/env python3
"""The same seeds give the same runs, with any compiler and options.

The swarm of this build runs some seeds, twice, and has to print exactly the
text of swarm.golden. .ci/run does this with gcc, with gcc and sanitizers, and
with clang. A change of the protocol changes the file:

    build/tests/sim/swarm 1 60 >tests/sim/swarm.golden
"""
import difflib
import os
import subprocess
import sys

HERE = os.path.join(os.environ["top_srcdir"], "tests", "sim")
SWARM = os.path.join(os.environ["top_builddir"], "tests", "sim", "swarm")
SEEDS = ("1", "60")


def main():
    with open(os.path.join(HERE, "swarm.golden")) as file:
        golden = file.read()
    for _ in range(2):
        ran = subprocess.run([SWARM, *SEEDS], stdout=subprocess.PIPE, text=True)
        if ran.returncode != 0 or ran.stdout != golden:
            print(*difflib.unified_diff(
                golden.splitlines(), ran.stdout.splitlines(), "swarm.golden",
                "this build", lineterm=""), sep="\n")
            sys.exit(1)
    print(golden.splitlines()[-1])


if __name__ == "__main__":
    main()
