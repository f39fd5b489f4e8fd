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
 * The core acts on OPEN and GOODBYE. It also hands every message to the driver
 * of every node, which reports the message as consumed.
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
    OV_CONTROL_APP = 16, /* this kind and all higher ones belong to the
                            driver */
};

enum {
    OV_CONTROL_HEAD_BYTES = 4,
    OV_OPEN_BYTES = 8,
    OV_OPEN_RANGES_MAX = 256, /* a set that needs more ranges is sent as a
                                 larger set that needs fewer */
};

struct ov_control {
    uint8_t kind;
    bool more;
    struct ov_rd body; /* borrowed */
};

/* OPEN: announces a stream to the nodes in the ranges. They may include nodes
 * without targets: these consume each frame at once. */
struct ov_open {
    uint32_t stream;
    uint16_t window;
    uint16_t ranges;
};

void ov_control_encode(struct ov_wr *wr, uint8_t kind, bool more);
/* Decodes the head. Returns 0, or OV_EPROTO when the message is too short or
 * its kind is unknown. */
int ov_control_decode(const uint8_t *mem, uint32_t len_bytes,
                      struct ov_control *control);

/* Writes the whole message, head included. open->ranges is at most
 * OV_OPEN_RANGES_MAX. */
void ov_open_encode(struct ov_wr *wr, const struct ov_open *open,
                    const struct topo_range *range);
/* Decodes what precedes the ranges. The caller then reads open->ranges ranges
 * from the same body with ov_open_range(). Returns 0 or OV_EPROTO. */
int ov_open_decode(struct ov_rd *body, struct ov_open *open);
struct topo_range ov_open_range(struct ov_rd *body);

#endif
