#!/usr/bin/env python3
"""Breaks the launcher on purpose: the proof must name the process whose output
is wrong.

Each case is one change to a file of the launcher. It is compiled anew, linked
with all else as it is, and runs a job that has to end with exit code 1 and the
name of the process whose output is not as it was written, while that of the
others is complete. A build with sanitizers skips it.
"""
import glob
import json
import os
import re
import shlex
import subprocess
import sys

import live
from live import check, check_eq

TOP = os.environ["top_srcdir"]
NODES, BROKEN, LINES = 5, 3, 40000
SINK = "overlay/sink.c"
ACCEPT = """        if (rec.seq == member->accepted + 1)
            hand_on(node, place, member, &rec, out);
"""
# The first record of the process's stdout, once.
ONCE = f"""        static unsigned turn;
        bool is_it = rec.seq == member->accepted + 1 &&
            rec.rank == {BROKEN} && rec.channel == 1 && rec.len_bytes > 0 &&
            turn++ == 0;
"""
ON_RECORD = """static void on_record(void *arg, const struct ov_act *act,
                      const struct ov_slice *slice)
{
"""
HUB_EVENTS = "const struct ep_hub_events ep_run_hub_events = {"

# name: file, changes (what stands there, what the mutant has), reason
MUTANTS = {
    "a record is dropped": (SINK, [(ACCEPT, ONCE + """
        if (is_it)
            member->accepted = rec.seq;
        else if (rec.seq == member->accepted + 1)
            hand_on(node, place, member, &rec, out);
""")], "missing"),
    "a record comes twice": (SINK, [(ACCEPT, ONCE + """
        if (is_it)
            hand_on(node, place, member, &rec, out);
        if (is_it || rec.seq == member->accepted + 1)
            hand_on(node, place, member, &rec, out);
""")], "extra"),
    "a bit is flipped": (SINK, [(ACCEPT, ONCE + """
        if (is_it)
            buf->mem[place->rec_data + rec.len_bytes / 2] ^= 1;
        if (rec.seq == member->accepted + 1)
            hand_on(node, place, member, &rec, out);
""")], "altered"),
    "a record is named for another process": (SINK, [(ACCEPT, ONCE + """
        if (is_it)
            rec.rank--;
        if (rec.seq == member->accepted + 1)
            hand_on(node, place, member, &rec, out);
""")], "missing"),
    "an exit is dropped": (SINK, [(ACCEPT, f"""
        struct ov_record less = rec;
        if (rec.source == {BROKEN + 1} && rec.channel == 0 &&
            rec.seq == member->accepted + 1 && rec.len_bytes >= 10) {{
            const uint8_t *word = buf->mem + place->rec_data;

            while (word[0] == 8 || word[0] == 1) /* PIDS, STARTED before it */
                word += 3 + word[1] + 256 * word[2];
            if (word[0] == 2)
                less.len_bytes = 0;
        }}
        if (rec.seq == member->accepted + 1)
            hand_on(node, place, member, &less, out);
""")], "no end"),
    "two records change their places": ("endpoints/run/up.c", [
        (ON_RECORD, ON_RECORD.replace("on_record(", "on_record_as_it_is(")),
        (HUB_EVENTS, ON_RECORD + f"""    static struct ov_act held_act;
    static struct ov_slice held;
    static unsigned turn;
    bool is_its = act->rec.rank == {BROKEN} && act->rec.channel == 1;

    if (is_its && ++turn == 1) {{
        held_act = *act;
        held = *slice;
        return;
    }}
    on_record_as_it_is(arg, act, slice);
    if (is_its && turn == 2)
        on_record_as_it_is(arg, &held_act, &held);
}}

""" + HUB_EVENTS)], "altered"),
}


def libraries():
    """What the launcher links: archives, and libraries behind them."""
    archives, behind = [], []
    for name in ("pmix_api/libpx", "endpoints/libep", "job/libjob",
                 "text/libtext", "sim/libsim", "topo/libtopo",
                 "topo/libtoposhape", "overlay/libovcore"):
        folder, base = os.path.split(os.path.join(live.BUILD, name))
        archives.append(os.path.join(folder, ".libs", base + ".a"))
        with open(os.path.join(folder, base + ".la")) as file:
            found = re.search(r"dependency_libs='(.*)'", file.read())
        behind += [word for word in found[1].split()
                   if word.startswith(("-l", "-L", "-pthread"))]
    return [*linked_in(), *archives, *behind, "-lm"]


def linked_in():
    """The links over tcp, where the launcher holds them."""
    archive = shlex.split(os.environ.get("FABRIC_ARCHIVE", ""))
    folder = os.path.join(live.BUILD, "endpoints")
    return archive and [*glob.glob(f"{folder}/ofi/*xylem-only_tcp.o"),
                        f"{folder}/.libs/libofi.a", *archive]


def build(folder, source, changes):
    """A launcher with this change; its path."""
    with open(os.path.join(TOP, source)) as file:
        text = file.read()
    for old, new in changes:
        if text.count(old) != 1:
            raise ValueError(f"{source} has changed: {old!r} stands there "
                             f"{text.count(old)} times")
        text = text.replace(old, new)
    os.makedirs(folder)
    mutant = os.path.join(folder, os.path.basename(source))
    with open(mutant, "w") as file:
        file.write(text)
    program = os.path.join(folder, "xylem")
    done = subprocess.run(
        [*shlex.split(os.environ.get("CC", "cc")), "-O1", "-w", "-std=gnu11",
         "-pthread", f"-I{TOP}", f"-I{live.BUILD}", "-o", program, mutant,
         *glob.glob(f"{live.BUILD}/commands/xylem-*.o"),
         *glob.glob(f"{live.BUILD}/commands/*/xylem-*.o"), *libraries()],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise ValueError("does not compile:\n" + done.stdout)
    return program


def run(program):
    """The job: exit code, words, report. Its output is larger than any
    record."""
    stats = os.path.join(live.TMP, "stats")
    done = subprocess.run(
        [program, "run", "-N", str(NODES), "--arity", "2",
         "--nodes-per-daemon", "1", "--no-pmix", "--xylemd",
         os.path.join(live.BUILD, "commands", "xylemd"), "--stats", stats,
         "--", "seq", str(LINES)],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, timeout=60 * live.SLOW,
        env={**os.environ,
             "XYLEM_MODULE_DIR": f"{live.BUILD}/endpoints/.libs"})
    with open(stats) as file:
        return done.returncode, done.stderr, json.load(file)


def names_whose(number, source, changes, reason):
    program = build(f"{live.TMP}/{number}", source, changes)
    code, said, stats = run(program)
    words = [line for line in said.splitlines() if "incomplete" in line]
    gaps = [gap for gap in stats["proof"]["gaps"] if gap["rank"] == BROKEN]
    print("#", *words)
    check_eq(1, code, "exit code: " + said)
    check_eq(1, len(words), "lines: " + said)
    check(any(f"rank {BROKEN} on " in line for line in words), said)
    check_eq({reason}, {gap["reason"] for gap in gaps}, "reasons:")
    check_eq("stdout", gaps[0]["channel"])
    check(not [gap for gap in stats["proof"]["gaps"]
               if gap["rank"] not in (BROKEN - 1, BROKEN)], "others suffer")
    size = sum(len(str(number)) + 1 for number in range(1, LINES + 1))
    check_eq(None if reason == "no end" else size, gaps[0]["expected_bytes"])
    check((gaps[0]["delivered_bytes"] < size) == (reason == "missing") and
          (gaps[0]["delivered_bytes"] > size) == (reason == "extra"),
          f"bytes: {gaps[0]}")


def as_it_is():
    code, said, stats = run(build(f"{live.TMP}/as-it-is", SINK, []))
    check_eq(0, code, "exit code: " + said)
    check_eq([], stats["proof"]["gaps"])
    check_eq(2 * NODES, stats["proof"]["complete"])


def main():
    if os.environ.get("XYLEM_SAN"):
        live.skip("the plain build shows it")
    with live.case("the launcher as it is"):
        as_it_is()
    for number, (name, mutant) in enumerate(MUTANTS.items()):
        with live.case(name):
            names_whose(number, *mutant)
    return live.end()


if __name__ == "__main__":
    sys.exit(main())
