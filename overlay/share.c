/* Gathers what goes into a SHARED frame, and decides when and how it is sent.
 */
#include "overlay/share.h"

#include "overlay/place.h"

/* What a record takes of a frame at most, beside its bytes. */
enum { RECORD_HEAD_BYTES = OV_RUN_BYTES + OV_LINE_END_BYTES };

/* --- the batch */

static uint16_t pieces_max(const struct ov_node *node)
{
    return ov_share_pieces(node->cfg, node->tree.places_max == 0);
}

uint16_t ov_share_pieces(const struct ov_cfg *cfg, bool is_leaf)
{
    uint32_t pieces = cfg->batch_pieces + 2 * cfg->plan.arity;

    if (is_leaf)
        return OV_SHARE_LEAF_PIECES;
    return (uint16_t)(pieces < OV_SHARE_PIECES_MAX ? pieces
                                                   : OV_SHARE_PIECES_MAX);
}

void ov_share_reset(struct ov_node *node)
{
    struct ov_share *share = ov_share_of(node);

    share->until_ns = OV_NEVER;
    share->bytes = 0;
    share->own_bytes = 0;
    share->own = OV_NO_PIECE;
    node->up.batch_pieces = 0;
}

bool ov_share_has_room(const struct ov_node *node)
{
    return node->up.batch_pieces < pieces_max(node);
}

/* How long a line may wait at a node of this depth and beneath it. */
static uint64_t wait_ns(const struct ov_node *node, uint32_t depth)
{
    uint32_t height = topo_tree_height(node->tree.plan);

    return (uint64_t)node->cfg->share_ns * (height - depth + 1) / height;
}

/* Notes that a line is in the batch that may still wait, and how long. */
static void wait_until(struct ov_node *node, uint64_t for_ns)
{
    struct ov_share *share = ov_share_of(node);

    if (node->now_ns + for_ns < share->until_ns)
        share->until_ns = node->now_ns + for_ns;
}

/* --- own records */

/* True when the record is the next one of the piece, and has room there: a
 * frame of either kind has room for the piece. */
static bool has_room(const struct ov_node *node, const struct ov_piece *piece,
                     const struct ov_kept *kept)
{
    uint32_t bytes = ov_share_of(node)->own_bytes + RECORD_HEAD_BYTES;

    return piece->seq + piece->count == node->up.cursor &&
           OV_FRAME_HEAD_BYTES + (piece->count + 1) * OV_RECORD_HEAD_BYTES <=
               OV_BATCH_HEAD_BYTES &&
           piece->slices < OV_BATCH_SLICES &&
           OV_SHARED_HEAD_BYTES + bytes + kept->len_bytes <=
               node->cfg->frame_bytes;
}

/* The piece of own records to which the next one is added, or NULL. */
static struct ov_piece *own_piece(struct ov_node *node,
                                  const struct ov_kept *kept)
{
    struct ov_share *share = ov_share_of(node);
    struct ov_up *up = &node->up;

    if (share->own != OV_NO_PIECE &&
        has_room(node, &up->pieces[share->own], kept))
        return &up->pieces[share->own];
    if (!ov_share_has_room(node))
        return NULL;
    share->own = up->batch_pieces++;
    share->own_bytes = 0;
    up->pieces[share->own] = (struct ov_piece){.kept = kept, .seq = up->cursor};
    return &up->pieces[share->own];
}

/* True when the record continues the one before in the same memory. */
static bool is_next_to(const struct ov_kept *kept, const struct ov_kept *before)
{
    return before != NULL && before->buf == kept->buf &&
           before->off_bytes + before->len_bytes == kept->off_bytes;
}

uint32_t ov_share_drop(struct ov_node *node, const struct ov_kept *kept)
{
    struct ov_share *share = ov_share_of(node);
    const struct ov_kept *next = node->up.kept.first;
    uint32_t bytes = kept->len_bytes + OV_RECORD_HEAD_BYTES;

    if (kept->buf != NULL && next != NULL && next->buf == kept->buf) {
        share->dropped_bytes += bytes;
        return 0;
    }
    bytes += share->dropped_bytes;
    share->dropped_bytes = 0;
    return bytes;
}

bool ov_share_own(struct ov_node *node)
{
    struct ov_share *share = ov_share_of(node);
    const struct ov_kept *before = NULL;
    struct ov_up *up = &node->up;

    while (up->cursor < up->next_seq) {
        const struct ov_kept *kept = up->at_cursor;
        struct ov_piece *piece = own_piece(node, kept);

        if (piece == NULL)
            return false;
        if (piece->count == 0 || !is_next_to(kept, before))
            piece->slices++;
        piece->count++;
        share->own_bytes += RECORD_HEAD_BYTES + kept->len_bytes;
        share->bytes += RECORD_HEAD_BYTES + kept->len_bytes;
        if (kept->channel != OV_CHANNEL_STATE)
            wait_until(node, wait_ns(node, topo_tree_depth(node->tree.plan,
                                                           node->tree.self)));
        before = kept;
        up->cursor++;
        up->at_cursor = kept->next;
    }
    return true;
}

/* --- frames of children */

void ov_share_frame(struct ov_node *node, struct ov_buf *buf, uint16_t place)
{
    const struct topo_tree *plan = node->tree.plan;
    uint32_t child = node->tree.places[place].child;
    struct ov_up *up = &node->up;
    uint64_t spent_ns = 0;

    up->pieces[up->batch_pieces++] =
        (struct ov_piece){.buf = buf, .place = place, .slices = 1};
    ov_share_of(node)->bytes += buf->len_bytes;
    if (!ov_up_has_output(buf->mem, buf->len_bytes))
        return;
    if (child < plan->nodes)
        spent_ns = wait_ns(node, topo_tree_depth(plan, child));
    wait_until(node, wait_ns(node, topo_tree_depth(plan, node->tree.self)) -
                         spent_ns);
}

/* --- folding the batch */

static void add_own(const struct ov_node *node, const struct ov_piece *piece,
                    struct ov_fold *fold)
{
    const struct ov_kept *kept = piece->kept;

    for (uint32_t r = 0; r < piece->count; r++, kept = kept->next)
        ov_fold_record(fold,
                       &(struct ov_record){.source = node->tree.self,
                                           .rank = kept->rank,
                                           .seq = piece->seq + r,
                                           .len_bytes = kept->len_bytes,
                                           .job = kept->job,
                                           .channel = kept->channel,
                                           .flags = kept->flags},
                       kept->buf, kept->off_bytes);
}

/* The bytes of a piece before it is folded. */
static uint32_t piece_bytes(const struct ov_piece *piece)
{
    const struct ov_kept *kept = piece->kept;
    uint32_t bytes = 0;

    if (piece->buf != NULL)
        return piece->buf->len_bytes;
    for (uint32_t r = 0; r < piece->count; r++, kept = kept->next)
        bytes += RECORD_HEAD_BYTES + kept->len_bytes;
    return bytes;
}

/* The lowest source that may be in a piece, for the order among pieces. */
static uint32_t source_of(const struct ov_node *node,
                          const struct ov_piece *piece)
{
    return piece->buf == NULL ? node->tree.self
                              : node->tree.places[piece->place].child;
}

static bool is_same_place(const struct ov_piece *a, const struct ov_piece *b)
{
    return (a->buf == NULL) == (b->buf == NULL) &&
           (a->buf == NULL || a->place == b->place);
}

/* The order in which pieces are folded. */
struct order {
    uint16_t at[OV_SHARE_PIECES_MAX];
    uint32_t cursor[OV_SHARE_PIECES_MAX]; /* behind the piece of that place */
};

/* Orders the first pieces by where they come from: sources are numbered level
 * by level, so those of the children continue each other's runs. Pieces of the
 * same place keep their order. */
static void sort_pieces(const struct ov_node *node, unsigned pieces,
                        struct order *order)
{
    const struct ov_piece *piece = node->up.pieces;

    for (unsigned i = 0; i < pieces; i++) {
        unsigned at = i;

        for (; at > 0 && source_of(node, &piece[order->at[at - 1]]) >
                             source_of(node, &piece[i]);
             at--)
            order->at[at] = order->at[at - 1];
        order->at[at] = (uint16_t)i;
    }
}

static void keep_order(unsigned pieces, struct order *order)
{
    for (unsigned i = 0; i < pieces; i++)
        order->at[i] = (uint16_t)i;
}

/* Where the runs of the piece's place may begin: where those of the piece
 * before it ended. */
static uint32_t cursor_of(const struct ov_node *node, const struct order *order,
                          unsigned at)
{
    const struct ov_piece *piece = node->up.pieces;

    for (unsigned i = at; i > 0; i--) {
        if (is_same_place(&piece[order->at[i - 1]], &piece[order->at[at]]))
            return order->cursor[i - 1];
    }
    return 0;
}

/* Adds the piece at this place of the order. False when it does not fit. */
static bool fold_piece(const struct ov_node *node, struct order *order,
                       unsigned at, struct ov_fold *fold)
{
    const struct ov_piece *piece = node->up.pieces;
    const struct ov_piece *next = &piece[order->at[at]];

    if (at > 0 && !is_same_place(&piece[order->at[at - 1]], next))
        order->cursor[at - 1] =
            ov_fold_switch(fold, cursor_of(node, order, at));
    if (next->buf != NULL)
        ov_fold_frame(fold, next->buf);
    else
        add_own(node, next, fold);
    return ov_fold_fits(fold);
}

/* Folds the first pieces in this order. False when one does not fit. */
static bool fold_all(const struct ov_node *node, struct order *order,
                     unsigned pieces, struct ov_fold *fold)
{
    ov_fold_begin(fold, node->cfg->frame_bytes);
    for (unsigned i = 0; i < pieces; i++) {
        if (!fold_piece(node, order, i, fold))
            return false;
    }
    return true;
}

/* Folds the first pieces in the order of their sources. False when one does not
 * fit. */
static bool fold_sorted(const struct ov_node *node, unsigned pieces,
                        struct ov_fold *fold)
{
    struct order order;

    sort_pieces(node, pieces, &order);
    return fold_all(node, &order, pieces, fold);
}

/* --- when */

/* True when a child may send no more before its frames in the batch are sent.
 */
static bool holds_child_up(const struct ov_node *node)
{
    for (unsigned i = 0; i < node->up.batch_pieces; i++) {
        const struct ov_piece *piece = &node->up.pieces[i];
        const struct ov_place *place = &node->tree.places[piece->place];

        if (piece->buf != NULL && place->kind == OV_PLACE_LINK &&
            place->received >= place->limit)
            return true;
    }
    return false;
}

bool ov_share_waits(const struct ov_node *node)
{
    const struct ov_share *share = ov_share_of(node);
    bool is_alone = node->tree.places_max == 0 || share->is_vain;

    /* A full frame does not wait where nobody else has such lines: at a leaf,
     * or while much comes that is not equal. */
    return share->until_ns != OV_NEVER && node->now_ns < share->until_ns &&
           ov_share_has_room(node) && node->up.drr.aside.first == OV_DRR_NONE &&
           !holds_child_up(node) &&
           !(is_alone && share->bytes >= node->cfg->frame_bytes);
}

/* --- what */

/* True when the pieces can go as an UP frame that is no longer. */
static bool is_plain(const struct ov_node *node, unsigned pieces,
                     const struct ov_fold *fold)
{
    uint64_t table = 0;
    uint32_t slices = 0;

    for (unsigned i = 0; i < pieces; i++)
        slices += node->up.pieces[i].slices;
    table = OV_FRAME_HEAD_BYTES + fold->at.records * OV_RECORD_HEAD_BYTES;
    return fold->at.plain_bytes <= ov_fold_bytes(fold) &&
           slices <= OV_BATCH_SLICES && table <= OV_BATCH_HEAD_BYTES;
}

/* True when an earlier piece of the same place is not among those chosen. */
static bool is_barred(const struct ov_node *node, const bool *is_chosen,
                      unsigned at)
{
    const struct ov_piece *piece = node->up.pieces;

    for (unsigned i = 0; i < at; i++) {
        if (!is_chosen[i] && is_same_place(&piece[i], &piece[at]))
            return true;
    }
    return false;
}

/* Puts the pieces that are chosen before the others, and keeps the order among
 * both. Returns how many they are. */
static unsigned move_chosen(struct ov_node *node, const bool *is_chosen)
{
    struct ov_share *share = ov_share_of(node);
    struct ov_piece rest[OV_SHARE_PIECES_MAX];
    struct ov_up *up = &node->up;
    unsigned chosen = 0, left = 0;
    uint16_t own = share->own;

    for (unsigned i = 0; i < up->batch_pieces; i++) {
        chosen += is_chosen[i];
    }
    for (unsigned i = 0, to = 0; i < up->batch_pieces; i++) {
        if (i == own)
            share->own = (uint16_t)(is_chosen[i] ? to : chosen + left);
        if (is_chosen[i])
            up->pieces[to++] = up->pieces[i];
        else
            rest[left++] = up->pieces[i];
    }
    memcpy(&up->pieces[chosen], rest, left * sizeof(rest[0]));
    return chosen;
}

/* Chooses pieces that fit into one frame together, the oldest first, and moves
 * them before the others. Returns how many they are; 0: the oldest does not fit
 * when it is folded. */
static unsigned choose_some(struct ov_node *node, struct ov_fold *fold)
{
    bool is_chosen[OV_SHARE_PIECES_MAX] = {false};
    struct order order;
    unsigned chosen = 0;

    ov_fold_begin(fold, node->cfg->frame_bytes);
    for (unsigned i = 0; i < node->up.batch_pieces; i++) {
        if (is_barred(node, is_chosen, i))
            continue;
        ov_fold_save(fold);
        order.at[chosen] = (uint16_t)i;
        is_chosen[i] = fold_piece(node, &order, chosen, fold);
        if (is_chosen[i])
            chosen++;
        else if (i == 0)
            return 0;
        else
            ov_fold_restore(fold);
    }
    return move_chosen(node, is_chosen);
}

/* Notes whether folding these pieces has spared anything worth waiting for. */
static void judge(struct ov_node *node, unsigned pieces, uint32_t folded_bytes)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < pieces; i++)
        bytes += piece_bytes(&node->up.pieces[i]);
    ov_share_of(node)->is_vain = folded_bytes > bytes / 4 * 3;
}

/* Folds the first pieces in the order that makes them fit. False: none does. */
static bool fold_some(const struct ov_node *node, unsigned pieces,
                      struct ov_fold *fold)
{
    struct order order;

    keep_order(pieces, &order);
    return fold_sorted(node, pieces, fold) ||
           fold_all(node, &order, pieces, fold);
}

unsigned ov_share_choose(struct ov_node *node, struct ov_fold *fold,
                         bool *is_shared)
{
    unsigned pieces = node->up.batch_pieces;

    *is_shared = false;
    if (pieces == 1 && node->up.pieces[0].buf != NULL)
        return 1;
    if (!fold_sorted(node, pieces, fold)) {
        pieces = choose_some(node, fold);
        while (pieces > 0 && !fold_some(node, pieces, fold))
            pieces--;
        /* Any piece fits into a frame alone as it is. */
        if (pieces == 0 || (pieces == 1 && node->up.pieces[0].buf != NULL)) {
            ov_share_of(node)->is_vain = true;
            return 1;
        }
    }
    judge(node, pieces, ov_fold_bytes(fold));
    *is_shared = !is_plain(node, pieces, fold);
    return pieces;
}

void ov_share_drop_own(struct ov_node *node)
{
    struct ov_share rest = *ov_share_of(node);
    struct ov_up *up = &node->up;
    unsigned pieces = up->batch_pieces;

    ov_share_reset(node);
    for (unsigned i = 0; i < pieces; i++) {
        if (up->pieces[i].buf == NULL)
            continue;
        up->pieces[up->batch_pieces++] = up->pieces[i];
        ov_share_of(node)->bytes += up->pieces[i].buf->len_bytes;
    }
    if (up->batch_pieces > 0)
        ov_share_of(node)->until_ns = rest.until_ns;
}

void ov_share_remove(struct ov_node *node, unsigned pieces)
{
    struct ov_share *share = ov_share_of(node);
    struct ov_up *up = &node->up;
    unsigned left = up->batch_pieces - pieces;
    struct ov_share rest = *share;

    ov_share_reset(node);
    if (left == 0)
        return;
    for (unsigned i = 0; i < left; i++)
        up->pieces[i] = up->pieces[pieces + i];
    up->batch_pieces = (uint16_t)left;
    share->until_ns = rest.until_ns;
    if (rest.own != OV_NO_PIECE && rest.own >= pieces) {
        share->own = (uint16_t)(rest.own - pieces);
        share->own_bytes = rest.own_bytes;
    }
    for (unsigned i = 0; i < left; i++)
        share->bytes += piece_bytes(&up->pieces[i]);
}

/* --- time */

void ov_share_on_time(struct ov_node *node)
{
    if (node->cfg->folds && node->now_ns >= ov_share_of(node)->until_ns)
        ov_node_serve_parent(node);
}

void ov_share_wake(const struct ov_node *node, struct ov_out *out)
{
    /* A batch that has waited long enough is sent as soon as the link can. */
    if (node->cfg->folds && node->now_ns < ov_share_of(node)->until_ns)
        ov_out_wake(out, ov_share_of(node)->until_ns);
}
