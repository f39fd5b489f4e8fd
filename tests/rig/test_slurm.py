#!/usr/bin/env python3
"""Many hosts by Slurm: slurmctld and a slurmd on each, all of them real."""
# timeout: 180
import subprocess
import sys

import rig
import live
import services
from live import check, check_eq

COUNT = live.full(64, 16)


def srun_works(hosts, slurm):
    """What the rest relies on. The log of each slurmd has the step."""
    done = subprocess.run(["srun", "-N", str(COUNT), "hostname"], text=True,
                          stdout=subprocess.PIPE, check=False)
    check_eq(0, done.returncode, "exit code:")
    check_eq(sorted(hosts.names), sorted(done.stdout.split()))
    for name in hosts.names:
        check("exited with exit code 0" in slurm.log(name),
              "not in the log of slurmd on " + name)


def main():
    rig.start()
    if services.Slurm.missing():
        live.skip("no %s here" % services.Slurm.missing())
    with rig.Rig(COUNT) as hosts:
        slurm = services.Slurm(hosts)
        with live.case("srun reaches each host"):
            srun_works(hosts, slurm)
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
