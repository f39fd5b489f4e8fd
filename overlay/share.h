/* The batch of a node where equal lines are folded: what goes into the next UP
 * frame, how long it waits for more, and what of it fits.
 *
 * A frame is full when it is so with equal lines in it once. So the batch takes
 * frames of children whatever their size, and own records in several pieces;
 * when it is to be sent, as much goes as one frame has room for.
 *
 * Lines wait for equal ones: a node at depth d of H levels until a line that it
 * has written is share_ns * (H - d + 1) / H old. One that has come from beneath
 * has waited there for its part of that. So all lines that are written at a
 * time meet, each at the node that is above all of them, and none waits for
 * more than share_ns in all.
 */
#ifndef OVERLAY_SHARE_H
#define OVERLAY_SHARE_H

#include "overlay/fold.h"
#include "overlay/state.h"

enum {
    OV_SHARE_LEAF_PIECES = 4,
    OV_SHARE_PIECES_MAX = 256,
    OV_SHARE_HEADS_BYTES = 64, /* of a frame with one own record, at most */
};

/* How many pieces the batch of a node has room for. */
uint16_t ov_share_pieces(const struct ov_cfg *cfg, bool is_leaf);

/* Empties the batch without dropping references. */
void ov_share_reset(struct ov_node *node);

/* How many bytes of the window are free when this record is no longer kept:
 * none as long as the next one is in the same buffer. */
uint32_t ov_share_drop(struct ov_node *node, const struct ov_kept *kept);

/* Adds own records that were not yet sent on this link. False when not all have
 * room. */
bool ov_share_own(struct ov_node *node);

/* True when the batch has room for one more piece. */
bool ov_share_has_room(const struct ov_node *node);

/* Removes own records from the batch, because they are to be sent again. */
void ov_share_drop_own(struct ov_node *node);

/* Adds a child's frame; its reference passes to the batch. */
void ov_share_frame(struct ov_node *node, struct ov_buf *buf, uint16_t place);

/* True when the batch is to wait for more. */
bool ov_share_waits(const struct ov_node *node);

/* Decides what is sent next of a batch that is not empty: returns how many of
 * its pieces, from the first on, after it has moved them there. *is_shared: as
 * a SHARED frame, which `fold` then has; else as an UP frame, or as it is where
 * it is one frame. */
unsigned ov_share_choose(struct ov_node *node, struct ov_fold *fold,
                         bool *is_shared);

/* Removes the first pieces of the batch, after they were sent. */
void ov_share_remove(struct ov_node *node, unsigned pieces);

/* Serves the parent when the batch has waited long enough; the second function
 * asks for a wake-up when it has not. */
void ov_share_on_time(struct ov_node *node);
void ov_share_wake(const struct ov_node *node, struct ov_out *out);

#endif
