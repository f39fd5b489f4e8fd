/* Builds UP frames, and keeps a node's own records. */
#include "overlay/up.h"

#include "overlay/base/err.h"
#include "overlay/place.h"

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
static void drop_first(struct ov_up *up, struct ov_out *out)
{
    struct ov_kept kept = ov_kept_pop(&up->kept, up->pool);

    up->kept_bytes -= kept.len_bytes + OV_RECORD_HEAD_BYTES;
    if (kept.buf != NULL)
        ov_out_put(out, kept.buf);
}

/* Frees those of this node's records that the root's sinks have taken, except
 * those that are in the batch to be sent again. Inputs that were set aside for
 * lack of room are put back into the queue. */
static void release(struct ov_up *up, struct ov_out *out)
{
    uint64_t end = up->taken_told;

    for (unsigned i = 0; i < up->batch_pieces; i++) {
        if (up->pieces[i].buf == NULL && up->pieces[i].seq <= end)
            end = up->pieces[i].seq - 1;
    }
    if (up->taken < end)
        ov_drr_back(&up->drr);
    for (; up->taken < end; up->taken++)
        drop_first(up, out);
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
    release(up, out);
    ov_node_serve_parent(node);
    return 0;
}

static void batch_reset(struct ov_up *up)
{
    up->batch_bytes = OV_FRAME_HEAD_BYTES;
    up->batch_records = 0;
    up->batch_slices = 0;
    up->batch_pieces = 0;
}

void ov_up_fini(struct ov_node *node, struct ov_out *out)
{
    struct ov_up *up = &node->up;

    while (up->kept.first != NULL)
        drop_first(up, out);
    for (unsigned i = 0; i < up->batch_pieces; i++) {
        if (up->pieces[i].buf != NULL)
            ov_out_put(out, up->pieces[i].buf);
    }
    batch_reset(up);
}

/* --- the batch: the next UP frame, built piece by piece */

static uint32_t batch_room(const struct ov_node *node)
{
    return node->cfg->frame_bytes - node->up.batch_bytes;
}

static void batch_add(struct ov_up *up, uint32_t bytes, uint32_t records)
{
    up->batch_bytes += bytes;
    up->batch_records = (uint16_t)(up->batch_records + records);
    up->batch_slices++;
}

static bool batch_takes(const struct ov_node *node, uint32_t bytes,
                        uint32_t records)
{
    const struct ov_up *up = &node->up;
    uint32_t table = (up->batch_records + records) * OV_RECORD_HEAD_BYTES;

    return bytes <= batch_room(node) &&
           up->batch_pieces < node->cfg->batch_pieces &&
           up->batch_slices < OV_BATCH_SLICES &&
           OV_FRAME_HEAD_BYTES + table <= OV_BATCH_HEAD_BYTES;
}

/* Adds to the batch own records that were not yet sent on this parent link. */
static void batch_own(struct ov_node *node)
{
    struct ov_up *up = &node->up;
    struct ov_piece *piece;

    while (up->cursor < up->next_seq) {
        const struct ov_kept *kept = up->at_cursor;
        uint32_t bytes = kept->len_bytes + OV_RECORD_HEAD_BYTES;

        if (!batch_takes(node, bytes, 1))
            return;
        piece = &up->pieces[up->batch_pieces];
        if (up->batch_pieces == 0 || piece[-1].buf != NULL) {
            *piece = (struct ov_piece){.kept = kept, .seq = up->cursor};
            up->batch_pieces++;
        } else {
            piece--;
        }
        piece->count++;
        up->cursor++;
        up->at_cursor = kept->next;
        batch_add(up, bytes, 1);
    }
}

static uint32_t frame_records(const struct ov_buf *buf)
{
    struct ov_frame_head head;

    OV_ASSERT(ov_frame_head_decode(buf->mem, buf->len_bytes, &head) == 0);
    return head.count;
}

/* Adds a child's small frame to the batch; its reference passes to the batch.
 * The frame still counts at its place, because the batch may have to wait for
 * the link: another message may meanwhile use the slot for which the batch was
 * begun. */
static void batch_frame(struct ov_node *node, struct ov_buf *buf,
                        uint32_t records, uint16_t place)
{
    struct ov_up *up = &node->up;

    up->pieces[up->batch_pieces++] =
        (struct ov_piece){.buf = buf, .place = place};
    batch_add(up, buf->len_bytes - OV_FRAME_HEAD_BYTES, records);
}

/* Removes own records from the batch, because they are to be sent again. */
static void batch_drop_own(struct ov_node *node)
{
    struct ov_up *up = &node->up;
    unsigned pieces = up->batch_pieces;

    batch_reset(up);
    for (unsigned i = 0; i < pieces; i++) {
        struct ov_piece piece = up->pieces[i];

        if (piece.buf != NULL)
            batch_frame(node, piece.buf, frame_records(piece.buf), piece.place);
    }
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
    batch_drop_own(node);
    up->cursor = up->accepted + 1;
    up->at_cursor = up->kept.first;
    for (uint64_t seq = up->taken; seq < up->accepted; seq++)
        up->at_cursor = up->at_cursor->next;
    ov_node_serve_parent(node);
}

static void write_own(const struct ov_node *node, const struct ov_piece *piece,
                      struct ov_wr *wr)
{
    const struct ov_kept *kept = piece->kept;

    for (uint32_t r = 0; r < piece->count; r++, kept = kept->next) {
        struct ov_record rec = {.source = node->tree.self,
                                .rank = kept->rank,
                                .seq = piece->seq + r,
                                .len_bytes = kept->len_bytes,
                                .job = kept->job,
                                .channel = kept->channel,
                                .flags = kept->flags};

        ov_record_encode(wr, &rec);
    }
}

static void write_tables(struct ov_node *node, struct ov_wr *wr)
{
    const struct ov_up *up = &node->up;

    for (unsigned i = 0; i < up->batch_pieces; i++) {
        const struct ov_piece *piece = &up->pieces[i];

        if (piece->buf != NULL)
            ov_wr_bytes(wr, piece->buf->mem + OV_FRAME_HEAD_BYTES,
                        frame_records(piece->buf) * OV_RECORD_HEAD_BYTES);
        write_own(node, piece, wr);
    }
}

/* Notes that the children's frames in the batch were passed on, and no longer
 * count at their places. */
static void drain(struct ov_node *node)
{
    const struct ov_up *up = &node->up;

    for (unsigned i = 0; i < up->batch_pieces; i++) {
        const struct ov_piece *piece = &up->pieces[i];

        if (piece->buf != NULL)
            ov_place_drained(node, &node->tree.places[piece->place]);
    }
}

/* Notes that this node's records in the batch were sent, so that they may be
 * acknowledged. */
static void mark_sent(struct ov_up *up)
{
    for (unsigned i = 0; i < up->batch_pieces; i++) {
        uint64_t end = up->pieces[i].seq + up->pieces[i].count;

        if (end > up->unsent)
            up->unsent = end;
    }
}

static void write_payloads(struct ov_node *node, struct ov_act *act,
                           struct ov_out *out)
{
    const struct ov_up *up = &node->up;

    for (unsigned i = 0; i < up->batch_pieces; i++) {
        const struct ov_piece *piece = &up->pieces[i];
        const struct ov_kept *kept = piece->kept;

        if (piece->buf != NULL) {
            uint32_t from = OV_FRAME_HEAD_BYTES +
                            frame_records(piece->buf) * OV_RECORD_HEAD_BYTES;

            ov_out_slice(out, act, piece->buf, from,
                         piece->buf->len_bytes - from);
        }
        for (uint32_t r = 0; r < piece->count; r++, kept = kept->next) {
            if (kept->len_bytes > 0)
                ov_out_slice(out, act, ov_buf_ref(kept->buf), kept->off_bytes,
                             kept->len_bytes);
        }
    }
}

static struct ov_act *send_act(struct ov_node *node, struct ov_out *out)
{
    struct ov_act *act = ov_out_act(out, OV_ACT_SEND);

    act->link = node->tree.parent;
    node->up.sent++;
    ov_link_on_send(&node->links[act->link], true, node->now_ns);
    return act;
}

static void send_frame(struct ov_node *node, struct ov_buf *buf,
                       struct ov_out *out)
{
    ov_out_slice(out, send_act(node, out), buf, 0, buf->len_bytes);
}

static void batch_send(struct ov_node *node, struct ov_out *out)
{
    struct ov_up *up = &node->up;
    struct ov_frame_head head = {.type = OV_FRAME_UP,
                                 .tree = node->tree.number};
    struct ov_act *act;
    struct ov_wr wr;

    if (up->batch_pieces == 0)
        return;
    if (up->batch_pieces == 1 && up->pieces[0].buf != NULL) {
        send_frame(node, up->pieces[0].buf, out);
    } else {
        act = send_act(node, out);
        head.count = up->batch_records;
        head.len_bytes = up->batch_bytes;
        wr = ov_out_head(out);
        ov_frame_head_encode(&wr, &head);
        write_tables(node, &wr);
        ov_out_head_done(out, act, &wr);
        write_payloads(node, act, out);
        mark_sent(up);
    }
    drain(node);
    batch_reset(up);
    release(up, out);
}

/* --- choosing what to send */

static bool can_send(const struct ov_node *node, const struct ov_out *out)
{
    const struct ov_tree *tree = &node->tree;

    return tree->is_attached && tree->parent != OV_NO_LINK &&
           node->up.sent < node->up.limit && ov_out_has_room(out) &&
           ov_link_can_send(&node->links[tree->parent], node->cfg, true);
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
    uint32_t records = frame_records(buf);
    uint32_t table = records * OV_RECORD_HEAD_BYTES;

    if (!batch_takes(node, len_bytes - OV_FRAME_HEAD_BYTES, records)) {
        bool is_alone = node->up.batch_pieces == 0;

        batch_send(node, out);
        if (!is_alone)
            return;
    }
    ov_place_pop(node, place);
    ov_drr_spend(&node->up.drr, len_bytes, place->queue_len > 0);
    if (node->up.batch_pieces == 0 &&
        (len_bytes >= node->cfg->frame_bytes / 2 ||
         OV_FRAME_HEAD_BYTES + table > OV_BATCH_HEAD_BYTES / 2)) {
        send_frame(node, buf, out);
        ov_place_drained(node, place);
    } else {
        batch_frame(node, buf, records, index);
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

/* Makes the driver read as much from an input as the frame and the window have
 * room for. Both must have room for half a frame at least, so that lines are
 * not cut for lack of room. */
static void serve_input(struct ov_node *node, uint16_t input,
                        struct ov_out *out)
{
    uint32_t half = node->cfg->frame_bytes / 2;
    uint32_t window = window_room(node, input);
    uint32_t room = batch_room(node) - OV_RECORD_HEAD_BYTES;
    uint32_t least = input == STATE_INPUT ? OV_RESERVE_BYTES / 4 : half;
    struct ov_act *act;

    if (window < least) {
        ov_drr_aside(&node->up.drr);
        return;
    }
    if (room < least || !batch_takes(node, OV_RECORD_HEAD_BYTES, 1)) {
        batch_send(node, out);
        return;
    }
    act = ov_out_act(out, OV_ACT_READ);
    act->input = input;
    act->max_bytes = room < window ? room : window;
    node->up.reading = input;
}

/* Returns a frame that the parent has lent and this node does not need, as a
 * frame without records. */
static void give_back(struct ov_node *node, struct ov_out *out)
{
    struct ov_frame_head head = {.type = OV_FRAME_UP,
                                 .tree = node->tree.number,
                                 .len_bytes = OV_FRAME_HEAD_BYTES};
    struct ov_act *act = send_act(node, out);
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

    release(up, out);
    while (up->reading == OV_DRR_NONE && can_send(node, out)) {
        batch_own(node);
        if (up->cursor < up->next_seq) {
            batch_send(node, out);
            continue;
        }
        first = ov_drr_first(&up->drr);
        if (first == OV_DRR_NONE) {
            if (up->batch_pieces == 0)
                break;
            /* The batch is sent without waiting for more records. While the
             * link is busy this code is not reached, and bytes gather in the
             * pipes by themselves. */
            batch_send(node, out);
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

void ov_up_on_read(struct ov_node *node, const struct ov_event *ev,
                   struct ov_out *out)
{
    const struct ov_read *read = &ev->read;
    struct ov_up *up = &node->up;
    struct ov_kept *kept;

    OV_ASSERT(up->reading == ev->input);
    check_read(node, read);
    up->reading = OV_DRR_NONE;
    ov_drr_spend(&up->drr, read->len_bytes + OV_RECORD_HEAD_BYTES,
                 read->state == OV_INPUT_MORE);
    if (read->len_bytes > 0 || read->flags != 0) {
        kept = ov_kept_push(&up->kept, up->pool,
                            &(struct ov_kept){
                                .buf = read->len_bytes > 0 ? read->buf : NULL,
                                .off_bytes = read->off_bytes,
                                .len_bytes = read->len_bytes,
                                .rank = read->rank,
                                .job = read->job,
                                .channel = read->channel,
                                .flags = read->flags,
                            });
        if (up->cursor == up->next_seq)
            up->at_cursor = kept;
        up->next_seq++;
        up->kept_bytes += read->len_bytes + OV_RECORD_HEAD_BYTES;
    }
    if (read->len_bytes == 0 && read->buf != NULL)
        ov_out_put(out, read->buf);
    ov_node_serve_parent(node);
}
