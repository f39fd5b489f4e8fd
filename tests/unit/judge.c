/* The books of a little world: see judge.h. */
#include "tests/unit/judge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "overlay/wire/item.h"

enum { RECORDS = 1 << 16 };

/* One end of a link. */
struct end {
    uint32_t era;
    unsigned in_flight, data_in_flight;
    bool is_data[OV_SEND_SLOTS_MAX];
};

/* A node, and the link to its parent. */
struct books {
    uint64_t up_limit; /* as it was told */
    uint64_t up_sent, up_arrived;
    uint64_t limit_told; /* by the parent; some may be on its way */
    uint64_t down_sent[WORLD_STREAMS]; /* by the parent */
    uint64_t base[WORLD_STREAMS];      /* as the parent heard it */
    uint32_t *record_bytes;            /* by sequence number */
    bool *is_taken;                    /* by the root's sinks */
    uint64_t records, released, taken;
    uint64_t kept_bytes;
};

struct judge {
    struct books *books;
    struct end *ends; /* [node * WORLD_LINKS + link] */
};

static struct books *books_of(struct world *w, uint32_t n)
{
    return &((struct judge *)w->watch_arg)->books[n];
}

static struct end *end_of(struct world *w, uint32_t n, uint16_t link)
{
    struct end *end =
        &((struct judge *)w->watch_arg)->ends[n * WORLD_LINKS + link];
    uint32_t era = world_wire(w, n, link)->era;

    if (end->era != era)
        *end = (struct end){.era = era};
    return end;
}

static uint8_t type_of(const struct ov_buf *buf)
{
    return buf->mem[0];
}

static bool is_child(const struct world *w, uint32_t child, uint32_t parent)
{
    return topo_tree_parent(&w->cfg.plan, child) == parent;
}

/* --- slots */

static void slot_taken(struct world *w, uint32_t n, uint16_t link, bool is_data)
{
    struct end *end = end_of(w, n, link);

    assert_true(end->in_flight < w->cfg.send_slots);
    end->is_data[end->in_flight++] = is_data;
    end->data_in_flight += is_data;
    assert_true(end->data_in_flight <= w->cfg.data_slots);
}

static void on_sent(struct world *w, uint32_t n, uint16_t link)
{
    struct end *end = end_of(w, n, link);

    assert_true(end->in_flight > 0);
    end->data_in_flight -= end->is_data[0];
    end->in_flight--;
    for (unsigned i = 0; i < end->in_flight; i++)
        end->is_data[i] = end->is_data[i + 1];
}

/* --- frames */

/* What everybody in the subtree has consumed of a stream. */
static uint64_t consumed_beneath(const struct world *w, uint32_t top,
                                 uint32_t stream)
{
    uint64_t low = UINT64_MAX;

    for (uint32_t n = top; n < w->cfg.plan.nodes; n++) {
        bool reads =
            stream == 0 || (n >= w->readers.first && n <= w->readers.last);

        if (reads && !w->nodes[n].is_cut &&
            topo_tree_contains(&w->cfg.plan, top, n) &&
            w->nodes[n].frames[stream] < low)
            low = w->nodes[n].frames[stream];
    }
    return low;
}

static uint16_t window_of(const struct world *w, uint32_t stream)
{
    return stream == 0 ? w->cfg.control_frames : w->cfg.down_frames;
}

static void promise_made(struct world *w, uint32_t child, uint64_t limit)
{
    struct books *it = books_of(w, child);

    assert_true(limit > it->limit_told);
    it->limit_told = limit;
}

static void base_told(struct world *w, uint32_t child,
                      const struct ov_base *base)
{
    assert_true(base->stream < WORLD_STREAMS);
    assert_true(base->base <= consumed_beneath(w, child, base->stream));
}

static bool is_beneath(const struct world *w, uint32_t node, uint32_t top)
{
    return topo_tree_contains(&w->cfg.plan, top, node);
}

static void ack_made(struct world *w, const struct ov_ack *ack)
{
    const struct books *it = books_of(w, ack->source);

    if (w->nodes[ack->source].is_cut)
        return; /* others may have written for it */
    assert_true(ack->accepted <= it->records);
    assert_true(ack->taken <= it->taken);
}

/* The items of a LINK frame: `heard` when it arrives, else when it is sent. */
static void read_items(struct world *w, uint32_t from, uint32_t to, bool heard,
                       const struct ov_buf *buf)
{
    struct ov_rd rd = ov_rd_init(buf->mem + OV_FRAME_HEAD_BYTES,
                                 buf->len_bytes - OV_FRAME_HEAD_BYTES);
    struct ov_answer answer;
    struct ov_item item;
    struct ov_base base;
    struct ov_ack ack;
    uint64_t limit;

    while (ov_rd_left(&rd) > 0) {
        assert_int_equal(ov_item_next(&rd, &item), 0);
        if (item.kind == OV_ITEM_LIMIT) {
            assert_true(is_child(w, to, from));
            assert_int_equal(ov_limit_decode(&item, &limit), 0);
            if (heard)
                books_of(w, to)->up_limit = limit;
            else
                promise_made(w, to, limit);
        } else if (item.kind == OV_ITEM_BASE) {
            assert_true(is_child(w, from, to));
            assert_int_equal(ov_base_decode(&item, &base), 0);
            if (heard)
                books_of(w, from)->base[base.stream] = base.base;
            else
                base_told(w, from, &base);
        } else if (item.kind == OV_ITEM_ACK) {
            struct books *it;

            assert_int_equal(ov_ack_decode(&item, &ack), 0);
            assert_true(is_beneath(w, ack.source, to));
            it = books_of(w, ack.source);
            if (!heard && from == 0)
                ack_made(w, &ack);
            for (; heard && to == ack.source && it->released < ack.taken;)
                it->kept_bytes -= it->record_bytes[++it->released];
        } else if (item.kind == OV_ITEM_ANSWER) {
            assert_int_equal(ov_answer_decode(&item, &answer), 0);
            assert_true(is_beneath(w, answer.node, to));
        }
    }
}

static void read_down(struct world *w, uint32_t to, const struct ov_buf *buf)
{
    struct books *it = books_of(w, to);
    struct ov_frame_head head;
    struct ov_down down;

    assert_int_equal(ov_frame_head_decode(buf->mem, buf->len_bytes, &head), 0);
    assert_int_equal(ov_down_decode(buf->mem, &head, &down), 0);
    assert_true(down.stream < WORLD_STREAMS);
    assert_true(down.seq == it->down_sent[down.stream]);
    it->down_sent[down.stream]++;
    assert_true(it->down_sent[down.stream] <=
                it->base[down.stream] + window_of(w, down.stream));
}

static void on_send(struct world *w, uint32_t from, uint16_t link,
                    const struct ov_buf *buf)
{
    uint32_t to = world_wire(w, from, link)->peer;
    struct books *it = books_of(w, from);

    slot_taken(w, from, link, type_of(buf) != OV_FRAME_LINK);
    if (type_of(buf) == OV_FRAME_UP) {
        assert_true(is_child(w, from, to));
        assert_true(it->up_sent < it->up_limit);
        it->up_sent++;
    } else if (type_of(buf) == OV_FRAME_DOWN) {
        assert_true(is_child(w, to, from));
        read_down(w, to, buf);
    } else {
        read_items(w, from, to, false, buf);
    }
}

static void on_frame(struct world *w, uint32_t node, uint32_t from,
                     const struct ov_buf *buf)
{
    if (type_of(buf) == OV_FRAME_UP)
        books_of(w, from)->up_arrived++;
    else if (type_of(buf) == OV_FRAME_LINK)
        read_items(w, from, node, true, buf);
}

/* --- records */

static void on_record(struct world *w, uint32_t node, uint32_t len_bytes)
{
    struct books *it = books_of(w, node);

    assert_true(++it->records < RECORDS);
    it->record_bytes[it->records] = len_bytes + OV_RECORD_HEAD_BYTES;
    it->kept_bytes += len_bytes + OV_RECORD_HEAD_BYTES;
    assert_true(it->kept_bytes <= w->cfg.up_window_bytes);
    assert_true(it->records - it->released <= w->cfg.kept_max);
}

static void on_taken(struct world *w, uint32_t source, uint64_t seq)
{
    struct books *it = books_of(w, source);

    if (w->nodes[source].is_cut)
        return;
    assert_true(seq <= it->records && !it->is_taken[seq]);
    it->is_taken[seq] = true;
    while (it->is_taken[it->taken + 1])
        it->taken++;
}

/* --- what a node keeps */

static void on_step(struct world *w, uint32_t n)
{
    const struct world_node *me = &w->nodes[n];
    struct topo_range kids = topo_tree_children(&w->cfg.plan, n);
    struct books *it = books_of(w, n);

    for (uint32_t c = kids.first; c <= kids.last; c++) {
        const struct books *child = books_of(w, c);
        uint64_t done = child->up_arrived - w->nodes[c].held;

        assert_true(w->nodes[c].held <= w->cfg.up_frames);
        assert_true(child->limit_told <= done + w->cfg.up_frames);
    }
    for (uint32_t s = 0; s < WORLD_STREAMS; s++) {
        struct ov_node_view view = ov_node_look(me->node, s);
        /* Stream 0: beside the ring the message that opened stream 1. */
        uint32_t more = s == 0 ? 1 : 0;

        assert_true(me->kept[s] <= window_of(w, s) + more);
        assert_true(view.down_head - view.down_base <= window_of(w, s));
        assert_true(view.kept_bytes == it->kept_bytes);
    }
}

void judge_open(struct world *w)
{
    static const struct world_watch watch = {
        .on_send = on_send,
        .on_frame = on_frame,
        .on_sent = on_sent,
        .on_record = on_record,
        .on_taken = on_taken,
        .on_step = on_step,
    };
    uint32_t nodes = w->cfg.plan.nodes;
    struct judge *judge = calloc(1, sizeof(*judge));

    assert_non_null(judge);
    judge->books = calloc(nodes, sizeof(*judge->books));
    judge->ends = calloc((size_t)nodes * WORLD_LINKS, sizeof(*judge->ends));
    assert_true(judge->books != NULL && judge->ends != NULL);
    for (uint32_t n = 0; n < nodes; n++) {
        struct books *it = &judge->books[n];

        it->record_bytes = calloc(RECORDS, sizeof(*it->record_bytes));
        it->is_taken = calloc(RECORDS, sizeof(*it->is_taken));
        assert_true(it->record_bytes != NULL && it->is_taken != NULL);
    }
    w->watch_arg = judge;
    w->watch = &watch;
}

void judge_close(struct world *w)
{
    struct judge *judge = w->watch_arg;

    for (uint32_t n = 0; n < w->cfg.plan.nodes; n++) {
        free(judge->books[n].record_bytes);
        free(judge->books[n].is_taken);
    }
    free(judge->books);
    free(judge->ends);
    free(judge);
    w->watch = NULL;
    w->watch_arg = NULL;
}
