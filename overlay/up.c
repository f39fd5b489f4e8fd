/* Chooses what goes up, and keeps a node's own records. */
#include "overlay/up.h"

#include "overlay/base/err.h"
#include "overlay/batch.h"
#include "overlay/cut.h"
#include "overlay/place.h"
#include "overlay/share.h"

/* The input of states and exits, which is read even when the window is full for
 * other inputs. */
enum { STATE_INPUT = 0 };

static uint16_t places_of(const struct ov_node *node)
{
    return (uint16_t)(node->up.drr.count - node->inputs);
}

void ov_up_on_ready(struct ov_node *node, uint16_t input)
{
    OV_ASSERT(input < node->inputs);
    ov_drr_push(&node->up.drr, (uint16_t)(places_of(node) + input));
    ov_node_serve_parent(node);
}

void ov_up_on_queued(struct ov_node *node, uint16_t place)
{
    ov_drr_push(&node->up.drr, place);
    ov_node_serve_parent(node);
}

int ov_up_on_limit(struct ov_node *node, uint64_t limit, bool is_lent)
{
    if (limit < node->up.limit)
        return OV_EPROTO;
    if (limit > node->up.limit)
        node->has_asked = false;
    node->up.limit = limit;
    node->is_lent = is_lent;
    ov_node_serve_parent(node);
    return 0;
}

/* Removes the oldest kept record. */
static void drop_first(struct ov_node *node, struct ov_out *out)
{
    struct ov_up *up = &node->up;
    struct ov_kept kept = ov_kept_pop(&up->kept, up->pool);

    up->kept_bytes -= node->cfg->folds ? ov_share_drop(node, &kept)
                                       : kept.len_bytes + OV_RECORD_HEAD_BYTES;
    if (kept.buf != NULL)
        ov_out_put(out, kept.buf);
}

/* Frees those of this node's records that the root's sinks have taken, except
 * those that are in the batch to be sent again. Inputs that were set aside for
 * lack of room are put back into the queue. */
static void release(struct ov_node *node, struct ov_out *out)
{
    struct ov_up *up = &node->up;
    uint64_t end = up->taken_told;

    for (unsigned i = 0; i < up->batch_pieces; i++) {
        if (up->pieces[i].buf == NULL && up->pieces[i].seq <= end)
            end = up->pieces[i].seq - 1;
    }
    if (up->taken < end)
        ov_drr_back(&up->drr);
    for (; up->taken < end; up->taken++)
        drop_first(node, out);
}

int ov_up_on_ack(struct ov_node *node, const struct ov_ack *ack,
                 struct ov_out *out)
{
    struct ov_up *up = &node->up;

    if (ack->accepted >= up->unsent || ack->taken > ack->accepted)
        return OV_EPROTO;
    if (ack->accepted > up->accepted)
        up->accepted = ack->accepted;
    for (; up->cursor <= up->accepted; up->cursor++)
        up->at_cursor = up->at_cursor->next;
    if (ack->taken > up->taken_told)
        up->taken_told = ack->taken;
    release(node, out);
    ov_node_serve_parent(node);
    return 0;
}

void ov_up_fini(struct ov_node *node, struct ov_out *out)
{
    struct ov_up *up = &node->up;

    while (up->kept.first != NULL)
        drop_first(node, out);
    for (unsigned i = 0; i < up->batch_pieces; i++) {
        if (up->pieces[i].buf != NULL)
            ov_out_put(out, up->pieces[i].buf);
    }
    ov_batch_reset(node);
}

void ov_up_restart(struct ov_node *node)
{
    struct ov_up *up = &node->up;

    up->limit = 0;
    up->sent = 0;
    node->is_lent = false;
    node->has_asked = false;
    node->is_want_due = false;
    ov_up_resend(node);
}

void ov_up_resend(struct ov_node *node)
{
    struct ov_up *up = &node->up;

    /* The node that received these records from us may be the one that died.
     * The root accepts each record once, so sending too many is harmless. */
    ov_batch_drop_own(node);
    up->cursor = up->accepted + 1;
    up->at_cursor = up->kept.first;
    for (uint64_t seq = up->taken; seq < up->accepted; seq++)
        up->at_cursor = up->at_cursor->next;
    ov_node_serve_parent(node);
}

/* --- choosing what to send */

static void send_batch(struct ov_node *node, struct ov_out *out)
{
    ov_batch_send(node, out);
    release(node, out);
}

static bool can_send(const struct ov_node *node, const struct ov_out *out)
{
    const struct ov_tree *tree = &node->tree;

    return tree->is_attached && tree->parent != OV_NO_LINK &&
           node->up.sent < node->up.limit && ov_out_has_room(out) &&
           ov_link_can_send(&node->links[tree->parent], node->cfg, true);
}

/* Puts the first frame of a child's queue into a batch that is folded. */
static void share_place(struct ov_node *node, uint16_t index,
                        struct ov_out *out)
{
    struct ov_place *place = &node->tree.places[index];
    struct ov_buf *buf;

    if (!ov_share_has_room(node)) {
        send_batch(node, out);
        return;
    }
    buf = ov_place_pop(node, place);
    ov_drr_spend(&node->up.drr, buf->len_bytes, place->queue_len > 0);
    ov_share_frame(node, buf, index);
}

/* Puts the first frame of a child's queue into the batch. A large frame is sent
 * as it is: two of them would not fit into one frame, and merging would copy
 * their tables. */
static void serve_place(struct ov_node *node, uint16_t index,
                        struct ov_out *out)
{
    struct ov_place *place = &node->tree.places[index];
    struct ov_buf *buf = ov_place_first(place);
    uint32_t len_bytes = buf->len_bytes;
    uint32_t records = ov_batch_records(buf);
    uint32_t table = records * OV_RECORD_HEAD_BYTES;

    if (node->cfg->folds) {
        share_place(node, index, out);
        return;
    }
    if (!ov_batch_takes(node, len_bytes - OV_FRAME_HEAD_BYTES, records)) {
        bool is_alone = node->up.batch_pieces == 0;

        send_batch(node, out);
        if (!is_alone)
            return;
    }
    ov_place_pop(node, place);
    ov_drr_spend(&node->up.drr, len_bytes, place->queue_len > 0);
    if (node->up.batch_pieces == 0 &&
        (len_bytes >= node->cfg->frame_bytes / 2 ||
         OV_FRAME_HEAD_BYTES + table > OV_BATCH_HEAD_BYTES / 2)) {
        ov_batch_send_frame(node, buf, out);
        ov_place_drained(node, place);
    } else {
        ov_batch_frame(node, buf, records, index);
    }
}

/* How many bytes of records from this input the window of own records has room
 * for. */
static uint32_t window_room(const struct ov_node *node, uint16_t input)
{
    const struct ov_up *up = &node->up;
    uint64_t records = up->next_seq - up->taken - 1;
    uint32_t reserve = input == STATE_INPUT ? 0 : OV_RESERVE_BYTES;
    uint32_t spare = input == STATE_INPUT ? 0 : OV_KEPT_RESERVE;
    uint32_t limit = node->cfg->up_window_bytes - reserve;

    if (records + spare >= node->cfg->kept_max ||
        up->kept_bytes + OV_RECORD_HEAD_BYTES >= limit)
        return 0;
    return limit - up->kept_bytes - OV_RECORD_HEAD_BYTES;
}

/* Divides the room of the window between the bytes that are read and the heads
 * of the records that these become. */
static void divide_room(const struct ov_node *node, uint32_t window,
                        struct ov_act *act)
{
    const struct ov_up *up = &node->up;
    uint64_t kept = up->next_seq - up->taken - 1;
    uint32_t half = node->cfg->frame_bytes / 2;
    uint32_t most = window / 2 > half ? window / 2 : half;

    if (act->max_bytes > most)
        act->max_bytes = most;
    act->records_max = (window - act->max_bytes) / OV_RECORD_HEAD_BYTES + 1;
    if (act->records_max > node->cfg->kept_max - OV_KEPT_RESERVE - kept)
        act->records_max =
            (uint32_t)(node->cfg->kept_max - OV_KEPT_RESERVE - kept);
}

/* True when the batch has room for records of `least` bytes or more; *room is
 * for how many. */
static bool batch_has_room(const struct ov_node *node, uint32_t least,
                           uint32_t *room)
{
    if (node->cfg->folds) {
        *room = node->cfg->frame_bytes - OV_SHARE_HEADS_BYTES;
        return ov_share_has_room(node);
    }
    *room = ov_batch_room(node) - OV_RECORD_HEAD_BYTES;
    return *room >= least && ov_batch_takes(node, OV_RECORD_HEAD_BYTES, 1);
}

/* Makes the driver read as much from an input as the frame and the window have
 * room for. Both must have room for half a frame at least, so that lines are
 * not cut for lack of room. */
static void serve_input(struct ov_node *node, uint16_t input,
                        struct ov_out *out)
{
    uint32_t half = node->cfg->frame_bytes / 2;
    uint32_t window = window_room(node, input);
    uint32_t least = input == STATE_INPUT ? OV_RESERVE_BYTES / 4 : half;
    struct ov_act *act;
    uint32_t room;

    if (window < least) {
        ov_drr_aside(&node->up.drr);
        return;
    }
    if (!batch_has_room(node, least, &room)) {
        send_batch(node, out);
        return;
    }
    act = ov_out_act(out, OV_ACT_READ);
    act->input = input;
    act->max_bytes = room < window ? room : window;
    act->records_max = 1;
    if (node->cfg->folds && input != STATE_INPUT)
        divide_room(node, window, act);
    node->up.reading = input;
}

/* Returns a frame that the parent has lent and this node does not need, as a
 * frame without records. */
static void give_back(struct ov_node *node, struct ov_out *out)
{
    struct ov_frame_head head = {.type = OV_FRAME_UP,
                                 .tree = node->tree.number,
                                 .len_bytes = OV_FRAME_HEAD_BYTES};
    struct ov_act *act = ov_batch_act(node, out);
    struct ov_wr wr = ov_out_head(out);

    ov_frame_head_encode(&wr, &head);
    ov_out_head_done(out, act, &wr);
}

/* For a surplus child: asks the parent for a frame when there is something to
 * send, and returns a lent one when there is nothing, so that other children
 * can have it. */
static void borrow(struct ov_node *node, struct ov_out *out)
{
    struct ov_up *up = &node->up;
    bool has_data = up->batch_pieces > 0 || up->cursor < up->next_seq ||
                    ov_drr_first(&up->drr) != OV_DRR_NONE;

    if (!has_data && can_send(node, out)) {
        give_back(node, out);
    } else if (has_data && up->sent == up->limit && !node->has_asked &&
               node->tree.is_attached) {
        node->has_asked = true;
        node->is_want_due = true;
        ov_node_serve_parent(node);
    }
}

void ov_up_send(struct ov_node *node, struct ov_out *out)
{
    struct ov_up *up = &node->up;
    uint16_t first;

    release(node, out);
    while (up->reading == OV_DRR_NONE && can_send(node, out)) {
        ov_batch_own(node);
        if (up->cursor < up->next_seq) {
            send_batch(node, out);
            continue;
        }
        first = ov_drr_first(&up->drr);
        if (first == OV_DRR_NONE) {
            if (up->batch_pieces == 0)
                break;
            if (node->cfg->folds && ov_share_waits(node))
                break;
            /* The batch is sent without waiting for more records. While the
             * link is busy this code is not reached, and bytes gather in the
             * pipes by themselves. */
            send_batch(node, out);
        } else if (first < places_of(node)) {
            serve_place(node, first, out);
        } else {
            serve_input(node, (uint16_t)(first - places_of(node)), out);
        }
    }
    if (node->is_lent && up->reading == OV_DRR_NONE)
        borrow(node, out);
}

/* Checks a record as all nodes above will check it. Otherwise a record that
 * they refuse would end the link again and again, and one that fits in no frame
 * would never be sent. */
static void check_read(const struct ov_node *node, const struct ov_read *read)
{
    OV_ASSERT(read->len_bytes <= node->cfg->frame_bytes - OV_FRAME_HEAD_BYTES -
                                     OV_RECORD_HEAD_BYTES);
    OV_ASSERT(read->len_bytes == 0 || read->buf != NULL);
    OV_ASSERT(read->channel < OV_CHANNELS);
    OV_ASSERT((read->flags & ~OV_RECORD_FLAGS) == 0);
}

/* Keeps a part of what was read as a record; a reference to the buffer passes
 * to it. */
static void keep(struct ov_node *node, const struct ov_read *read,
                 uint32_t at_bytes, uint32_t len_bytes)
{
    bool is_last = at_bytes + len_bytes == read->len_bytes;
    struct ov_up *up = &node->up;
    struct ov_kept *kept =
        ov_kept_push(&up->kept, up->pool,
                     &(struct ov_kept){
                         .buf = len_bytes > 0 ? read->buf : NULL,
                         .off_bytes = read->off_bytes + at_bytes,
                         .len_bytes = len_bytes,
                         .rank = read->rank,
                         .job = read->job,
                         .channel = read->channel,
                         .flags = is_last ? read->flags : 0,
                     });

    if (up->cursor == up->next_seq)
        up->at_cursor = kept;
    up->next_seq++;
    up->kept_bytes += len_bytes + OV_RECORD_HEAD_BYTES;
}

static void keep_records(struct ov_node *node, const struct ov_read *read)
{
    uint32_t at = 0, records = 0;

    do {
        uint32_t len_bytes = ov_cut_next(read, at, records);

        if (records++ > 0)
            ov_buf_ref(read->buf);
        keep(node, read, at, len_bytes);
        at += len_bytes;
    } while (at < read->len_bytes);
}

void ov_up_on_read(struct ov_node *node, const struct ov_event *ev,
                   struct ov_out *out)
{
    const struct ov_read *read = &ev->read;
    struct ov_up *up = &node->up;

    OV_ASSERT(up->reading == ev->input);
    check_read(node, read);
    up->reading = OV_DRR_NONE;
    ov_drr_spend(&up->drr, read->len_bytes + OV_RECORD_HEAD_BYTES,
                 read->state == OV_INPUT_MORE);
    if (read->len_bytes > 0 || read->flags != 0)
        keep_records(node, read);
    if (read->len_bytes == 0 && read->buf != NULL)
        ov_out_put(out, read->buf);
    ov_node_serve_parent(node);
}
