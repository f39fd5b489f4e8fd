#!/usr/bin/env python3
"""Hosts of an allocation of Slurm whose daemons do not connect: each is named
soon, with its reason, and the job goes on without them when it is allowed
to."""
import subprocess
import sys

import rig
import installed
import live
import services
from live import check, check_eq

COUNT = 6


def run(*options, nodes="h[1-%d]" % COUNT, before="", salloc=()):
    """In an allocation: exit code, output, and what was said."""
    words = [live.XYLEM, "run", "--xylemd", installed.XYLEMD, "--label=host",
             *options, "--", "printenv", "XYLEM_SIZE"]
    done = subprocess.run(
        ["salloc", "-Q", "-w", nodes, *salloc, "sh", "-c",
         before + ' exec "$@"', "sh", *map(str, words)], text=True, check=False,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE)
    print("#", *done.stderr.splitlines(), sep="\n#   ")
    live.check_gone(60)
    return done.returncode, sorted(done.stdout.split("\n")[:-1]), done.stderr


def telling(text, *options):
    """Runs it again, three times at most, until this is said: failures of one
    second are told together, if they come so close."""
    for _ in range(3):
        got = run(*options)
        if text in got[2]:
            break
    return got


def not_installed(hosts):
    """Long before the time of the launch is over."""
    installed.put(hosts, "h3", ".none")
    installed.put(hosts, "h5", ".none")
    code, out, said = telling("h[3,5]", "--launch-timeout", 3600)
    check_eq((1, []), (code, out))
    check("cannot start 2 daemons on h[3,5]: xylemd was not started (srun: "
          "Exited with exit code 2); its stderr: slurmstepd" in said, said)
    check("No such file" in said and installed.XYLEMD in said, said)


def mixed(hosts):
    """Each reason has its line, and the others run."""
    installed.put(hosts, "h2", ".old")
    code, out, said = telling("h[3,5]: ", "--launch-timeout", 3600,
                              "--min-nodes", 3)
    check_eq((0, ["h1: 3", "h4: 3", "h6: 3"]), (code, out), said)
    check("daemons on h[3,5]: " in said, said)
    check("h2: " in said and "9.8.7" in said, said)
    check("starting again without them, on 3 hosts" in said, said)


def nobody_listens(hosts, slurm):
    """srun cannot start a task on h4, and kills those on all others: they are
    not blamed."""
    slurm.stop("h4")
    code, out, said = run("--launch-timeout", 3600, "--min-nodes", 2, "-x",
                          "h[2-3,5]")
    check_eq((0, ["h1: 2", "h6: 2"]), (code, out), said)
    check("cannot start the daemon on h4: xylemd was not started "
          "(srun: " in said,
          said)
    check("h1" not in said and "h6" not in said, said)


def no_allocation():
    """It is over when srun asks for a step."""
    code, out, said = run(nodes="h[1-2]", before="""
        scancel $SLURM_JOB_ID
        while squeue -h -j $SLURM_JOB_ID | grep -q .; do
            sleep 0.1; done;""")  # sleep-ok: between two looks
    check_eq((1, []), (code, out))
    check("cannot start 2 daemons on h[1-2]: srun ended before xylemd was "
          "ready (exit status 1)" in said and "expired" in said, said)


def drained(hosts):
    """No new jobs get there; this one has it still."""
    code, out, said = run(
        nodes="h[1,6]",
        before="scontrol update nodename=h6 state=drain reason=test;")
    check_eq((0, ["h1: 2", "h6: 2"], ""), (code, out, said))
    subprocess.run(["scontrol", "update", "nodename=h6", "state=resume"],
                   check=True)


def taken_away(hosts):
    """salloc --no-kill: the allocation loses a node. srun then starts nothing
    and does not say for which."""
    down = "scontrol update nodename=h6 state=down reason=test;"
    code, out, said = run("--min-nodes", 1, nodes="h[1,6]", before=down,
                          salloc=["--no-kill"])
    check_eq((0, ["h1: 1"]), (code, out), said)
    check("cannot start the daemon on h6: Slurm has removed it from this "
          "allocation" in said, said)
    # An error where it has come back by itself (ReturnToService).
    subprocess.run(["scontrol", "update", "nodename=h6", "state=resume"],
                   check=False, stderr=subprocess.DEVNULL)


def no_munge_there(hosts):
    """srun's own words for it are of no use."""
    check_eq(0, hosts.hosts["h3"].popen(
        ["mount", "-t", "tmpfs", "none", "/run/munge"]).wait())
    code, out, said = run("--min-nodes", 1, nodes="h[1,3]")
    check_eq((0, ["h1: 1"]), (code, out), said)
    check("cannot start the daemon on h3: xylemd was not started "
          "(srun: " in said
          and "munged up on that host" in said, said)
    check_eq(0, hosts.hosts["h3"].popen(["umount", "/run/munge"]).wait())


def no_munge_here():
    """Munge is missing on the launcher's host, for the launcher and its srun
    alone."""
    code, out, said = run("--launch-timeout", 3600, nodes="h1", before="""
        set -- unshare -m sh -c '
            mount -t tmpfs none /run/munge; exec "$@"' sh "$@";""")
    check_eq((1, []), (code, out))
    check("cannot start the daemon on h1: srun ended before xylemd was ready "
          "(exit status 1); its stderr: srun: error: " in said
          and "Did you start munged?" in said, said)


def main():
    rig.start()
    if services.Slurm.missing():
        live.skip("no %s here" % services.Slurm.missing())
    installed.install()
    with rig.Rig(COUNT) as hosts:
        slurm = services.Slurm(hosts)
        with live.case("no xylemd on two hosts"):
            not_installed(hosts)
        with live.case("no xylemd on two, another version on a third"):
            mixed(hosts)
        with live.case("no allocation any more"):
            no_allocation()
        with live.case("no munged for the launcher"):
            no_munge_here()
        with live.case("a host is drained"):
            drained(hosts)
        with live.case("a host is taken out of the allocation"):
            taken_away(hosts)
        with live.case("no munged on a host"):
            no_munge_there(hosts)
        with live.case("no slurmd on a host"):
            nobody_listens(hosts, slurm)
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
