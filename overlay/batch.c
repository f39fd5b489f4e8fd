/* Puts UP frames together, and sends them. */
#include "overlay/batch.h"

#include "overlay/place.h"
#include "overlay/share.h"

void ov_batch_reset(struct ov_node *node)
{
    struct ov_up *up = &node->up;

    if (node->cfg->folds)
        ov_share_reset(node);
    up->batch_bytes = OV_FRAME_HEAD_BYTES;
    up->batch_records = 0;
    up->batch_slices = 0;
    up->batch_pieces = 0;
}

uint32_t ov_batch_room(const struct ov_node *node)
{
    return node->cfg->frame_bytes - node->up.batch_bytes;
}

static void batch_add(struct ov_up *up, uint32_t bytes, uint32_t records)
{
    up->batch_bytes += bytes;
    up->batch_records = (uint16_t)(up->batch_records + records);
    up->batch_slices++;
}

bool ov_batch_takes(const struct ov_node *node, uint32_t bytes,
                    uint32_t records)
{
    const struct ov_up *up = &node->up;
    uint32_t table = (up->batch_records + records) * OV_RECORD_HEAD_BYTES;

    return bytes <= ov_batch_room(node) &&
           up->batch_pieces < node->cfg->batch_pieces &&
           up->batch_slices < OV_BATCH_SLICES &&
           OV_FRAME_HEAD_BYTES + table <= OV_BATCH_HEAD_BYTES;
}

/* Adds to the batch own records that were not yet sent on this parent link. */
void ov_batch_own(struct ov_node *node)
{
    struct ov_up *up = &node->up;
    struct ov_piece *piece;

    if (node->cfg->folds) {
        ov_share_own(node);
        return;
    }
    while (up->cursor < up->next_seq) {
        const struct ov_kept *kept = up->at_cursor;
        uint32_t bytes = kept->len_bytes + OV_RECORD_HEAD_BYTES;

        if (!ov_batch_takes(node, bytes, 1))
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

uint32_t ov_batch_records(const struct ov_buf *buf)
{
    struct ov_frame_head head;

    OV_ASSERT(ov_frame_head_decode(buf->mem, buf->len_bytes, &head) == 0);
    return head.count;
}

/* Adds a child's small frame to the batch; its reference passes to the batch.
 * The frame still counts at its place, because the batch may have to wait for
 * the link: another message may meanwhile use the slot for which the batch was
 * begun. */
void ov_batch_frame(struct ov_node *node, struct ov_buf *buf, uint32_t records,
                    uint16_t place)
{
    struct ov_up *up = &node->up;

    up->pieces[up->batch_pieces++] =
        (struct ov_piece){.buf = buf, .place = place};
    batch_add(up, buf->len_bytes - OV_FRAME_HEAD_BYTES, records);
}

/* Removes own records from the batch, because they are to be sent again. */
void ov_batch_drop_own(struct ov_node *node)
{
    struct ov_up *up = &node->up;
    unsigned pieces = up->batch_pieces;

    if (node->cfg->folds) {
        ov_share_drop_own(node);
        return;
    }
    ov_batch_reset(node);
    for (unsigned i = 0; i < pieces; i++) {
        struct ov_piece piece = up->pieces[i];

        if (piece.buf != NULL)
            ov_batch_frame(node, piece.buf, ov_batch_records(piece.buf),
                           piece.place);
    }
}

/* --- sending */

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

static void write_tables(struct ov_node *node, unsigned pieces,
                         struct ov_wr *wr)
{
    const struct ov_up *up = &node->up;

    for (unsigned i = 0; i < pieces; i++) {
        const struct ov_piece *piece = &up->pieces[i];

        if (piece->buf != NULL)
            ov_wr_bytes(wr, piece->buf->mem + OV_FRAME_HEAD_BYTES,
                        ov_batch_records(piece->buf) * OV_RECORD_HEAD_BYTES);
        write_own(node, piece, wr);
    }
}

/* Notes that the children's frames in the batch were passed on, and no longer
 * count at their places. */
static void drain(struct ov_node *node, unsigned pieces)
{
    const struct ov_up *up = &node->up;

    for (unsigned i = 0; i < pieces; i++) {
        const struct ov_piece *piece = &up->pieces[i];

        if (piece->buf != NULL)
            ov_place_drained(node, &node->tree.places[piece->place]);
    }
}

/* Notes that this node's records in the batch were sent, so that they may be
 * acknowledged. */
static void mark_sent(struct ov_up *up, unsigned pieces)
{
    for (unsigned i = 0; i < pieces; i++) {
        uint64_t end = up->pieces[i].seq + up->pieces[i].count;

        if (end > up->unsent)
            up->unsent = end;
    }
}

static void write_payloads(struct ov_node *node, unsigned pieces,
                           struct ov_act *act, struct ov_out *out)
{
    const struct ov_up *up = &node->up;

    for (unsigned i = 0; i < pieces; i++) {
        const struct ov_piece *piece = &up->pieces[i];
        const struct ov_kept *kept = piece->kept;

        if (piece->buf != NULL) {
            uint32_t from = OV_FRAME_HEAD_BYTES +
                            ov_batch_records(piece->buf) * OV_RECORD_HEAD_BYTES;

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

struct ov_act *ov_batch_act(struct ov_node *node, struct ov_out *out)
{
    struct ov_act *act = ov_out_act(out, OV_ACT_SEND);

    act->link = node->tree.parent;
    node->up.sent++;
    ov_link_on_send(&node->links[act->link], true, node->now_ns);
    return act;
}

void ov_batch_send_frame(struct ov_node *node, struct ov_buf *buf,
                         struct ov_out *out)
{
    ov_out_slice(out, ov_batch_act(node, out), buf, 0, buf->len_bytes);
}

/* Sends pieces of the batch as an UP frame. */
static void send_records(struct ov_node *node, unsigned pieces,
                         struct ov_out *out)
{
    struct ov_frame_head head = {.type = OV_FRAME_UP,
                                 .tree = node->tree.number,
                                 .count = node->up.batch_records,
                                 .len_bytes = node->up.batch_bytes};
    struct ov_act *act = ov_batch_act(node, out);
    struct ov_wr wr = ov_out_head(out);

    if (node->cfg->folds) {
        head.count = (uint16_t)out->fold->at.records;
        head.len_bytes = (uint32_t)out->fold->at.plain_bytes;
    }
    ov_frame_head_encode(&wr, &head);
    write_tables(node, pieces, &wr);
    ov_out_head_done(out, act, &wr);
    write_payloads(node, pieces, act, out);
}

/* Sends pieces of the batch, which out->fold has, as a SHARED frame. */
static void send_shared(struct ov_node *node, unsigned pieces,
                        struct ov_out *out)
{
    ov_fold_write(out->fold, node->tree.number, ov_batch_act(node, out), out);
    for (unsigned i = 0; i < pieces; i++) {
        if (node->up.pieces[i].buf != NULL)
            ov_out_put(out, node->up.pieces[i].buf);
    }
}

void ov_batch_send(struct ov_node *node, struct ov_out *out)
{
    struct ov_up *up = &node->up;
    unsigned pieces = up->batch_pieces;
    bool is_shared = false;

    if (pieces == 0)
        return;
    if (node->cfg->folds)
        pieces = ov_share_choose(node, out->fold, &is_shared);
    if (is_shared)
        send_shared(node, pieces, out);
    else if (pieces == 1 && up->pieces[0].buf != NULL)
        ov_batch_send_frame(node, up->pieces[0].buf, out);
    else
        send_records(node, pieces, out);
    mark_sent(up, pieces);
    drain(node, pieces);
    if (node->cfg->folds)
        ov_share_remove(node, pieces);
    else
        ov_batch_reset(node);
}
