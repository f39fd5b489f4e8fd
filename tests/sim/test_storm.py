#!/usr/bin/env python3
"""Storms at 10,000 nodes: many orphans at once, and their cost for the root.

Each job sends stdin to all nodes of a tree of arity 16: 16 nodes are on the
first level, 256 on the second, 4096 on the third. Times are virtual; dials are
spread over 40 ms.
"""
import json
import os
import re
import subprocess
import sys

XYLEM = os.path.join(os.environ.get("top_builddir", "."), "commands/xylem")
STRIKE = "kill@1ms:"
# All orphans dial within this time after the strike, and are adopted.
ADOPTED = "45ms"


def run(nodes=(), *options):
    """The figures of a run in which these die."""
    fails = [f"--fail={STRIKE}{node}" for node in nodes]
    ran = subprocess.run(
        [XYLEM, "sim", "-N", "10000", "--arity", "16", "--size", "1200K",
         "--on-node-loss", "continue", "--json", "-", *fails, *options],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    figures = json.loads(ran.stdout[ran.stdout.index("\n{"):])["runs"][0]
    figures["root_words"] = int(re.search(r"of the root (\d+)", ran.stdout)[1])
    return figures


bad = 0


def check(truth, what):
    global bad
    if not truth:
        bad += 1
        print("FAILED:", what)


def storm(what, nodes, orphans, frames, calm):
    """`frames`: on the root's links, in words, for each orphan at most."""
    early = run(nodes, "--limit", ADOPTED)["repair"]
    whole = run(nodes)
    repair = whole["repair"]
    cost = (whole["root_words"] - calm["root_words"]) / orphans
    print(f"{what}: {early['adopted']} of {orphans} adopted after {ADOPTED}, "
          f"{cost:.2f} frames each at the root, over at "
          f"{whole['end_ns'] / 1e6:.0f} ms")
    for count in ("orphans", "adopted", "hellos", "welcomes"):
        check(early[count] == orphans, f"{what}: {count} {early[count]}")
        check(repair[count] == orphans, f"{what}: {count} {repair[count]}")
    check(repair["verdicts"] == len(nodes), f"{repair['verdicts']} are lost")
    check(cost <= frames, f"{what}: {cost} frames for each orphan")
    check(whole["end"] == "loss", f"{what}: ends {whole['end']}")
    # The dead are given up after a twentieth of the heartbeat time.
    check(whole["end_ns"] < 600e6, f"{what}: ends at {whole['end_ns']} ns")


def crowd(what, nodes, orphans):
    """More orphans than their grandparent takes in, and more dead than it has
    room to hold each by itself: these are given up as soon as any."""
    whole = run(nodes)
    repair = whole["repair"]
    print(f"{what}: over at {whole['end_ns'] / 1e6:.0f} ms")
    check(repair["adopted"] == orphans, f"{what}: {repair['adopted']} adopted")
    check(repair["verdicts"] == len(nodes), f"{repair['verdicts']} are lost")
    check(whole["end_ns"] < 600e6, f"{what}: ends at {whole['end_ns']} ns")


if os.environ.get("XYLEM_SAN"):
    print("skipped: the plain build shows it, and much faster")
    sys.exit(77)
calm = run()
check(calm["end"] == "well", f"left alone it ends {calm['end']}")
# Each of 9999 nodes asks up to the root: the asks of a link share its frames.
check(calm["root_words"] < 600, f"{calm['root_words']} frames of words")
storm("a child of the root dies", [1], 16, 8, calm)
# One child of each of the 16 nodes beneath node 1. Each adopts 16, and all ask
# by node 1: in frames of their own asks and answers would be two for each.
storm("16 nodes in the middle die", range(273, 529, 16), 256, 1.5, calm)
crowd("9 children of one node die", range(17, 26), 144)
sys.exit(bad > 0)
