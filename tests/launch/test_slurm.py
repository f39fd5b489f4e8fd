#!/usr/bin/env python3
"""Many hosts by Slurm: slurmctld, and a slurmd on each host, all of them
real."""
import hashlib
import os
import re
import subprocess
import sys

import rig
import live
import services
from live import check, check_eq

import pmix

COUNT = live.full(64, 16)
SIZE = live.full(64, 2) * live.MIB


def srun_works(hosts, slurm):
    """What the rest relies on. The log of each slurmd has the step."""
    done = subprocess.run(["srun", "-N", str(COUNT), "hostname"], text=True,
                          stdout=subprocess.PIPE, check=False)
    check_eq(0, done.returncode, "exit code:")
    check_eq(sorted(hosts.names), sorted(done.stdout.split()))
    for name in hosts.names:
        check("exited with exit code 0" in slurm.log(name),
              "not in the log of slurmd on " + name)


def inside(*words, **more):
    """A command in an allocation of all hosts; what came of it."""
    return subprocess.run(["salloc", "-Q", "-N", str(COUNT), *map(str, words)],
                          text=True, check=False, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          **more)


def one_step_for_all(hosts):
    """Nothing but an allocation is given. Each host runs its process, the
    words are whole, and xylem itself is silent."""
    done = inside(live.XYLEM, "run", "--arity", 3, "--label=host", "--",
                  "hostname")
    check_eq((0, ""), (done.returncode, done.stderr))
    check_eq(sorted(live.labels(hosts.names, "%s")),
             sorted(done.stdout.splitlines()))
    live.check_gone()


def job(*args):
    return live.Job("--launcher", "slurm", "--arity", 3, "--label=host", *args,
                    wrap=("salloc", "-Q", "-N", str(COUNT)),
                    stdin=subprocess.PIPE)


def exact(hosts, slurm):
    """Stdin to all, byte by byte. That each host's slurmd has started a task
    is in its log."""
    before = {name: tasks(slurm, name) for name in hosts.names}
    running = job("--", "sh", "-c", "cat | sha256sum; hostname")
    feeder = live.Feeder(running.stdin, SIZE)
    feeder.start()
    got = sorted(running.stdout.read().decode().splitlines())
    running.check_ok()
    right = feeder.digest(hashlib.sha256())
    check_eq(sorted(live.labels(hosts.names, right + "  -") +
                    live.labels(hosts.names, "%s")), got)
    check_eq({name: 1 for name in hosts.names},
             {name: tasks(slurm, name) - before[name] for name in before},
             "tasks that slurmd has started:")
    live.check_gone()


def tasks(slurm, name):
    return len(re.findall(r"task \d+ \(\d+\) started", slurm.log(name)))


def loses(hosts, lost, number, strike):
    """A host with others beneath it goes: all others go on, and are whole."""
    running = job("--heartbeat", 1, "--on-node-loss", "continue", "--", "sh",
                  "-c", "echo up; exec cat")
    for _ in hosts.names:
        running.stdout.readline()
    strike(lost)
    running.stdin.write(b"on\n")
    running.stdin.flush()
    rest = [name for name in hosts.names if name != lost]
    check_eq(sorted(live.labels(rest, "on\n")),
             sorted(running.stdout.readline().decode() for _ in rest),
             running.said())
    live.eventually(lambda: "node %d on %s is lost" % (number, lost)
                    in running.said(), 20, lost + " is lost")
    running.stdin.close()
    check_eq(b"", running.stdout.read(), "then")
    check_eq(1, running.wait(), "exit code:")
    live.check_gone(20)


def kill_daemon(hosts, lost):
    os.kill(next(pid for pid, name in live.ours().items()
                 if name == "xylemd" and hosts.host_of(pid) == lost), 9)


def beside_steps_of_the_user(hosts):
    """A step has all processors of all hosts; another one runs beside it, and
    a job that xylem's own processes start with srun, too."""
    script = ("srun -n %d sleep 1000 & sleeper=$!\n"
              "until test \"$(squeue -h -s -o %%i | grep -c '\\.0')\" = 1; do"
              " sleep 0.05; done\n"  # sleep-ok: between two looks
              "%s run -- hostname; code=$?\n"
              "kill $sleeper; exit $code" % (COUNT, live.XYLEM))
    done = inside("sh", "-c", script, timeout=50 * live.SLOW)
    check_eq(0, done.returncode, done.stderr)
    check_eq(sorted(hosts.names), sorted(done.stdout.splitlines()))
    live.check_gone()


def nothing_is_left_of_a_killed_launcher():
    """Whose daemons are tasks of another host's slurmd."""
    script = ("%s run -- sh -c 'echo here; exec sleep 1000' & run=$!\n"
              "wait $run" % live.XYLEM)
    job = subprocess.Popen(["salloc", "-Q", "-N", str(COUNT), "sh", "-c",
                            "echo $$; " + script], stdout=subprocess.PIPE,
                           stdin=subprocess.DEVNULL, text=True)
    shell = int(job.stdout.readline())
    for _ in range(COUNT):
        check_eq("here\n", job.stdout.readline())
    for pid in live.descendants(shell):
        if live.read_proc(pid, "comm").decode().strip() == "xylem":
            subprocess.run(["kill", "-KILL", str(pid)], check=True)
            break
    job.wait(60 * live.SLOW)
    live.check_gone()


def bad_daemons_are_told():
    """What srun says of a program that is not there comes as the reason."""
    done = inside(live.XYLEM, "run", "--xylemd", "/no/xylemd", "--", "true")
    check_eq(1, done.returncode)
    check("/no/xylemd" in done.stderr, done.stderr)
    live.check_gone()


def tools_by_munge():
    """libpmix shows a credential of munge by itself where munged answers. A
    launcher that is told so lets nobody in without."""
    if not os.access(pmix.ASK, os.X_OK):
        return
    gate = pmix.Gate()
    running = live.Job("-v", "-N", 1, "--", "sh", "-c", pmix.Gate.WAIT,
                       gate.path, env={**os.environ, "PMIX_MCA_psec": "munge"})
    pmix.wait_up(running)
    tool = pmix.Asker(running)
    check(tool.connect(), "by munge, without a word")
    other = pmix.Asker(running, env={**os.environ, "PMIX_MCA_psec": "native"})
    live.eventually(lambda: "libpmix has not accepted it" in running.said(), 60,
                    "the one without is shut out")
    other.proc.kill()  # its library waits on
    check_eq(None, other.connect(), "without munge")
    check_eq("SUCCESS", tool.query("pmix.qry.ns")[1])
    check_eq(0, tool.end())
    gate.open()
    running.check_ok()


def main():
    rig.start()
    if services.Slurm.missing():
        live.skip("no %s here" % services.Slurm.missing())
    with rig.Rig(COUNT) as hosts:
        slurm = services.Slurm(hosts)
        with live.case("srun reaches each host"):
            srun_works(hosts, slurm)
        with live.case("tools show a credential of munge"):
            tools_by_munge()
        with live.case("one srun starts the daemons of an allocation"):
            one_step_for_all(hosts)
        with live.case("%d MiB by Slurm" % (SIZE // live.MIB)):
            exact(hosts, slurm)
        with live.case("beside steps of the user"):
            beside_steps_of_the_user(hosts)
        with live.case("nothing is left of a killed launcher"):
            nothing_is_left_of_a_killed_launcher()
        with live.case("a daemon that cannot be started is told"):
            bad_daemons_are_told()
        with live.case("kill -9 of a daemon"):
            loses(hosts, "h2", 1, lambda lost: kill_daemon(hosts, lost))
        with live.case("a host dies, its slurmd too"):
            loses(hosts, "h3", 2, hosts.crash)
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
