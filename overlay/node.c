/* Steps a node: passes an event to the function that handles it, and collects
 * the actions. */
#include "overlay/node.h"

#include "overlay/adopt.h"
#include "overlay/base/err.h"
#include "overlay/dial.h"
#include "overlay/down.h"
#include "overlay/hold.h"
#include "overlay/join.h"
#include "overlay/loss.h"
#include "overlay/place.h"
#include "overlay/serve.h"
#include "overlay/share.h"
#include "overlay/sink.h"
#include "overlay/state.h"
#include "overlay/up.h"
#include "overlay/witness.h"

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

/* Starts the clocks of all links again when this node itself was late: the
 * silence is then not its neighbours' fault. */
static void forgive(struct ov_node *node)
{
    uint64_t late_ns = ov_times_own_delay_ns(&node->cfg->times);

    if (node->now_ns <= node->links_ns + late_ns)
        return;
    for (uint16_t i = 0; i < node->links_max; i++)
        node->links[i].heard_ns = node->now_ns;
    for (unsigned i = 0; ov_node_is_root(node) && i < node->cfg->streams_max;
         i++) {
        if (node->root->feeds[i].full_ns != OV_NEVER)
            node->root->feeds[i].full_ns = node->now_ns;
    }
}

/* Makes this step look at the links. If an earlier look is already due, its
 * time stays, because it shows how late this node is. */
static void watch_soon(struct ov_node *node)
{
    if (node->now_ns < node->links_ns)
        node->links_ns = node->now_ns;
}

/* True when the last frame sent on this link is old enough for a beat to be
 * sent along with that of another link. */
static bool beats_along(const struct ov_node *node, const struct ov_link *link)
{
    return node->now_ns >=
           link->spoke_ns + ov_times_beat_along_ns(&node->cfg->times);
}

/* Ends a link that was silent for too long, or sends the beat that is due. */
static void watch_link(struct ov_node *node, uint16_t index, struct ov_out *out)
{
    struct ov_link *link = &node->links[index];

    if (node->now_ns >= ov_link_silence_ns(link, node->cfg)) {
        ov_loss_close(node, index, OV_PLACE_HOLD_SILENT, out);
        return;
    }
    ov_serve_link(node, index, true, out);
    /* When no slot was free no beat was sent, but frames are on their way, and
     * they do for a beat. */
    link->spoke_ns = node->now_ns;
}

/* When the link is next looked at: to send a beat or to judge the peer's
 * silence. The root begins, and its beats go down as a wave: a node beats when
 * its parent's beat arrives. Before it begins by itself it waits a little
 * longer, just long enough for the wave to come down the tree. */
static uint64_t look_ns(const struct ov_node *node, const struct ov_link *link)
{
    uint64_t beat_ns = ov_link_beat_ns(link, node->cfg);
    uint64_t silence_ns = ov_link_silence_ns(link, node->cfg);

    if (node->tree.parent != OV_NO_LINK)
        beat_ns += ov_times_beat_wait_ns(&node->cfg->times);
    return beat_ns < silence_ns ? beat_ns : silence_ns;
}

/* Ends links that were silent for too long, and sends beats. */
static void watch_links(struct ov_node *node, struct ov_out *out)
{
    uint64_t next_ns = OV_NEVER;

    forgive(node);
    for (uint16_t i = 0; i < node->links_max; i++) {
        const struct ov_link *link = &node->links[i];

        if (link->state == OV_LINK_FREE)
            continue;
        if (node->now_ns >= look_ns(node, link) || beats_along(node, link)) {
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

/* The link that an event is about. It may have ended meanwhile; events that the
 * driver has queued for it then come too late. */
static struct ov_link *link_of(const struct ov_node *node,
                               const struct ov_event *ev)
{
    OV_ASSERT(ev->link < node->links_max);
    return &node->links[ev->link];
}

/* --- frames */

/* Handles ACK, for this node or for a member to which it is passed on. Only the
 * newest acknowledgement for each member is kept, so that many on a busy link
 * become one. */
static int on_ack(struct ov_node *node, struct ov_item *item,
                  struct ov_out *out)
{
    struct ov_member *member;
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
    ov_place_ack(node, member, true);
    return 0;
}

/* Handles an item from the parent. */
static int on_parent_item(struct ov_node *node, uint16_t link,
                          struct ov_item *item, struct ov_buf *buf,
                          struct ov_out *out)
{
    uint64_t limit;

    switch ((enum ov_item_kind)item->kind) {
    case OV_ITEM_LIMIT:
        return ov_limit_decode(item, &limit)
                   ? OV_EPROTO
                   : ov_up_on_limit(node, limit,
                                    (item->flags & OV_ITEM_FINAL) != 0);
    case OV_ITEM_ACK:
        return on_ack(node, item, out);
    case OV_ITEM_ASKED:
        return ov_join_on_asked(node, item);
    case OV_ITEM_ANSWER:
        return ov_adopt_on_answer(node, item);
    case OV_ITEM_WELCOME:
        return ov_join_on_welcome(node, item, out);
    case OV_ITEM_PATH:
        return ov_join_on_path(node, item);
    case OV_ITEM_REFUSE:
        return ov_join_on_refuse(node, item, out);
    case OV_ITEM_LEFT:
        return ov_hold_on_left(node, item);
    case OV_ITEM_PAUSE:
        return ov_pause_decode(item, &node->links[link].is_paused);
    case OV_ITEM_LOOK:
        return ov_witness_on_look(node, link, item, buf, out);
    case OV_ITEM_SEEN:
        return ov_hold_on_seen(node, item);
    case OV_ITEM_HELLO:
    case OV_ITEM_ASK:
    case OV_ITEM_BASE:
    case OV_ITEM_MISSING:
    case OV_ITEM_ADDRESS:
    case OV_ITEM_WANT:
    case OV_ITEM_KINDS:
        break;
    }
    return OV_EPROTO;
}

/* Handles WANT: a surplus child asks for a frame. Only a welcomed child may
 * ask. */
static int on_want(struct ov_node *node, uint16_t link, struct ov_item *item)
{
    uint16_t place = node->links[link].place;

    if (ov_want_decode(item) || node->links[link].state != OV_LINK_UP ||
        place == OV_NO_PLACE)
        return OV_EPROTO;
    return ov_place_on_want(node, &node->tree.places[place]);
}

/* Handles ADDRESS: tells the driver where the child, or a node beneath it,
 * listens. The child's own address is kept as well, to be sent to our
 * parent. */
static int on_address(struct ov_node *node, uint16_t link, struct ov_item *item,
                      struct ov_buf *buf, struct ov_out *out)
{
    struct ov_tree *tree = &node->tree;
    struct ov_place *place;
    uint32_t who, len_bytes;
    struct ov_member *member;
    struct ov_act *act;

    if (ov_address_decode(item, &who) || node->links[link].place == OV_NO_PLACE)
        return OV_EPROTO;
    place = &tree->places[node->links[link].place];
    len_bytes = (uint32_t)ov_rd_left(&item->body);
    if (len_bytes > OV_ADDRESS_MAX || who >= tree->plan->nodes ||
        !topo_tree_contains(tree->plan, place->child, who))
        return OV_EPROTO;
    if (who == place->child && place->address != NULL) {
        memcpy(place->address, item->body.at, len_bytes);
        place->address_bytes = (uint8_t)len_bytes;
    }
    member = ov_members_add(&tree->members, who);
    OV_ASSERT(member != NULL); /* the table has room for the whole planned
                                  subtree */
    member->is_addressed = true;
    act = ov_out_act(out, OV_ACT_ADDRESS);
    act->node = who;
    ov_out_slice(out, act, ov_buf_ref(buf),
                 (uint32_t)(item->body.at - buf->mem), len_bytes);
    return 0;
}

/* Handles an item from a child. */
static int on_child_item(struct ov_node *node, uint16_t link,
                         struct ov_item *item, struct ov_buf *buf,
                         struct ov_out *out)
{
    uint16_t place = node->links[link].place;
    struct ov_base base;

    switch ((enum ov_item_kind)item->kind) {
    case OV_ITEM_ADDRESS:
        return on_address(node, link, item, buf, out);
    case OV_ITEM_HELLO:
        return ov_adopt_on_hello(node, link, item);
    case OV_ITEM_ASK:
        return ov_adopt_on_ask(node, link, item);
    case OV_ITEM_BASE:
        if (place == OV_NO_PLACE || ov_base_decode(item, &base))
            return OV_EPROTO;
        return ov_down_on_base(node, &node->tree.places[place], &base, out);
    case OV_ITEM_MISSING:
        return ov_hold_on_missing(node, link, item);
    case OV_ITEM_WANT:
        return on_want(node, link, item);
    case OV_ITEM_LOOK:
        return ov_witness_on_look(node, link, item, buf, out);
    case OV_ITEM_SEEN:
        return ov_hold_on_seen(node, item);
    case OV_ITEM_LIMIT:
    case OV_ITEM_ACK:
    case OV_ITEM_ASKED:
    case OV_ITEM_ANSWER:
    case OV_ITEM_WELCOME:
    case OV_ITEM_PATH:
    case OV_ITEM_REFUSE:
    case OV_ITEM_LEFT:
    case OV_ITEM_PAUSE:
    case OV_ITEM_KINDS:
        break;
    }
    return OV_EPROTO;
}

static int on_link_frame(struct ov_node *node, uint16_t link,
                         struct ov_buf *buf, unsigned count, struct ov_out *out)
{
    struct ov_rd rd = ov_rd_init(buf->mem + OV_FRAME_HEAD_BYTES,
                                 buf->len_bytes - OV_FRAME_HEAD_BYTES);
    struct ov_item item;
    int rc = 0;

    for (; count > 0 && rc == 0; count--) {
        rc = ov_item_next(&rd, &item);
        if (rc == 0 && (node->links[link].state == OV_LINK_FREE ||
                        node->links[link].is_ending))
            return 0; /* an earlier item of the frame ended the link */
        if (rc == 0)
            rc = link == node->tree.parent
                     ? on_parent_item(node, link, &item, buf, out)
                     : on_child_item(node, link, &item, buf, out);
    }
    return rc == 0 && ov_rd_left(&rd) != 0 ? OV_EPROTO : rc;
}

/* Checks a frame of records. SHARED frames come only where lines are folded. */
static bool is_good_up(const struct ov_node *node, const struct ov_buf *buf,
                       const struct ov_frame_head *head)
{
    struct ov_shared shared;
    uint32_t payload;

    if (head->type == OV_FRAME_SHARED)
        return node->cfg->folds &&
               ov_shared_decode(buf->mem, head, &shared) == 0;
    return ov_up_check(buf->mem, head, &payload) == 0;
}

static int on_up_frame(struct ov_node *node, uint16_t link, struct ov_buf *buf,
                       const struct ov_frame_head *head, struct ov_out *out)
{
    uint16_t index = node->links[link].place;

    if (index == OV_NO_PLACE || link == node->tree.parent ||
        !is_good_up(node, buf, head)) {
        ov_out_put(out, buf);
        return OV_EPROTO;
    }
    if (head->count == 0) {
        ov_out_put(out, buf);
        return ov_place_given_back(node, &node->tree.places[index]) ? 0
                                                                    : OV_EPROTO;
    }
    if (!ov_place_queue(node, &node->tree.places[index], buf)) {
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
    struct ov_link *link = link_of(node, ev);
    struct ov_buf *buf = ev->buf;
    struct ov_frame_head head;
    int rc;

    link->heard_ns = node->now_ns;
    if (link->is_ending) {
        ov_out_put(out, buf);
        return;
    }
    rc = ov_frame_head_decode(buf->mem, buf->len_bytes, &head);
    if (rc == 0 && head.tree != node->tree.number)
        rc = OV_EPROTO;
    if (rc == 0 && ov_frame_is_up(head.type) && link->state == OV_LINK_UP) {
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
    else if (beats_along(node, link))
        watch_soon(node); /* the beats of other links that are nearly due are
                             sent in this step, too */
}

/* --- the step */

static void on_timer(struct ov_node *node, struct ov_out *out)
{
    if (ov_node_is_root(node))
        ov_sink_pump(node, out);
}

static void on_sent(struct ov_node *node, const struct ov_event *ev)
{
    OV_ASSERT(ov_link_on_sent(link_of(node, ev), ev->count));
    ov_node_serve(node, ev->link);
}

static void on_pause(struct ov_node *node, bool is_paused)
{
    for (uint16_t i = 0; i < node->links_max; i++) {
        struct ov_link *link = &node->links[i];

        if (link->state != OV_LINK_UP)
            continue;
        link->is_pausing = is_paused;
        link->is_pause_due = true;
        ov_node_serve(node, i);
    }
}

static void on_probed(struct ov_node *node, const struct ov_event *ev,
                      struct ov_out *out)
{
    if (ev->is_refused && ev->seq == 0) {
        ov_hold_on_refused(node, ev->node, ev->buf, out);
        return;
    }
    if (ev->buf != NULL)
        ov_out_put(out, ev->buf);
    if (ev->seq == 0)
        return;
    OV_ASSERT(ev->link < node->links_max);
    if (!ov_witness_on_probed(node, ev))
        ov_serve_seen(node, ev, out);
}

static void dispatch(struct ov_node *node, const struct ov_event *ev,
                     struct ov_out *out)
{
    switch (ev->kind) {
    case OV_EV_START:
        ov_join_start(node, ev->buf, out);
        break;
    case OV_EV_LINK_UP:
        ov_join_on_link_up(node, ev);
        watch_soon(node); /* so that the new link is looked at */
        break;
    case OV_EV_LINK_DOWN:
        if (link_of(node, ev)->state != OV_LINK_FREE)
            ov_loss_on_down(node, ev->link, OV_PLACE_HOLD_UNCLEAR, out);
        break;
    case OV_EV_DIAL_FAILED:
        if (node->tree.is_dialling)
            ov_dial_failed(node);
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
    case OV_EV_PAUSE:
        OV_ASSERT(ov_node_is_root(node));
        on_pause(node, ev->is_paused);
        break;
    case OV_EV_PROBED:
        on_probed(node, ev, out);
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

/* Tells the driver that this node may end, once all nodes beneath it have
 * consumed the goodbye, and the report of that has left for the parent. */
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
        watch_links(node, out); /* this may set times for the functions below */
    ov_loss_on_time(node, out);
    ov_hold_on_time(node, out);
    ov_join_tell(node, out);
    if (node->tree.has_changed) {
        node->tree.has_changed = false;
        ov_down_refresh(node, out);
    }
    ov_down_on_time(node, out);
    if (ov_node_is_root(node))
        ov_sink_on_time(node, out);
    ov_share_on_time(node);
    if (!ev->follows)
        serve_queue(node, out);
    ov_share_wake(node, out);
    leave(node, out);
    ov_out_wake(out, node->links_ns);
    if (out->more)
        ov_out_wake(out, node->now_ns);
}

/* --- views for the driver */

uint32_t ov_node_down_room(const struct ov_node *node, uint32_t stream)
{
    return ov_down_room(node, stream);
}

/* Returns the first frame that the child that is furthest has not taken. */
static uint64_t down_top(const struct ov_node *node, unsigned slot)
{
    uint64_t top = node->streams[slot].base;

    for (unsigned i = 0; i < node->tree.places_used; i++) {
        const struct ov_place *place = &node->tree.places[i];

        if (place->kind == OV_PLACE_LINK && place->flows[slot].is_needed &&
            place->flows[slot].base > top)
            top = place->flows[slot].base;
    }
    return top;
}

struct ov_node_view ov_node_look(const struct ov_node *node, uint32_t stream)
{
    struct ov_node_view view = {
        .kept_bytes = node->up.kept_bytes,
        .joined = node->tree.joined,
        .down_node = TOPO_NONE,
        .down_rank = TOPO_NONE,
        .is_attached = node->tree.is_attached,
    };

    for (unsigned i = 0; i < node->cfg->streams_max; i++) {
        if (node->streams[i].state == OV_STREAM_OPEN &&
            node->streams[i].number == stream) {
            view.down_head = node->streams[i].head;
            view.down_base = node->streams[i].base;
            view.down_lead = down_top(node, i) - view.down_base;
            view.down_node = node->streams[i].holder_node;
            view.down_rank = node->streams[i].holder_rank;
        }
    }
    for (unsigned i = 0; i < node->tree.places_used; i++) {
        if (node->tree.places[i].kind == OV_PLACE_LINK)
            view.children++;
    }
    return view;
}

bool ov_node_has_joined(const struct ov_node *node, uint32_t number)
{
    const struct ov_member *member =
        ov_members_find(&node->tree.members, number);

    return member != NULL && member->is_known;
}
