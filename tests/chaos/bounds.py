"""The numbers that docs/ promises, in one place: bounds of memory and time.

Times are for a machine that has nothing else to do; those who wait count only
what such a machine would need (Patience), so that a busy one ends no job.
"""
import os
import time

import odd

MIB = 1 << 20
SLOW = float(os.environ.get("XYLEM_TEST_SLOW") or 1)
LOOK_S = 0.1  # the most seconds for which a single look counts

# docs/architecture.md, "Sizes and memory". The launcher reports how many nodes
# were adopted; here all of them count as adopted by the launcher.
BASE = 32 * MIB
NODE = MIB
PROCESS = 7 << 9
LAUNCHER_NODE, LAUNCHER_PROCESS, ADOPTED = 1 << 10, 512, 36 << 10
# Launcher and helper together (tests/harness/pmix.py).
HELPER = 32 * MIB

GIVE_UP = 4.5   # heartbeats until a silent node is lost
FORSAKEN = 7  # until a node that reaches no other node ends by itself
GONE_S = 15     # "seconds after its end", at most
LAUNCH_S = 60  # until a host that does not answer is given up; a host that does
                # not join has the same time again
JOB_S = 120  # the length of a job of this size without any fault
NODE_S = 2  # the additional time for each node
REFUSAL_S = 30  # until an impossible job is reported


def memory(name, nodes, processes):
    """The most memory that a process of xylem may take: a daemon with this
    many nodes and processes, or the launcher of this many."""
    if name.endswith("xylemd"):
        return BASE + (nodes - 1) * NODE + processes * PROCESS
    if name.endswith("xylem-pmix"):
        return BASE + HELPER
    return BASE + nodes * (LAUNCHER_NODE + ADOPTED) + \
        processes * LAUNCHER_PROCESS


def end_s(plan):
    """How long a job may take, whatever its faults are: each fault may hold
    the job up until the node is given up, and several may follow each
    other."""
    if plan["odd"] in odd.REFUSED:
        return REFUSAL_S
    beats = GIVE_UP + FORSAKEN + GIVE_UP * len(plan["faults"])
    return JOB_S + 2 * LAUNCH_S + NODE_S * plan["nodes"] + \
        beats * plan["heartbeat"] + \
        sum(fault.get("for_s") or 0 for fault in plan["faults"])


def gone_s(plan, is_far_off):
    """How long it may take until nothing is left; a process that reaches no
    other one gives up by itself."""
    return GONE_S + (FORSAKEN + 1) * plan["heartbeat"] * is_far_off


class Patience:
    """Used as `while patience.look():`, for this many seconds of an idle
    machine."""

    def __init__(self, seconds, nap_s=0.02):
        self.left_s, self.last_s = seconds * SLOW, time.monotonic()
        self.nap_s = nap_s

    def look(self):
        now_s = time.monotonic()
        self.left_s -= min(now_s - self.last_s, LOOK_S)
        self.last_s = now_s
        time.sleep(self.nap_s)  # sleep-ok: a pause between two looks
        return self.left_s > 0
