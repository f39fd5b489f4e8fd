/* Messages on stream 0: one per frame, in its payload.
 *
 *      0      1      2         4
 *     +------+------+---------+------
 *     | kind | more | spare   | body
 *     +------+------+---------+------
 *
 *     OPEN     stream 4, window 2, ranges 2, then (first 4, last 4) each
 *     GOODBYE  nothing
 *     APP ...  for the drivers; may continue in the next frame (more = 1)
 *
 * The core acts on OPEN and GOODBYE. Every message is also given to the driver
 * of every node, which reports it as consumed.
 */
#ifndef OVERLAY_CONTROL_H
#define OVERLAY_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "overlay/base/wire.h"
#include "topo/tree.h"

enum ov_control_kind {
    OV_CONTROL_OPEN = 1,
    OV_CONTROL_GOODBYE = 2,
    OV_CONTROL_APP = 16, /* this and all higher kinds belong to the driver */
};

enum {
    OV_CONTROL_HEAD_BYTES = 4,
    OV_OPEN_BYTES = 8,
    OV_OPEN_RANGES_MAX = 256, /* a set with more ranges is sent as fewer,
                                 coarser ones */
};

struct ov_control {
    uint8_t kind;
    bool more;
    struct ov_rd body; /* borrowed */
};

/* Opens a stream to the nodes in the ranges. A superset of the nodes that have
 * targets is correct: a node without targets consumes at once. */
struct ov_open {
    uint32_t stream;
    uint16_t window;
    uint16_t ranges;
};

void ov_control_encode(struct ov_wr *wr, uint8_t kind, bool more);
/* OV_EPROTO when the message is too short or its kind is unknown. */
int ov_control_decode(const uint8_t *mem, uint32_t len_bytes,
                      struct ov_control *control);

/* Writes the whole message. `ranges` is at most OV_OPEN_RANGES_MAX. */
void ov_open_encode(struct ov_wr *wr, const struct ov_open *open,
                    const struct topo_range *range);
/* The ranges follow in body, read by ov_open_range(). */
int ov_open_decode(struct ov_rd *body, struct ov_open *open);
struct topo_range ov_open_range(struct ov_rd *body);

#endif
