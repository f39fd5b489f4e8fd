#!/usr/bin/env python3
# timeout: 600
"""Break a rule of the core, and see the simulator's checks catch it.

Each mutant is one change to one file of overlay/. It is compiled beside the
core as it is, linked with the swarm of random jobs, and has to fail there: by a
rule that breaks, an assertion, or a run that does not end. The core without a
change has to pass. A build with sanitizers skips it.

usage: mutants.py [NAME...]     all when none is named
"""
import os
import shlex
import subprocess
import sys
import tempfile

TOP = os.environ.get("top_srcdir", ".")
BUILD = os.environ.get("top_builddir", ".")
SEEDS = 1000
NODES = 30  # small trees: more repairs a second

# A child that sends its records again now and then, as it may: for mutants of
# what the root does with repeats.
REPEATS = (
    "up.c",
    "        if (end > up->unsent)\n"
    "            up->unsent = end;\n"
    "    }\n",
    "        if (end > up->unsent)\n"
    "            up->unsent = end;\n"
    "    }\n"
    "    static unsigned turn;\n"
    "    if (turn++ % 4 == 0) {\n"
    "        up->cursor = up->accepted + 1;\n"
    "        up->at_cursor = up->kept.first;\n"
    "        for (uint64_t seq = up->taken; seq < up->accepted; seq++)\n"
    "            up->at_cursor = up->at_cursor->next;\n"
    "    }\n")

# What is within the rules, or made good by another rule: has to pass.
# Acknowledgements that are lost with their link are told again; who holds one
# that has left asks about it, and hears so.
HARMLESS = {
    "records are sent again": [REPEATS],
    "a repeat is not answered": [(
        "sink.c",
        "else if (rec.seq <= member->accepted)",
        "else if (0)")],
    "nobody is told who has left": [(
        "settle.c",
        "    else\n        ov_place_say(node, place,\n"
        "                     &(struct ov_word){\n"
        "                         .kind = OV_ITEM_LEFT,",
        "    else if (state == OV_MEMBER_LOST)\n"
        "        ov_place_say(node, place,\n"
        "                     &(struct ov_word){\n"
        "                         .kind = OV_ITEM_LEFT,")],
}

# name: changes, each (file, what stands there, what the mutant has)
MUTANTS = {
    "a repeat is accepted": [REPEATS, (
        "sink.c",
        "if (rec.seq == member->accepted + 1)",
        "if (rec.seq <= member->accepted + 1)")],
    "an acknowledgement is dropped": [(
        "node.c",
        "return on_ack(node, item, out);",
        "return node->now_ns % 7 != 0 ? on_ack(node, item, out) : 0;")],
    "the down window is off by one": [(
        "down.c",
        "        stream->head - stream->base >= stream->window)\n"
        "        return 0;\n"
        "    return stream->window -",
        "        stream->head - stream->base > stream->window)\n"
        "        return 0;\n"
        "    return stream->window + 1 -")],
    "a limit is off by one": [(
        "place.c",
        "uint64_t limit = place->drained + frames - place->leftover;",
        "uint64_t limit = place->drained + frames + 1 - place->leftover;")],
    "the limit of the parent is passed": [(
        "up.c",
        "node->up.sent < node->up.limit &&",
        "node->up.sent <= node->up.limit &&")],
    "records are numbered from two on": [(
        "up.c",
        ".seq = piece->seq + r,",
        ".seq = piece->seq + r + 1,")],
    "a base forgets the own process": [(
        "down.c",
        "if (stream->is_target && stream->local < low.base) {",
        "if (0 && stream->is_target && stream->local < low.base) {")],
    "a base forgets a child": [(
        "down.c",
        "flow->base < low.base && place->members + place->asks > 0) {",
        "flow->base < low.base && i != 1) {")],
    "the root acknowledges what is only accepted": [(
        "serve.c",
        "{member->node, member->accepted, member->taken}",
        "{member->node, member->accepted, member->accepted}")],
    "the own window is not kept": [(
        "up.c",
        "if (window < least) {",
        "if (0 && window < least) {")],
    "the number of kept records is not kept": [(
        "up.c",
        "if (records + spare >= node->cfg->kept_max ||",
        "if (0 * (records + spare) > node->cfg->kept_max ||")],
    "data takes every slot": [(
        "link.c",
        "return !is_data || link->data_in_flight < cfg->data_slots;",
        "return !is_data || link->data_in_flight <= cfg->data_slots;")],
    "a buffer is kept for ever": [(
        "down.c",
        "for (; stream->first < stream->base; stream->first++)\n"
        "        ov_out_put(",
        "for (; stream->first < stream->base; stream->first++)\n"
        "        if (stream->first % 5 != 4) ov_out_put(")],
    "a frame is sent twice": [(
        "down.c",
        "    flow->sent++;\n",
        "    flow->sent += flow->sent != 3 || node->now_ns % 2;\n")],
    "a stream is open to too few": [(
        "down.c",
        "place->flows[slot].is_needed = is_needed(node, slot, place->child);",
        "place->flows[slot].is_needed = place->child % 5 != 3;")],
    "a heartbeat is forgotten": [(
        "link.h",
        "return link->spoke_ns + cfg->timers.heartbeat_ns / 5 * 2;",
        "return link->spoke_ns + cfg->timers.heartbeat_ns * 3;")],
    "goodbye overtakes those beneath": [(
        "down.c",
        "if (node->goodbye == 0 || stream->base < node->goodbye)",
        "if (node->goodbye == 0 || stream->head < node->goodbye)")],
    "a link is closed twice": [(
        "loss.c",
        "    ov_out_act(out, OV_ACT_CLOSE)->link = index;\n"
        "    ov_loss_on_down(node, index, hold, out);",
        "    ov_out_act(out, OV_ACT_CLOSE)->link = index;\n"
        "    ov_out_act(out, OV_ACT_CLOSE)->link = index;\n"
        "    ov_loss_on_down(node, index, hold, out);")],
    "a batch forgets a record": [(
        "up.c",
        "for (uint32_t r = 0; r < piece->count; r++, kept = kept->next) {\n"
        "        struct ov_record rec",
        "for (uint32_t r = 0; r < piece->count; r++, kept = kept->next) {\n"
        "        if (r == 1)\n            kept = kept->next;\n"
        "        struct ov_record rec")],
    # --- repair
    "a claim is taken in that cannot be served": [(
        "down.c",
        "cursor_of(claim, cursors, stream->number).head < stream->first &&",
        "cursor_of(claim, cursors, stream->number).head > UINT64_MAX - 1 &&")],
    "an orphan takes others in": [(
        "state.h",
        "return node->tree.is_attached ||",
        "return true || node->tree.is_attached ||")],
    "a claim has consumed what it has": [(
        "down.c",
        "(struct ov_cursor){stream->number, stream->base, stream->head};",
        "(struct ov_cursor){stream->number, stream->head, stream->head};")],
    "a lost link is taken for a dead child": [(
        "node.c",
        "if (ev->is_refused)",
        "if (1)")],
    "everybody beneath a dead child is given up with it": [(
        "hold.c",
        "(!is_early(node, place) || member->node == place->child);",
        "(place->kind == OV_PLACE_HOLD_REFUSED || !is_early(node, place) ||\n"
        "            member->node == place->child);")],
    "those beneath do not send again": [(
        "join.c",
        "    ov_up_resend(node);\n    pass_path_on(node);",
        "    pass_path_on(node);")],
    "who has moved is granted": [(
        "settle.c",
        "if (member == NULL || !member->is_marked)\n            return false;",
        "if (member == NULL || !member->is_marked)\n            return true;")],
    "a claim says nothing of those beneath": [(
        "serve.c",
        "            !part_add(words, &part, &ref))",
        "            0 && !part_add(words, &part, &ref))")],
    "who has finished is declared lost": [(
        "hold.c",
        "bool is_final = member->is_final;",
        "bool is_final = false;")],
    "what an earlier link left is not counted": [(
        "place.c",
        "place->leftover = leftover_of(node, child);",
        "place->leftover = 0 * leftover_of(node, child);")],
    "children are never let go": [(
        "loss.c",
        "if (node->now_ns >= letgo_ns(node))",
        "if (node->now_ns >= UINT64_MAX - 1)")],
    "frames go on from the base": [(
        "down.c",
        "flow->sent = cursor->head;",
        "flow->sent = cursor->base;")],
    "a hold forgets its base": [(
        "down.c",
        "if (place->kind != OV_PLACE_FREE && flow->is_needed &&",
        "if (place->kind == OV_PLACE_LINK && flow->is_needed &&")],
    "an adopter has all the children that come": [(
        "adopt.c",
        "ov_place_children(node) >= node->cfg->children_max)",
        "ov_place_children(node) >= 60000)")],
    "an ask dies with the link it came by": [(
        "place.c",
        "    if (place->coming < OV_DISCARD)\n",
        "    for (uint32_t i = 0; i < node->tree.claims->asks_used; i++)\n"
        "        if (node->tree.claims->asks[i].state > OV_ASK_COMING &&\n"
        "            node->tree.claims->asks[i].place ==\n"
        "                ov_place_index(node, place))\n"
        "            ov_asks_drop(node, &node->tree.claims->asks[i]);\n"
        "    if (place->coming < OV_DISCARD)\n")],
}


def run(command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, **more)


def archive(name):
    """The archive behind a libtool library."""
    folder, base = os.path.split(name)
    return os.path.join(BUILD, folder, ".libs", base.replace(".la", ".a"))


def sources(name):
    """What has to be compiled anew for a change to this file of overlay/."""
    if name.endswith(".c"):
        return [name]
    return sorted(f for f in os.listdir(f"{TOP}/overlay") if f.endswith(".c"))


def compile_one(folder, source, program):
    compiler = shlex.split(os.environ.get("CC", "cc"))
    libraries = [archive("sim/libsim.la"), archive("overlay/libovcore.la"),
                 archive("topo/libtoposhape.la")]
    return run(compiler + ["-O1", "-w", "-std=gnu11", f"-I{folder}",
                                   f"-I{TOP}", "-o", program,
                                   f"{TOP}/tests/sim/swarm.c"]
               + source + libraries)


def swarm(program, seeds):
    return run([program, "-x", "-n", str(NODES), "1", str(seeds)])


def write_mutant(changes, folder):
    """The changed files below folder/overlay; returns what to compile, or a
    sentence about what is wrong."""
    os.makedirs(f"{folder}/overlay")
    compiled = set()
    for file, old, new in changes:
        with open(f"{TOP}/overlay/{file}", encoding="utf-8") as source:
            text = source.read()
        if text.count(old) != 1:
            return f"overlay/{file} has changed: {old!r} stands there " \
                   f"{text.count(old)} times"
        with open(f"{folder}/overlay/{file}", "w", encoding="utf-8") as mutant:
            mutant.write(text.replace(old, new))
        compiled.update(sources(file))
    changed = {file for file, _, _ in changes}
    return [f"{folder if name in changed else TOP}/overlay/{name}"
            for name in sorted(compiled)]


def what_broke(ran):
    lines = [line for line in ran.stdout.splitlines()
             if line.startswith("BROKEN") or ".c:" in line
             or "did not" in line]
    return lines[0] if lines else f"status {ran.returncode}"


def judge(name, changes, folder):
    """None when the mutant was caught (a harmless one: passed), else what is
    wrong."""
    paths = write_mutant(changes, folder)
    if isinstance(paths, str):
        return paths
    built = compile_one(folder, paths, f"{folder}/swarm")
    if built.returncode != 0:
        return "does not compile:\n" + built.stdout
    ran = swarm(f"{folder}/swarm", SEEDS)
    if name in HARMLESS:
        if ran.returncode != 0:
            return "fails: " + what_broke(ran)
        print(f"passed: {name}")
        return None
    if ran.returncode == 0:
        return "was not caught: " + ran.stdout.strip()
    print(f"caught: {name}: {what_broke(ran)}", flush=True)
    return None


def main(names):
    bad = 0
    if os.environ.get("XYLEM_SAN"):
        print("the plain build shows it, and much faster")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as top:
        program = f"{top}/swarm"
        built = compile_one(top, [], program)
        if built.returncode != 0:
            sys.exit("the swarm does not compile:\n" + built.stdout)
        if swarm(program, SEEDS).returncode != 0:
            sys.exit("the core as it is fails")
        everything = {**HARMLESS, **MUTANTS}
        for number, name in enumerate(names or everything):
            wrong = judge(name, everything[name], f"{top}/{number}")
            if wrong:
                print(f"WRONG: {name}: {wrong}", flush=True)
                bad += 1
    sys.exit(bad > 0)


if __name__ == "__main__":
    main(sys.argv[1:])
