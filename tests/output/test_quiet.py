#!/usr/bin/env python3
"""--quiet removes notices, and keeps messages about anything bad."""
import os
import sys

import live
from live import case, check_eq, check_has, check_lacks, launch

FABRIC = os.path.join(live.TMP, "topology.conf")
NOTICE = "no hosts given: 2 virtual nodes"

with case("nothing is said of a job that goes well"):
    check_has(NOTICE, launch("-N", 2, "--", "true").said)
    for word in ("-q", "--quiet"):
        ran = launch(word, "-N", 2, "--", "sh", "-c", "echo x; echo y >&2")
        check_eq((b"x\nx\n", b"y\ny\n"), (ran.out, ran.err))

with case("a host that no switch has is no notice then"):
    with open(FABRIC, "w") as file:
        file.write("SwitchName=s1 Nodes=a\n")
    words = ["--launcher", "local", "-w", "a,b", "--topology", FABRIC, "--",
             "true"]
    check_has("does not name b", launch(*words).said)
    check_eq(b"", launch("-q", *words).err)

with case("failures are told as ever"):
    ran = launch("-q", "-N", 2, "--", "sh", "-c", "exit 3", code=3)
    check_has("rank ", ran.said)
    check_has(" returned 3", ran.said)
    check_lacks(NOTICE, ran.said)
    ran = launch("-q", "-N", 2, "--timeout", "300ms", "--", "sleep", "60",
                 code=124)
    check_has("timed out after 0.3 s (--timeout)", ran.said)
    check_lacks(NOTICE, ran.said)
    ran = launch("-q", "-N", 2, "--", "no-such-program", code=1)
    check_has("cannot be started: exec of 'no-such-program'", ran.said)
    check_lacks(NOTICE, ran.said)

with case("the tree is drawn without notices, too"):
    check_has(NOTICE, live.Ran(live.XYLEM, "tree", "-N", 2).said)
    check_eq(b"", live.Ran(live.XYLEM, "tree", "-q", "-N", 2).err)

with case("to ask for both less and more is a mistake"):
    for words in (["-q", "-v"], ["-v", "-q"], ["-qv"]):
        ran = launch(*words, "-N", 2, "--", "true", code=2)
        check_has("--quiet and --verbose exclude each other: give one of them",
                  ran.said)

live.check_all_gone()
sys.exit(live.end())
