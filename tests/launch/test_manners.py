#!/usr/bin/env python3
"""The environment, directory, umask and limits of processes on other hosts, by
ssh and by Slurm, are as a user of srun expects them; their numbers follow from
the machine of each host."""
import collections
import os
import pwd
import resource
import subprocess
import sys

import rig
import live
import services
from live import check, check_eq

COUNT = 3
SITE = os.path.join(live.TMP, "site")
HERE = os.path.join(SITE, "here")  # not on h2
# The process's own words, a line each; limits are soft ones.
LOOK = """
echo "$A|$HOSTNAME"; pwd; echo "$PWD"; umask
for l in n c s t; do ulimit -S -$l; done
ulimit -H -c
printenv XYLEM_RANK
"""
# What launches has settings of its own, none of which the hosts have.
SETTINGS = """
umask 027; ulimit -S -n 400; ulimit -c 0; ulimit -S -s 6000; ulimit -S -t 7000
cd "$0"; export A='two  words
and a line'; exec "$@"
"""


def by_ssh(*words):
    return ["sh", "-c", SETTINGS, HERE, live.XYLEM, "run", "--launcher", "ssh",
            "-w", f"h[1-{COUNT}]", *words]


def by_slurm(*words):
    return ["salloc", "-Q", "-N", str(COUNT), "sh", "-c", SETTINGS, HERE,
            live.XYLEM, "run", "--launcher", "slurm", *words]


def run(words, **more):
    done = subprocess.run(words, text=True, check=False, timeout=60 * live.SLOW,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, **more)
    live.check_gone(60)
    return done


def fields(text, host):
    """What the process on one host has said."""
    mark = host + ": "
    return [line[len(mark):] for line in text.splitlines()
            if line.startswith(mark)]


def finds(launch, elsewhere):
    """All is the launcher's; the directory where it exists. What is hidden is
    told once, with the host."""
    done = run(launch("--label=host", "--", "sh", "-c", LOOK),
               env={**os.environ, "HOSTNAME": "launcher", "PWD": "/x"})
    print("#", *done.stderr.splitlines(), sep="\n#   ")
    check_eq(0, done.returncode, done.stderr)
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    for number, host in enumerate(["h1", "h2", "h3"]):
        got = fields(done.stdout, host)
        check_eq(["two  words", "and a line|launcher"], got[:2], host)
        check(host == "h2" or [HERE] * 2 == got[2:4], f"{host}: {got}")
        check_eq(["0027", "400", "0", "6000", "7000"], got[4:9], host)
        check_eq("unlimited" if hard < 0 else str(hard // 512), got[9],
                 host + ": a hard limit is the host's:")
        check_eq(str(number), got[10], host)
        if host == "h2":
            check_eq([elsewhere] * 2, got[2:4])
    check_eq(1, len(done.stderr.splitlines()), done.stderr)
    check("xylem: h2: cannot change to the launcher's directory (No such"
          in done.stderr, done.stderr)


def must_be_there(launch):
    """With -D a host without it ends the job, by name."""
    done = run(launch("-D", HERE, "--", "sleep", "1000"))
    check_eq((1, ""), (done.returncode, done.stdout))
    check(f"rank 1 on h2 cannot be started: chdir of '{HERE}': No such file"
          in done.stderr, done.stderr)


def counts_cores(launch):
    """The hosts are other machines than the launcher's, and than each other:
    nothing starts before that is known, and then each runs its own number."""
    data = os.path.join(os.path.abspath(os.environ["top_srcdir"]), "tests",
                        "data")
    xylemd = os.path.join(live.TMP, "by-host")
    services.write(xylemd, f"""#!/bin/sh
case $(hostname) in
h1) machine=two-sockets ;;
h2) machine=one-core ;;
*) machine=cut-down ;;
esac
HWLOC_XMLFILE={data}/$machine.xml exec \
    {os.path.join(live.BUILD, "commands", "xylemd")} "$@"
""", 0o755)
    done = run(launch("--xylemd", xylemd, "--ppn", "1:core", "--label=host",
                      "--", "printenv", "XYLEM_SIZE"))
    check_eq(0, done.returncode, done.stderr)
    check_eq({"h1: 36": 32, "h2: 36": 1, "h3: 36": 3},
             dict(collections.Counter(done.stdout.splitlines())))


def launches():
    if services.Sshd.is_here():
        yield "ssh", by_ssh, services.Sshd, pwd.getpwuid(0).pw_dir
    if not services.Slurm.missing():
        yield "Slurm", by_slurm, services.Slurm, "/tmp"


def main():
    rig.start()
    if not list(launches()):
        live.skip("no sshd and no Slurm here")
    os.makedirs(HERE)
    os.mkdir(SITE + ".none")
    with rig.Rig(COUNT) as hosts:
        check_eq(0, hosts.hosts["h2"].popen(
            ["mount", "--bind", SITE + ".none", SITE]).wait())
        for name, launch, start, elsewhere in launches():
            start(hosts)
            with live.case(name + ": environment, directory, limits"):
                finds(launch, elsewhere)
            with live.case(name + ": -D"):
                must_be_there(launch)
            with live.case(name + ": a process for each core"):
                counts_cores(launch)
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
