#!/usr/bin/env python3
"""In a build without libpmix jobs run, and everything that needs libpmix says
how to get it. Only in such a build; make distcheck has one."""
import os
import sys

import clients
import live
from live import case, check_eq, check_has

if os.path.exists(os.path.join(live.BUILD, "pmix_api", "xylem-pmix")):
    live.skip("built with PMIx")
os.environ.pop("XYLEM_PMIX", None)
LACKS = "this xylem was built without PMIx: tools cannot connect"

with case("runs a job, without a word of what it lacks"):
    ran = live.launch("-N", 2, "--", "sh", "-c", "cat; echo hi", given=b"in\n")
    check_eq(["hi", "hi", "in", "in"], sorted(ran.lines()))
    check_eq("xylem: no hosts given: 2 virtual nodes on this machine\n",
             ran.said)
    live.check_all_gone()

with case("says so with -v"):
    check_has(LACKS, live.launch("-v", "-N", 1, "--", "true").said)
    live.check_all_gone()

with case("has a dvm, and jobs in it"):
    dvm = clients.Command("dvm", "-N", 2)
    live.eventually(lambda: b"2 nodes are up" in dvm.said(), 60, dvm.said)
    ran = live.launch(f"--dvm={dvm.proc.pid}", "--label", "--", "cat",
                      given=b"in\n")
    check_eq(["0: in", "1: in"], sorted(ran.lines()))
    check_eq("", ran.said)
    live.Ran(live.XYLEM, "dvm", f"--stop={dvm.proc.pid}")
    check_eq(0, dvm.wait(), dvm.said())
    live.check_all_gone()

with case("says what it lacks where an address is asked for"):
    ran = live.Ran(live.XYLEM, "dvm", "-N", 1, "--report-uri", "-", code=1)
    check_eq(b"", ran.out)
    check_has("PMIx tools cannot connect", ran.said)
    live.check_all_gone()

sys.exit(live.end())
