/* Counts what repair does. */
#include "sim/tally.h"

#include <inttypes.h>
#include <stdlib.h>

#include "overlay/base/err.h"
#include "overlay/wire/shared.h"
#include "sim/fault.h"

static const char *const names[SIM_COUNTS] = {
#define SIM_COUNT_JSON(name, json, words) json,
    SIM_COUNT_MAP(SIM_COUNT_JSON)
#undef SIM_COUNT_JSON
};

static const char *const texts[SIM_COUNTS] = {
#define SIM_COUNT_WORDS(name, json, words) words,
    SIM_COUNT_MAP(SIM_COUNT_WORDS)
#undef SIM_COUNT_WORDS
};

const char *sim_count_name(enum sim_count count)
{
    return names[count];
}

int sim_tally_open(struct sim_world *w)
{
    w->tally = calloc(1, sizeof(*w->tally));
    if (w->tally == NULL)
        return OV_ENOMEM;
    if (!w->cfg.tallies)
        return 0;
    w->seen = calloc(sim_nodes(w), sizeof(*w->seen));
    return w->seen == NULL ? OV_ENOMEM : 0;
}

void sim_tally_close(struct sim_world *w)
{
    free(w->tally);
    free(w->seen);
}

static void count_up(struct sim_world *w, enum sim_count count)
{
    sim_tally_add(w, count, 1);
}

/* --- claims and answers */

static void claim_said(struct sim_world *w, uint32_t n, struct ov_item *item)
{
    bool is_hello = item->kind == OV_ITEM_HELLO;
    struct ov_claim claim;

    if (ov_claim_decode(item, &claim))
        return;
    if (w->seen[claim.node].welcomes == 0)
        return;
    /* Only the first part of a claim has cursors, at least that of stream 0. */
    if (claim.cursors == 0) {
        count_up(w, is_hello ? SIM_COUNT_HELLO_PARTS : SIM_COUNT_ASK_PARTS);
        return;
    }
    count_up(w, is_hello ? SIM_COUNT_HELLOS : SIM_COUNT_ASKS);
    if (!is_hello && claim.members > 0 && ov_member_decode(item).parent != n)
        count_up(w, SIM_COUNT_ASKS_ON);
}

static void welcome_said(struct sim_world *w, uint32_t n, uint16_t link)
{
    uint32_t head = sim_child(w, n, link)->down_sent[1];
    uint32_t held = w->books[n].stream_held[1];
    uint32_t first = w->seen[n].down_head[1] - held;

    count_up(w, SIM_COUNT_WELCOMES_LOST); /* counted as lost until it arrives */
    if (w->seen[sim_wire(w, n, link)->peer].welcomes == 0)
        return;
    count_up(w, SIM_COUNT_WELCOMES);
    if (n != 0 && head > first)
        sim_tally_add(w, SIM_COUNT_DOWN_SKIPPED, head - first);
}

static void denied(struct sim_world *w, enum ov_refuse_reason reason)
{
    if (reason == OV_REFUSE_LOST)
        count_up(w, SIM_COUNT_DENIED_LOST);
    else if (reason == OV_REFUSE_UNATTACHED)
        count_up(w, SIM_COUNT_DENIED_UNATTACHED);
    else if (reason == OV_REFUSE_FULL)
        count_up(w, SIM_COUNT_DENIED_FULL);
    else if (reason == OV_REFUSE_STALE)
        count_up(w, SIM_COUNT_DENIED_STALE);
}

static void answer_said(struct sim_world *w, uint32_t n, struct ov_item *item)
{
    struct ov_answer answer;

    if (ov_answer_decode(item, &answer))
        return;
    if (answer.reason != OV_GRANTED) {
        denied(w, (enum ov_refuse_reason)answer.reason);
        return;
    }
    count_up(w, SIM_COUNT_GRANTS_LOST); /* counted as lost until it arrives */
    if (answer.node < sim_nodes(w) && w->seen[answer.node].welcomes > 0)
        count_up(w, SIM_COUNT_GRANTS);
    if (n == 0)
        sim_tally_add(w, SIM_COUNT_STRIPPED,
                      ov_rd_left(&item->body) / OV_NUMBER_BYTES);
}

static void answer_heard(struct sim_world *w, struct ov_item *item)
{
    struct ov_answer answer;

    if (ov_answer_decode(item, &answer) == 0 && answer.reason == OV_GRANTED)
        w->tally->count[SIM_COUNT_GRANTS_LOST]--;
}

static void welcome_heard(struct sim_world *w, uint32_t n,
                          const struct ov_item *item)
{
    w->tally->count[SIM_COUNT_WELCOMES_LOST]--;
    w->seen[n].welcomes += (item->flags & OV_ITEM_MORE) == 0;
}

static void refuse_said(struct sim_world *w, struct ov_item *item)
{
    uint32_t reason;
    uint64_t attach;

    if (ov_refuse_decode(item, &attach, &reason) == 0 && reason >= 1 &&
        reason < OV_REFUSE_REASONS)
        count_up(w, (enum sim_count)(SIM_COUNT_REFUSED_LOST + reason - 1));
}

static void left_said(struct sim_world *w, struct ov_item *item)
{
    bool is_final = (item->flags & OV_ITEM_FINAL) != 0;
    uint16_t numbers;

    if (ov_numbers_decode(item, &numbers) == 0)
        sim_tally_add(w, is_final ? SIM_COUNT_LEFT_FINAL : SIM_COUNT_LEFT,
                      numbers);
}

static void missing(struct sim_world *w, uint32_t n, struct ov_item *item,
                    bool is_heard)
{
    uint16_t members;

    if (ov_missing_decode(item, &members))
        return;
    if (!is_heard)
        sim_tally_add(w, SIM_COUNT_QUESTIONS, members);
    else if (n == 0)
        sim_tally_add(w, SIM_COUNT_QUESTIONS_ROOT, members);
}

/* Makes the faults strike that wait for this item. All items for which faults
 * can wait begin with the claiming node, except the welcome. */
static void tell_faults(struct sim_world *w, uint32_t n, uint16_t link,
                        const struct ov_item *item)
{
    static const uint8_t whens[OV_ITEM_KINDS] = {
        [OV_ITEM_HELLO] = SIM_WHEN_HELLO,
        [OV_ITEM_ASK] = SIM_WHEN_ASK,
        [OV_ITEM_ANSWER] = SIM_WHEN_ANSWER,
        [OV_ITEM_WELCOME] = SIM_WHEN_WELCOME,
    };
    uint32_t peer = sim_wire(w, n, link)->peer;
    struct ov_rd body = item->body;
    uint32_t nodes[SIM_WHOM_KINDS] = {n, peer, peer};

    if (whens[item->kind] == SIM_WHEN_TIME || !w->launcher->session.has_begun)
        return;
    if (item->kind != OV_ITEM_WELCOME)
        nodes[SIM_WHOM_CLAIMS] = ov_rd_u32(&body);
    if (nodes[SIM_WHOM_CLAIMS] < sim_nodes(w))
        sim_fault_on_word(w, (enum sim_when)whens[item->kind], nodes);
}

static void seen_said(struct sim_world *w, struct ov_item *item)
{
    bool is_refused;
    uint64_t attach;
    uint32_t who;

    if (ov_seen_decode(item, &who, &attach, &is_refused) == 0 && !is_refused)
        count_up(w, SIM_COUNT_LOOKS_THERE);
}

static void said(struct sim_world *w, uint32_t n, uint16_t link,
                 struct ov_item *item)
{
    tell_faults(w, n, link, item);
    sim_tally_add(w, SIM_COUNT_WANTS, item->kind == OV_ITEM_WANT);
    sim_tally_add(w, SIM_COUNT_LOOKS, item->kind == OV_ITEM_LOOK);
    if (item->kind == OV_ITEM_HELLO || item->kind == OV_ITEM_ASK)
        claim_said(w, n, item);
    else if (item->kind == OV_ITEM_WELCOME)
        welcome_said(w, n, link);
    else if (item->kind == OV_ITEM_ANSWER)
        answer_said(w, n, item);
    else if (item->kind == OV_ITEM_REFUSE)
        refuse_said(w, item);
    else if (item->kind == OV_ITEM_LEFT)
        left_said(w, item);
    else if (item->kind == OV_ITEM_MISSING)
        missing(w, n, item, false);
    else if (item->kind == OV_ITEM_SEEN)
        seen_said(w, item);
}

void sim_tally_word(struct sim_world *w, uint32_t n, uint16_t link,
                    struct ov_item item, bool is_heard)
{
    if (w->seen == NULL)
        return;
    if (!is_heard)
        said(w, n, link, &item);
    else if (item.kind == OV_ITEM_MISSING)
        missing(w, n, &item, true);
    else if (item.kind == OV_ITEM_ANSWER)
        answer_heard(w, &item);
    else if (item.kind == OV_ITEM_WELCOME)
        welcome_heard(w, n, &item);
}

/* --- actions */

static bool has_parent(const struct sim_world *w, uint32_t n)
{
    for (uint16_t link = 0; link < ov_node_links(sim_node(w, n)); link++) {
        if (sim_wire(w, n, link)->is_up && sim_wire(w, n, link)->is_dialled)
            return true;
    }
    return false;
}

static void closes(struct sim_world *w, uint32_t n, uint16_t link)
{
    const struct sim_wire *wire = sim_wire(w, n, link);

    if (n != 0 && wire->is_up && !wire->is_dialled && !has_parent(w, n))
        count_up(w, SIM_COUNT_LET_GO);
}

static void declares(struct sim_world *w, uint32_t node)
{
    count_up(w, SIM_COUNT_VERDICTS);
    if (w->hosts[node].state == SIM_HOST_RUNS)
        count_up(w, SIM_COUNT_VERDICTS_ALIVE);
}

static void adopted(struct sim_world *w, uint32_t n, uint32_t parent)
{
    if (w->seen[n].welcomes < 2)
        return; /* the node has joined for the first time */
    count_up(w, SIM_COUNT_ADOPTED);
    if (parent != topo_tree_parent(&w->cfg.overlay.plan, n))
        count_up(w, SIM_COUNT_ELSEWHERE);
}

void sim_tally_act(struct sim_world *w, uint32_t n, const struct ov_act *act)
{
    if (w->seen == NULL)
        return;
    if (act->kind == OV_ACT_ORPHAN)
        count_up(w, SIM_COUNT_ORPHANS);
    else if (act->kind == OV_ACT_ADOPTED)
        adopted(w, n, act->node);
    else if (act->kind == OV_ACT_PROBE)
        count_up(w, SIM_COUNT_PROBES);
    else if (act->kind == OV_ACT_CLOSE)
        closes(w, n, act->link);
    else if (act->kind == OV_ACT_LOST && n == 0)
        declares(w, act->node);
    else if (act->kind == OV_ACT_END)
        count_up(w, act->flags == OV_END_ALONE ? SIM_COUNT_ENDED_ALONE
                                               : SIM_COUNT_ENDED_DECLARED);
}

/* --- data */

void sim_tally_up(struct sim_world *w, uint32_t n, const struct sim_load *load,
                  bool is_sent)
{
    struct ov_record rec;
    struct ov_up_at at;

    if (w->seen == NULL)
        return;
    at = ov_up_begin(load->head, load->len_bytes);
    while (at.left > 0) {
        struct sim_seen *seen;

        ov_up_next(load->head, load->len_bytes, &at, &rec);
        seen = &w->seen[rec.source];

        if (!is_sent && rec.seq <= w->books[rec.source].shown)
            count_up(w, SIM_COUNT_UP_REPEATS);
        if (!is_sent || rec.source != n)
            continue;
        if (rec.seq <= seen->sent)
            sim_tally_add(w, SIM_COUNT_UP_AGAIN_BYTES, rec.len_bytes);
        else
            seen->sent = (uint32_t)rec.seq;
    }
}

void sim_tally_down(struct sim_world *w, uint32_t n, uint32_t stream,
                    uint64_t seq, bool is_sent)
{
    struct sim_seen *seen = &w->seen[n];

    if (w->seen == NULL || stream >= SIM_STREAMS)
        return;
    if (!is_sent)
        seen->down_head[stream] = (uint32_t)seq + 1;
    else if (seq < seen->down_sent[stream])
        count_up(w, SIM_COUNT_DOWN_AGAIN);
    else
        seen->down_sent[stream] = (uint32_t)seq + 1;
}

/* --- sums */

void sim_tally_sum(struct sim_tally *sum, const struct sim_tally *one)
{
    for (unsigned i = 0; i < SIM_COUNTS; i++)
        sum->count[i] += one->count[i];
}

void sim_tally_print(const struct sim_tally *tally, FILE *file, bool all)
{
    for (unsigned i = 0; i < SIM_COUNTS; i++) {
        if (all || tally->count[i] > 0)
            fprintf(file, "  %-22s %10" PRIu64 "  %s\n", names[i],
                    tally->count[i], texts[i]);
    }
}
