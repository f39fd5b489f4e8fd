"""Breaks the rules of the core and of jobs, one at a time, and builds such a
core.

A change is (a file of overlay/, or a path, a text that is there once, the text
that the mutant has instead); a mutant is a list of changes. These tests have to
notice: the swarm and unit tests (mutants.py), scenarios (scenarios.py), and
jobs with real daemons (tests/loss/test_mutants.py).
"""
import os
import shlex
import subprocess

TOP = os.path.abspath(os.environ.get("top_srcdir", "."))
BUILD = os.path.abspath(os.environ.get("top_builddir", "."))

# A child that sends its records again now and then, as it may: for mutants of
# what the root does with repeats.
REPEATS = (
    "batch.c",
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

# Asks that came by the link of a place: those of the child itself, or others.
DROP_ASKS = (
    "place.c",
    "static void forget_due(",
    "static void drop_asks(struct ov_node *node, struct ov_place *place,\n"
    "                      bool is_own)\n"
    "{\n"
    "    struct ov_claims *claims = node->tree.claims;\n"
    "    for (uint32_t i = 0; i < claims->asks_used; i++)\n"
    "        if (claims->asks[i].state > OV_ASK_COMING &&\n"
    "            claims->asks[i].place == ov_place_index(node, place) &&\n"
    "            (claims->asks[i].node == place->child) == is_own)\n"
    "            ov_asks_drop(node, &claims->asks[i]);\n"
    "}\n"
    "static void forget_due(")

# Within the rules: has to pass.
ALLOWED = {"records are sent again": [REPEATS]}

# Rules that others back, in the jobs of the swarm at least: name: changes and
# the unit test that holds the rule.
BACKED = {
    "a repeat is not answered": ([(
        "sink.c",
        "else if (rec.seq <= member->accepted)",
        "else if (0)")], "test_sink"),
    "nobody is told who has left": ([(
        "settle.c",
        "    else\n        ov_place_say(node, place,\n"
        "                     &(struct ov_word){\n"
        "                         .kind = OV_ITEM_LEFT,",
        "    else if (state == OV_MEMBER_LOST)\n"
        "        ov_place_say(node, place,\n"
        "                     &(struct ov_word){\n"
        "                         .kind = OV_ITEM_LEFT,")], "test_adopt"),
    # The swarm needs some thousand jobs for this one.
    "who has moved is granted": ([(
        "settle.c",
        "if (member == NULL || !member->is_marked)\n            return false;",
        "if (member == NULL || !member->is_marked)\n            return true;")],
        "test_adopt"),
    "who has asked is asked about": ([(
        "hold.c",
        "return is_held(node, place, member) && member->asks == 0 &&\n"
        "           (!is_early(node, place)",
        "return is_held(node, place, member) &&\n"
        "           (!is_early(node, place)")], "test_hold"),
    "a question about who has asked is passed on": ([(
        "hold.c",
        "if (member != NULL && member->asks > 0)\n            continue;",
        ""), (
        "hold.c",
        "if (member->state == OV_MEMBER_CONFIRMED && member->asks == 0 &&\n"
        "            member->attach",
        "if (member->state == OV_MEMBER_CONFIRMED &&\n"
        "            member->attach")], "test_hold"),
}

# Nothing is lost without these rules, and no rule of the checks is broken, but
# time is: a scenario counts.
COSTLY = {
    "an attempt goes on while the adopter asks": [(
        "dial.c",
        "{\n    node->tree.attempt_ns = OV_NEVER;\n}\n\nvoid ov_dial_done",
        "{\n}\n\nvoid ov_dial_done")],
    "who was held up judges others": [(
        "node.c",
        "    if (node->now_ns <= node->links_ns + late_ns)\n        return;",
        "    if (node->now_ns <= node->links_ns + late_ns || true)\n"
        "        return;")],
}

# The swarm meets the lack of it once in 20,000 jobs, or its checks allow for
# what else goes wrong there: a scenario counts.
RARE = {
    "the root asks no second witness": [(
        "witness.c",
        "link = is_root ? child_to_ask(node, member->node) :",
        "link = is_root ? (child_to_ask(node, member->node), OV_NO_LINK) :")],
    "the root has no room beside what is left of lost links": [(
        "node_memory.c",
        "        wanted +=\n"
        "            (uint32_t)cfg->standing_max * cfg->up_frames + "
        "cfg->lent_frames;\n",
        "")],
}

# The swarm catches these.
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
        "batch.c",
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
        "return link->spoke_ns + ov_times_beat_ns(&cfg->times);",
        "return link->spoke_ns + cfg->times.heartbeat_ns * 3;")],
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
        "batch.c",
        "for (uint32_t r = 0; r < piece->count; r++, kept = kept->next) {\n"
        "        struct ov_record rec",
        "for (uint32_t r = 0; r < piece->count; r++, kept = kept->next) {\n"
        "        if (r == 1)\n            kept = kept->next;\n"
        "        struct ov_record rec")],
    "a base is not reported": [(
        "down.c",
        "        if (!stream->is_report_due)\n",
        "        if (!stream->is_report_due ||\n"
        "            (stream->number != 0 && stream->base > 4))\n")],
    "frames are lent without end": [(
        "place.c",
        "if (!place->is_wanting || "
        "node->tree.claims->lent >= node->cfg->lent_frames)",
        "if (!place->is_wanting)")],
    "who has no use for a frame keeps it": [(
        "up.c",
        "    if (!has_data && can_send(node, out)) {\n        give_back",
        "    if (0) {\n        give_back")],
    "what was lent on a lost link never comes back": [(
        "place.c",
        "end_loan(node, place->limit - place->received);",
        "end_loan(node, 0);")],
    # --- equal lines
    "a run comes before an earlier one of its source": [(
        "fold.c", "i < RUNS_TRIED && next > fold->at.cursor;",
        "i < RUNS_TRIED && next > 0;")],
    "what was sent in shared frames is not noted": [(
        "batch.c", "    mark_sent(up, pieces);\n    drain(",
        "    if (!is_shared)\n        mark_sent(up, pieces);\n    drain(")],
    "a run has a record too few": [(
        "fold.c", "run->times = (uint32_t)times;",
        "run->times = (uint32_t)times - (times > 4);")],
    "a piece goes before one of its child that does not fit": [(
        "share.c", "if (!is_chosen[i] && is_same_place(&piece[i], &piece[at]))",
        "if (0 && is_same_place(&piece[i], &piece[at]))")],
    # --- repair
    "an ask is not passed on": [(
        "adopt.c",
        "    } else {\n        ov_ask_due(tree->claims, ask);",
        "    } else if (node->streams[0].head == 0) {\n"
        "        ov_ask_due(tree->claims, ask);")],
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
        "if (ev->is_refused && ev->seq == 0)",
        "if (ev->seq == 0)")],
    "one refusal is enough": [(
        "hold.c",
        "    if (member != NULL && !member->is_seconded) {\n",
        "    if (member != NULL)\n"
        "        second(node, member);\n"
        "    if (member != NULL && !member->is_seconded) {\n")],
    "a witness that is not refused counts": [(
        "hold.c",
        "member = is_refused ? find_held(node, who) : NULL;",
        "member = find_held(node, who);")],
    "everybody beneath a dead child is given up with it": [(
        "hold.c",
        "(!is_early(node, place) || member->is_seconded);",
        "(!is_early(node, place) || place->kind == OV_PLACE_HOLD_REFUSED);")],
    "who is dialled beneath a dead child is taken for dead": [(
        "hold.c",
        "        const struct ov_member *member = "
        "&members->table[place->probe_at];",
        "        struct ov_member *member = &members->table[place->probe_at];"),
        (
        "hold.c",
        "        ov_out_act(out, OV_ACT_PROBE)->node = member->node;\n",
        "        member->is_refused = member->is_seconded = true;\n")],
    "a node is dialled whose address nobody told": [(
        "hold.c",
        ": member->is_addressed);",
        ": true);")],
    "those beneath do not send again": [(
        "join.c",
        "    ov_up_resend(node);\n    pass_path_on(node);",
        "    pass_path_on(node);")],
    "a claim says nothing of those beneath": [(
        "serve.c",
        "            !part_add(words, &part, &ref))",
        "            0 && !part_add(words, &part, &ref))")],
    "what an earlier link left is not counted": [(
        "place.c",
        "place->leftover = leftover_of(node, child);",
        "place->leftover = 0 * leftover_of(node, child);")],
    "children are never let go": [(
        "loss.c",
        "        let_go(node);\n    else",
        "        node->tree.has_let_go = true;\n    else")],
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
    "a claim dies with the link of who makes it": [DROP_ASKS, (
        "place.c",
        "    if (place->coming < OV_DISCARD)\n",
        "    drop_asks(node, place, true);\n"
        "    if (place->coming < OV_DISCARD)\n")],
    "an ask dies with the link it came by": [DROP_ASKS, (
        "place.c",
        "    if (place->coming < OV_DISCARD)\n",
        "    drop_asks(node, place, false);\n"
        "    if (place->coming < OV_DISCARD)\n")],
    "an ask ends where its node is known": [(
        "adopt.c",
        "    } else if (!ov_node_asks(node)) {",
        "    } else if (ov_members_find(&tree->members, ask->node)->state ==\n"
        "               OV_MEMBER_CONFIRMED) {\n"
        "        ask->state = OV_ASK_ASKED;\n"
        "        ov_settle_grant(node, ask);\n"
        "    } else if (!ov_node_asks(node)) {")],
    "a child is welcomed before the answer": [(
        "adopt.c",
        "    } else {\n        ov_ask_due(tree->claims, ask);",
        "    } else {\n"
        "        if (node->tree.places[ask->place].child == ask->node) {\n"
        "            ov_link_move(\n"
        "                &node->links[tree->places[ask->place].link],\n"
        "                OV_LINK_UP);\n"
        "            tree->places[ask->place].is_path_due = true;\n"
        "            ov_place_say(node, &tree->places[ask->place],\n"
        "                         &(struct ov_word){.kind = OV_ITEM_WELCOME,\n"
        "                                           .attach = ask->attach},\n"
        "                         NULL);\n"
        "            ov_place_grant(node, &tree->places[ask->place]);\n"
        "        }\n"
        "        ov_ask_due(tree->claims, ask);")],
    "who has left has not asked": [("hold.c",
        '#include "overlay/base/err.h"\n',
        '#include "overlay/base/err.h"\n#include "overlay/asks.h"\n'), (
        "hold.c",
        "        member = ov_members_add(&tree->members, who);\n",
        "        member = ov_members_add(&tree->members, who);\n"
        "        while (member->ask != OV_NONE)\n"
        "            ov_asks_drop(node, &tree->claims->asks[member->ask]);\n")],
    "nobody says again what was accepted": [(
        "sink.c",
        "else if (rec.seq <= member->accepted)",
        "else if (0)"), (
        "settle.c",
        "    if (member->accepted > 0)\n",
        "    if (0)\n")],
    "nobody hears who has left": [(
        "settle.c",
        "    else\n        ov_place_say(node, place,\n"
        "                     &(struct ov_word){\n"
        "                         .kind = OV_ITEM_LEFT,",
        "    else if (state == OV_MEMBER_LOST)\n"
        "        ov_place_say(node, place,\n"
        "                     &(struct ov_word){\n"
        "                         .kind = OV_ITEM_LEFT,"), (
        "hold.c",
        "    if (place->kind == OV_PLACE_LINK)\n        ov_place_say(",
        "    if (0)\n        ov_place_say(")],
    # --- lives of jobs
    "who was over is over again": [(
        "job/life.c",
        "event->rank >= life->job->size ||\n"
        "        life->processes[event->rank] != JOB_PROCESS_TOLD)",
        "event->rank >= life->job->size)")],
    "a job is over with one process left": [(
        "job/life.c",
        "if (life->processes_over == life->job->size)",
        "if (life->processes_over + 1 >= life->job->size)")],
    "a job whose last process is lost goes on": [(
        "job/life.c",
        "if (life->processes_over == life->job->size)",
        "if (life->processes_over == life->job->size &&\n"
        "        next != JOB_PROCESS_LOST)")],
    "a node counts as started once more when it is lost": [(
        "job/life.c",
        "    if (life->nodes[place])\n        return news;\n",
        "    if (life->nodes[place] && !is_lost)\n        return news;\n")],
    "who runs already starts again": [(
        "job/life.c",
        "    return life->state != before;",
        "    return life->state != before || turn == ALL_STARTED;"), (
        "job/life.c",
        "    if (life->nodes_count == life->job->nodes)\n",
        "    if (life->nodes_count >= life->job->nodes)\n"), (
        "job/life.c",
        "    if (life->nodes[place])\n        return news;\n",
        "    if (life->nodes[place])\n        life->nodes_count--;\n")],
    "who cannot be started has ended": [(
        "job/life.c",
        "[JOB_LIFE_PROCESS_UNSTARTED] = JOB_PROCESS_UNSTARTED,",
        "[JOB_LIFE_PROCESS_UNSTARTED] = JOB_PROCESS_ENDED,")],
    "how killed processes end decides": [(
        "job/life.c",
        "    if (!life->is_killed || event->at.latest_ns < life->killed_ns)\n"
        "        job_failure_add(",
        "    job_failure_add(")],
    "a later loss decides": [(
        "job/failure.c",
        "    if (failure->count == 0)\n        failure->is_lost = true;",
        "    failure->is_lost = true;")],
    "the highest rank that failed decides": [(
        "job/failure.c",
        "failure->firsts[i - 1].rank > new->rank; i--)",
        "failure->firsts[i - 1].rank < new->rank; i--)")],
    "the end of a process is said before its last output": [(
        "sim/process.c",
        "return p->has_started && has_written && p->read == p->written && ",
        "return p->has_started && has_written && ")],
    "a loss takes the next rank along": [(
        "sim/jobs.c",
        "for (uint32_t i = 0; i < part.count; i++) {",
        "for (uint32_t i = 0; i <= part.count; i++) {")],
    "goodbye waits for no further job": [(
        "sim/jobs.c",
        "for (uint32_t i = 0; i < w->jobs.count; i++) {\n"
        "        if (w->jobs.told[i].life.state != JOB_LIFE_OVER)",
        "for (uint32_t i = 0; i < 1; i++) {\n"
        "        if (w->jobs.told[i].life.state != JOB_LIFE_OVER)"), (
        "sim/jobs.c",
        "w->launcher->finals -= job_node_told(&host->node) == "
        "JOB_NODE_BUSY;",
        "(void)job_node_told(&host->node);")],
    "a lost node is waited for": [(
        "job/node.c",
        "    node->is_silent |= !node->is_final;\n"
        "    return make_final(node);",
        "    node->is_silent |= !node->is_final;\n"
        "    return JOB_NODE_SAME;")],
    "a session whose processes were killed has no end": [(
        "job/session.c",
        "        ON(ABORT) = {JOB_SESSION_ENDING, ACT(HURRY)},\n"
        "        IS_DONE,\n",
        "        ON(ABORT) = {JOB_SESSION_ENDING, ACT(HURRY)},\n")],
    "an end takes as long as it takes": [(
        "job/session.c",
        "ON(GONE) = {JOB_SESSION_OVER, ACT(LEAVE)}, \\\n"
        "    ON(LATE) = {JOB_SESSION_OVER, ACT(LEAVE)}",
        "ON(GONE) = {JOB_SESSION_OVER, ACT(LEAVE)}")],
    "the reason of an end has no exit code": [(
        "job/session.c",
        "        session->code = code;",
        "        (void)code;")],
    "stdin ends while a tool pushes": [(
        "job/streams.c",
        "in->cfg.is_kept || in->are_expected ||",
        "in->cfg.is_kept ||")],
    "the last push goes first": [(
        "job/streams.c",
        "    *stream->last = push;\n    stream->last = &push->next;",
        "    push->next = stream->first;\n    stream->first = push;")],
    "a push without room is dropped": [(
        "job/streams.c",
        "        if (buf == NULL)\n            return;\n        push = ",
        "        if (buf == NULL)\n"
        "            tell_pushed(in, which, take_first(stream));\n"
        "        if (buf == NULL)\n            continue;\n        push = ")],
    "pushes leave no room for what is being read": [(
        "job/streams.c",
        "send_pushes(in, OWN, in->buf != NULL ? 1 : 0);",
        "send_pushes(in, OWN, 0);")],
}

# Those that jobs with real daemons have to show.
LIVE = (
    "a repeat is accepted",
    "an acknowledgement is dropped",
    "the down window is off by one",
    "records are numbered from two on",
    "a base forgets the own process",
    "a base forgets a child",
    "a base is not reported",
    "a frame is sent twice",
    "those beneath do not send again",
    "frames go on from the base",
    "a hold forgets its base",
    "an ask is not passed on",
)


def changes(name):
    """Those of a mutant, whatever table it is in."""
    backed = {backed: made for backed, (made, _) in BACKED.items()}
    return {**ALLOWED, **backed, **COSTLY, **RARE, **MUTANTS}[name]


def run(command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, **more)


def checked(command, **more):
    """Runs a tool that has to work."""
    ran = run(command, **more)
    if ran.returncode != 0:
        raise ValueError(f"{shlex.join(command)}:\n{ran.stdout}")


def compiler():
    return shlex.split(os.environ.get("CC", "cc"))


def archive(name):
    """The archive behind a libtool library."""
    folder, base = os.path.split(name)
    return os.path.join(BUILD, folder, ".libs", base.replace(".la", ".a"))


CORE = (archive("overlay/libovcore.la"), archive("topo/libtoposhape.la"))
SIM = (archive("sim/libsim.la"), archive("job/libjob.la"), *CORE)


def sources(name):
    """What has to be compiled anew for a change to this path."""
    if name.endswith(".c"):
        return [name]
    base = os.path.dirname(name)
    return sorted(f"{base}/{f}" for f in os.listdir(f"{TOP}/{base}")
                  if f.endswith(".c"))


def apply(changes, folder):
    """Puts the changed files below the folder; the paths of what has to be
    compiled. ValueError: a file is not what a change is made for."""
    compiled = set()
    for file, old, new in changes:
        name = file if "/" in file else f"overlay/{file}"
        path = f"{folder}/{name}"
        first = not os.path.exists(path)
        with open(f"{TOP}/{name}" if first else path,
                  encoding="utf-8") as source:
            text = source.read()
        if text.count(old) != 1:
            raise ValueError(f"{name} has changed: {old!r} stands there "
                             f"{text.count(old)} times")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as mutant:
            mutant.write(text.replace(old, new))
        compiled.update(sources(name))
    return sorted(compiled)


def objects(changes, folder):
    """Compiles what is changed in a new folder; the objects, which go before
    the archives when something is linked."""
    made = []
    os.makedirs(folder, exist_ok=True)
    for name in apply(changes, folder):
        path = f"{folder}/{name}"
        if not os.path.exists(path):
            path = f"{TOP}/{name}"
        made.append(f"{folder}/{name[:-2].replace('/', '-')}.o")
        checked(compiler() + ["-O1", "-w", "-std=gnu11", "-fPIC",
                              f"-I{folder}", f"-I{TOP}", "-c", "-o", made[-1],
                              path])
    return made


def program(path, files, *libraries):
    """Links a program of sources and objects."""
    checked(compiler() + ["-O1", "-w", "-std=gnu11", f"-I{TOP}", "-o", path,
                          *files, *libraries])


# What a program of the build is made of; make knows.
ASK = """include Makefile
print:
	@echo $(commands_{0}_OBJECTS) $(commands_{0}_LDADD)
"""


def relink(path, name, objects):
    """Links xylem or xylemd anew; libtool knows what its libraries need."""
    env = {key: value for key, value in os.environ.items()
           if not key.startswith("MAKE") and key != "MFLAGS"}
    told = run(["make", "-s", "-f", "-", "print"], input=ASK.format(name),
               cwd=BUILD, env=env)
    checked(["/bin/sh", "./libtool", "--silent", "--tag=CC", "--mode=link",
             *compiler(), "-pthread", "-o", path, *objects,
             *told.stdout.splitlines()[-1].split()], cwd=BUILD)
