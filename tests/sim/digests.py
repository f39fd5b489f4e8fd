#!/usr/bin/env python3
# timeout: 1200
"""The same seeds give the same runs, whoever compiled them and how.

The simulator and the core are compiled anew with what is there of gcc and
clang, at several levels, with and without sanitizers; each build runs the same
seeds, and all digests have to be equal, one of them twice. With
XYLEM_TEST_BRIEF=1 there is only the first build. A build with sanitizers skips
it: it has builds of its own.
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

TOP = os.environ.get("top_srcdir", ".")
BRIEF = os.environ.get("XYLEM_TEST_BRIEF") == "1"
SEEDS = "60"
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
BUILDS = (
    ("gcc", "-O0"),
    ("gcc", "-O3"),
    ("gcc", "-O1", *SANITIZERS),
    ("clang", "-O2"),
    ("clang", "-O1", *SANITIZERS),
)


def run(command):
    ran = subprocess.run(command, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True)
    if ran.returncode != 0:
        sys.exit(f"{' '.join(command)}\nfailed:\n{ran.stdout}")
    return ran.stdout.strip()


def main():
    if os.environ.get("XYLEM_SAN"):
        print("skipped: the plain build shows it, and much faster")
        sys.exit(77)
    sources = [f"{TOP}/{name}.c"
               for name in ("tests/sim/swarm", "topo/tree", "topo/ranges",
                            "job/failure", "job/job", "job/life",
                            "job/program")]
    for pattern in ("sim/*.c", "overlay/*.c", "overlay/*/*.c"):
        sources += sorted(glob.glob(f"{TOP}/{pattern}"))
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for number, build in enumerate(BUILDS[:1 if BRIEF else None]):
            if not shutil.which(build[0]):
                continue
            program = f"{folder}/swarm{number}"
            run([*build, "-w", "-std=gnu11", f"-I{TOP}", "-o", program,
                 *sources])
            found[" ".join(build)] = run([program, "1", SEEDS])
            if len(found) == 1:
                found["the same again"] = run([program, "1", SEEDS])
    for build, said in found.items():
        print(f"{build}: {said}")
    if not found:
        print("skipped: there is neither gcc nor clang")
        sys.exit(77)
    sys.exit(len(set(found.values())) != 1)


if __name__ == "__main__":
    main()
