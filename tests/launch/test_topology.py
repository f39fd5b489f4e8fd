#!/usr/bin/env python3
"""--topology: ranks stay in the order of the list whatever the tree is, all of
the input and output arrives, nodes that die are repaired around, and the tree
crosses switches no more often than it must."""
import collections
import hashlib
import os
import random
import sys

import live
from live import check, check_eq
from loss import ECHO, Running, told

SWITCHES = {"s1": ["a%d" % n for n in range(1, 9)],
            "s2": ["b%d" % n for n in range(1, 8)],
            "s3": ["c%d" % n for n in range(1, 6)]}
CONF = """# a fabric of two levels
SwitchName=core Switches=s[1-3]
SwitchName=s1 Nodes=a[1-8] LinkSpeed=100
SwitchName=s2 Nodes=b[1-4],\\
b[5-7]
SwitchName=s3 Nodes=c[1-5]
"""
SWITCH = {host: name for name, hosts in SWITCHES.items() for host in hosts}


def conf(text=CONF):
    path = os.path.join(live.TMP, "topology.conf")
    with open(path, "w") as file:
        file.write(text)
    return path


def shuffled(seed):
    hosts = sorted(SWITCH)
    random.Random(seed).shuffle(hosts)
    print("# seed", seed)
    return hosts


def order():
    """Two processes on each; the list alone says who is which."""
    hosts = shuffled(1)
    job = live.Job("-w", ",".join(hosts), "--topology", conf(), "--arity", 2,
                   "--ppn", 2, "--label=host", "--", "sh", "-c",
                   "echo $XYLEM_RANK $XYLEM_NODE $XYLEM_LOCAL_RANK")
    want = ["%s: %d %d %d" % (host, 2 * n + i, n, i)
            for n, host in enumerate(hosts) for i in (0, 1)]
    check_eq(sorted(want), sorted(job.stdout.read().decode().splitlines()))
    job.check_ok()


def programs():
    """Two programs that share a host: who is where goes by the list."""
    job = live.Job("-w", "c1,a1,b1,a2,c2", "--topology", conf(), "--arity", 2,
                   "--label=host", "-n", 3, "--", "sh", "-c",
                   "echo one $XYLEM_RANK $XYLEM_NODE", ":", "-n", 2, "--",
                   "sh", "-c", "echo two $XYLEM_RANK $XYLEM_NODE")
    got = sorted(job.stdout.read().decode().splitlines())
    check_eq(["a1: one 1 1", "a2: two 3 3", "b1: one 2 2", "c1: one 0 0",
              "c2: two 4 4"], got, job.said())
    job.check_ok()


def exact():
    """All input to those who read, nothing to others, all output of each."""
    readers = {0, 3, 4, 5, 11, 19}
    data = random.Random(2).randbytes(3 * live.MIB)
    path = os.path.join(live.TMP, "data")
    with open(path, "wb") as file:
        file.write(data)
    job = live.Job("-w", ",".join(shuffled(2)), "--topology", conf(), "-l",
                   "--arity", 3, "--nodes-per-daemon", 1, "--input", path,
                   "-i", ",".join(map(str, sorted(readers))), "--", "sh", "-c",
                   "sha256sum; seq $((XYLEM_RANK * 1000)) "
                   "$((XYLEM_RANK * 1000 + 50000)) | sha256sum")
    got = collections.defaultdict(list)
    for line in job.stdout.read().decode().splitlines():
        rank, _, rest = line.partition(": ")
        got[int(rank)].append(rest.split()[0])
    job.check_ok()
    all_of, none = (hashlib.sha256(d).hexdigest() for d in (data, b""))
    for rank in range(len(SWITCH)):
        text = "".join("%d\n" % n for n in range(rank * 1000,
                                                 rank * 1000 + 50001))
        check_eq([all_of if rank in readers else none,
                  hashlib.sha256(text.encode()).hexdigest()], got[rank],
                 "rank %d:" % rank)


def spawned():
    """Daemons start those beneath them: each once, and a switch is entered by
    one link. The launcher is under none, its links do not count."""
    log = os.path.join(live.TMP, "calls")
    job = live.Remote(",".join(shuffled(3)), "--topology", conf(), "--arity",
                      3, "--", "sh", "-c", "echo up; exec cat",
                      stdin=live.subprocess.PIPE, RSH_LOG=log)
    for _ in SWITCH:
        check_eq(b"up\n", job.stdout.readline(), job.said())
    with open(log) as file:
        calls = [line.split() for line in file]
    check_eq(sorted(SWITCH), sorted(host for _, host in calls))
    entered, children = collections.Counter(), collections.Counter()
    for pid, host in calls:
        caller = live.host_of(int(pid)) if int(pid) != job.proc.pid else ""
        children[pid] += 1
        if caller and SWITCH[caller] != SWITCH[host]:
            entered[SWITCH[host]] += 1
    check(max(children.values()) <= 3, "children: %s" % children)
    check(sum(entered.values()) <= len(SWITCHES) - 1, "crossings: %s" % entered)
    job.stdin.close()
    check_eq(b"", job.stdout.read(), "then")
    job.check_ok()


def killed():
    """The first hosts of switches die, who lead into them, and one at random;
    those beneath are adopted and the others go on."""
    hosts = sorted(SWITCH)
    dead = [hosts.index("a1"), hosts.index("b1"), hosts.index("c1"), 5]
    running = Running(len(hosts), 3, ECHO, options=(
        "-w", ",".join(hosts), "--topology", conf(), "--nodes-per-daemon", 1))
    running.ask(b"one")
    running.kill(*dead)
    running.ask(b"two")
    running.await_lost(*dead)
    running.ask(b"three")
    times = running.end()
    said = told(running.job.said())
    check_eq(set(dead), set(said))
    check_eq(set(dead), set().union(*(ranks for _, ranks, _ in said.values())))
    check(len(times) >= 3, "%d were orphans" % len(times))


def unnamed():
    """A host that is not in the file is named to the user, and takes part all
    the same."""
    job = live.Job("-w", "a[1-3],x[1-9],b1", "--topology", conf(), "-l", "--",
                   "echo", "here")
    check_eq(["%02d: here" % n for n in range(13)],
             sorted(job.stdout.read().decode().splitlines()))
    check_eq(0, job.wait(), "exit code:")
    check("does not name x[1-9]: the tree has them under a switch of their "
          "own" in job.said(), job.said())


def scontrol():
    """Inside an allocation Slurm is asked for the topology; the job starts all
    the same when Slurm does not know it or does not answer in time."""
    hosts, folder = "h[1-8]", os.path.join(live.TMP, "bin")
    silence = "its answer is empty"
    os.makedirs(folder, exist_ok=True)
    for script, words in (
            ("echo SwitchName=s0 Level=0 LinkSpeed=1 Nodes='h[1,3,5,7]'; "
             "echo SwitchName=s1 Level=0 LinkSpeed=1 Nodes='h[2,4,6,8]'; "
             "echo SwitchName=s2 Level=1 Nodes='h[1-8]' Switches='s[0-1]'",
             None),
            ("echo no topology", "Slurm reports no switches: scontrol show"),
            ("echo SwitchName=s0 Nodes=x",
             "its answer names none of the hosts"),
            ("exit 1", silence),
            ("exec tail -f /dev/null", silence)):
        path = os.path.join(folder, "scontrol")
        with open(path, "w") as file:
            file.write("#!/bin/sh\n%s\n" % script)
        os.chmod(path, 0o755)
        env = {"PATH": folder + ":" + os.environ["PATH"], "SLURM_JOB_ID": "7"}
        for _ in range(3):
            job = live.Remote(hosts, "-v", "--arity", 2, "-l", "--", "echo",
                              "x", **env)
            check_eq(["%d: x" % n for n in range(8)],
                     sorted(job.stdout.read().decode().splitlines()))
            check_eq(0, job.wait(), job.said())
            if words == silence or silence not in job.said():
                break  # else it was too late, on a busy machine
        if words:
            check(words in job.said(), "no %r in %r" % (words, job.said()))
    tree = live.subprocess.run(
        [live.XYLEM, "tree", "-w", hosts, "--launcher", "ssh", "--topology",
         "none", "--json"], stdout=live.subprocess.PIPE, check=False,
        env={**os.environ, **env})
    check(b'"switch":"' not in tree.stdout, "none asks nobody")


def wrong():
    for text, words in (
            ("SwitchName=s1 Nodes=a1\nSwitchName=s2 Nodes=a1\n",
             "topology.conf:2: a1 is under the switch s1 already"),
            ("nonsense\n", "topology.conf:1: \"nonsense\" is not understood"),
            ("", "topology.conf:1: no host is named")):
        job = live.Job("-w", "a1", "--topology", conf(text), "true")
        check_eq(2, job.wait(), "exit code:")
        check(words in job.said(), "no %r in %r" % (words, job.said()))
    job = live.Job("-N", 3, "--topology", conf(), "true")
    check_eq(2, job.wait(), "exit code:")
    check("give --hosts or --hostfile" in job.said(), job.said())


with live.case("ranks go by the list, not by the tree"):
    order()
with live.case("several programs go by the list, too"):
    programs()
with live.case("input and output are exact on a tree of a table"):
    exact()
with live.case("daemons start each other along the table"):
    spawned()
with live.case("nodes that lead into switches die"):
    killed()
with live.case("hosts that the file does not name"):
    unnamed()
with live.case("Slurm is asked inside an allocation"):
    scontrol()
with live.case("files that are wrong are told, with the line"):
    wrong()
sys.exit(live.end())
