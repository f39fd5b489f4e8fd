/* The little world: see world.h. */
#include "tests/unit/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/world_impl.h"

static uint64_t sum_more(uint64_t sum, const uint8_t *mem, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++)
        sum = (sum ^ mem[i]) * UINT64_C(1099511628211);
    return sum;
}

/* --- frames on the way */

/* Returns the time of the next tick or a later one; not before *after_ns, which
 * is moved on. */
static uint64_t later_ns(struct world *w, uint64_t *after_ns)
{
    uint64_t due_ns = w->now_ns + WORLD_TICK_NS;

    if (w->delay_max > 0)
        due_ns +=
            chance_in(&w->chance, 0, w->delay_max) * (uint64_t)WORLD_TICK_NS;
    if (after_ns != NULL && due_ns < *after_ns)
        due_ns = *after_ns;
    if (after_ns != NULL)
        *after_ns = due_ns;
    return due_ns;
}

static void fly(struct world *w, struct fly f, uint64_t *after_ns)
{
    f.due_ns = later_ns(w, after_ns);
    air_add(&w->air, f);
}

/* --- actions of nodes */

static void do_send(struct world *w, uint32_t n, const struct ov_act *act)
{
    struct world_wire *wire = world_wire(w, n, act->link);
    struct ov_buf *buf = bag_new(w);
    struct ov_slice *slice = &w->out->slice[act->slice_first];

    memcpy(buf->mem, w->out->head + act->head_first, act->head_bytes);
    buf->len_bytes = act->head_bytes;
    for (unsigned i = 0; i < act->slices; i++) {
        assert_true(buf->len_bytes + slice[i].len_bytes <= w->cfg.frame_bytes);
        memcpy(buf->mem + buf->len_bytes,
               slice[i].buf->mem + slice[i].off_bytes, slice[i].len_bytes);
        buf->len_bytes += slice[i].len_bytes;
        bag_put(w, slice[i].buf);
    }
    w->frames_up += buf->mem[0] == OV_FRAME_UP;
    w->frames_down += buf->mem[0] == OV_FRAME_DOWN;
    w->frames_link += buf->mem[0] == OV_FRAME_LINK;
    if (w->watch != NULL)
        w->watch->on_send(w, n, act->link, buf);
    fly(w,
        (struct fly){.kind = FLY_FRAME,
                     .node = wire->peer,
                     .peer = n,
                     .era = wire->era,
                     .link = wire->peer_link,
                     .buf = buf},
        &wire->frame_ns);
    fly(w,
        (struct fly){.kind = FLY_SENT,
                     .node = n,
                     .peer = wire->peer,
                     .era = wire->era,
                     .link = act->link},
        &wire->sent_ns);
}

void world_end_link(struct world *w, uint32_t n, uint16_t link)
{
    struct world_wire *wire = world_wire(w, n, link);

    wire->is_up = false;
    fly(w,
        (struct fly){.kind = FLY_DOWN,
                     .node = wire->peer,
                     .peer = n,
                     .era = wire->era,
                     .link = wire->peer_link},
        &wire->frame_ns);
}

/* Writes lines of the node's number and a counter, cut to whole lines. */
static uint32_t read_lines(struct world *w, uint32_t n, struct ov_read *read,
                           uint32_t max_bytes)
{
    struct world_node *me = &w->nodes[n];
    uint64_t len = me->to_write < max_bytes ? me->to_write : max_bytes;

    if (len > 0 && chance_is(&w->chance, w->cut))
        len = chance_in(&w->chance, 0, (uint32_t)len);
    len -= len % (me->line > 0 ? me->line : 1);
    read->buf = bag_new(w);
    for (uint64_t i = 0; i < len; i++) {
        uint64_t at = me->written + i;

        read->buf->mem[i] =
            at % me->line == me->line - 1 ? '\n' : (uint8_t)(at * 31 + n);
    }
    me->wrote_sum = sum_more(me->wrote_sum, read->buf->mem, (uint32_t)len);
    me->written += len;
    me->to_write -= len;
    return (uint32_t)len;
}

static struct ov_event read_input(struct world *w, uint32_t n, uint16_t input,
                                  uint32_t max_bytes)
{
    struct world_node *me = &w->nodes[n];
    struct ov_event ev = {.kind = OV_EV_READ, .input = input};

    if (input == 0) {
        ev.read.flags = me->is_final_due ? OV_RECORD_EOF : 0;
        ev.read.rank = n;
        me->is_final_due = false;
    } else {
        ev.read.len_bytes = read_lines(w, n, &ev.read, max_bytes);
        ev.read.rank = n - 1;
        ev.read.channel = OV_CHANNEL_STDOUT;
        ev.read.state = me->to_write > 0 ? OV_INPUT_MORE : OV_INPUT_IDLE;
        if (me->to_write > 0 && chance_is(&w->chance, w->cut)) {
            ev.read.state = OV_INPUT_IDLE;
            fly(w, (struct fly){.kind = FLY_READY, .node = n}, NULL);
        }
    }
    if (w->watch != NULL && (ev.read.len_bytes > 0 || ev.read.flags != 0))
        w->watch->on_record(w, n, ev.read.len_bytes);
    return ev;
}

/* Returns true when the answer is due at once. */
static bool do_read(struct world *w, uint32_t n, const struct ov_act *act,
                    struct ov_event *ev)
{
    if (w->delay_max > 0 && chance_is(&w->chance, 50)) {
        fly(w,
            (struct fly){.kind = FLY_READ,
                         .node = n,
                         .link = act->input,
                         .cookie = act->max_bytes},
            NULL);
        return false;
    }
    *ev = read_input(w, n, act->input, act->max_bytes);
    return true;
}

struct ov_event world_consumed(struct world *w, uint32_t n, uint32_t stream,
                               uint64_t seq)
{
    w->nodes[n].frames[stream] = seq;
    return (struct ov_event){
        .kind = OV_EV_CONSUMED, .stream = stream, .seq = seq, .rank = n - 1};
}

/* Returns true when the answer is due at once. */
static bool do_consume(struct world *w, uint32_t n, const struct ov_act *act,
                       struct ov_event *ev)
{
    struct world_node *me = &w->nodes[n];
    struct ov_slice *slice = &w->out->slice[act->slice_first];
    const uint8_t *mem = slice->buf->mem + slice->off_bytes;
    uint32_t stream = act->stream;

    if (stream >= WORLD_STREAMS) {
        bag_put(w, slice->buf);
        return false; /* the launcher opened a stream that this world does not
                       * know */
    }
    assert_true(act->seq == me->seen[stream]);
    me->seen[stream]++;
    if (stream == 0) {
        me->controls += mem[0] >= OV_CONTROL_APP;
    } else {
        me->eaten += slice->len_bytes;
        me->eaten_sum = sum_more(me->eaten_sum, mem, slice->len_bytes);
    }
    bag_put(w, slice->buf);
    if (stream == 1 && me->is_stuck) {
        *ev = world_consumed(w, n, stream, me->frames[stream]);
        return true;
    }
    if (w->delay_max > 0) {
        fly(w,
            (struct fly){.kind = FLY_CONSUMED,
                         .node = n,
                         .stream = stream,
                         .seq = me->seen[stream]},
            NULL);
        return false;
    }
    *ev = world_consumed(w, n, stream, me->seen[stream]);
    return true;
}

static void do_record(struct world *w, const struct ov_act *act)
{
    struct world_node *from = &w->nodes[act->rec.source];
    struct ov_slice *slice = &w->out->slice[act->slice_first];

    if (act->rec.channel == OV_CHANNEL_STDOUT) {
        from->got += slice->len_bytes;
        from->got_sum =
            sum_more(from->got_sum, slice->buf->mem + slice->off_bytes,
                     slice->len_bytes);
    }
    from->is_final |= (act->rec.flags & OV_RECORD_EOF) != 0;
    fly(w,
        (struct fly){.kind = FLY_TAKEN,
                     .peer = act->rec.source,
                     .seq = act->rec.seq,
                     .cookie = act->cookie,
                     .buf = slice->buf},
        NULL);
}

/* Records what a node reports about itself, or the root about all nodes. */
static void do_note(struct world *w, uint32_t n, const struct ov_act *act)
{
    struct world_node *me = &w->nodes[n];

    if (act->kind == OV_ACT_JOINED) {
        w->is_joined = true;
    } else if (act->kind == OV_ACT_ORPHAN) {
        assert_true(me->parent == act->node);
        me->parent = TOPO_NONE;
        me->orphaned++;
    } else if (act->kind == OV_ACT_ADOPTED) {
        me->parent = act->node;
    } else if (act->kind == OV_ACT_LOST) {
        assert_true(n == 0 && !w->nodes[act->node].is_lost);
        w->nodes[act->node].is_lost = true;
    } else if (act->kind == OV_ACT_END) {
        me->end = act->flags;
    } else if (act->kind == OV_ACT_STALL) {
        w->stall_node = act->node;
        w->stall_rank = act->rank;
        w->stalls++;
    } else if (act->kind == OV_ACT_LEAVE) {
        me->has_left = true;
    }
}

static void do_act(struct world *w, uint32_t n, const struct ov_act *act,
                   struct owed *owed)
{
    struct fly f = {
        .node = n, .peer = act->node, .seq = act->attach, .link = act->link};
    struct ov_event ev;
    bool is_owed = false;

    switch (act->kind) {
    case OV_ACT_DIAL:
    case OV_ACT_PROBE:
        f.kind = act->kind == OV_ACT_DIAL ? FLY_DIAL : FLY_PROBE;
        if (f.kind == FLY_PROBE)
            f.seq = act->seq;
        fly(w, f, NULL);
        break;
    case OV_ACT_CLOSE:
        world_end_link(w, n, act->link);
        break;
    case OV_ACT_SEND:
        do_send(w, n, act);
        break;
    case OV_ACT_RECORD:
        do_record(w, act);
        break;
    case OV_ACT_READ:
        is_owed = do_read(w, n, act, &ev);
        break;
    case OV_ACT_CONSUME:
        is_owed = do_consume(w, n, act, &ev);
        break;
    case OV_ACT_ADDRESS:
        bag_put(w, w->out->slice[act->slice_first].buf);
        break;
    case OV_ACT_JOINED:
    case OV_ACT_ORPHAN:
    case OV_ACT_ADOPTED:
    case OV_ACT_LOST:
    case OV_ACT_END:
    case OV_ACT_STALL:
    case OV_ACT_LEAVE:
    case OV_ACT_KINDS:
        do_note(w, n, act);
        break;
    }
    if (is_owed) {
        assert_true(owed->len < OWED_MAX);
        owed->ev[(owed->at + owed->len++) % OWED_MAX] = ev;
    }
}

/* Runs one step and all its actions, again as long as the node has more to
 * do. */
static void step(struct world *w, uint32_t n, struct ov_event *ev,
                 struct owed *owed)
{
    do {
        ev->now_ns = w->now_ns;
        ov_node_step(w->nodes[n].node, ev, w->out);
        for (uint32_t i = 0; i < w->out->acts_count; i++)
            do_act(w, n, &w->out->acts[i], owed);
        while (w->out->freed != NULL) {
            struct ov_buf *buf = w->out->freed;

            w->out->freed = buf->next;
            bag_free(w, buf);
        }
        *ev = (struct ov_event){.kind = OV_EV_TIMER};
    } while (w->out->more);
    w->nodes[n].wake_ns = w->out->wake_ns;
}

void world_run(struct world *w, uint32_t n, struct ov_event ev)
{
    struct owed *owed = w->owed;

    owed->at = owed->len = 0;
    step(w, n, &ev, owed);
    while (owed->len > 0) {
        ev = owed->ev[owed->at];
        owed->at = (owed->at + 1) % OWED_MAX;
        owed->len--;
        ev.follows = owed->len > 0;
        step(w, n, &ev, owed);
    }
    if (w->watch != NULL)
        w->watch->on_step(w, n);
    if (w->nodes[n].end != 0 && !w->nodes[n].is_dead)
        world_kill(w, n);
}

/* --- events */

static bool is_gone(const struct world_node *me)
{
    return me->is_dead || me->has_left;
}

static void connect_link(struct world *w, const struct fly *f)
{
    struct world_node *peer = &w->nodes[f->peer];
    uint16_t near = ov_node_free_link(w->nodes[f->node].node);
    bool is_deaf = is_gone(peer) || peer->is_frozen;
    uint16_t far = is_deaf ? OV_NO_LINK : ov_node_free_link(peer->node);
    struct ov_event ev = {.kind = OV_EV_DIAL_FAILED, .node = f->peer};

    if (far == OV_NO_LINK || near == OV_NO_LINK) {
        world_run(w, f->node, ev);
        return;
    }
    assert_true(near < WORLD_LINKS && far < WORLD_LINKS);
    w->eras++;
    *world_wire(w, f->node, near) = (struct world_wire){.peer = f->peer,
                                                        .era = w->eras,
                                                        .peer_link = far,
                                                        .is_up = true,
                                                        .is_dialled = true};
    *world_wire(w, f->peer, far) = (struct world_wire){
        .peer = f->node, .era = w->eras, .peer_link = near, .is_up = true};
    ev = (struct ov_event){.kind = OV_EV_LINK_UP, .link = far, .node = f->node};
    world_run(w, f->peer, ev);
    ev = (struct ov_event){
        .kind = OV_EV_LINK_UP, .link = near, .node = f->peer, .dialled = true};
    world_run(w, f->node, ev);
}

/* True when the link over which this came is still the same. */
static bool still_up(const struct world *w, const struct fly *f)
{
    const struct world_wire *wire = world_wire(w, f->node, f->link);

    return wire->is_up && wire->era == f->era;
}

static void arrive(struct world *w, const struct fly *f)
{
    struct ov_event ev = {.kind = OV_EV_FRAME, .link = f->link, .buf = f->buf};

    if (!still_up(w, f)) {
        bag_put(w, f->buf);
        return;
    }
    if (w->spoil != NULL)
        w->spoil(w, f->buf);
    bag_count_frame(w, f->node, f->peer, f->buf);
    if (w->watch != NULL)
        w->watch->on_frame(w, f->node, f->link, f->buf);
    world_run(w, f->node, ev);
}

static void take(struct world *w, const struct fly *f)
{
    struct ov_event ev = {.kind = OV_EV_TAKEN, .cookie = f->cookie};

    bag_put(w, f->buf);
    if (w->watch != NULL)
        w->watch->on_taken(w, f->peer, f->seq);
    world_run(w, 0, ev);
}

void world_happen(struct world *w, struct fly *f)
{
    struct world_node *me = &w->nodes[f->node];
    struct ov_event ev = {.link = f->link, .count = 1, .input = 1};

    if (me->is_dead) {
        bag_put(w, f->buf);
        return;
    }
    switch (f->kind) {
    case FLY_FRAME:
        arrive(w, f);
        break;
    case FLY_SENT:
        ev.kind = OV_EV_SENT;
        if (!still_up(w, f))
            break;
        if (w->watch != NULL)
            w->watch->on_sent(w, f->node, f->link);
        world_run(w, f->node, ev);
        break;
    case FLY_DIAL:
        connect_link(w, f);
        break;
    case FLY_PROBE:
        ev = (struct ov_event){.kind = OV_EV_PROBED,
                               .node = f->peer,
                               .link = f->link,
                               .seq = f->seq,
                               .is_refused = is_gone(&w->nodes[f->peer])};
        if (ev.is_refused) { /* the address where it listened, in one byte */
            ev.buf = bag_new(w);
            ev.buf->len_bytes = 1;
        }
        world_run(w, f->node, ev);
        break;
    case FLY_DOWN:
        ev.kind = OV_EV_LINK_DOWN;
        if (!still_up(w, f))
            break;
        world_wire(w, f->node, f->link)->is_up = false;
        world_run(w, f->node, ev);
        break;
    case FLY_TAKEN:
        take(w, f);
        break;
    case FLY_CONSUMED:
        if (f->seq > me->frames[f->stream] && !(f->stream && me->is_stuck))
            world_run(w, f->node,
                      world_consumed(w, f->node, f->stream, f->seq));
        break;
    case FLY_READY:
        ev.kind = OV_EV_READY;
        world_run(w, f->node, ev);
        break;
    case FLY_READ:
        world_run(w, f->node, read_input(w, f->node, f->link, f->cookie));
        break;
    }
}

static bool is_stopped(const struct world *w, const struct fly *f)
{
    if (f->kind == FLY_TAKEN && w->sink_is_stuck)
        return true;
    if (f->kind == FLY_FRAME && w->nodes[f->peer].is_frozen)
        return true;
    return w->nodes[f->node].is_frozen;
}

static void feed(struct world *w)
{
    while (ov_node_down_room(w->nodes[0].node, 1) > 0 &&
           (w->to_feed > 0 || (w->feed_ends && !w->feed_ended))) {
        uint32_t room = w->cfg.frame_bytes - OV_DOWN_HEAD_BYTES;
        uint32_t len = w->to_feed < room ? (uint32_t)w->to_feed : room;
        struct ov_event ev = {
            .kind = OV_EV_DOWN, .stream = 1, .buf = bag_new(w)};
        uint8_t *mem = ev.buf->mem + OV_DOWN_HEAD_BYTES;

        if (len > 0 && chance_is(&w->chance, w->cut))
            len = chance_in(&w->chance, 1, len);
        for (uint32_t i = 0; i < len; i++)
            mem[i] = (uint8_t)((w->fed + i) * 7);
        w->fed_sum = sum_more(w->fed_sum, mem, len);
        w->fed += len;
        w->to_feed -= len;
        if (w->to_feed == 0 && w->feed_ends) {
            ev.flags = OV_DOWN_END;
            w->feed_ended = true;
        }
        ev.len_bytes = len;
        bag_count(ev.buf, &w->nodes[0].kept[1]);
        world_run(w, 0, ev);
    }
}

void world_tick(struct world *w)
{
    struct fly f;

    w->now_ns += WORLD_TICK_NS;
    while (air_take(&w->air, w->now_ns, &f)) {
        if (is_stopped(w, &f)) {
            f.due_ns = w->now_ns + WORLD_TICK_NS;
            air_put_back(&w->air, f);
        } else {
            world_happen(w, &f);
        }
    }
    for (uint32_t n = 0; n < w->cfg.plan.nodes; n++) {
        const struct world_node *me = &w->nodes[n];

        if (!me->is_dead && !me->is_frozen &&
            (me->wake_ns <= w->now_ns || chance_is(&w->chance, w->spurious)))
            world_run(w, n, (struct ov_event){.kind = OV_EV_TIMER});
    }
    if (!w->nodes[0].is_dead && !w->nodes[0].is_frozen)
        feed(w);
}

void world_until(struct world *w, bool (*cond)(struct world *w), unsigned max)
{
    for (unsigned i = 0; !cond(w); i++) {
        if (i == max)
            fail_msg("not reached in %u ticks", max);
        world_tick(w);
    }
}
