#!/usr/bin/env python3
"""100,000 nodes: everything arrives, and a quiet leaf stays below 1 KiB.

With XYLEM_TEST_BRIEF=1 there are a tenth of them.
"""
import json
import os
import subprocess
import sys

XYLEM = os.path.join(os.environ.get("top_builddir", "."), "commands/xylem")
NODES = 10000 if os.environ.get("XYLEM_TEST_BRIEF") == "1" else 100000

if os.environ.get("XYLEM_SAN"):
    print("the plain build shows it, and much faster")
    sys.exit(77)
ran = subprocess.run(
    [XYLEM, "sim", "-N", str(NODES), "--arity", "32", "--workload", "mixed",
     "--size", "64K", "--output", "64", "--json", "-"],
    stdout=subprocess.PIPE, text=True)
run = json.loads(ran.stdout[ran.stdout.index("\n{"):])["runs"][0]
print({key: value for key, value in run.items() if key != "levels"})
shown = [level for level in run["levels"] if level["shown_last_ns"]]
good = (ran.returncode == 0 and run["end"] == "well" and
        run["leaf_bytes"] < 1024 and
        sum(level["nodes"] for level in shown) == NODES - 1 and
        run["root_in_bytes"] > (NODES - 1) * 64)
sys.exit(not good)
