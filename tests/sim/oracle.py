#!/usr/bin/env python3
"""Compares a broadcast with SimGrid: the times must agree within 10 %.

Trees of several arities carry 200 frames of 1 MiB over ports of 12.5 GB/s, 2 us
apart, without overhead and with a window that is no limit. SimGrid lets the
messages of a port share its bandwidth where ours go one after another, and a
frame there waits for the latency of the one before. With XYLEM_TEST_BRIEF=1
only the first tree is compared.
"""
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

TOP = os.environ.get("top_srcdir", ".")
XYLEM = os.path.join(os.environ.get("top_builddir", "."), "commands/xylem")
BRIEF = os.environ.get("XYLEM_TEST_BRIEF") == "1"
FRAMES, FRAME_BYTES, HEAD_BYTES = 200, 1 << 20, 32
LATENCY_NS, BANDWIDTH = 2000, 12500000000
TREES = ((30, 1), (63, 2), (121, 3), (85, 4), (73, 8))


def compile_oracle(program):
    """False when SimGrid or a compiler is not there."""
    compiler = shlex.split(os.environ.get("CXX", "c++"))
    if not shutil.which(compiler[0]):
        return False
    probe = subprocess.run(
        [*compiler, "-E", "-x", "c++", "-"], text=True,
        input="#include <simgrid/s4u.hpp>\n",
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if probe.returncode != 0:
        return False
    subprocess.run([*compiler, "-O1", "-o", program,
                    f"{TOP}/tests/sim/oracle.cpp", "-lsimgrid"], check=True)
    return True


def oracle_ns(program, nodes, arity):
    ran = subprocess.run(
        [program, *map(str, (nodes, arity, FRAMES, FRAME_BYTES, LATENCY_NS,
                             BANDWIDTH))],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        check=True)
    return int(ran.stdout)


def xylem_ns(nodes, arity, folder):
    path = os.path.join(folder, "run.json")
    subprocess.run(
        [XYLEM, "sim", "-N", str(nodes), "--arity", str(arity),
         "--size", str(FRAMES * (FRAME_BYTES - HEAD_BYTES)),
         "--latency", f"{LATENCY_NS}ns", "--bandwidth", str(BANDWIDTH),
         "--overhead", "0", "--window", "512", "--frame", "1M", "--json", path],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    with open(path, encoding="utf-8") as file:
        return json.load(file)["runs"][0]["stdin_ns"]


def main():
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "oracle")
        if not compile_oracle(program):
            print("skipped: SimGrid is not there (libsimgrid-dev)")
            sys.exit(77)
        for nodes, arity in TREES[:1 if BRIEF else None]:
            theirs = oracle_ns(program, nodes, arity)
            ours = xylem_ns(nodes, arity, folder)
            print(f"{nodes} nodes, arity {arity}: SimGrid {theirs} ns, "
                  f"xylem sim {ours} ns, {100 * (ours / theirs - 1):+.1f} %")
            bad += not 0.9 <= ours / theirs <= 1.1
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
