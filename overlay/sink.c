/* Accepts records at the root and hands them to the sinks. */
#include "overlay/sink.h"

#include "overlay/place.h"
#include "overlay/wire/shared.h"

#define NO_RECORD UINT32_MAX
enum { NO_FRAME = UINT16_MAX };

static uint32_t frames_of(const struct ov_node *node)
{
    return (uint32_t)node->tree.places_max * node->cfg->up_frames;
}

void ov_sink_init(struct ov_node *node)
{
    struct ov_root *root = node->root;
    uint32_t frames = frames_of(node);

    for (uint32_t i = 0; i < frames; i++)
        root->frames[i].next = (uint16_t)(i + 1 < frames ? i + 1 : NO_FRAME);
    root->sunk_free = NO_RECORD;
    root->frames_free = frames > 0 ? 0 : NO_FRAME;
    root->ack_ns = OV_NEVER;
    root->absent_ns = OV_NEVER;
    for (uint32_t i = 0; i <= node->tree.members.mask; i++) {
        root->sources[i].first = NO_RECORD;
        root->sources[i].last = NO_RECORD;
    }
}

/* Notes that the sinks have taken one record of a frame, or that the root has
 * read the frame to its end. When both are complete the frame is done with. */
static void frame_done(struct ov_node *node, uint16_t index)
{
    struct ov_sink_frame *frame = &node->root->frames[index];

    OV_ASSERT(frame->records > 0);
    if (--frame->records > 0)
        return;
    ov_place_drained(node, &node->tree.places[frame->place]);
    frame->next = node->root->frames_free;
    node->root->frames_free = index;
}

/* Makes an acknowledgement due: at once or, unless at_once is set, after
 * ack_ns. */
static void ack(struct ov_node *node, struct ov_member *member, bool at_once)
{
    ov_place_ack(node, member, at_once);
    if (!at_once && node->root->ack_ns == OV_NEVER)
        node->root->ack_ns = node->now_ns + node->cfg->times.ack_ns;
}

static bool has_cookie(const struct ov_node *node)
{
    return node->root->sunk_free != NO_RECORD ||
           node->root->sunk_used < node->cfg->records_max;
}

/* Takes a free cookie, which is an index of root->sunk. It prefers one that was
 * used before, so that a root with few records at its sinks touches little
 * memory. */
static uint32_t take_cookie(struct ov_root *root)
{
    uint32_t cookie = root->sunk_free;

    if (cookie == NO_RECORD)
        return root->sunk_used++;
    root->sunk_free = root->sunk[cookie].next;
    return cookie;
}

static void hand_on(struct ov_node *node, struct ov_place *place,
                    struct ov_member *member, const struct ov_record *rec,
                    struct ov_out *out)
{
    struct ov_root *root = node->root;
    uint32_t index = ov_members_index(&node->tree.members, member);
    struct ov_source *source = &root->sources[index];
    uint32_t cookie = take_cookie(root);
    struct ov_act *act = ov_out_act(out, OV_ACT_RECORD);

    root->sunk[cookie] = (struct ov_sunk){
        .seq = rec->seq,
        .next = NO_RECORD,
        .source = index,
        .len_bytes = rec->len_bytes,
        .frame = place->frame,
    };
    if (source->first == NO_RECORD)
        source->first = cookie;
    else
        root->sunk[source->last].next = cookie;
    source->last = cookie;
    root->frames[place->frame].records++;
    member->accepted = rec->seq;
    act->rec = *rec;
    act->cookie = cookie;
    ov_out_slice(out, act, ov_buf_ref(ov_place_first(place)), place->rec_data,
                 rec->len_bytes);
}

/* Reads the next record of the place's first frame. */
static void read_record(struct ov_node *node, struct ov_place *place,
                        struct ov_out *out)
{
    struct ov_buf *buf = ov_place_first(place);
    struct ov_up_at at = {place->rec_off, place->rec_data, place->rec_left};
    struct ov_member *member;
    struct ov_record rec;

    place->rec_data = ov_up_next(buf->mem, buf->len_bytes, &at, &rec);
    member = ov_members_find(&node->tree.members, rec.source);
    /* A record that is not the next one of its source is dropped: copies of the
     * records between are still on their way by another path. A repeated record
     * is dropped and acknowledged again, as the acknowledgement may have been
     * lost with a link. Records of a node that was declared lost are accepted,
     * too, because a living node has received them. */
    if (member != NULL && member->is_known) {
        if (rec.seq == member->accepted + 1)
            hand_on(node, place, member, &rec, out);
        else if (rec.seq <= member->accepted)
            ack(node, member, true);
    }
    place->rec_off = at.off;
    place->rec_data = at.data;
    place->rec_left = at.left;
}

static void begin_frame(struct ov_node *node, uint16_t index)
{
    struct ov_place *place = &node->tree.places[index];
    struct ov_root *root = node->root;
    struct ov_buf *buf = ov_place_first(place);
    struct ov_up_at at = ov_up_begin(buf->mem, buf->len_bytes);

    OV_ASSERT(root->frames_free != NO_FRAME);
    place->frame = root->frames_free;
    root->frames_free = root->frames[place->frame].next;
    root->frames[place->frame].records = 1;
    root->frames[place->frame].place = index;
    place->rec_off = at.off;
    place->rec_data = at.data;
    place->rec_left = at.left;
}

/* Reads records from the first frame of a place. Returns true when the frame is
 * done with; false when `out` or the sinks have no room for more records. */
static bool read_frame(struct ov_node *node, uint16_t index, struct ov_out *out)
{
    struct ov_place *place = &node->tree.places[index];

    if (place->rec_left == 0)
        begin_frame(node, index);
    while (place->rec_left > 0) {
        if (!ov_out_has_room(out)) {
            out->more = true;
            return false;
        }
        if (!has_cookie(node))
            return false;
        read_record(node, place, out);
    }
    ov_out_put(out, ov_place_pop(node, place));
    frame_done(node, place->frame);
    return true;
}

void ov_sink_pump(struct ov_node *node, struct ov_out *out)
{
    struct ov_tree *tree = &node->tree;
    uint16_t idle = 0;

    while (tree->places_used > 0 && idle < tree->places_used) {
        uint16_t index = (uint16_t)(node->root->turn % tree->places_used);

        if (tree->places[index].queue_len > 0) {
            if (!read_frame(node, index, out))
                return;
            idle = 0;
        } else {
            idle++;
        }
        node->root->turn = (uint16_t)(index + 1);
    }
}

/* What a record takes of the window of its source: bytes, or, where each line
 * is a record and there are many, its part of their number. */
static uint32_t weight_of(const struct ov_node *node,
                          const struct ov_sunk *sunk)
{
    const struct ov_cfg *cfg = node->cfg;
    uint32_t bytes = sunk->len_bytes + OV_RECORD_HEAD_BYTES;
    uint32_t part = cfg->up_window_bytes / cfg->kept_max;

    return cfg->folds && bytes < part ? part : bytes;
}

void ov_sink_on_taken(struct ov_node *node, uint32_t cookie, struct ov_out *out)
{
    struct ov_root *root = node->root;
    struct ov_source *source;
    struct ov_member *member;
    struct ov_sunk *sunk;
    uint32_t first;

    OV_ASSERT(ov_node_is_root(node));
    OV_ASSERT(cookie < root->sunk_used);
    sunk = &root->sunk[cookie];
    OV_ASSERT(!sunk->is_taken);
    source = &root->sources[sunk->source];
    member = &node->tree.members.table[sunk->source];
    sunk->is_taken = true;
    frame_done(node, sunk->frame);
    while ((first = source->first) != NO_RECORD && root->sunk[first].is_taken) {
        source->first = root->sunk[first].next;
        member->taken = root->sunk[first].seq;
        source->unacked_bytes += weight_of(node, &root->sunk[first]);
        root->sunk[first].next = root->sunk_free;
        root->sunk_free = first;
    }
    /* Half of the window: the acknowledgement should arrive before the source's
     * window is full. */
    if (source->unacked_bytes >= node->cfg->up_window_bytes / 2) {
        source->unacked_bytes = 0;
        ack(node, member, true);
    } else if (source->unacked_bytes > 0) {
        ack(node, member, false);
    }
    ov_sink_pump(node, out);
}

void ov_sink_on_time(struct ov_node *node, struct ov_out *out)
{
    struct ov_root *root = node->root;

    if (node->now_ns >= root->ack_ns) {
        root->ack_ns = OV_NEVER;
        for (unsigned i = 0; i < node->tree.places_used; i++) {
            const struct ov_place *place = &node->tree.places[i];

            if (place->kind == OV_PLACE_LINK && place->acks.first != OV_NONE)
                ov_node_serve(node, place->link);
        }
    }
    ov_out_wake(out, root->ack_ns);
}
