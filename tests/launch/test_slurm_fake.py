#!/usr/bin/env python3
"""The launcher `slurm` with an srun that starts its tasks on this machine
(srun_here.sh): hosts are addresses of loopback. What a real Slurm does is in
tests/launch/test_slurm.py."""
import collections
import hashlib
import os
import re
import shutil
import sys

import live
from live import case, check, check_eq, check_has, check_lacks, launch


def place(name):
    return os.path.join(live.TMP, name)


def read(name):
    return live.read_file(place(name)).decode(errors="replace")


os.mkdir(place("bin"))
shutil.copy(os.path.join(live.TESTS, "harness", "srun_here.sh"),
            place("bin/srun"))
os.chmod(place("bin/srun"), 0o755)
os.environ["PATH"] = place("bin") + ":" + os.environ["PATH"]
ALLOCATION = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "127.0.0.[2-5]",
              "SLURM_TASKS_PER_NODE": "2(x3),1"}
os.environ.update(ALLOCATION)

with case("runs in an allocation, one process a node, without a word"):
    ran = launch("--label=host", "--", "sh", "-c",
                 "echo $XYLEM_RANK of $XYLEM_SIZE")
    check_eq([f"127.0.0.{rank + 2}: {rank} of 4" for rank in range(4)],
             sorted(ran.lines()))
    check_eq("", ran.said)
    live.check_all_gone()

with case("fills the slots of the allocation, in the order of its hosts"):
    ran = launch("--label=host", "-n", 6, "--", "printenv", "XYLEM_RANK")
    check_eq([f"127.0.0.{rank // 2 + 2}: {rank}" for rank in range(6)],
             sorted(ran.lines()))

with case("carries bytes through a chain of daemons that found each other"):
    DATA = os.urandom(3000000)
    with open(place("in"), "wb") as file:
        file.write(DATA)
    with open(place("in"), "rb") as file:
        ran = launch("--arity", 1, "--", "sha256sum", stdin=file)
    check_eq([hashlib.sha256(DATA).hexdigest() + "  -"] * 4, ran.lines())

with case("asks srun for a step beside the user's own"):
    ran = launch("-N", 3, "--", "printenv", "SLURM_JOB_NODELIST",
                 "SLURM_NTASKS", env={
                     "FAKE_LOG": place("log"), "FAKE_ENV": place("env"),
                     "SLURM_NTASKS": "8", "SLURM_LABELIO": "1",
                     "SLURM_EXACT": "1", "SRUN_CPUS_PER_TASK": "1"})
    check_eq({"127.0.0.[2-5]": 3, "8": 3}, collections.Counter(ran.lines()))
    check_eq(1, read("log").count("\n"))
    check_has("--nodelist=127.0.0.2,127.0.0.3,127.0.0.4 ", read("log"))
    check_has("--nodes=3 --ntasks=3 --ntasks-per-node=1", read("log"))
    for option in ("--overlap", "--no-kill", "--kill-on-bad-exit=0",
                   "--wait=0", "--mpi=none", "--input=none",
                   "--cpu-bind=none", "--label"):
        check_has(option, read("log"))
    check_eq(["SLURM_JOB_ID=7"],
             re.findall("(?m)^SLURM_JOB_ID=.*", read("env")))
    for name in ("SLURM_NTASKS", "SLURM_LABELIO", "SLURM_EXACT",
                 "SRUN_CPUS_PER_TASK"):
        check_lacks(name, read("env"))

with case("shows the key to nobody: not to processes, nor in a daemon's "
          "environment"):
    keys = re.findall("(?m)^key (.*)", read("env"))
    check_eq([64], list(map(len, keys)))
    ran = launch("-n", 1, "--", "sh", "-c", r"""env; d=$PPID; while :; do
        tr "\0" "\n" </proc/$d/environ
        set -- $(sed "s/.*) //" /proc/$d/stat); d=$2; [ $d -gt 1 ] || break
    done
    exit 0""")
    check_has("SLURMD_NODENAME=127.0.0.2", ran.lines())
    check_eq(1, len(re.findall(rb"(?m)^XYLEM_BOOT_0=xylem-boot", ran.out)))

with case("gives processes nothing of the task that a daemon or the launcher "
          "is"):
    TASK = {"SLURM_PROCID": "3", "SLURM_LOCALID": "3", "SLURM_STEP_ID": "4",
            "PMI_RANK": "3", "PMIX_RANK": "3"}
    ran = launch("-N", 1, "--", "env", env=TASK)
    check_eq(sorted(ALLOCATION), sorted(
        name.decode() for name in
        re.findall(rb"(?m)^((?:SLURM|PMI)[^=]*)=", ran.out)))
    ran = launch("-N", 1, "--env", "PMI_RANK=9", "--", "printenv", "PMI_RANK",
                 env=TASK)
    check_eq(b"9\n", ran.out)

with case("chooses hosts within the allocation"):
    HI = ("--label=host", "--", "echo", "hi")
    ran = launch("-w", "127.0.0.[4-5]", *HI)
    check_eq(["127.0.0.4: hi", "127.0.0.5: hi"], sorted(ran.lines()))
    ran = launch("-x", "127.0.0.4", "-N", 3, *HI)
    check_eq(["127.0.0.2: hi", "127.0.0.3: hi", "127.0.0.5: hi"],
             sorted(ran.lines()))
    ran = launch("-w", "127.0.0.[5-7]", "--", "true", code=2)
    check_has("127.0.0.[6-7]: not in the allocation that Slurm has given",
              ran.said)
    launch("-N", 5, "--", "true", code=2)
    launch("-n", 8, "--", "true", code=2)
    ran = launch("-x", "127.0.0.9", "--", "true", code=2)
    check_has("--exclude: 127.0.0.9 is not among the hosts", ran.said)

with case("says what srun said when that does not start"):
    ran = launch("--", "true", code=1, env={
        "FAKE_REFUSE": "Unable to create step for job 7: Job has expired"})
    check_has("cannot start 4 daemons on 127.0.0.[2-5]: srun ended before "
              "xylemd was ready (exit status 1); its stderr: srun: error: "
              "Unable to create step for job 7: Job has expired", ran.said)
    live.check_all_gone()

with case("says what a daemon says that cannot work"):
    ran = launch("--interface", "no-such-net", "--", "true", code=1)
    check_has('no interface "no-such-net" that is up', ran.said)
    ran = launch("--xylemd", "/no/xylemd", "--", "true", code=1)
    check_has("/no/xylemd", ran.said)
    live.check_all_gone()

BAD = {"FAKE_BAD": "127.0.0.3 127.0.0.4"}
FEWER = ("--min-nodes", 2, "--label=host", "--", "printenv", "XYLEM_SIZE")

with case("ends when two of them cannot be started, long before its time is "
          "over"):
    ran = live.launch_telling("2 daemons", "--launch-timeout", 3600, "--",
                              "true", code=1, env=BAD)
    check_has("cannot start 2 daemons on 127.0.0.[3-4]: xylemd was not started "
              "(srun: Exited with exit code 2); its stderr: slurmstepd: "
              "error: execve(): ", ran.said)
    check_eq(1, ran.said.count("\n"))
    live.check_all_gone()

with case("goes on without those that cannot be started"):
    ran = launch("--launch-timeout", 3600, *FEWER, env=BAD)
    check_eq(["127.0.0.2: 2", "127.0.0.5: 2"], sorted(ran.lines()))
    live.check_all_gone()

with case("goes on without hosts that do not come, if it may"):
    ran = live.launch_telling(
        "2 daemons", "--launch-timeout", 4 * live.SLOW, *FEWER,
        env={"FAKE_MUTE": "127.0.0.3 127.0.0.4"})
    check_has("cannot start 2 daemons on 127.0.0.[3-4]: timed out: xylemd was "
              "not ready",
              ran.said)
    check_eq(["127.0.0.2: 2", "127.0.0.5: 2"], sorted(ran.lines()))
    live.check_all_gone()

with case("starts nothing for what is left on a lost host: Slurm ends that"):
    ran = launch("--on-node-loss", "continue", "-N", 3, "--", "sh", "-c",
                 '[ "$XYLEM_RANK" = 1 ] || exit 0\n'
                 'set -- $(sed "s/.*) //" /proc/$PPID/stat)\n'
                 'kill -KILL $2 $PPID', code=1,
                 env={"FAKE_LOG": place("log-loss")})
    check_has("127.0.0.3", ran.said)
    check_lacks("could not check", ran.said)
    check_eq(1, read("log-loss").count("\n"))
    live.check_all_gone()

with case("keeps to a range of ports"):
    ran = launch("--port-range", "34000-34099", "--arity", 1, "-v", "--",
                 "echo", "hi")
    check_eq(["hi"] * 4, ran.lines())
    ports = list(map(int, re.findall(r"(?m)is ready at .*:(\d+)$", ran.said)))
    check(ports and all(34000 <= port <= 34099 for port in ports), ports)

with case("is an error outside of an allocation"):
    ran = launch("--launcher", "slurm", "--", "true", code=2,
                 env=dict.fromkeys(ALLOCATION))
    check_has("--launcher slurm works only in an allocation of Slurm", ran.said)

sys.exit(live.end())
