/* Checks the rules for a link: slots, limits, bases, acknowledgements. */
#include "sim/check_links.h"

#include <stdlib.h>

#include "job/streams.h"
#include "overlay/base/err.h"
#include "overlay/wire/item.h"
#include "sim/tally.h"

/* Frames of a child that a node still holds, and that arrived over a link that
 * has ended. */
struct left {
    uint32_t node, child;
    uint32_t era;
    uint32_t frames;
};

/* A link on which a node has raised a child's limit in this step. */
struct promise {
    uint32_t node;
    uint16_t link;
};

/* A base that a node has reported in this step, while a child has not reached
 * it yet. */
struct doubt {
    uint64_t base;
    uint32_t stream;
    uint32_t era;
    uint16_t link;
};

enum { PROMISES_MAX = 1024, DOUBTS_MAX = 64 };

/* What the checks note in a step and judge when it is over. A limit is judged
 * then because a step may send it together with what makes room for it. So is a
 * base that a child has not reached, because the child's link may end in this
 * step, and the welcome of a child. */
struct sim_link_checks {
    struct promise promised[PROMISES_MAX]; /* raised limits of the current
                                              step */
    uint32_t promises;
    struct doubt doubts[DOUBTS_MAX];
    uint32_t doubts_count;
    bool has_welcomed;
    struct left *left; /* owned */
    uint32_t left_count;
};

int sim_check_links_open(struct sim_world *w)
{
    w->link_checks = calloc(1, sizeof(*w->link_checks));
    return w->link_checks == NULL ? OV_ENOMEM : 0;
}

void sim_check_links_close(struct sim_world *w)
{
    if (w->link_checks != NULL)
        free(w->link_checks->left);
    free(w->link_checks);
}

uint32_t sim_check_window(const struct sim_world *w, uint32_t stream)
{
    uint32_t frames = w->cfg.overlay.down_frames;

    if (stream == 0)
        return w->cfg.overlay.control_frames;
    return stream == JOB_STREAM_PUSHED && frames > JOB_STREAMS_PUSHED_FRAMES
               ? JOB_STREAMS_PUSHED_FRAMES
               : frames;
}

uint32_t sim_check_stream(const struct sim_load *load)
{
    struct ov_rd rd = ov_rd_init(load->head + OV_FRAME_HEAD_BYTES, 4);

    return ov_rd_u32(&rd);
}

uint64_t sim_check_seq(const struct sim_load *load)
{
    struct ov_rd rd = ov_rd_init(load->head + OV_FRAME_HEAD_BYTES + 8, 8);

    return ov_rd_u64(&rd);
}

/* --- frames of children */

static struct left *find_left(const struct sim_world *w,
                              const struct sim_view *view)
{
    for (uint32_t i = 0; i < w->link_checks->left_count; i++) {
        struct left *left = &w->link_checks->left[i];

        if (left->node == view->owner && left->child == view->from &&
            left->era == view->era)
            return left;
    }
    OV_IMPOSSIBLE("a frame of no link");
}

/* How many frames the node still holds that the child sent over earlier
 * links. */
static uint32_t left_of(const struct sim_world *w, uint32_t n, uint32_t child)
{
    uint32_t frames = 0;

    for (uint32_t i = 0; i < w->link_checks->left_count; i++) {
        const struct left *left = &w->link_checks->left[i];

        if (left->node == n && left->child == child)
            frames += left->frames;
    }
    return frames;
}

void sim_check_up_arrived(struct sim_world *w, const struct sim_view *view)
{
    struct sim_child *child = sim_child(w, view->owner, view->link);
    uint32_t held;

    child->up_arrived++;
    child->up_held++;
    held = child->up_held + left_of(w, view->owner, view->from);
    if (held > w->cfg.overlay.up_frames)
        sim_world_fail(w, "node %u holds %u frames of node %u, of %u",
                       view->owner, held, view->from,
                       (unsigned)w->cfg.overlay.up_frames);
}

void sim_check_up_released(struct sim_world *w, const struct sim_view *view)
{
    const struct sim_wire *wire = sim_wire(w, view->owner, view->link);
    struct left *left;

    w->books[view->owner].owed_frames--;
    if (wire->is_up && wire->era == view->era) {
        sim_child(w, view->owner, view->link)->up_held--;
        return;
    }
    left = find_left(w, view);
    if (--left->frames == 0)
        *left = w->link_checks->left[--w->link_checks->left_count];
}

/* Handles the end of a link from which the node still holds frames: from here
 * on they are counted apart from the link, on which limits may still be
 * checked. */
static void keep_left(struct sim_world *w, uint32_t n, uint16_t link)
{
    const struct sim_wire *wire = sim_wire(w, n, link);
    struct sim_link_checks *check = w->link_checks;
    struct sim_child *child = sim_child(w, n, link);

    check->left =
        reallocarray(check->left, check->left_count + 1, sizeof(*check->left));
    OV_ASSERT(check->left != NULL);
    check->left[check->left_count++] =
        (struct left){n, wire->peer, wire->era, child->up_held};
    child->up_held = 0;
}

void sim_check_closed(struct sim_world *w, uint32_t n, uint16_t link)
{
    const struct sim_child *child;

    if (sim_wire(w, n, link)->is_dialled)
        return;
    child = sim_child(w, n, link);
    w->books[n].owed_frames -= child->up_promised - child->up_arrived;
    if (child->up_held > 0)
        keep_left(w, n, link);
}

/* --- items of LINK frames */

/* True when the stream has readers at the node `top` or beneath it in the
 * plan. */
static bool is_needed(const struct sim_world *w, uint32_t stream, uint32_t top)
{
    const struct sim_job *job = &w->cfg.job;
    bool is_needed = stream == 0 || job->targets_count == 0;

    for (uint32_t i = 0; i < job->targets_count; i++)
        is_needed |=
            topo_tree_touches(&w->cfg.overlay.plan, top, job->targets[i]);
    return is_needed;
}

/* True when the child at this link has not yet reported `base` for the
 * stream. */
static bool is_past(const struct sim_world *w, uint32_t n, uint16_t link,
                    uint32_t stream, uint64_t base)
{
    const struct sim_wire *wire = sim_wire(w, n, link);

    return wire->is_up && !wire->is_dialled &&
           sim_child(w, n, link)->is_counted &&
           base > sim_child(w, n, link)->base[stream] &&
           is_needed(w, stream, wire->peer);
}

/* Checks a base that a node reports: its own targets and its children must have
 * reached it. */
static void base_said(struct sim_world *w, uint32_t n,
                      const struct ov_base *base)
{
    struct sim_link_checks *check = w->link_checks;
    const struct sim_process *p = &w->processes[n];
    uint32_t eaten = base->stream == 0                  ? p->heard
                     : base->stream == JOB_STREAM_STDIN ? p->eaten
                                                        : p->others;

    if (base->base > eaten &&
        (base->stream != JOB_STREAM_STDIN || p->is_target))
        sim_world_fail(w,
                       "node %u reports base %llu of stream %u, and has "
                       "read %u itself",
                       n, (unsigned long long)base->base, base->stream, eaten);
    if (!sim_has_children(w, n))
        return;
    for (uint16_t link = 0; link < ov_node_links(sim_node(w, n)); link++) {
        struct sim_wire *wire = sim_wire(w, n, link);

        if (is_past(w, n, link, base->stream, base->base) &&
            check->doubts_count < DOUBTS_MAX)
            check->doubts[check->doubts_count++] =
                (struct doubt){base->base, base->stream, wire->era, link};
    }
}

static void on_base(struct sim_world *w, uint32_t n, uint16_t link,
                    const struct ov_base *base, bool is_heard)
{
    if (base->stream >= SIM_STREAMS)
        sim_world_fail(w, "base of stream %u at node %u", base->stream, n);
    else if (is_heard)
        sim_child(w, n, link)->base[base->stream] = (uint32_t)base->base;
    else
        base_said(w, n, base);
}

static void limit_said(struct sim_world *w, uint32_t n, uint16_t link,
                       uint64_t limit, bool is_lent)
{
    struct sim_child *child = sim_child(w, n, link);
    struct sim_link_checks *check = w->link_checks;

    if (limit < child->up_promised || (limit == child->up_promised && !is_lent))
        sim_world_fail(w, "node %u is promised %llu frames after %u",
                       sim_wire(w, n, link)->peer, (unsigned long long)limit,
                       child->up_promised);
    w->books[n].owed_frames += (uint32_t)limit - child->up_promised;
    child->up_promised = (uint32_t)limit;
    if (check->promises < PROMISES_MAX)
        check->promised[check->promises++] = (struct promise){n, link};
}

/* Handles a claim that a parent receives: frames are sent to the child from its
 * head on, although nodes beneath it may have fewer. */
static void claim_heard(struct sim_world *w, uint32_t n, uint16_t link,
                        struct ov_item *item)
{
    struct sim_child *child = sim_child(w, n, link);
    bool is_hello = item->kind == OV_ITEM_HELLO;
    struct ov_claim claim;

    if (ov_claim_decode(item, &claim))
        return;
    for (unsigned i = 0; i < claim.members; i++)
        ov_member_decode(item);
    for (unsigned i = 0; i < claim.cursors; i++) {
        struct ov_cursor cursor = ov_cursor_decode(item);

        if (cursor.stream >= SIM_STREAMS)
            continue;
        child->base[cursor.stream] = (uint32_t)cursor.base;
        if (is_hello)
            child->down_sent[cursor.stream] = (uint32_t)cursor.head;
    }
}

static void on_ack(struct sim_world *w, uint32_t from, uint32_t to,
                   const struct ov_ack *ack, bool is_heard)
{
    struct sim_books *books;

    if (ack->source >= sim_nodes(w)) {
        sim_world_fail(w, "an acknowledgement for node %u", ack->source);
        return;
    }
    books = &w->books[ack->source];
    if (is_heard && to == ack->source && ack->taken > books->released)
        books->released = (uint32_t)ack->taken;
    if (!is_heard && from == 0 &&
        (ack->accepted > books->shown || ack->taken > books->taken))
        sim_world_fail(w,
                       "the root acknowledges %llu/%llu of node %u: %u were "
                       "shown, %u taken",
                       (unsigned long long)ack->accepted,
                       (unsigned long long)ack->taken, ack->source,
                       books->shown, books->taken);
}

static void check_promises(struct sim_world *w)
{
    struct sim_link_checks *check = w->link_checks;

    for (; check->promises > 0; check->promises--) {
        struct promise at = check->promised[check->promises - 1];
        const struct sim_child *child = sim_child(w, at.node, at.link);
        uint32_t peer = sim_wire(w, at.node, at.link)->peer;
        uint32_t done = child->up_arrived - child->up_held;

        if (child->up_promised + left_of(w, at.node, peer) >
            done + w->cfg.overlay.up_frames)
            sim_world_fail(w,
                           "node %u is promised %u frames, of which %u are "
                           "done with",
                           peer, child->up_promised, done);
    }
}

static void check_doubts(struct sim_world *w, uint32_t n)
{
    struct sim_link_checks *check = w->link_checks;

    for (; check->doubts_count > 0; check->doubts_count--) {
        const struct doubt *doubt = &check->doubts[check->doubts_count - 1];
        const struct sim_wire *wire = sim_wire(w, n, doubt->link);

        if (wire->era == doubt->era &&
            is_past(w, n, doubt->link, doubt->stream, doubt->base))
            sim_world_fail(w,
                           "node %u reports base %llu of stream %u past "
                           "%u of its child %u",
                           n, (unsigned long long)doubt->base, doubt->stream,
                           sim_child(w, n, doubt->link)->base[doubt->stream],
                           wire->peer);
    }
}

/* Checks that a node other than the root has no more children than
 * cfg->children_max. */
static void check_balance(struct sim_world *w, uint32_t n)
{
    uint32_t children = 0;

    for (uint16_t link = 0; link < ov_node_links(sim_node(w, n)); link++) {
        const struct sim_wire *wire = sim_wire(w, n, link);

        children += wire->is_up && !wire->is_dialled &&
                    sim_child(w, n, link)->is_counted;
    }
    if (children > w->cfg.overlay.children_max)
        sim_world_fail(w, "node %u has %u children, of %u at most", n, children,
                       (unsigned)w->cfg.overlay.children_max);
}

void sim_check_links(struct sim_world *w, uint32_t n)
{
    check_promises(w);
    check_doubts(w, n);
    if (w->link_checks->has_welcomed && n != 0)
        check_balance(w, n);
    w->link_checks->has_welcomed = false;
}

/* Checks an item at the child's end of a link: the child sends it, or receives
 * it (is_heard). */
static void child_word(struct sim_world *w, uint32_t n, uint16_t link,
                       struct ov_item *item, bool is_heard)
{
    struct ov_base base;
    uint64_t limit;

    if (!is_heard && item->kind == OV_ITEM_BASE &&
        ov_base_decode(item, &base) == 0)
        on_base(w, n, link, &base, false);
    else if (is_heard && item->kind == OV_ITEM_LIMIT &&
             ov_limit_decode(item, &limit) == 0)
        sim_wire(w, n, link)->up_limit = (uint32_t)limit;
}

/* Checks that the root grants no claim of a node that it has declared lost. */
static void answer_said(struct sim_world *w, struct ov_item *item)
{
    struct ov_answer answer;

    if (ov_answer_decode(item, &answer) == 0 && answer.reason == OV_GRANTED &&
        answer.node < sim_nodes(w) && w->hosts[answer.node].node.is_silent)
        sim_world_fail(w, "the root grants node %u, which it declared lost",
                       answer.node);
}

static void welcome_said(struct sim_world *w, uint32_t n, uint16_t link)
{
    uint32_t peer = sim_wire(w, n, link)->peer;

    sim_child(w, n, link)->is_counted = true;
    w->link_checks->has_welcomed = true;
    if (n == 0 && w->hosts[peer].node.is_silent)
        sim_world_fail(w, "the root welcomes node %u, which it declared lost",
                       peer);
}

static void parent_word(struct sim_world *w, uint32_t n, uint16_t link,
                        struct ov_item *item, bool is_heard)
{
    struct ov_base base;
    uint64_t limit;

    if (is_heard && item->kind == OV_ITEM_BASE &&
        ov_base_decode(item, &base) == 0)
        on_base(w, n, link, &base, true);
    else if (is_heard &&
             (item->kind == OV_ITEM_HELLO || item->kind == OV_ITEM_ASK))
        claim_heard(w, n, link, item);
    else if (!is_heard && item->kind == OV_ITEM_LIMIT &&
             ov_limit_decode(item, &limit) == 0)
        limit_said(w, n, link, limit, (item->flags & OV_ITEM_FINAL) != 0);
    else if (!is_heard && n == 0 && item->kind == OV_ITEM_ANSWER)
        answer_said(w, item);
    else if (!is_heard && item->kind == OV_ITEM_WELCOME)
        welcome_said(w, n, link);
}

void sim_check_words(struct sim_world *w, uint32_t n, uint16_t link,
                     const struct sim_load *load, bool is_heard)
{
    const struct sim_wire *wire = sim_wire(w, n, link);
    struct ov_rd rd = ov_rd_init(load->head + OV_FRAME_HEAD_BYTES,
                                 load->head_bytes - OV_FRAME_HEAD_BYTES);
    struct ov_item item;
    struct ov_ack ack;

    while (ov_rd_left(&rd) > 0) {
        if (ov_item_next(&rd, &item)) {
            sim_world_fail(w, "node %u says what nobody can read",
                           is_heard ? wire->peer : n);
            return;
        }
        sim_tally_word(w, n, link, item, is_heard);
        if (item.kind == OV_ITEM_ACK && ov_ack_decode(&item, &ack) == 0)
            on_ack(w, is_heard ? wire->peer : n, is_heard ? n : wire->peer,
                   &ack, is_heard);
        else if (wire->is_dialled)
            child_word(w, n, link, &item, is_heard);
        else
            parent_word(w, n, link, &item, is_heard);
    }
}

/* --- frames */

static void slot_taken(struct sim_world *w, uint32_t n, struct sim_wire *wire,
                       bool is_data)
{
    const struct ov_cfg *cfg = &w->cfg.overlay;

    wire->data_bits |= (uint32_t)is_data << wire->in_flight;
    wire->in_flight++;
    if (wire->in_flight > cfg->send_slots ||
        __builtin_popcount(wire->data_bits) > cfg->data_slots)
        sim_world_fail(w, "node %u has %u frames at its port, %d of data", n,
                       (unsigned)wire->in_flight,
                       __builtin_popcount(wire->data_bits));
}

void sim_check_sent(struct sim_world *w, uint32_t n, uint16_t link)
{
    struct sim_wire *wire = sim_wire(w, n, link);

    OV_ASSERT(wire->in_flight > 0);
    wire->data_bits >>= 1;
    wire->in_flight--;
}

static void down_sent(struct sim_world *w, uint32_t n, uint16_t link,
                      const struct sim_load *load)
{
    struct sim_child *child = sim_child(w, n, link);
    uint32_t stream = sim_check_stream(load);
    uint32_t peer = sim_wire(w, n, link)->peer;
    uint64_t seq = sim_check_seq(load);

    sim_tally_down(w, peer, stream, seq, true);
    if (stream >= SIM_STREAMS || seq != child->down_sent[stream]) {
        sim_world_fail(w, "node %u is sent frame %llu of stream %u", peer,
                       (unsigned long long)seq, stream);
        return;
    }
    child->down_sent[stream]++;
    if (child->down_sent[stream] >
        child->base[stream] + sim_check_window(w, stream))
        sim_world_fail(w,
                       "node %u is sent frame %llu of stream %u with base "
                       "%u",
                       peer, (unsigned long long)seq, stream,
                       child->base[stream]);
}

static void up_sent(struct sim_world *w, uint32_t n, uint16_t link,
                    const struct sim_load *load)
{
    struct sim_wire *wire = sim_wire(w, n, link);

    sim_tally_up(w, n, load, true);
    if (!wire->is_dialled || wire->up_sent++ >= wire->up_limit)
        sim_world_fail(w,
                       "node %u sends frame %u to node %u, with a limit of %u",
                       n, wire->up_sent, wire->peer, wire->up_limit);
}

void sim_check_send(struct sim_world *w, uint32_t n, uint16_t link,
                    const struct sim_load *load)
{
    struct sim_wire *wire = sim_wire(w, n, link);

    if (!wire->is_up) {
        sim_world_fail(w, "node %u sends on link %u, which is closed", n,
                       (unsigned)link);
        return;
    }
    if (load->len_bytes > w->cfg.overlay.frame_bytes)
        sim_world_fail(w, "node %u sends a frame of %u bytes", n,
                       load->len_bytes);
    slot_taken(w, n, wire, load->head[0] != OV_FRAME_LINK);
    if (ov_frame_is_up(load->head[0]))
        up_sent(w, n, link, load);
    else if (load->head[0] == OV_FRAME_LINK)
        sim_check_words(w, n, link, load, false);
    else if (!wire->is_dialled)
        down_sent(w, n, link, load);
    else
        sim_world_fail(w, "node %u sends down to its parent", n);
}
