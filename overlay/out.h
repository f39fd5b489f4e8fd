/* The output of a step: actions and their bytes, freed buffers, and the next
 * wake-up.
 *
 * Owned by the driver, one per thread; it lives outside the node because a
 * million nodes need only one. After the actions are done the driver takes back
 * the chain `freed` (linked by next, no references left). When `more` is set
 * not all actions fitted: step again with OV_EV_TIMER.
 */
#ifndef OVERLAY_OUT_H
#define OVERLAY_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "overlay/event.h"

enum {
    OV_OUT_ACTS = 128,
    OV_OUT_SLICES = 256,
    OV_OUT_HEAD_BYTES = 32 * 1024,
    OV_BATCH_HEAD_BYTES = 8 * 1024, /* most bytes before slices in one SEND */
    OV_BATCH_SLICES = 64,           /* most slices in one SEND */
};

#define OV_NEVER UINT64_MAX

struct ov_out {
    struct ov_act acts[OV_OUT_ACTS];
    struct ov_slice slice[OV_OUT_SLICES];
    uint8_t head[OV_OUT_HEAD_BYTES];
    uint32_t acts_count;
    uint32_t slices_count;
    uint32_t head_bytes;
    struct ov_buf *freed;
    uint64_t wake_ns; /* OV_NEVER: no wake-up is needed */
    bool more;
};

void ov_out_reset(struct ov_out *out);

/* True when there is room for one more SEND of the largest kind and a few plain
 * actions. */
bool ov_out_has_room(const struct ov_out *out);

/* Adds a zeroed action of this kind. The room must have been checked. */
struct ov_act *ov_out_act(struct ov_out *out, enum ov_act_kind kind);

/* Adds a slice to the last action; the reference passes to the driver. A slice
 * that continues the previous one is joined with it, and its reference
 * dropped. */
void ov_out_slice(struct ov_out *out, struct ov_act *act, struct ov_buf *buf,
                  uint32_t off_bytes, uint32_t len_bytes);

/* Gives the free room for head bytes of `act`, and takes note of what was
 * written there. */
struct ov_wr ov_out_head(struct ov_out *out);
void ov_out_head_done(struct ov_out *out, struct ov_act *act,
                      const struct ov_wr *wr);

/* Drops one reference; a buffer without references joins the chain. */
void ov_out_put(struct ov_out *out, struct ov_buf *buf);

/* Asks for a wake-up at that time or earlier. */
static inline void ov_out_wake(struct ov_out *out, uint64_t at_ns)
{
    if (at_ns < out->wake_ns)
        out->wake_ns = at_ns;
}

#endif
