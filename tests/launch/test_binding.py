#!/usr/bin/env python3
"""--bind: each process is bound to the processors of its turn."""
import os
import sys

import live
from live import case, check_eq, check_has, launch


def members(text):
    """The numbers of a list as 0-2,5."""
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def topology(cpu, name):
    with open(f"/sys/devices/system/cpu/cpu{cpu}/topology/{name}") as file:
        return file.read().strip()


MINE = os.sched_getaffinity(0)
# The processors that may be used here, by core, as the kernel tells of them.
CORES = sorted(sorted(MINE.intersection(members(text))) for text in {
    topology(cpu, "thread_siblings_list") for cpu in MINE})
BOUND = ("--", "sed", "-n", r"s/^Cpus_allowed_list:\s*//p",
         "/proc/self/status")
RSH = ("--rsh", live.RSH, "--interface", "lo")


def bound(*args, **more):
    """The processors of each rank of a job, in order."""
    ran = launch("-l", *args, *BOUND, **more)
    told = dict(line.split(": ") for line in ran.lines())
    return [list(members(told[str(rank)])) for rank in range(len(told))]


def take_turns(found):
    """Checks that each core has one of every `number of cores' consecutive
    processes; there are twice as many processes as cores."""
    check_eq(2 * len(CORES), len(found), "processes:")
    for at in (0, len(CORES)):
        check_eq(CORES, sorted(found[at:at + len(CORES)]), f"from {at} on:")


with case("--bind core: each core has its turn, and the first comes again"):
    found = bound("--bind", "core", "-N", 1, "--ppn", 2 * len(CORES))
    take_turns(found)
    check_eq(found[0], found[len(CORES)])

with case("virtual nodes share the machine, so ranks take turns"):
    take_turns(bound("--bind", "core", "-N", 2 * len(CORES),
                     "--nodes-per-daemon", 1))

with case("on hosts the processes of each take turns from the first core on"):
    take_turns(bound("--bind", "core", "-w", "a,b", *RSH,
                     "--ppn", len(CORES)))

with case("--bind socket, and none"):
    free = bound("--bind", "none", "-N", 2)
    check_eq(2, len(free))
    check_eq(free, bound("-N", 2))
    sockets = {topology(cpu, "physical_package_id") for cpu in MINE}
    if len(sockets) == 1:
        check_eq(free, bound("--bind", "socket", "-N", 2))

with case("who may use one processor only is bound to that one"):
    ONE = CORES[0][:1]
    check_eq([ONE] * 3, bound(
        "--bind", "core", "-N", 3,
        preexec_fn=lambda: os.sched_setaffinity(0, ONE)))

with case("a binding that cannot be is told"):
    if os.cpu_count() < 32:
        ran = launch("--bind", "socket", "-N", 2, "--", "sleep", 100, code=1,
                     env={"HWLOC_XMLFILE": os.path.join(
                         live.TESTS, "data", "two-sockets.xml")})
        check_has("rank 1 on ", ran.said)
        check_has("cannot be bound (--bind): Invalid argument",
                  ran.said)
    NONE = {"HWLOC_XMLFILE": os.path.join(os.environ["top_srcdir"],
                                          "configure.ac")}
    for where in (("-w", "a,b", *RSH), ("-N", 2)):
        ran = launch("--bind", "core", *where, "--", "sleep", 100, code=1,
                     env=NONE)
        check_has("the topology of this machine cannot be loaded", ran.said)
    ran = launch("--bind", "thread", "true", code=2)
    check_has("--bind takes core, socket or none, not 'thread'", ran.said)

with case("nothing is left"):
    live.check_all_gone()

sys.exit(live.end())
