/* The nodes under test, and the frames between them. */
#include "tests/fuzz/nodes.h"

#include <stdlib.h>
#include <string.h>

#include "overlay/fold.h"
#include "overlay/link.h"
#include "overlay/wire/item.h"
#include "tests/fuzz/fuzz.h"

struct nodes nodes;

static struct ov_fold fold; /* a step needs it, and no two at a time */

/* --- buffers and nodes.flies --- */

struct ov_buf *nodes_buf_new(void)
{
    struct ov_buf *buf = calloc(1, sizeof(*buf));

    FUZZ_CHECK(buf != NULL);
    buf->mem = malloc(nodes.cfg.frame_bytes);
    FUZZ_CHECK(buf->mem != NULL);
    buf->cap_bytes = nodes.cfg.frame_bytes;
    buf->refs = 1;
    nodes.bufs_live++;
    return buf;
}

static void buf_free(struct ov_buf *buf)
{
    free(buf->mem);
    free(buf);
    nodes.bufs_live--;
}

static void buf_put(struct ov_buf *buf)
{
    if (buf != NULL && ov_buf_unref(buf))
        buf_free(buf);
}

static void fly(struct fly f)
{
    if (nodes.flies_end == NODES_FLIES_MAX) { /* There are too many frames for
                                               * one run, so this one is
                                               * lost. */
        buf_put(f.buf);
        return;
    }
    nodes.flies[nodes.flies_end++] = f;
}

/* --- actions of nodes --- */

static void check_items(const uint8_t *mem, const struct ov_frame_head *head)
{
    struct ov_rd rd = ov_rd_init(mem + OV_FRAME_HEAD_BYTES,
                                 head->len_bytes - OV_FRAME_HEAD_BYTES);
    struct ov_item item;

    for (unsigned i = 0; i < head->count; i++)
        FUZZ_CHECK(ov_item_next(&rd, &item) == 0);
    FUZZ_CHECK(ov_rd_left(&rd) == 0);
}

static void check_frame(const struct ov_buf *buf)
{
    struct ov_frame_head head;
    struct ov_shared shared;
    struct ov_down down;
    uint32_t payload_off;

    FUZZ_CHECK(ov_frame_head_decode(buf->mem, buf->len_bytes, &head) == 0);
    if (head.type == OV_FRAME_LINK)
        check_items(buf->mem, &head);
    else if (head.type == OV_FRAME_UP)
        FUZZ_CHECK(ov_up_check(buf->mem, &head, &payload_off) == 0);
    else if (head.type == OV_FRAME_SHARED)
        FUZZ_CHECK(ov_shared_decode(buf->mem, &head, &shared) == 0);
    else
        FUZZ_CHECK(ov_down_decode(buf->mem, &head, &down) == 0);
}

static void do_send(uint32_t n, const struct ov_act *act,
                    const struct ov_out *out)
{
    struct wire *wire = &nodes.subjects[n].wires[act->link];
    struct ov_buf *buf = nodes_buf_new();
    const struct ov_slice *slice = &out->slice[act->slice_first];

    FUZZ_CHECK(wire->era != 0);
    FUZZ_CHECK(++wire->in_flight <= nodes.cfg.send_slots);
    memcpy(buf->mem, out->head + act->head_first, act->head_bytes);
    buf->len_bytes = act->head_bytes;
    for (unsigned i = 0; i < act->slices; i++) {
        FUZZ_CHECK(slice[i].off_bytes + slice[i].len_bytes <=
                   slice[i].buf->cap_bytes);
        FUZZ_CHECK(buf->len_bytes + slice[i].len_bytes <=
                   nodes.cfg.frame_bytes);
        memcpy(buf->mem + buf->len_bytes,
               slice[i].buf->mem + slice[i].off_bytes, slice[i].len_bytes);
        buf->len_bytes += slice[i].len_bytes;
        buf_put(slice[i].buf);
    }
    check_frame(buf);
    fly((struct fly){.kind = FLY_FRAME,
                     .node = wire->peer,
                     .peer = n,
                     .link = wire->peer_link,
                     .era = wire->era,
                     .buf = buf});
    fly((struct fly){
        .kind = FLY_SENT, .node = n, .link = act->link, .era = wire->era});
}

void nodes_close_link(uint32_t n, uint16_t link)
{
    struct wire *wire = &nodes.subjects[n].wires[link];

    FUZZ_CHECK(wire->era != 0);
    fly((struct fly){.kind = FLY_DOWN,
                     .node = wire->peer,
                     .link = wire->peer_link,
                     .era = wire->era});
    wire->era = 0;
}

static void go(uint32_t n)
{
    nodes.subjects[n].is_gone = true;
    for (uint16_t i = 0; i < NODES_LINKS_MAX; i++)
        if (nodes.subjects[n].wires[i].era != 0)
            nodes_close_link(n, i);
}

static void do_read(uint32_t n, const struct ov_act *act)
{
    struct subject *me = &nodes.subjects[n];
    struct ov_event ev = {.kind = OV_EV_READ,
                          .input = act->input,
                          .read.records_max = act->records_max};
    uint32_t len_bytes = act->max_bytes;

    if (act->input == 1 && me->to_write > 0) {
        if (len_bytes > me->to_write)
            len_bytes = me->to_write;
        FUZZ_CHECK(len_bytes <= nodes.cfg.frame_bytes);
        me->to_write -= len_bytes;
        ev.read.buf = nodes_buf_new();
        memset(ev.read.buf->mem, '.', len_bytes);
        ev.read.len_bytes = len_bytes;
        ev.read.channel = OV_CHANNEL_STDOUT;
        ev.read.state = me->to_write > 0 ? OV_INPUT_MORE : OV_INPUT_IDLE;
    }
    nodes_step(n, ev);
}

static void consumed(uint32_t n, uint32_t stream, uint64_t seq)
{
    nodes_step(n, (struct ov_event){.kind = OV_EV_CONSUMED,
                                    .stream = stream,
                                    .seq = seq,
                                    .rank = n});
}

static void do_consume(uint32_t n, const struct ov_act *act,
                       const struct ov_slice *slice)
{
    struct subject *me = &nodes.subjects[n];

    for (unsigned i = 0; i < act->slices; i++)
        buf_put(slice[i].buf);
    if (nodes.is_slow && act->stream != 0) {
        me->held_stream = act->stream;
        me->held_seq = act->seq + 1;
        return;
    }
    consumed(n, act->stream, act->seq + 1);
}

void nodes_be_slow(bool is_slow)
{
    nodes.is_slow = is_slow;
    for (uint32_t n = 0; n < nodes.cfg.plan.nodes && !is_slow; n++) {
        struct subject *me = &nodes.subjects[n];
        uint32_t stream = me->held_stream;

        me->held_stream = 0;
        if (stream != 0 && !me->is_gone)
            consumed(n, stream, me->held_seq);
    }
}

static void do_record(const struct ov_act *act, const struct ov_slice *slice)
{
    for (unsigned i = 0; i < act->slices; i++)
        buf_put(slice[i].buf);
    fly((struct fly){.kind = FLY_TAKEN, .cookie = act->cookie});
}

static void do_address(const struct ov_act *act, const struct ov_slice *slice)
{
    FUZZ_CHECK(act->slices == 1 && slice->len_bytes <= OV_ADDRESS_MAX);
    buf_put(slice->buf);
}

static void do_act(uint32_t n, const struct ov_act *act,
                   const struct ov_out *out)
{
    switch (act->kind) {
    case OV_ACT_DIAL:
        FUZZ_CHECK(act->node < nodes.cfg.plan.nodes);
        fly((struct fly){.kind = FLY_DIAL, .node = n, .peer = act->node});
        break;
    case OV_ACT_CLOSE:
        nodes_close_link(n, act->link);
        break;
    case OV_ACT_SEND:
        do_send(n, act, out);
        break;
    case OV_ACT_RECORD:
        do_record(act, &out->slice[act->slice_first]);
        break;
    case OV_ACT_READ:
        do_read(n, act);
        break;
    case OV_ACT_CONSUME:
        do_consume(n, act, &out->slice[act->slice_first]);
        break;
    case OV_ACT_PROBE:
        FUZZ_CHECK(act->node < nodes.cfg.plan.nodes);
        fly((struct fly){.kind = FLY_PROBE,
                         .node = n,
                         .peer = act->node,
                         .link = act->link,
                         .seq = act->seq});
        break;
    case OV_ACT_ADDRESS:
        do_address(act, &out->slice[act->slice_first]);
        break;
    case OV_ACT_LOST:
        FUZZ_CHECK(n == 0 && act->node > 0 && act->node < nodes.cfg.plan.nodes);
        break;
    case OV_ACT_ORPHAN:
    case OV_ACT_ADOPTED:
    case OV_ACT_END:
    case OV_ACT_LEAVE:
    case OV_ACT_JOINED:
    case OV_ACT_STALL:
    case OV_ACT_KINDS:
        break;
    }
}

static bool is_question(const struct ov_act *act)
{
    return act->kind == OV_ACT_READ || act->kind == OV_ACT_CONSUME;
}

static bool is_end(const struct ov_act *act)
{
    return act->kind == OV_ACT_LEAVE || act->kind == OV_ACT_END;
}

/* Carries out the actions of a step, then answers the node's requests. */
static void carry_out(uint32_t n, struct ov_out *out)
{
    bool ends = false;

    for (unsigned i = 0; i < out->acts_count; i++) {
        if (!is_question(&out->acts[i]))
            do_act(n, &out->acts[i], out);
        ends = ends || is_end(&out->acts[i]);
    }
    while (out->freed != NULL) {
        struct ov_buf *buf = out->freed;

        FUZZ_CHECK(buf->refs == 0);
        out->freed = buf->next;
        buf_free(buf);
    }
    for (unsigned i = 0; i < out->acts_count; i++)
        if (is_question(&out->acts[i]))
            do_act(n, &out->acts[i], out);
    if (ends && !nodes.subjects[n].is_gone)
        go(n);
}

void nodes_step(uint32_t n, struct ov_event ev)
{
    struct ov_out *out = &nodes.outs[nodes.depth++];
    bool more;

    FUZZ_CHECK(nodes.depth <= NODES_DEPTH_MAX);
    ev.now_ns = nodes.now_ns;
    do {
        FUZZ_CHECK(++nodes.steps < NODES_STEPS_MAX);
        ov_node_step(nodes.subjects[n].node, &ev, out);
        more = out->more;
        nodes.subjects[n].wake_ns = out->wake_ns;
        carry_out(n, out);
        ev = (struct ov_event){.kind = OV_EV_TIMER, .now_ns = nodes.now_ns};
    } while (more && !nodes.subjects[n].is_gone);
    nodes.depth--;
}

/* --- events for nodes --- */

static void link_up(uint32_t n, uint16_t link, struct wire wire, bool dialled)
{
    FUZZ_CHECK(link < NODES_LINKS_MAX &&
               nodes.subjects[n].wires[link].era == 0);
    nodes.subjects[n].wires[link] = wire;
    nodes_step(n, (struct ov_event){.kind = OV_EV_LINK_UP,
                                    .link = link,
                                    .node = wire.peer,
                                    .dialled = dialled});
}

static void dial(const struct fly *f)
{
    uint16_t near = ov_node_free_link(nodes.subjects[f->node].node),
             far = OV_NO_LINK;
    uint32_t era;

    if (!nodes.subjects[f->peer].is_gone)
        far = ov_node_free_link(nodes.subjects[f->peer].node);
    if (near == OV_NO_LINK || far == OV_NO_LINK) {
        nodes_step(f->node, (struct ov_event){.kind = OV_EV_DIAL_FAILED,
                                              .node = f->peer});
        return;
    }
    era = ++nodes.eras;
    /* The far end is told first, because a listener knows of a link before the
     * dialler does. */
    nodes.subjects[f->node].wires[near] =
        (struct wire){.peer = f->peer, .peer_link = far, .era = 0};
    link_up(f->peer, far,
            (struct wire){.peer = f->node, .peer_link = near, .era = era},
            false);
    link_up(f->node, near,
            (struct wire){.peer = f->peer, .peer_link = far, .era = era}, true);
}

/* Makes the answer to a probe: the address where the lost node had listened, in
 * one byte. */
static struct ov_event probed(const struct fly *f)
{
    struct ov_event ev = {.kind = OV_EV_PROBED,
                          .node = f->peer,
                          .link = f->link,
                          .seq = f->seq,
                          .is_refused = nodes.subjects[f->peer].is_gone};

    if (ev.is_refused) {
        ev.buf = nodes_buf_new();
        ev.buf->len_bytes = 1;
        ev.buf->mem[0] = 'a';
    }
    return ev;
}

static void happen(struct fly *f)
{
    struct subject *me = &nodes.subjects[f->node];
    struct wire *wire = &me->wires[f->link];
    bool is_on = f->era != 0 && wire->era == f->era;

    if (me->is_gone || (f->era != 0 && !is_on)) {
        buf_put(f->buf);
        return;
    }
    switch (f->kind) {
    case FLY_FRAME:
        nodes_step(f->node, (struct ov_event){.kind = OV_EV_FRAME,
                                              .link = f->link,
                                              .buf = f->buf});
        break;
    case FLY_SENT:
        wire->in_flight--;
        nodes_step(
            f->node,
            (struct ov_event){.kind = OV_EV_SENT, .link = f->link, .count = 1});
        break;
    case FLY_DIAL:
        dial(f);
        break;
    case FLY_PROBE:
        nodes_step(f->node, probed(f));
        break;
    case FLY_DOWN:
        wire->era = 0;
        nodes_step(f->node,
                   (struct ov_event){.kind = OV_EV_LINK_DOWN, .link = f->link});
        break;
    case FLY_TAKEN:
        nodes_step(0,
                   (struct ov_event){.kind = OV_EV_TAKEN, .cookie = f->cookie});
        break;
    }
}

bool nodes_is_tired(void)
{
    return nodes.steps >= NODES_STEPS_MAX / 2;
}

void nodes_deliver(unsigned count)
{
    for (;
         count > 0 && nodes.flies_first < nodes.flies_end && !nodes_is_tired();
         count--) {
        struct fly f = nodes.flies[nodes.flies_first++];

        happen(&f);
    }
}

void nodes_pass_time(uint64_t by_ns)
{
    nodes.now_ns += by_ns;
    for (uint32_t n = 0; n < nodes.cfg.plan.nodes; n++)
        if (!nodes.subjects[n].is_gone &&
            nodes.subjects[n].wake_ns <= nodes.now_ns)
            nodes_step(n, (struct ov_event){.kind = OV_EV_TIMER});
}

/* --- a run --- */

static void on_panic(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: panic: %s\n", file, line, what);
    abort();
}

void nodes_open(struct topo_tree plan)
{
    const char *why;

    FUZZ_CHECK(plan.nodes <= NODES_MAX);
    memset(&nodes, 0, sizeof(nodes));
    nodes.cfg = ov_cfg_default(plan);
    nodes.cfg.frame_bytes = OV_FRAME_BYTES_MIN;
    nodes.cfg.records_max = 64;
    nodes.cfg.folds = plan.nodes % 2 == 0;
    for (unsigned i = 0; i < NODES_DEPTH_MAX; i++)
        nodes.outs[i].fold = &fold;
    FUZZ_CHECK(ov_cfg_check(&nodes.cfg, &why) == 0);
    ov_panic_set(on_panic);
    nodes.cells =
        calloc((size_t)plan.nodes * nodes.cfg.kept_max, sizeof(*nodes.cells));
    FUZZ_CHECK(nodes.cells != NULL);
    ov_kept_lend(&nodes.pool, nodes.cells, plan.nodes * nodes.cfg.kept_max);
    for (uint32_t n = 0; n < plan.nodes; n++) {
        nodes.subjects[n].mem = malloc(ov_node_size(&nodes.cfg, n, 2));
        FUZZ_CHECK(nodes.subjects[n].mem != NULL);
        nodes.subjects[n].node = ov_node_init(nodes.subjects[n].mem, &nodes.cfg,
                                              &nodes.pool, n, 2, 1);
    }
    for (uint32_t n = 0; n < plan.nodes; n++) {
        struct ov_event ev = {.kind = OV_EV_START, .buf = nodes_buf_new()};

        ev.buf->len_bytes = 1 + n; /* an address of 1 + n bytes */
        memset(ev.buf->mem, 'a', ev.buf->len_bytes);
        nodes_step(n, ev);
    }
}

void nodes_close(void)
{
    struct ov_out *out = &nodes.outs[0];

    for (; nodes.flies_first < nodes.flies_end; nodes.flies_first++)
        buf_put(nodes.flies[nodes.flies_first].buf);
    for (uint32_t n = 0; n < nodes.cfg.plan.nodes; n++) {
        ov_node_fini(nodes.subjects[n].node, out);
        while (out->freed != NULL) {
            struct ov_buf *buf = out->freed;

            out->freed = buf->next;
            buf_free(buf);
        }
        free(nodes.subjects[n].mem);
    }
    free(nodes.cells);
    FUZZ_CHECK(nodes.bufs_live == 0);
}
