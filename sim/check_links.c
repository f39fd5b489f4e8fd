/* The rules of a link: slots, limits, bases, acknowledgements. */
#include "sim/check_links.h"

#include "overlay/wire/item.h"
#include "sim/check.h"

static struct sim_books *books_of(const struct sim_world *w, uint32_t n)
{
    return &w->check->books[n];
}

static bool is_child(const struct sim_world *w, uint32_t child, uint32_t parent)
{
    return topo_tree_parent(&w->cfg.overlay.plan, child) == parent;
}

static uint32_t window_of(const struct sim_world *w, uint32_t stream)
{
    return stream == 0 ? w->cfg.overlay.control_frames
                       : w->cfg.overlay.down_frames;
}

uint32_t sim_check_stream(const struct sim_load *load)
{
    struct ov_rd rd = ov_rd_init(load->head + OV_FRAME_HEAD_BYTES, 4);

    return ov_rd_u32(&rd);
}

/* --- words */

/* Everybody beneath a child has consumed what it says: its own targets, and
 * what its children told it. */
static void base_said(struct sim_world *w, uint32_t child,
                      const struct ov_base *base)
{
    struct topo_range kids = topo_tree_children(&w->cfg.overlay.plan, child);
    const struct sim_process *p = &w->processes[child];
    uint32_t eaten = base->stream == 0 ? p->heard : p->eaten;

    if (base->base > eaten)
        sim_world_fail(w,
                       "node %u reports base %llu of stream %u, and has "
                       "read %u itself",
                       child, (unsigned long long)base->base, base->stream,
                       eaten);
    for (uint32_t n = kids.first; n <= kids.last; n++) {
        if (base->base > books_of(w, n)->base[base->stream] &&
            !w->hosts[n].is_cut)
            sim_world_fail(w,
                           "node %u reports base %llu of stream %u past "
                           "%u of its child %u",
                           child, (unsigned long long)base->base, base->stream,
                           books_of(w, n)->base[base->stream], n);
    }
}

static void on_base(struct sim_world *w, uint32_t child,
                    const struct ov_base *base, bool is_heard)
{
    if (base->stream >= SIM_STREAMS)
        sim_world_fail(w, "node %u reports on stream %u", child, base->stream);
    else if (is_heard)
        books_of(w, child)->base[base->stream] = (uint32_t)base->base;
    else
        base_said(w, child, base);
}

static void on_limit(struct sim_world *w, uint32_t child, uint64_t limit,
                     bool is_heard)
{
    struct sim_books *books = books_of(w, child);

    if (is_heard) {
        books->up_limit = (uint32_t)limit;
        return;
    }
    if (limit <= books->up_promised)
        sim_world_fail(w, "node %u is promised %llu frames after %u", child,
                       (unsigned long long)limit, books->up_promised);
    books->up_promised = (uint32_t)limit;
    if (w->check->promises < SIM_PROMISES_MAX)
        w->check->promised[w->check->promises++] = child;
}

static void on_ack(struct sim_world *w, uint32_t from, uint32_t to,
                   const struct ov_ack *ack, bool is_heard)
{
    struct sim_books *books;

    if (ack->source >= sim_nodes(w)) {
        sim_world_fail(w, "an acknowledgement for node %u", ack->source);
        return;
    }
    books = books_of(w, ack->source);
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

void sim_check_promises(struct sim_world *w)
{
    struct sim_check *check = w->check;

    for (; check->promises > 0; check->promises--) {
        uint32_t child = check->promised[check->promises - 1];
        const struct sim_books *books = books_of(w, child);
        uint32_t done = books->up_arrived - books->up_held;

        if (books->up_promised > done + w->cfg.overlay.up_frames)
            sim_world_fail(w,
                           "node %u is promised %u frames, of which %u are "
                           "done with",
                           child, books->up_promised, done);
    }
}

void sim_check_words(struct sim_world *w, uint32_t from, uint32_t to,
                     const struct sim_load *load, bool is_heard)
{
    struct ov_rd rd = ov_rd_init(load->head + OV_FRAME_HEAD_BYTES,
                                 load->head_bytes - OV_FRAME_HEAD_BYTES);
    struct ov_item item;
    struct ov_base base;
    struct ov_ack ack;
    uint64_t limit;

    while (ov_rd_left(&rd) > 0) {
        if (ov_item_next(&rd, &item)) {
            sim_world_fail(w, "node %u says what nobody can read", from);
            return;
        }
        if (item.kind == OV_ITEM_LIMIT && ov_limit_decode(&item, &limit) == 0)
            on_limit(w, to, limit, is_heard);
        else if (item.kind == OV_ITEM_BASE && is_child(w, from, to) &&
                 ov_base_decode(&item, &base) == 0)
            on_base(w, from, &base, is_heard);
        else if (item.kind == OV_ITEM_WELCOME && !is_heard)
            w->hosts[to].is_cut = false;
        else if (item.kind == OV_ITEM_ACK && ov_ack_decode(&item, &ack) == 0)
            on_ack(w, from, to, &ack, is_heard);
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

static void down_sent(struct sim_world *w, uint32_t child,
                      const struct sim_load *load)
{
    struct sim_books *books = books_of(w, child);
    struct ov_rd rd = ov_rd_init(load->head + OV_FRAME_HEAD_BYTES, 16);
    uint32_t stream = ov_rd_u32(&rd);
    uint64_t seq;

    ov_rd_u32(&rd);
    seq = ov_rd_u64(&rd);
    if (stream >= SIM_STREAMS || seq != books->down_sent[stream]) {
        sim_world_fail(w, "node %u is sent frame %llu of stream %u", child,
                       (unsigned long long)seq, stream);
        return;
    }
    books->down_sent[stream]++;
    if (books->down_sent[stream] > books->base[stream] + window_of(w, stream))
        sim_world_fail(w,
                       "node %u is sent frame %llu of stream %u with base "
                       "%u",
                       child, (unsigned long long)seq, stream,
                       books->base[stream]);
}

void sim_check_send(struct sim_world *w, uint32_t n, uint16_t link,
                    const struct sim_load *load)
{
    struct sim_wire *wire = sim_wire(w, n, link);
    struct sim_books *books = books_of(w, n);
    uint32_t peer = wire->peer;

    if (!wire->is_up) {
        sim_world_fail(w, "node %u sends on link %u, which is closed", n,
                       (unsigned)link);
        return;
    }
    if (load->len_bytes > w->cfg.overlay.frame_bytes)
        sim_world_fail(w, "node %u sends a frame of %u bytes", n,
                       load->len_bytes);
    slot_taken(w, n, wire, load->head[0] != OV_FRAME_LINK);
    if (load->head[0] == OV_FRAME_UP) {
        if (books->up_sent++ >= books->up_limit || !is_child(w, n, peer))
            sim_world_fail(w,
                           "node %u sends frame %u to node %u, with a limit "
                           "of %u",
                           n, books->up_sent, peer, books->up_limit);
    } else if (load->head[0] == OV_FRAME_DOWN) {
        down_sent(w, peer, load);
    } else {
        sim_check_words(w, n, peer, load, false);
    }
}

void sim_check_connected(struct sim_world *w, uint32_t child, uint32_t parent)
{
    struct sim_books *books = books_of(w, child);

    (void)parent;
    books->up_limit = 0;
    books->up_promised = 0;
    books->up_sent = 0;
    books->up_arrived = books->up_held;
    for (unsigned i = 0; i < SIM_STREAMS; i++) {
        books->down_sent[i] = 0;
        books->base[i] = 0;
    }
}
