#!/usr/bin/env python3
"""Variables of PMI and PMIx in the launcher's environment do not reach the
processes, and neither do those that the launcher sets for tools; variables
that the user names do."""
import sys

from pmix import live

SHOW = ("--", "sh", "-c", "env | grep ^PMI | sort")

with live.case("variables of a server above the launcher are not passed on"):
    ran = live.launch("-N", 2, *SHOW, env={
        "PMIX_RANK": "3", "PMIX_NAMESPACE": "above", "PMI_FD": "7",
        "PMIX_SERVER_URI41": "x;tcp4://127.0.0.1:1", "PMI_RANK": "1",
        "PMIX_LAUNCHER_RNDZ_URI": "x;tcp4://127.0.0.1:1", "PMI2_X": "1",
        "PMIXED": "kept"})
    live.check_eq(b"PMIXED=kept\nPMIXED=kept\n", ran.out)

with live.case("one that is named is"):
    ran = live.launch("-N", 1, "--env", "PMIX_MCA_psec", "--env", "PMI_X=1",
                      *SHOW, env={"PMIX_MCA_psec": "native"})
    live.check_eq(b"PMIX_MCA_psec=native\nPMI_X=1\n", ran.out)
    live.check_all_gone()

sys.exit(live.end())
