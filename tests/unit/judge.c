/* Keeps account of a little world: see judge.h. */
#include "tests/unit/judge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/wire/item.h"

enum { RECORDS = 1 << 16 };

/* One end of a link. */
struct end {
    uint32_t era;
    unsigned in_flight, data_in_flight;
    bool is_data[OV_SEND_SLOTS_MAX];
};

/* A link, from the child's hello on. */
struct tie {
    uint64_t up_limit; /* the limit as the child was told it */
    uint64_t up_sent, up_arrived;
    uint64_t limit_told; /* the limit as the parent sent it; some frames may be
                          * on their way */
    uint64_t down_sent[WORLD_STREAMS]; /* how many frames the parent has sent */
    uint64_t base[WORLD_STREAMS];      /* the base as the parent was told it */
};

/* What the judge knows of a node. */
struct books {
    uint32_t
        *record_bytes; /* by sequence number: the size of each own record */
    bool *is_taken;    /* by sequence number: whether the root's sinks have
                        * the record */
    uint64_t records, released, taken;
    uint64_t kept_bytes;
};

struct judge {
    struct books *books;
    struct end *ends; /* [node * WORLD_LINKS + link] the ends of links */
    struct tie *ties; /* the links, by their eras */
    uint32_t ties_count;
};

static struct judge *judge_of(const struct world *w)
{
    return w->watch_arg;
}

static struct books *books_of(struct world *w, uint32_t n)
{
    return &judge_of(w)->books[n];
}

static struct end *end_of(struct world *w, uint32_t n, uint16_t link)
{
    struct end *end = &judge_of(w)->ends[(size_t)n * WORLD_LINKS + link];
    uint32_t era = world_wire(w, n, link)->era;

    if (end->era != era)
        *end = (struct end){.era = era};
    return end;
}

static struct tie *tie_of(struct world *w, uint32_t era)
{
    struct judge *judge = judge_of(w);

    if (era >= judge->ties_count) {
        uint32_t count = 2 * era + 64;

        judge->ties = realloc(judge->ties, count * sizeof(*judge->ties));
        assert_non_null(judge->ties);
        memset(judge->ties + judge->ties_count, 0,
               (count - judge->ties_count) * sizeof(*judge->ties));
        judge->ties_count = count;
    }
    return &judge->ties[era];
}

static uint8_t type_of(const struct ov_buf *buf)
{
    return buf->mem[0];
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

/* True when the node is attached, and so is each node above it, up to `top`. */
static bool hangs_on(const struct world *w, uint32_t n, uint32_t top)
{
    while (n != top) {
        const struct world_node *me = &w->nodes[n];

        if (n < top || me->is_dead || me->parent == TOPO_NONE)
            return false;
        n = me->parent;
    }
    return true;
}

/* Returns the lowest base of all nodes that hang on a node: what all of them
 * have consumed of a stream. */
static uint64_t consumed_beneath(const struct world *w, uint32_t top,
                                 uint32_t stream)
{
    uint64_t low = UINT64_MAX;

    for (uint32_t n = top; n < w->cfg.plan.nodes; n++) {
        bool reads =
            stream == 0 || (n >= w->readers.first && n <= w->readers.last);

        if (reads && w->nodes[n].frames[stream] < low && hangs_on(w, n, top))
            low = w->nodes[n].frames[stream];
    }
    return low;
}

static uint16_t window_of(const struct world *w, uint32_t stream)
{
    return stream == 0 ? w->cfg.control_frames : w->cfg.down_frames;
}

static bool is_beneath(const struct world *w, uint32_t node, uint32_t top)
{
    return topo_tree_contains(&w->cfg.plan, top, node);
}

static void base_told(struct world *w, uint32_t child, uint32_t stream,
                      uint64_t base)
{
    assert_true(stream < WORLD_STREAMS);
    assert_true(base <= consumed_beneath(w, child, stream));
}

static void ack_made(struct world *w, const struct ov_ack *ack)
{
    const struct books *it = books_of(w, ack->source);

    assert_true(ack->accepted <= it->records);
    assert_true(ack->taken <= it->taken);
}

/* Where a frame on a link belongs, when it is sent and when it arrives. */
struct said {
    uint32_t from, to;
    struct tie *tie;
    bool is_up; /* the frame goes from child to parent */
    bool is_heard;
};

static void read_claim(struct world *w, const struct said *said,
                       struct ov_item *item)
{
    bool is_hello = item->kind == OV_ITEM_HELLO;
    struct ov_claim claim;

    assert_true(said->is_up);
    assert_int_equal(ov_claim_decode(item, &claim), 0);
    assert_true(is_hello ? claim.node == said->from
                         : is_beneath(w, claim.node, said->from));
    for (unsigned i = 0; i < claim.members; i++) {
        struct ov_member_ref member = ov_member_decode(item);

        assert_true(is_beneath(w, member.node, claim.node));
        assert_true(is_beneath(w, member.node, member.parent));
    }
    for (unsigned i = 0; i < claim.cursors; i++) {
        struct ov_cursor cursor = ov_cursor_decode(item);

        assert_true(cursor.base <= cursor.head);
        if (!said->is_heard)
            base_told(w, said->from, cursor.stream, cursor.base);
        else
            said->tie->base[cursor.stream] = cursor.base;
        if (said->is_heard && is_hello)
            said->tie->down_sent[cursor.stream] = cursor.head;
    }
}

static void read_limit(const struct said *said, struct ov_item *item)
{
    uint64_t limit;

    assert_false(said->is_up);
    assert_int_equal(ov_limit_decode(item, &limit), 0);
    if (said->is_heard) {
        said->tie->up_limit = limit;
    } else {
        /* A child that must ask for each frame is told so. */
        assert_true(limit > said->tie->limit_told ||
                    ((item->flags & OV_ITEM_FINAL) != 0 && limit == 0));
        said->tie->limit_told = limit;
    }
}

static void read_base(struct world *w, const struct said *said,
                      struct ov_item *item)
{
    struct ov_base base;

    assert_true(said->is_up);
    assert_int_equal(ov_base_decode(item, &base), 0);
    if (said->is_heard)
        said->tie->base[base.stream] = base.base;
    else
        base_told(w, said->from, base.stream, base.base);
}

static void read_ack(struct world *w, const struct said *said,
                     struct ov_item *item)
{
    struct books *it;
    struct ov_ack ack;

    assert_false(said->is_up);
    assert_int_equal(ov_ack_decode(item, &ack), 0);
    assert_true(is_beneath(w, ack.source, said->to));
    it = books_of(w, ack.source);
    if (!said->is_heard && said->from == 0)
        ack_made(w, &ack);
    if (!said->is_heard || said->to != ack.source)
        return;
    while (it->released < ack.taken)
        it->kept_bytes -= it->record_bytes[++it->released];
}

/* Reads the items of a LINK frame. */
static void read_items(struct world *w, const struct said *said,
                       const struct ov_buf *buf)
{
    struct ov_rd rd = ov_rd_init(buf->mem + OV_FRAME_HEAD_BYTES,
                                 buf->len_bytes - OV_FRAME_HEAD_BYTES);
    struct ov_answer answer;
    struct ov_item item;

    while (ov_rd_left(&rd) > 0) {
        assert_int_equal(ov_item_next(&rd, &item), 0);
        if (item.kind == OV_ITEM_LIMIT) {
            read_limit(said, &item);
        } else if (item.kind == OV_ITEM_BASE) {
            read_base(w, said, &item);
        } else if (item.kind == OV_ITEM_ACK) {
            read_ack(w, said, &item);
        } else if (item.kind == OV_ITEM_HELLO || item.kind == OV_ITEM_ASK) {
            read_claim(w, said, &item);
        } else if (item.kind == OV_ITEM_ANSWER) {
            assert_false(said->is_up);
            assert_int_equal(ov_answer_decode(&item, &answer), 0);
            assert_true(is_beneath(w, answer.node, said->to));
        }
    }
}

static void read_down(struct world *w, struct tie *tie,
                      const struct ov_buf *buf)
{
    struct ov_frame_head head;
    struct ov_down down;

    assert_int_equal(ov_frame_head_decode(buf->mem, buf->len_bytes, &head), 0);
    assert_int_equal(ov_down_decode(buf->mem, &head, &down), 0);
    assert_true(down.stream < WORLD_STREAMS);
    assert_true(down.seq == tie->down_sent[down.stream]);
    tie->down_sent[down.stream]++;
    assert_true(tie->down_sent[down.stream] <=
                tie->base[down.stream] + window_of(w, down.stream));
}

static void on_send(struct world *w, uint32_t from, uint16_t link,
                    const struct ov_buf *buf)
{
    const struct world_wire *wire = world_wire(w, from, link);
    struct said said = {.from = from,
                        .to = wire->peer,
                        .tie = tie_of(w, wire->era),
                        .is_up = wire->is_dialled};

    slot_taken(w, from, link, type_of(buf) != OV_FRAME_LINK);
    if (type_of(buf) == OV_FRAME_UP) {
        assert_true(said.is_up);
        assert_true(said.tie->up_sent < said.tie->up_limit);
        said.tie->up_sent++;
    } else if (type_of(buf) == OV_FRAME_DOWN) {
        assert_false(said.is_up);
        read_down(w, said.tie, buf);
    } else {
        read_items(w, &said, buf);
    }
}

static void on_frame(struct world *w, uint32_t node, uint16_t link,
                     const struct ov_buf *buf)
{
    const struct world_wire *wire = world_wire(w, node, link);
    struct said said = {.from = wire->peer,
                        .to = node,
                        .tie = tie_of(w, wire->era),
                        .is_up = !wire->is_dialled,
                        .is_heard = true};

    if (type_of(buf) == OV_FRAME_UP)
        said.tie->up_arrived++;
    else if (type_of(buf) == OV_FRAME_LINK)
        read_items(w, &said, buf);
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

    assert_true(seq <= it->records && !it->is_taken[seq]);
    it->is_taken[seq] = true;
    while (it->is_taken[it->taken + 1])
        it->taken++;
}

/* --- the memory of a node */

static void check_child(struct world *w, uint32_t n, uint16_t link)
{
    const struct world_wire *wire = world_wire(w, n, link);
    uint32_t held;
    const struct tie *tie;

    if (!wire->is_up || wire->is_dialled)
        return;
    tie = tie_of(w, wire->era);
    held = world_queued(w, n, wire->peer);
    assert_true(held <= w->cfg.up_frames);
    assert_true(tie->limit_told + held <= tie->up_arrived + w->cfg.up_frames);
}

static void on_step(struct world *w, uint32_t n)
{
    const struct world_node *me = &w->nodes[n];
    struct books *it = books_of(w, n);

    for (uint16_t link = 0; link < ov_node_links(me->node); link++)
        check_child(w, n, link);
    for (uint32_t s = 0; s < WORLD_STREAMS; s++) {
        struct ov_node_view view = ov_node_look(me->node, s);
        /* Stream 0 keeps, besides the ring, the message that opened stream 1.
         */
        uint32_t more = s == 0 ? 1 : 0;

        assert_true(me->kept[s] <= window_of(w, s) + more);
        assert_true(view.down_head - view.down_base <= window_of(w, s));
        /* A record that is sent again stays until that is done. */
        assert_true(me->node->up.batch_pieces > 0
                        ? view.kept_bytes >= it->kept_bytes
                        : view.kept_bytes == it->kept_bytes);
        assert_true(view.kept_bytes <= w->cfg.up_window_bytes);
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
    free(judge->ties);
    free(judge);
    w->watch = NULL;
    w->watch_arg = NULL;
}
