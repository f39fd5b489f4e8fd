/* The output of a step: actions and their bytes, freed buffers, and the next
 * wake-up.
 *
 * Owned by the driver, one per thread; it lives outside the node because a
 * million nodes need only one. After carrying out the actions the driver takes
 * back the buffers in the chain `freed` (linked by `next`), to which no
 * references are left. When `more` is set not all actions had room, and the
 * driver must step the node again with OV_EV_TIMER.
 */
#ifndef OVERLAY_OUT_H
#define OVERLAY_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "overlay/event.h"

enum {
    OV_OUT_ACTS = 128,
    OV_OUT_SLICES = 384,
    OV_OUT_HEAD_BYTES = 48 * 1024,
    OV_BATCH_HEAD_BYTES = 8 * 1024, /* at most this many bytes before the slices
                                       of one SEND */
    OV_BATCH_SLICES = 64,           /* at most this many slices in one SEND */
    OV_FOLD_HEAD_BYTES = 24 * 1024, /* the same of a SHARED frame */
    OV_FOLD_SLICES = 192,
};

#define OV_NEVER UINT64_MAX /* a time that never comes */

struct ov_fold;

struct ov_out {
    struct ov_fold *fold; /* borrowed from the driver: scratch memory for nodes
                             whose cfg folds, else NULL */
    struct ov_act acts[OV_OUT_ACTS];
    struct ov_slice slice[OV_OUT_SLICES];
    uint8_t head[OV_OUT_HEAD_BYTES];
    uint32_t acts_count;
    uint32_t slices_count;
    uint32_t head_bytes;
    struct ov_buf *freed;
    uint64_t wake_ns; /* when the driver must wake the node; OV_NEVER when it
                         need not */
    bool more;
};

void ov_out_reset(struct ov_out *out);

/* True when there is room for one more SEND of the largest kind and a few plain
 * actions. */
bool ov_out_has_room(const struct ov_out *out);

/* Adds a zeroed action of this kind. The caller must have checked with
 * ov_out_has_room(). */
struct ov_act *ov_out_act(struct ov_out *out, enum ov_act_kind kind);

/* Adds a slice to the last action; its reference passes to the driver. A slice
 * that continues the previous one is joined with it, and its reference is
 * dropped. */
void ov_out_slice(struct ov_out *out, struct ov_act *act, struct ov_buf *buf,
                  uint32_t off_bytes, uint32_t len_bytes);

/* Returns a writer for the free room in out->head. After writing there the
 * caller calls the second function, which makes what was written the head bytes
 * of `act`. */
struct ov_wr ov_out_head(struct ov_out *out);
void ov_out_head_done(struct ov_out *out, struct ov_act *act,
                      const struct ov_wr *wr);

/* Drops one reference; a buffer without references is put into the chain
 * out->freed. */
void ov_out_put(struct ov_out *out, struct ov_buf *buf);

/* Makes the driver wake the node at this time or earlier. */
static inline void ov_out_wake(struct ov_out *out, uint64_t at_ns)
{
    if (at_ns < out->wake_ns)
        out->wake_ns = at_ns;
}

#endif
