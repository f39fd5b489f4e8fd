/* DOWN streams: keeps and forwards frames, and computes bases. */
#include "overlay/down.h"

#include "overlay/base/err.h"
#include "overlay/control.h"
#include "overlay/place.h"

static unsigned slot_of(const struct ov_node *node,
                        const struct ov_stream *stream)
{
    return (unsigned)(stream - node->streams);
}

static struct ov_feed *feed_of(const struct ov_node *node,
                               const struct ov_stream *stream)
{
    return &node->root->feeds[slot_of(node, stream)];
}

void ov_down_init(struct ov_node *node)
{
    struct ov_stream *stream = &node->streams[0];

    stream->state = OV_STREAM_OPEN;
    stream->window = node->cfg->control_frames;
    stream->is_target = true;
    stream->report_ns = OV_NEVER;
    stream->local_rank = TOPO_NONE;
    stream->holder_node = TOPO_NONE;
    stream->holder_rank = TOPO_NONE;
    stream->reported_node = TOPO_NONE;
    if (ov_node_is_root(node))
        feed_of(node, stream)->full_ns = OV_NEVER;
}

static struct ov_stream *find(const struct ov_node *node, uint32_t number)
{
    for (unsigned i = 0; i < node->cfg->streams_max; i++) {
        if (node->streams[i].state == OV_STREAM_OPEN &&
            node->streams[i].number == number)
            return &node->streams[i];
    }
    return NULL;
}

/* Decides whether the base is reported to the parent at once, or after a while.
 * It is reported at once when it has passed a multiple of an eighth of the
 * window, at the end of the stream, and when the goodbye is consumed. So is a
 * base that has fallen, so that no node above releases frames that are needed
 * again. */
static void schedule_report(struct ov_node *node, struct ov_stream *stream)
{
    uint64_t eighth = stream->window / 8 > 0 ? stream->window / 8 : 1;
    bool is_end = stream->has_ended && stream->base == stream->head;
    bool is_goodbye = stream->number == 0 && node->goodbye != 0 &&
                      stream->base >= node->goodbye;

    if (ov_node_is_root(node))
        return;
    if (stream->base / eighth != stream->reported / eighth || is_end ||
        is_goodbye || stream->base < stream->reported) {
        stream->is_report_due = true;
        ov_node_serve_parent(node);
    } else if (stream->report_ns == OV_NEVER) {
        stream->report_ns = node->now_ns + node->cfg->times.base_ns;
    }
}

/* Computes the base: the lowest frame that is not yet consumed by all for which
 * the node answers, and the process that holds it back. A hold counts as its
 * link did, and a claim counts from its HELLO on. So a node that is missing, or
 * is being adopted, finds all frames from its own head on. */
static struct ov_base lowest(const struct ov_node *node,
                             const struct ov_stream *stream)
{
    struct ov_base low = {.stream = stream->number,
                          .base = stream->head,
                          .node = TOPO_NONE,
                          .rank = TOPO_NONE};
    unsigned slot = slot_of(node, stream);

    if (stream->is_target && stream->local < low.base) {
        low.base = stream->local;
        low.node = node->tree.self;
        low.rank = stream->local_rank;
    }
    for (unsigned i = 0; i < node->tree.places_used; i++) {
        const struct ov_place *place = &node->tree.places[i];
        const struct ov_flow *flow = &place->flows[slot];

        if (place->kind != OV_PLACE_FREE && flow->is_needed &&
            flow->base < low.base && place->members + place->asks > 0) {
            low.base = flow->base;
            low.node = flow->node == TOPO_NONE ? place->child : flow->node;
            low.rank = flow->rank;
        }
    }
    return low;
}

static void release(struct ov_stream *stream, struct ov_out *out)
{
    for (; stream->first < stream->base; stream->first++)
        ov_out_put(out, stream->ring[stream->first % stream->window]);
}

/* Root: notes the time since which the window has been full without its base
 * moving. */
static void time_full(const struct ov_node *node, struct ov_feed *feed,
                      bool has_moved, bool is_full)
{
    if (has_moved)
        feed->full_ns = OV_NEVER;
    if (is_full && feed->full_ns == OV_NEVER)
        feed->full_ns = node->now_ns;
}

static void refresh(struct ov_node *node, struct ov_stream *stream,
                    struct ov_out *out)
{
    struct ov_base low = lowest(node, stream);
    bool is_full, has_moved = low.base != stream->base;

    stream->holder_node = low.node;
    stream->holder_rank = low.rank;
    if (has_moved) {
        stream->base = low.base;
        release(stream, out);
        schedule_report(node, stream);
    }
    is_full = stream->head - stream->base >= stream->window;
    if (ov_node_is_root(node))
        time_full(node, feed_of(node, stream), has_moved, is_full);
    if (is_full && !ov_node_is_root(node) &&
        (low.node != stream->reported_node ||
         low.rank != stream->reported_rank) &&
        stream->report_ns == OV_NEVER)
        stream->report_ns = node->now_ns + node->cfg->times.base_ns;
}

void ov_down_refresh(struct ov_node *node, struct ov_out *out)
{
    for (unsigned i = 0; i < node->cfg->streams_max; i++) {
        if (node->streams[i].state == OV_STREAM_OPEN)
            refresh(node, &node->streams[i], out);
    }
}

/* True when the stream has targets in the planned subtree of `top`. As this
 * depends on the plan alone, a node that answers for targets always carries the
 * stream, however the tree changes. */
static bool is_needed(const struct ov_node *node, unsigned slot, uint32_t top)
{
    const struct ov_stream *stream = &node->streams[slot];
    struct ov_control control;
    struct ov_open open;

    if (slot == 0)
        return true;
    if (stream->state != OV_STREAM_OPEN ||
        ov_control_decode(stream->set->mem + OV_DOWN_HEAD_BYTES,
                          stream->set->len_bytes - OV_DOWN_HEAD_BYTES,
                          &control) ||
        ov_open_decode(&control.body, &open))
        return false;
    for (unsigned i = 0; i < open.ranges; i++) {
        if (topo_tree_touches(node->tree.plan, top,
                              ov_open_range(&control.body)))
            return true;
    }
    return false;
}

void ov_down_place_opened(struct ov_node *node, struct ov_place *place)
{
    for (unsigned slot = 0; slot < node->cfg->streams_max; slot++)
        place->flows[slot].is_needed = is_needed(node, slot, place->child);
}

/* The claim's cursor in a stream: at its beginning when the claim has none. */
static struct ov_cursor cursor_of(const struct ov_claim *claim,
                                  struct ov_rd cursors, uint32_t stream)
{
    struct ov_item item = {.body = cursors};

    for (unsigned i = 0; i < claim->cursors; i++) {
        struct ov_cursor cursor = ov_cursor_decode(&item);

        if (cursor.stream == stream)
            return cursor;
    }
    return (struct ov_cursor){.stream = stream};
}

bool ov_down_serves(const struct ov_node *node, const struct ov_claim *claim,
                    struct ov_rd cursors)
{
    struct ov_item item = {.body = cursors};

    /* A frame that this node has released may have been released by all nodes
     * above, too. */
    for (unsigned i = 0; i < node->cfg->streams_max; i++) {
        const struct ov_stream *stream = &node->streams[i];

        if (stream->state == OV_STREAM_OPEN &&
            cursor_of(claim, cursors, stream->number).head < stream->first &&
            is_needed(node, i, claim->node))
            return false;
    }
    /* The claiming node has received frames of a stream that is not open here,
     * so it is ahead of this node. */
    for (unsigned i = 0; i < claim->cursors; i++) {
        struct ov_cursor cursor = ov_cursor_decode(&item);

        if (cursor.head > 0 && find(node, cursor.stream) == NULL)
            return false;
    }
    return true;
}

int ov_down_on_cursor(struct ov_node *node, struct ov_place *place,
                      const struct ov_cursor *cursor, bool is_hello)
{
    struct ov_stream *stream = find(node, cursor->stream);
    struct ov_flow *flow;

    if (cursor->base > cursor->head)
        return OV_EPROTO;
    if (stream == NULL)
        return is_hello && cursor->head == 0 ? 0 : OV_EPROTO;
    flow = &place->flows[slot_of(node, stream)];
    /* The child has received all frames before its head, from whichever parent.
     * Its base may be lower, because not all nodes beneath it have consumed
     * these frames. */
    if (is_hello)
        flow->sent = cursor->head;
    else if (cursor->head > flow->sent)
        return OV_EPROTO;
    flow->base = cursor->base;
    node->tree.has_changed = true;
    return 0;
}

bool ov_down_cursor(struct ov_node *node, unsigned slot,
                    struct ov_cursor *cursor)
{
    struct ov_stream *stream = &node->streams[slot];

    if (stream->state != OV_STREAM_OPEN)
        return false;
    *cursor = (struct ov_cursor){stream->number, stream->base, stream->head};
    stream->reported = stream->base;
    stream->is_report_due = false;
    stream->report_ns = OV_NEVER;
    return true;
}

/* Decides which places need the stream. A hold that was merged from several has
 * no child of its own, and counts as needing it. */
static void open_places(struct ov_node *node, unsigned slot)
{
    for (unsigned p = 0; p < node->tree.places_used; p++) {
        struct ov_place *place = &node->tree.places[p];

        if (place->kind != OV_PLACE_FREE)
            place->flows[slot].is_needed = place->child == TOPO_NONE ||
                                           is_needed(node, slot, place->child);
    }
}

static int open_stream(struct ov_node *node, struct ov_rd body,
                       struct ov_buf *buf)
{
    struct ov_stream *stream = NULL;
    struct ov_open open;
    unsigned slot;

    if (ov_open_decode(&body, &open) || find(node, open.stream) != NULL)
        return OV_EPROTO;
    for (slot = 1; slot < node->cfg->streams_max && stream == NULL; slot++) {
        if (node->streams[slot].state == OV_STREAM_FREE)
            stream = &node->streams[slot];
    }
    if (stream == NULL || open.window > node->cfg->down_frames)
        return OV_EPROTO;
    slot = slot_of(node, stream);
    stream->state = OV_STREAM_OPEN;
    stream->number = open.stream;
    stream->window = open.window;
    stream->set = ov_buf_ref(buf);
    stream->opened_at = node->streams[0].head;
    stream->report_ns = OV_NEVER;
    if (ov_node_is_root(node))
        *feed_of(node, stream) = (struct ov_feed){.full_ns = OV_NEVER};
    stream->local_rank = TOPO_NONE;
    stream->holder_node = TOPO_NONE;
    stream->holder_rank = TOPO_NONE;
    stream->reported_node = TOPO_NONE;
    for (unsigned i = 0; i < open.ranges; i++) {
        struct topo_range range = ov_open_range(&body);

        stream->is_target |=
            range.first <= node->tree.self && node->tree.self <= range.last;
    }
    open_places(node, slot);
    return 0;
}

static int on_control(struct ov_node *node, struct ov_buf *buf)
{
    struct ov_control control;

    if (ov_control_decode(buf->mem + OV_DOWN_HEAD_BYTES,
                          buf->len_bytes - OV_DOWN_HEAD_BYTES, &control))
        return OV_EPROTO;
    if (control.kind == OV_CONTROL_OPEN)
        return open_stream(node, control.body, buf);
    if (control.kind == OV_CONTROL_GOODBYE)
        node->goodbye = node->streams[0].head;
    return 0;
}

/* Adds a frame to the stream, gives it to this node's targets if there are any,
 * and offers it to the children. */
static int accept(struct ov_node *node, struct ov_stream *stream,
                  struct ov_buf *buf, const struct ov_down *down,
                  struct ov_out *out)
{
    unsigned slot = slot_of(node, stream);

    stream->ring[stream->head % stream->window] = buf;
    stream->head++;
    if (down->flags & OV_DOWN_END)
        stream->has_ended = true;
    if (stream->number == 0 && on_control(node, buf))
        return OV_EPROTO;
    if (stream->is_target) {
        struct ov_act *act = ov_out_act(out, OV_ACT_CONSUME);

        act->stream = stream->number;
        act->seq = down->seq;
        act->flags = down->flags;
        ov_out_slice(out, act, ov_buf_ref(buf), OV_DOWN_HEAD_BYTES,
                     buf->len_bytes - OV_DOWN_HEAD_BYTES);
    }
    for (unsigned i = 0; i < node->tree.places_used; i++) {
        const struct ov_place *place = &node->tree.places[i];

        if (place->kind == OV_PLACE_LINK && place->flows[slot].is_needed)
            ov_node_serve(node, place->link);
    }
    refresh(node, stream, out);
    return 0;
}

int ov_down_on_frame(struct ov_node *node, struct ov_buf *buf,
                     struct ov_out *out)
{
    struct ov_frame_head head;
    struct ov_down down;
    struct ov_stream *stream;

    if (ov_frame_head_decode(buf->mem, buf->len_bytes, &head) ||
        ov_down_decode(buf->mem, &head, &down))
        goto fail;
    stream = find(node, down.stream);
    if (stream == NULL || down.seq != stream->head || stream->has_ended ||
        stream->head - stream->first >= stream->window)
        goto fail;
    return accept(node, stream, buf, &down, out);

fail:
    ov_out_put(out, buf);
    return OV_EPROTO;
}

uint32_t ov_down_room(const struct ov_node *node, uint32_t number)
{
    const struct ov_stream *stream = find(node, number);

    OV_ASSERT(ov_node_is_root(node));
    /* The root sends nothing before all nodes have joined or were given up, so
     * that a stream begins with the same set of nodes everywhere. */
    if (stream == NULL || stream->has_ended || !node->root->is_joined_told ||
        stream->head - stream->base >= stream->window)
        return 0;
    return stream->window - (uint32_t)(stream->head - stream->base);
}

void ov_down_on_input(struct ov_node *node, const struct ov_event *ev,
                      struct ov_out *out)
{
    struct ov_stream *stream = find(node, ev->stream);
    struct ov_buf *buf = ev->buf;
    struct ov_wr wr = ov_wr_init(buf->mem, OV_DOWN_HEAD_BYTES);
    struct ov_down down = {.stream = ev->stream, .flags = ev->flags};

    OV_ASSERT(ov_down_room(node, ev->stream) > 0);
    OV_ASSERT(ev->len_bytes <= node->cfg->frame_bytes - OV_DOWN_HEAD_BYTES);
    OV_ASSERT((ev->flags & ~(uint32_t)OV_DOWN_FLAGS) == 0);
    down.seq = stream->head;
    ov_down_encode(&wr, node->tree.number, &down, ev->len_bytes);
    buf->len_bytes = OV_DOWN_HEAD_BYTES + ev->len_bytes;
    int rc = accept(node, stream, buf, &down, out);
    OV_ASSERT(rc == 0); /* control messages made by the driver are valid */
}

void ov_down_on_consumed(struct ov_node *node, const struct ov_event *ev,
                         struct ov_out *out)
{
    struct ov_stream *stream = find(node, ev->stream);

    OV_ASSERT(stream != NULL);
    OV_ASSERT(stream->local <= ev->seq && ev->seq <= stream->head);
    stream->local = ev->seq;
    stream->local_rank = ev->rank;
    refresh(node, stream, out);
}

int ov_down_on_base(struct ov_node *node, struct ov_place *place,
                    const struct ov_base *base, struct ov_out *out)
{
    struct ov_stream *stream = find(node, base->stream);
    struct ov_flow *flow;

    if (stream == NULL ||
        (base->node != TOPO_NONE && base->node >= node->tree.plan->nodes))
        return OV_EPROTO;
    flow = &place->flows[slot_of(node, stream)];
    if (base->base > flow->sent)
        return OV_EPROTO;
    flow->base = base->base;
    flow->node = base->node;
    flow->rank = base->rank;
    ov_node_serve(node, place->link);
    refresh(node, stream, out);
    return 0;
}

/* Sends the next frame of one stream to a child. False when there is none, or
 * it may not be sent now. */
static bool send_one(struct ov_node *node, struct ov_place *place,
                     unsigned slot, struct ov_out *out)
{
    struct ov_stream *stream = &node->streams[slot];
    struct ov_flow *flow = &place->flows[slot];
    struct ov_link *link = &node->links[place->link];
    struct ov_buf *buf;
    struct ov_act *act;

    if (stream->state != OV_STREAM_OPEN || !flow->is_needed ||
        flow->sent >= stream->head || flow->sent >= flow->base + stream->window)
        return false;
    if (slot != 0 && place->flows[0].sent < stream->opened_at)
        return false; /* the child has not yet been sent the OPEN */
    if (!ov_out_has_room(out) || !ov_link_can_send(link, node->cfg, true))
        return false;
    OV_ASSERT(flow->sent >= stream->first);
    buf = stream->ring[flow->sent % stream->window];
    act = ov_out_act(out, OV_ACT_SEND);
    act->link = place->link;
    ov_out_slice(out, act, ov_buf_ref(buf), 0, buf->len_bytes);
    ov_link_on_send(link, true, node->now_ns);
    flow->sent++;
    return true;
}

void ov_down_send(struct ov_node *node, struct ov_place *place,
                  struct ov_out *out)
{
    bool has_sent = true;

    /* Stream 0 is sent first, because control messages for a job must not wait
     * for its stdin. */
    while (send_one(node, place, 0, out))
        ;
    while (has_sent) {
        has_sent = false;
        for (unsigned slot = 1; slot < node->cfg->streams_max; slot++)
            has_sent |= send_one(node, place, slot, out);
    }
}

bool ov_down_report(struct ov_node *node, struct ov_base *base)
{
    for (unsigned i = 0; i < node->cfg->streams_max; i++) {
        struct ov_stream *stream = &node->streams[i];

        if (!stream->is_report_due)
            continue;
        stream->is_report_due = false;
        stream->report_ns = OV_NEVER;
        stream->reported = stream->base;
        stream->reported_node = stream->holder_node;
        stream->reported_rank = stream->holder_rank;
        *base = (struct ov_base){
            .stream = stream->number,
            .base = stream->base,
            .node = stream->holder_node,
            .rank = stream->holder_rank,
        };
        return true;
    }
    return false;
}

static void tell_stall(struct ov_node *node, struct ov_stream *stream,
                       struct ov_out *out)
{
    struct ov_feed *feed;
    uint64_t at_ns;
    struct ov_act *act;

    if (!ov_node_is_root(node))
        return;
    feed = feed_of(node, stream);
    if (feed->is_stall_told || feed->full_ns == OV_NEVER)
        return;
    at_ns = feed->full_ns + node->cfg->times.stall_ns;
    if (node->now_ns < at_ns) {
        ov_out_wake(out, at_ns);
        return;
    }
    feed->is_stall_told = true;
    act = ov_out_act(out, OV_ACT_STALL);
    act->stream = stream->number;
    act->node = stream->holder_node;
    act->rank = stream->holder_rank;
}

void ov_down_on_time(struct ov_node *node, struct ov_out *out)
{
    for (unsigned i = 0; i < node->cfg->streams_max; i++) {
        struct ov_stream *stream = &node->streams[i];

        if (stream->state != OV_STREAM_OPEN)
            continue;
        if (node->now_ns >= stream->report_ns) {
            stream->report_ns = OV_NEVER;
            stream->is_report_due = true;
            ov_node_serve_parent(node);
        }
        ov_out_wake(out, stream->report_ns);
        tell_stall(node, stream, out);
    }
}

bool ov_down_is_done(const struct ov_node *node)
{
    const struct ov_stream *stream = &node->streams[0];

    if (node->goodbye == 0 || stream->base < node->goodbye)
        return false;
    return ov_node_is_root(node) ||
           (stream->reported >= node->goodbye && !stream->is_report_due);
}

bool ov_down_child_is_done(const struct ov_node *node,
                           const struct ov_place *place)
{
    return node->goodbye != 0 && place->flows[0].base >= node->goodbye;
}

void ov_down_fini(struct ov_node *node, struct ov_out *out)
{
    for (unsigned i = 0; i < node->cfg->streams_max; i++) {
        struct ov_stream *stream = &node->streams[i];

        if (stream->state != OV_STREAM_OPEN)
            continue;
        stream->base = stream->head;
        release(stream, out);
        if (stream->set != NULL)
            ov_out_put(out, stream->set);
        stream->set = NULL;
        stream->state = OV_STREAM_FREE;
    }
}
