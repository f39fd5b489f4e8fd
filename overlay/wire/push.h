/* Bytes of a stream that are for some of its processes only. They are the
 * payload of a DOWN frame with the flag OV_DOWN_SOME.
 *
 *      0       2        4
 *     +-------+--------+----------------------+-------
 *     | flags | ranges | (first 4, last 4) *  | bytes
 *     +-------+--------+----------------------+-------
 *
 * The ranges are the set of processes for which the bytes are: process numbers,
 * ascending and without repetition. A set that is too long for one message is
 * continued in the next message of the stream (MORE). A set stays valid until
 * another set begins (NEW), so a writer that pushes many times to the same
 * processes names them only once.
 */
#ifndef OVERLAY_WIRE_PUSH_H
#define OVERLAY_WIRE_PUSH_H

#include <stdint.h>

#include "overlay/base/wire.h"
#include "topo/tree.h"

enum ov_push_flag {
    OV_PUSH_NEW = 1,   /* a new set begins, and replaces the previous one */
    OV_PUSH_MORE = 2,  /* the set continues in the next message; no bytes yet */
    OV_PUSH_CLOSE = 4, /* the stdin of the set's processes ends after these
                          bytes */
    OV_PUSH_FLAGS = 7
};

enum { OV_PUSH_HEAD_BYTES = 4, OV_PUSH_RANGE_BYTES = 8 };

struct ov_push {
    uint16_t flags;
    uint16_t ranges;
    struct ov_rd set;   /* borrowed: the encoded ranges, for ov_push_range() */
    uint32_t off_bytes; /* offset in the message at which the bytes begin; the
                           next field is their number */
    uint32_t len_bytes;
};

/* Writes head and ranges; the bytes must follow. */
void ov_push_encode(struct ov_wr *wr, uint16_t flags,
                    const struct topo_range *range, uint16_t ranges);

/* Reads a whole message. Returns 0, or OV_EPROTO when it is too short, has an
 * unknown flag, has bytes or the flag CLOSE together with MORE, or has ranges
 * that do not ascend. O(ranges). */
int ov_push_decode(const uint8_t *mem, uint32_t len_bytes, struct ov_push *out);

/* Reads the next range. */
struct topo_range ov_push_range(struct ov_push *push);

#endif
