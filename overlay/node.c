/* Dispatch: one event in, actions out; and the memory of a node. */
#include "overlay/node.h"

#include "overlay/base/err.h"
#include "overlay/dial.h"
#include "overlay/down.h"
#include "overlay/join.h"
#include "overlay/loss.h"
#include "overlay/place.h"
#include "overlay/serve.h"
#include "overlay/sink.h"
#include "overlay/state.h"
#include "overlay/up.h"

/* --- memory */

/* Hands out parts of one block; with no block it only counts. */
struct arena {
    uint8_t *mem;
    size_t used;
};

static void *arena_take(struct arena *arena, size_t count, size_t each)
{
    size_t at = (arena->used + 15) & ~(size_t)15;

    arena->used = at + count * each;
    if (arena->mem == NULL)
        return NULL;
    memset(arena->mem + at, 0, count * each);
    return arena->mem + at;
}

/* A leaf has no place; others may get twice their planned children, so that a
 * child that dials again finds room beside its old link. */
static uint16_t places_for(const struct ov_cfg *cfg, uint32_t self)
{
    struct topo_range kids = topo_tree_children(&cfg->plan, self);
    uint32_t count = kids.first > kids.last ? 0 : kids.last - kids.first + 1;

    return (uint16_t)(2 * count < cfg->children_max ? 2 * count
                                                    : cfg->children_max);
}

static uint32_t members_for(const struct ov_cfg *cfg, uint32_t self)
{
    return topo_tree_size(&cfg->plan, self) - 1;
}

static uint16_t max_u16(uint16_t a, uint16_t b)
{
    return a > b ? a : b;
}

static void lay_streams(struct ov_node *node, const struct ov_cfg *cfg,
                        struct arena *arena)
{
    uint16_t window = max_u16(cfg->down_frames, cfg->control_frames);
    struct ov_stream *streams =
        arena_take(arena, cfg->streams_max, sizeof(*streams));
    struct ov_buf **rings = arena_take(arena, (size_t)cfg->streams_max * window,
                                       sizeof(struct ov_buf *));

    if (node == NULL)
        return;
    node->streams = streams;
    for (unsigned i = 0; i < cfg->streams_max; i++)
        streams[i].ring = rings + (size_t)i * window;
}

static void lay_places(struct ov_node *node, const struct ov_cfg *cfg,
                       uint16_t count, struct arena *arena)
{
    struct ov_place *places = arena_take(arena, count, sizeof(*places));
    struct ov_flow *flows =
        arena_take(arena, (size_t)count * cfg->streams_max, sizeof(*flows));
    struct ov_buf **queues = arena_take(arena, (size_t)count * cfg->up_frames,
                                        sizeof(struct ov_buf *));

    if (node == NULL)
        return;
    node->tree.places = places;
    for (unsigned i = 0; i < count; i++) {
        places[i].flows = flows + (size_t)i * cfg->streams_max;
        places[i].queue = queues + (size_t)i * cfg->up_frames;
    }
}

static void lay_root(struct ov_node *node, const struct ov_cfg *cfg,
                     uint16_t places, uint32_t entries, struct arena *arena)
{
    struct ov_source *sources = arena_take(arena, entries, sizeof(*sources));
    struct ov_sunk *sunk = arena_take(arena, cfg->records_max, sizeof(*sunk));
    struct ov_sink_frame *frames =
        arena_take(arena, (size_t)places * cfg->up_frames, sizeof(*frames));

    if (node == NULL)
        return;
    node->root.sources = sources;
    node->root.sunk = sunk;
    node->root.frames = frames;
}

/* Lays a node out in the arena; with an empty arena only its size. */
static struct ov_node *lay_node(struct arena *arena, const struct ov_cfg *cfg,
                                uint32_t self, uint16_t inputs)
{
    uint16_t places = places_for(cfg, self);
    uint32_t room = members_for(cfg, self);
    uint32_t entries = room > 0 ? ov_members_entries(room) : 1;
    uint32_t depth = topo_tree_depth(&cfg->plan, self);
    struct ov_node *node = arena_take(arena, 1, sizeof(*node));
    struct ov_link *links =
        arena_take(arena, (size_t)places + 1, sizeof(*links));
    struct ov_drr_input *drr =
        arena_take(arena, (size_t)places + inputs, sizeof(*drr));
    struct ov_kept *kept =
        arena_take(arena, self == 0 ? 0 : cfg->kept_max, sizeof(*kept));
    struct ov_member *table = arena_take(arena, entries, sizeof(*table));
    uint16_t ancestors =
        (uint16_t)(depth < OV_ANCESTORS_MAX ? depth : OV_ANCESTORS_MAX);
    uint32_t *numbers = arena_take(arena, ancestors, sizeof(*numbers));

    lay_streams(node, cfg, arena);
    lay_places(node, cfg, places, arena);
    if (self == 0)
        lay_root(node, cfg, places, entries, arena);
    if (node == NULL)
        return NULL;
    node->links = links;
    node->links_max = (uint16_t)(places + 1);
    node->up.kept = kept;
    node->tree.ancestors = numbers;
    node->tree.ancestors_max = ancestors;
    ov_drr_init(&node->up.drr, drr, (uint16_t)(places + inputs),
                cfg->frame_bytes);
    ov_members_init(&node->tree.members, table, room);
    return node;
}

size_t ov_node_size(const struct ov_cfg *cfg, uint32_t self, uint16_t inputs)
{
    struct arena arena = {0};

    lay_node(&arena, cfg, self, inputs);
    return arena.used;
}

struct ov_node *ov_node_init(void *mem, const struct ov_cfg *cfg, uint32_t self,
                             uint16_t inputs, uint32_t seed)
{
    struct arena arena = {.mem = mem};
    struct ov_node *node = lay_node(&arena, cfg, self, inputs);

    node->cfg = cfg;
    node->inputs = inputs;
    node->random = (seed ^ (self * 2654435769u)) | 1;
    node->links_ns = OV_NEVER;
    node->wake_ns = OV_NEVER;
    node->serve_first = OV_NO_LINK;
    node->tree.plan = cfg->plan;
    node->tree.self = self;
    node->tree.parent = OV_NO_LINK;
    node->tree.redial_ns = OV_NEVER;
    node->tree.asks = (struct ov_member_list){OV_NO_MEMBER, OV_NO_MEMBER};
    node->up.next_seq = 1;
    node->up.cursor = 1;
    node->up.unsent = 1;
    node->up.batch_bytes = OV_FRAME_HEAD_BYTES;
    node->up.reading = OV_DRR_NONE;
    ov_down_init(node);
    if (self == 0)
        ov_sink_init(node);
    return node;
}

void ov_node_fini(struct ov_node *node, struct ov_out *out)
{
    ov_out_reset(out);
    ov_down_fini(node, out);
    ov_up_fini(node, out);
    for (unsigned i = 0; i < node->tree.places_used; i++) {
        struct ov_place *place = &node->tree.places[i];

        while (place->queue_len > 0)
            ov_out_put(out, ov_place_pop(node, place));
    }
}

/* --- links */

uint16_t ov_node_free_link(const struct ov_node *node)
{
    for (uint16_t i = 0; i < node->links_max; i++) {
        if (node->links[i].state == OV_LINK_FREE)
            return i;
    }
    return OV_NO_LINK;
}

uint16_t ov_node_links(const struct ov_node *node)
{
    return node->links_max;
}

/* When our own loop was late nobody else is to blame: the clocks of all links
 * start anew. */
static void forgive(struct ov_node *node)
{
    uint64_t third_ns = node->cfg->timers.heartbeat_ns / 3;

    if (node->now_ns <= node->links_ns + third_ns)
        return;
    for (uint16_t i = 0; i < node->links_max; i++)
        node->links[i].heard_ns = node->now_ns;
}

/* The end of a link that was silent, or the beat that is due. */
static void watch_link(struct ov_node *node, uint16_t index, struct ov_out *out)
{
    struct ov_link *link = &node->links[index];

    if (node->now_ns >= ov_link_silence_ns(link, node->cfg)) {
        ov_loss_close(node, index, OV_PLACE_HOLD_SILENT, out);
        return;
    }
    ov_serve_link(node, index, true, out);
    /* No slot is free: frames are on their way, that will do. */
    link->spoke_ns = node->now_ns;
}

static uint64_t look_ns(const struct ov_node *node, const struct ov_link *link)
{
    uint64_t beat_ns = ov_link_beat_ns(link, node->cfg);
    uint64_t silence_ns = ov_link_silence_ns(link, node->cfg);

    return beat_ns < silence_ns ? beat_ns : silence_ns;
}

/* Beats that are due, and silence. */
static void watch_links(struct ov_node *node, struct ov_out *out)
{
    uint64_t next_ns = OV_NEVER;

    forgive(node);
    for (uint16_t i = 0; i < node->links_max; i++) {
        const struct ov_link *link = &node->links[i];

        if (link->state == OV_LINK_FREE)
            continue;
        if (node->now_ns >= look_ns(node, link)) {
            if (!ov_out_has_room(out)) {
                out->more = true;
                next_ns = node->now_ns;
                break;
            }
            watch_link(node, i, out);
        }
        if (link->state != OV_LINK_FREE && look_ns(node, link) < next_ns)
            next_ns = look_ns(node, link);
    }
    node->links_ns = next_ns;
}

/* --- frames */

static int on_item(struct ov_node *node, uint16_t link, struct ov_item *item,
                   struct ov_out *out)
{
    bool from_parent = link == node->tree.parent;
    struct ov_place *place = NULL;
    struct ov_base base;
    uint64_t limit;

    if (!from_parent && node->links[link].place != OV_NO_PLACE)
        place = &node->tree.places[node->links[link].place];
    switch ((enum ov_item_kind)item->kind) {
    case OV_ITEM_HELLO:
        return ov_join_on_hello(node, link, item, out);
    case OV_ITEM_ASK:
        return from_parent ? OV_EPROTO : ov_join_on_ask(node, link, item);
    case OV_ITEM_BASE:
        if (place == NULL || ov_base_decode(item, &base))
            return OV_EPROTO;
        return ov_down_on_base(node, place, &base, out);
    case OV_ITEM_LIMIT:
        if (!from_parent || ov_limit_decode(item, &limit))
            return OV_EPROTO;
        return ov_up_on_limit(node, limit);
    case OV_ITEM_ANSWER:
        return from_parent ? ov_join_on_answer(node, item) : OV_EPROTO;
    case OV_ITEM_WELCOME:
        return from_parent ? ov_join_on_welcome(node, item) : OV_EPROTO;
    case OV_ITEM_PATH:
        return from_parent ? ov_join_on_path(node, item) : OV_EPROTO;
    case OV_ITEM_REFUSE:
        return from_parent ? ov_join_on_refuse(node, item, out) : OV_EPROTO;
    case OV_ITEM_ACK:
    case OV_ITEM_LEFT:
    case OV_ITEM_MISSING:
    case OV_ITEM_KINDS:
        break;
    }
    return OV_EPROTO;
}

/* An acknowledgement: our own, or one to pass on. */
static int on_ack(struct ov_node *node, struct ov_item *item,
                  struct ov_out *out)
{
    struct ov_member *member;
    struct ov_place *place;
    struct ov_ack ack;

    if (ov_ack_decode(item, &ack))
        return OV_EPROTO;
    if (ack.source == node->tree.self)
        return ov_up_on_ack(node, &ack, out);
    member = ov_members_find(&node->tree.members, ack.source);
    if (member == NULL || member->state != OV_MEMBER_CONFIRMED)
        return 0;
    if (ack.accepted > member->accepted)
        member->accepted = ack.accepted;
    if (ack.taken > member->taken)
        member->taken = ack.taken;
    place = &node->tree.places[member->place];
    ov_members_due(&node->tree.members, &place->due, member, OV_DUE_ACK);
    if (place->kind == OV_PLACE_LINK)
        ov_node_serve(node, place->link);
    return 0;
}

static int on_link_frame(struct ov_node *node, uint16_t link,
                         const struct ov_buf *buf, unsigned count,
                         struct ov_out *out)
{
    struct ov_rd rd = ov_rd_init(buf->mem + OV_FRAME_HEAD_BYTES,
                                 buf->len_bytes - OV_FRAME_HEAD_BYTES);
    struct ov_item item;
    int rc = 0;

    for (; count > 0 && rc == 0; count--) {
        rc = ov_item_next(&rd, &item);
        if (rc == 0 && node->links[link].state == OV_LINK_FREE)
            return 0; /* an item before ended the link */
        if (rc == 0 && item.kind == OV_ITEM_ACK && link == node->tree.parent)
            rc = on_ack(node, &item, out);
        else if (rc == 0)
            rc = on_item(node, link, &item, out);
    }
    return rc == 0 && ov_rd_left(&rd) != 0 ? OV_EPROTO : rc;
}

static int on_up_frame(struct ov_node *node, uint16_t link, struct ov_buf *buf,
                       const struct ov_frame_head *head, struct ov_out *out)
{
    uint16_t index = node->links[link].place;
    uint32_t payload;

    if (index == OV_NO_PLACE || link == node->tree.parent ||
        ov_up_check(buf->mem, head, &payload) ||
        !ov_place_queue(node, &node->tree.places[index], buf)) {
        ov_out_put(out, buf);
        return OV_EPROTO;
    }
    if (ov_node_is_root(node))
        ov_sink_pump(node, out);
    else
        ov_up_on_queued(node, index);
    return 0;
}

static void on_frame(struct ov_node *node, const struct ov_event *ev,
                     struct ov_out *out)
{
    struct ov_link *link = &node->links[ev->link];
    struct ov_buf *buf = ev->buf;
    struct ov_frame_head head;
    int rc;

    link->heard_ns = node->now_ns;
    rc = ov_frame_head_decode(buf->mem, buf->len_bytes, &head);
    if (rc == 0 && head.tree != node->tree.number)
        rc = OV_EPROTO;
    if (rc == 0 && head.type == OV_FRAME_UP && link->state == OV_LINK_UP) {
        rc = on_up_frame(node, ev->link, buf, &head, out);
    } else if (rc == 0 && head.type == OV_FRAME_DOWN &&
               ev->link == node->tree.parent && node->tree.is_attached) {
        rc = ov_down_on_frame(node, buf, out);
    } else {
        if (rc == 0)
            rc = head.type == OV_FRAME_LINK
                     ? on_link_frame(node, ev->link, buf, head.count, out)
                     : OV_EPROTO;
        ov_out_put(out, buf);
    }
    if (link->state == OV_LINK_FREE)
        return;
    if (rc != 0)
        ov_loss_close(node, ev->link, OV_PLACE_HOLD_UNCLEAR, out);
    else if (node->now_ns >=
             link->spoke_ns + node->cfg->timers.heartbeat_ns / 6)
        /* Our own beat would be due soon: one wake-up serves both. */
        ov_serve_link(node, ev->link, true, out);
}

/* --- the step */

static void on_timer(struct ov_node *node, struct ov_out *out)
{
    if (ov_node_is_root(node))
        ov_sink_pump(node, out);
}

static void on_sent(struct ov_node *node, const struct ov_event *ev)
{
    OV_ASSERT(ov_link_on_sent(&node->links[ev->link], ev->count));
    ov_node_serve(node, ev->link);
}

static void dispatch(struct ov_node *node, const struct ov_event *ev,
                     struct ov_out *out)
{
    switch (ev->kind) {
    case OV_EV_START:
        ov_join_start(node, out);
        break;
    case OV_EV_LINK_UP:
        ov_join_on_link_up(node, ev);
        node->links_ns = node->now_ns; /* a new link to watch */
        break;
    case OV_EV_LINK_DOWN:
        if (node->links[ev->link].state != OV_LINK_FREE)
            ov_loss_on_down(node, ev->link, OV_PLACE_HOLD_UNCLEAR, out);
        break;
    case OV_EV_DIAL_FAILED:
        ov_dial_failed(node, out);
        break;
    case OV_EV_FRAME:
        on_frame(node, ev, out);
        break;
    case OV_EV_SENT:
        on_sent(node, ev);
        break;
    case OV_EV_TIMER:
        on_timer(node, out);
        break;
    case OV_EV_READY:
        ov_up_on_ready(node, ev->input);
        break;
    case OV_EV_READ:
        ov_up_on_read(node, ev, out);
        break;
    case OV_EV_DOWN:
        ov_down_on_input(node, ev, out);
        break;
    case OV_EV_CONSUMED:
        ov_down_on_consumed(node, ev, out);
        break;
    case OV_EV_TAKEN:
        ov_sink_on_taken(node, ev->cookie, out);
        break;
    case OV_EV_KINDS:
        break;
    }
}

static void serve_queue(struct ov_node *node, struct ov_out *out)
{
    while (node->serve_first != OV_NO_LINK) {
        uint16_t index = node->serve_first;

        if (!ov_out_has_room(out)) {
            out->more = true;
            return;
        }
        node->serve_first = node->links[index].next;
        node->links[index].is_queued = false;
        ov_serve_link(node, index, false, out);
        if (!ov_out_has_room(out))
            ov_node_serve(node, index);
    }
}

/* The goodbye is consumed beneath us and reported: nothing is left to do. */
static void leave(struct ov_node *node, struct ov_out *out)
{
    uint16_t parent = node->tree.parent;

    if (node->has_left || !ov_down_is_done(node))
        return;
    if (parent != OV_NO_LINK && node->links[parent].in_flight > 0)
        return;
    node->has_left = true;
    ov_out_act(out, OV_ACT_LEAVE);
}

void ov_node_step(struct ov_node *node, const struct ov_event *ev,
                  struct ov_out *out)
{
    ov_out_reset(out);
    node->now_ns = ev->now_ns;
    dispatch(node, ev, out);
    if (node->now_ns >= node->links_ns)
        watch_links(node, out); /* may start timers of those below */
    ov_join_tell(node, out);
    ov_dial_on_time(node, out);
    ov_down_on_time(node, out);
    if (ov_node_is_root(node))
        ov_sink_on_time(node, out);
    serve_queue(node, out);
    leave(node, out);
    ov_out_wake(out, node->links_ns);
    if (out->more)
        ov_out_wake(out, node->now_ns);
}

/* --- views */

uint32_t ov_node_down_room(const struct ov_node *node, uint32_t stream)
{
    return ov_down_room(node, stream);
}

struct ov_node_view ov_node_look(const struct ov_node *node, uint32_t stream)
{
    struct ov_node_view view = {
        .kept_bytes = node->up.kept_bytes,
        .joined = node->tree.joined,
        .is_attached = node->tree.is_attached,
    };

    for (unsigned i = 0; i < node->cfg->streams_max; i++) {
        if (node->streams[i].state == OV_STREAM_OPEN &&
            node->streams[i].number == stream) {
            view.down_head = node->streams[i].head;
            view.down_base = node->streams[i].base;
        }
    }
    for (unsigned i = 0; i < node->tree.places_used; i++)
        view.children =
            (uint16_t)(view.children + ov_place_counts(&node->tree.places[i]));
    return view;
}
