#!/usr/bin/env python3
"""`xylem tree` shows the tree that `xylem run` builds, and reads well."""
import collections
import json
import os
import subprocess
import sys

import live
from live import check, check_eq

SWITCHES = 313
CONF = "".join("SwitchName=s%03d Nodes=node[%05d-%05d]\n" %
               (s, 32 * s + 1, min(32 * s + 32, 10000))
               for s in range(SWITCHES))


def tree(*args, code=0, **env):
    run = subprocess.run([live.XYLEM, "tree", *map(str, args)], check=False,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         env={**os.environ, "LC_ALL": "C", **env}, text=True)
    check_eq(code, run.returncode, run.stderr)
    return run.stdout if code == 0 else run.stderr


def conf(text=CONF):
    path = os.path.join(live.TMP, "topology.conf")
    with open(path, "w") as file:
        file.write(text)
    return path


def small():
    """Every line, as a person sees it."""
    path = conf("SwitchName=s1 Nodes=a[1-5]\nSwitchName=s2 Nodes=b[1-3],c1\n")
    text = tree("-w", "a[1-5],b[1-3],c1", "--topology", path, "--arity", 2)
    head, _, drawn = text.partition("\n\n")
    check_eq("9 hosts, arity 2, 0 of 9 links cross switches (=>)",
             head.splitlines()[0])
    check_eq("3 levels: 2 + 4 + 3", head.splitlines()[1])
    check("foretold: 4 KiB to all and the word back " in head, head)
    check_eq([", the launcher",
              "|- a1  s1",
              "|  `- a[2-3]  (2, 1 beneath each)",
              "|     `- a[4-5]  (2)",
              "`- b1  s2",
              "   |- b2",
              "   |  `- c1",
              "   `- b3"],
             [line[line.index(", "):] if n == 0 else line
              for n, line in enumerate(drawn.splitlines())])


def built():
    """The daemons that run starts are those, each by its parent."""
    path = conf("SwitchName=s1 Nodes=h[1-9]\nSwitchName=s2 Nodes=h[10-14]\n")
    hosts = "h[14,3,9,1-2,4-8,10-13]"
    options = ("--topology", path, "--arity", 3)
    nodes = json.loads(tree("-w", hosts, *options, "--json"))["nodes"]
    log = os.path.join(live.TMP, "calls")
    job = live.Remote(hosts, *options, "--", "sh", "-c",
                      "echo $XYLEM_NODE; exec cat",
                      stdin=subprocess.PIPE, RSH_LOG=log)
    seen = sorted(int(job.stdout.readline()) for _ in nodes[1:])
    check_eq(list(range(14)), seen, job.said())
    with open(log) as file:
        calls = [line.split() for line in file]
    got = {host: live.host_of(int(pid)) if int(pid) != job.proc.pid else ""
           for pid, host in calls}
    job.stdin.close()
    check_eq(b"", job.stdout.read(), "then")
    job.check_ok()
    check_eq(None, nodes[0]["node"], "the launcher has no number:")
    host_of = {node["node"]: node["host"] for node in nodes}
    host_of[None] = ""
    check_eq({node["host"]: host_of[node["parent"]] for node in nodes[1:]}, got)
    check_eq(["h14", "h3", "h9", "h1"], [host_of[place] for place in range(4)])


def names():
    """Where nothing tells the switches names do: groups stay together, and
    without groups neighbours do. Ranks go by the list all the same."""
    hosts = "r2n[1-4],r1n[10,9,2],r10n[1-5]"
    text = tree("-w", hosts, "--arity", 2)
    check("no switches known: guessed from the names of hosts" in text, text)
    check("12 hosts, arity 2, 0 of 12 links" in text or
          "12 hosts, arity 2, 1 of 12 links" in text, text)
    whole = json.loads(tree("-w", hosts, "--arity", 2, "--json"))
    check_eq("names", whole["by"])
    check_eq({"r1", "r2", "r10"}, {n["switch"] for n in whole["nodes"][1:]})
    check(whole["crossings"] <= 2, whole["crossings"])

    whole = json.loads(tree("-w", "n[7,10,3,1,9,8,2,6,5,4]", "--arity", 2,
                            "--json"))
    check_eq("order", whole["by"])
    beneath = collections.defaultdict(set)
    for node in reversed(whole["nodes"][1:]):
        beneath[node["node"]].add(int(node["host"][1:]))
        beneath[node["parent"]] |= beneath[node["node"]]
    for node, found in beneath.items():
        check_eq(max(found) - min(found) + 1, len(found), "beneath %s" % node)
    check_eq(["n7", "n10", "n3"], [
        next(n["host"] for n in whole["nodes"][1:] if n["node"] == number)
        for number in range(3)])

    for options in (("--topology", "none", "--arity", 2), ("--arity", 12)):
        whole = json.loads(tree("-w", hosts, *options, "--json"))
        check_eq("list", whole["by"])
        check_eq(list(range(12)), [n["node"] for n in whole["nodes"][1:]])


def named():
    """A run on such a tree, with each rank where the list has it."""
    hosts = ["r%dn%d" % (r, n) for n in (3, 1, 2) for r in (2, 1, 10)]
    job = live.Remote(",".join(hosts), "--arity", 2, "-l", "--", "sh", "-c",
                      "echo $XYLEM_NODE $(cat)", stdin=subprocess.PIPE)
    job.stdin.write(b"in\n")
    job.stdin.close()
    check_eq(["%d: %d in" % (n, n) for n in range(9)],
             sorted(job.stdout.read().decode().splitlines()), job.said())
    job.check_ok()


def modelled():
    """Another machine, another tree, of run as well: where the way is long and
    processors quick there are fewer levels."""
    path = os.path.join(live.TMP, "far")
    with open(path, "w") as file:
        file.write("latency 1ms        # of a link, one way\n"
                   "overhead 25us\nbandwidth 1.25G\n")
    for options, arity in (((), 3), (("--model", path), 10)):
        head = tree("-w", "node[001-100]", *options).splitlines()[0]
        check_eq("100 hosts, arity %d by the model" % arity, head)
    stats = os.path.join(live.TMP, "stats")
    for options, arity in (((), 3), (("--model", path), 8)):
        live.Remote("h[1-8]", *options, "--stats", stats, "--",
                    "true").check_ok()
        with open(stats) as file:
            check_eq(arity, json.load(file)["arity"], "arity of run:")
    with open(path, "a") as file:
        file.write("latency soon\n")
    check("far:4: a line is" in tree("-w", "a", "--model", path, code=2),
          "no words")


def large():
    """10,000 hosts fit a screen or two, and no line is wider than it says."""
    for options in ((), ("--arity", 16), ("--topology", conf()),
                    ("--topology", conf(), "--arity", 16)):
        text = tree("-w", "node[00001-10000]", *options)
        lines = text.splitlines()
        check(len(lines) <= 75, "%s: %d lines" % (options, len(lines)))
    whole = json.loads(tree("-w", "node[00001-10000]", "--topology", conf(),
                            "--arity", 16, "--json"))
    check(whole["crossings"] <= SWITCHES - 1, whole["crossings"])
    check_eq(whole["crossings"],
             sum(node["crosses"] for node in whole["nodes"][1:]))
    most = collections.Counter(n["parent"] for n in whole["nodes"][1:])
    check(max(most.values()) <= 16, "children: %d" % max(most.values()))
    check_eq(10000, len({n["host"] for n in whole["nodes"][1:]}))
    all_lines = tree("-w", "node[00001-10000]", "--topology", conf(), "--all")
    check(len(all_lines.splitlines()) > 100, "--all draws all")


def without_fabric():
    """The command asks libfabric nothing: a provider that does not exist is
    not noticed."""
    text = tree("-w", "a[1-3]", FI_PROVIDER="none", LD_BIND_NOW="")
    check(text.startswith("3 hosts"), text)


def wrong():
    check("cannot be opened" in tree("-w", "a", "--topology", "/nowhere",
                                     code=1), "no words")
    check("name more hosts" in tree("-w", "a", "-N", 2, code=2), "no words")
    check("there is no command" not in tree("-N", 4), "no tree")


with live.case("a small tree, line by line"):
    small()
with live.case("run builds what tree shows"):
    built()
with live.case("names of hosts tell the order and groups"):
    names()
with live.case("ranks go by the list whatever names tell"):
    named()
with live.case("the arity by the model of a file"):
    modelled()
with live.case("10,000 hosts"):
    large()
with live.case("no fabric is needed"):
    without_fabric()
with live.case("what cannot be is told as run does"):
    wrong()
sys.exit(live.end())
