#!/usr/bin/env python3
"""Removes one promise after another from the product, and counts how many
random jobs run until one fails.

usage: mutants.py [NAME...]     all of them, by parts of their names

A mutant is `xylem` and `xylemd` linked anew with a few changed sources; the
rest is the build's own. There are those of the promises below, and those of the
core that jobs with real daemons have to show (tests/sim/breaks.py, LIVE). Where
only jobs of one kind can show it, only these are run: what is told is how many
of the plain mix were drawn until then. SEEDS is how many are drawn at most
(600).
"""
import argparse
import contextlib
import io
import os
import random
import sys
import tempfile

import chaos
import command
import plan as plans

os.environ.setdefault("top_srcdir", os.path.join(command.HERE, "..", ".."))
os.environ["top_builddir"] = command.BUILD
sys.path.insert(0, os.path.join(command.HERE, "..", "sim"))
import breaks  # noqa: E402  (found by the line before)

LIMIT = int(os.environ.get("SEEDS") or 600)
# The name of each mutant, the kind of job that shows it (is_of()), and the
# changes.
PROMISES = {
    "left: nobody looks for what is left": ("leaves", [(
        "endpoints/spawn/leftover.c",
        "    if (what->of == NULL && !is_any_left(here))\n",
        "    if (what != NULL)\n")]),
    "left: the launcher does not look": ("leaves", [(
        "endpoints/run/sweeps.c",
        "void ep_run_sweep(struct run_sweeps *all, uint32_t node)\n{\n",
        "void ep_run_sweep(struct run_sweeps *all, uint32_t node)\n{\n"
        "    if (node > 0)\n        return;\n")]),
    "left: nobody has a mark": ("leaves", [(
        "endpoints/spawn/mark.c",
        "int ep_mark_find(pid_t pid, struct ep_mark *out)\n{\n",
        "int ep_mark_find(pid_t pid, struct ep_mark *out)\n{\n"
        "    if (pid > 0)\n        return OV_ENOENT;\n")]),
    "memory: open lines stay in memory": ("open", [(
        "endpoints/daemon/tails.c",
        "cfg->bytes / EP_CHUNK_BYTES + 2 * LINE_CHUNKS",
        "32 * cfg->bytes / EP_CHUNK_BYTES + 2 * LINE_CHUNKS")]),
    "refusal: one is enough": ("network", [
        ("overlay/" + file, old, new) for file, old, new
        in breaks.MUTANTS["one refusal is enough"]]),
    "refusal: of the launcher, nobody else is asked": ("network", [(
        "endpoints/hub/inquiry.c",
        "    ask_others(hub);\n}",
        "    conclude(hub);\n}")]),
    "FIFO: a report waits for its reader": ("stats-fifo", [(
        "endpoints/sys/path.c",
        "O_WRONLY | O_NONBLOCK | O_NOCTTY",
        "O_WRONLY | O_NOCTTY")]),
    "FIFO: no clock runs at a file": ("input-fifo hostfile-fifo", [(
        "endpoints/sys/prelude.c",
        "prelude.limit_ns != 0 && now_ns >= prelude.limit_ns",
        "prelude.limit_ns == 1")]),
    "folder: nobody removes those of dead sessions": ("launcher+helper", [(
        "pmix_api/folder.c",
        "void px_folder_sweep(const char *top, "
        "bool (*is_gone)(const char *mark))\n{\n",
        "void px_folder_sweep(const char *top, "
        "bool (*is_gone)(const char *mark))\n{\n"
        "    if (top != NULL)\n        return;\n")]),
    "folder: no owner is ever gone": ("launcher+helper", [(
        "endpoints/sys/owner.c",
        "bool ep_owner_is_gone(const struct ep_owner *whose, "
        "const struct ep_owner *own)\n{\n",
        "bool ep_owner_is_gone(const struct ep_owner *whose, "
        "const struct ep_owner *own)\n{\n"
        "    if (whose != own)\n        return false;\n")]),
    "room: what cannot be held is started": ("too-many", [(
        "endpoints/run/plan_room.c",
        "    if (ep_need_check(&need, &p->room, why) == 0)\n",
        "    if (ep_need_check(&need, &p->room, why) <= 0)\n")]),
}
# Mutants that matter only when a daemon dies with much data under way.
DEEP = (
    "those beneath do not send again",
    "frames go on from the base",
    "a hold forgets its base",
    "an ask is not passed on",
)
MUTANTS = {**PROMISES, **{"core: " + name: ("deep" if name in DEEP else "", [
    ("overlay/" + file, old, new)
    for file, old, new in breaks.MUTANTS[name]]) for name in breaks.LIVE}}


def changed(changes, folder):
    """Compiles the changed sources; the objects are linked before the
    archives."""
    texts = {}
    for path, old, new in changes:
        if path not in texts:
            with open(os.path.join(breaks.TOP, path)) as file:
                texts[path] = file.read()
        if texts[path].count(old) != 1:
            raise ValueError("%s has changed: %r" % (path, old))
        texts[path] = texts[path].replace(old, new)
    made = []
    for path, text in texts.items():
        name = os.path.join(folder, path)
        os.makedirs(os.path.dirname(name), exist_ok=True)
        with open(name, "w") as file:
            file.write(text)
        made.append(name[:-len(".c")] + ".o")
        breaks.checked([*breaks.compiler(), "-O1", "-w", "-std=gnu11",
                        "-DHAVE_CONFIG_H", "-I" + breaks.BUILD,
                        "-I" + breaks.TOP, "-c", "-o", made[-1], name])
    return made


def link(changes, folder):
    """Links xylem and xylemd in folder/commands, with everything that they
    look for."""
    objects = changed(changes, os.path.join(folder, "changed"))
    for name in ("commands", "endpoints"):
        os.mkdir(os.path.join(folder, name))
    for name in ("endpoints/.libs", "pmix_api"):
        os.symlink(os.path.join(breaks.BUILD, name),
                   os.path.join(folder, name))
    for name in ("xylem", "xylemd"):
        breaks.relink(os.path.join(folder, "commands", name), name, objects)


def is_of(kind, plan):
    """Any; one of that part of the mix; one whose processes leave others and
    that has a fault; one in which these are hit at once; one that is odd in one
    of these ways."""
    hit = [{who for who, _ in fault.get("whom", ())} for fault in
           plan["faults"]]
    return kind in ("", plan["mix"]) or plan["odd"] in kind.split() or \
        kind == "leaves" and hit and plan["jobs"][0]["leaves"] > 0 or \
        "+" in kind and any(set(kind.split("+")) <= whom for whom in hit)


def find(kind, first):
    """Returns how many jobs were drawn, how many ran until one failed, its
    seed, and why it failed."""
    names = [("n%d" if kind == "network" else "%d") % (first + number)
             for number in range(LIMIT)]
    todo = [plan for plan in map(plans.draw, names) if is_of(kind, plan)]
    wanted = argparse.Namespace(first=True, keep=None, jobs=chaos.SIDE_BY_SIDE *
                                (os.cpu_count() or 2))
    net, said = chaos.Net(wanted), io.StringIO()
    with contextlib.redirect_stdout(said):
        net.run(todo)
    if not net.failed:
        return LIMIT, net.count, None, ""
    seed = net.failed[0]
    return names.index(seed) + 1, net.count, seed, ", ".join(net.why)


def main():
    wanted = [name for name in MUTANTS if not sys.argv[1:] or any(
        part in name for part in sys.argv[1:])]
    first = random.SystemRandom().randrange(1 << 32)
    print("seeds: from %d" % first, flush=True)
    missed = 0
    for name in wanted:
        kind, changes = MUTANTS[name]
        with tempfile.TemporaryDirectory(prefix="xylem-mutant-") as folder:
            link(changes, folder)
            os.environ["XYLEM"] = os.path.join(folder, "commands", "xylem")
            drawn, ran, seed, why = find(kind, first)
        missed += seed is None
        print("%s: %s" % (name, "not by %d jobs (%d run)" % (
            drawn, ran) if seed is None else
            "job %d of the mix (%d run), seed %s: %s" % (
                drawn, ran, seed, why)), flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
