#!/usr/bin/env python3
"""--ppn N:core and N:socket, with machines that hwloc has recorded."""
import collections
import os
import sys

import live
from live import case, check_eq, check_has, launch

DATA = os.path.join(os.environ["top_srcdir"], "tests", "data")
TWO, ONE, ODD, NUMA = (os.path.join(DATA, name + ".xml") for name in (
    "two-sockets", "one-core", "cut-down", "many-numa"))
NONE = os.path.join(os.environ["top_srcdir"], "configure.ac")  # no machine
HI = ("echo", "hi")


def here(machine, *args, **more):
    """A job where this machine is that one."""
    return launch(*args, env={"HWLOC_XMLFILE": machine}, **more)


def counts(want, machine, *args):
    """Checks that this many processes run on each node, in order."""
    ran = here(machine, *args, "--", "sh", "-c",
               "echo $XYLEM_NODE $XYLEM_RANK")
    found = collections.Counter(int(line.split()[0]) for line in ran.lines())
    check_eq(want, [found[node] for node in sorted(found)])


def count(ran, *words):
    """How often it printed each of these."""
    return [sum(word in line for line in ran.lines()) for word in words]


with case("so many for each socket or core"):
    counts([2], TWO, "--ppn", "1:socket")
    counts([6, 6], TWO, "-N", 2, "--ppn", "3:socket")
    counts([64], TWO, "--ppn", "2:core")
    counts([16], NUMA, "--ppn", "4:socket")
    counts([64], NUMA, "--ppn", "1:core")
    counts([1, 1, 1], ONE, "-N", 3, "--ppn", "1:core")
    counts([5], ONE, "--ppn", "5:socket")

with case("what a container was not given does not count"):
    counts([3], ODD, "--ppn", "1:core")
    counts([4], ODD, "--ppn", "2:socket")

with case("with -n it is what a node takes at most"):
    counts([2, 2, 1], TWO, "-n", 5, "--ppn", "1:socket")
    counts([3, 2], TWO, "-n", 5, "-N", 2, "--ppn", "2:socket")
    ran = here(TWO, "-n", 5, "-N", 2, "--ppn", "1:socket", "true", code=2)
    check_has("asked for 5 processes, but 2 nodes with 2 each (--ppn)",
              ran.said)

with case("each program counts for itself"):
    ran = here(TWO, "-N", 2, "--ppn", "1:socket", "echo", "A", ":",
               "--ppn", 2, "echo", "B", ":", "echo", "C")
    check_eq([4, 4, 2], count(ran, "A", "B", "C"))

# Machines of the hosts a, b and c; each says that it was asked.
RSH = os.path.join(live.TMP, "rsh")
LAUNCHES = os.path.join(live.TMP, "launches")
with open(RSH, "w") as file:
    file.write("""eval "HWLOC_XMLFILE=\\$$1"
export HWLOC_XMLFILE
echo "$1" >>"$TMPDIR/launches"
shift
exec sh -c "$*"
""")
ON_HOSTS = ("-w", "a,b,c", "--rsh", "sh " + RSH, "--interface", "lo",
            "--label=host")


def hosts(machines, *args, launches=None, runs=None, launcher=TWO, **more):
    """A job on the hosts with these machines: how many processes each host
    runs, and how often daemons are started."""
    open(LAUNCHES, "w").close()
    ran = launch(*ON_HOSTS, *args, **more, env={
        **dict(zip("abc", machines)), "HWLOC_XMLFILE": launcher})
    if runs is not None:
        found = collections.Counter(line[0] for line in ran.lines())
        check_eq(runs, " ".join(f"{host}:{found[host]}"
                                for host in sorted(found)))
    if launches is not None:
        check_eq(launches, live.read_file(LAUNCHES).count(b"\n"), "launches:")
    return ran


def chain(*machines_and_args, **more):
    """The same in a chain of daemons."""
    machines, args = machines_and_args[:3], machines_and_args[3:]
    return hosts(machines, "--arity", 1, *args, **more)


with case("hosts that are like the launcher's run as many, after one launch"):
    chain(TWO, TWO, TWO, "--ppn", "1:socket", *HI,
          runs="a:2 b:2 c:2", launches=3)

with case("others run as many as they have, after a second one"):
    ran = chain(TWO, ONE, ODD, "--ppn", "1:core", *HI,
                runs="a:32 b:1 c:3", launches=6)
    check_eq("", ran.said)
    ran = chain(ONE, ODD, TWO, "-v", "--ppn", "2:socket", *HI,
                runs="a:2 b:4 c:4", launches=6)
    check_has("the hosts differ from what was assumed", ran.said)

with case("what makes no difference makes no second launch"):
    chain(TWO, TWO, ODD, "--ppn", "1:socket", *HI,
          runs="a:2 b:2 c:2", launches=3)

with case("each program counts for itself on hosts that differ, too"):
    ran = chain(TWO, ONE, ODD, "--ppn", "1:socket", "echo", "A", ":",
                "--ppn", 1, "echo", "B", ":", "-n", 2, "echo", "C",
                runs="a:5 b:2 c:3", launches=6)
    check_eq([5, 3, 2], count(ran, "A", "B", "C"))

with case("with -n they are filled up to that"):
    ran = chain(TWO, ONE, ODD, "-n", 35, "--ppn", "1:core", "sh", "-c",
                "echo $XYLEM_RANK", runs="a:32 b:1 c:2", launches=8)
    check_has("b: 32", ran.lines())
    chain(TWO, ONE, ODD, "-n", 8, "-N", 3, "--ppn", "2:socket", *HI,
          runs="a:3 b:2 c:3", launches=6)

with case("a wrong wish says what the hosts have"):
    ran = chain(ODD, ODD, ODD, "-n", 10, "--ppn", "1:core", "true",
                code=2, launches=4)
    check_has("asked for 10 processes, but 3 nodes with 3 each (--ppn)",
              ran.said)
    ran = chain(TWO, ONE, ODD, "-n", 40, "--ppn", "1:core", "true", code=2)
    check_has("asked for 40 processes, but the hosts have room for 36",
              ran.said)

with case("it may have more than this host has"):
    ran = hosts((TWO, TWO, TWO), "-n", 90, "--ppn", "1:core", *HI,
                launcher=ONE)
    check_eq([90], count(ran, "hi"))

with case("-n fills hosts to their cores where nobody names slots"):
    chain(ODD, ODD, ODD, "-n", 5, *HI, runs="a:3 b:2", launches=3)
    chain(ONE, ODD, TWO, "-n", 5, *HI, runs="a:1 b:3 c:1", launches=7)

with case("without such a wish nobody looks at a machine"):
    chain(NONE, NONE, NONE, "--ppn", 2, *HI, runs="a:2 b:2 c:2", launches=3)
    ran = here(NONE, "-N", 2, "--ppn", 2, "-l", *HI)
    check_eq([4], count(ran, "hi"))
    ran = chain(TWO, NONE, TWO, "--ppn", "1:core", *HI, code=1)
    check_has("b: the topology of this machine cannot be loaded", ran.said)

with case("wrong usage is told"):
    for wrong in ("1:thread", "1:", ":core", "0:core", "x:core", "1:none",
                  "1:core:core", "99999:core"):
        check_has("--ppn takes ", launch("--ppn", wrong, "true", code=2).said)
    ran = here(NUMA, "--ppn", "16000:core", "true", code=2)
    check_has("--ppn 16000:core makes 1024000 processes on a node with 64",
              ran.said)

with case("nothing is left"):
    live.check_all_gone()

sys.exit(live.end())
