/* Payload buffers: handles that cross the core, never copies.
 *
 * A driver makes buffers (registered memory in endpoints/, header bytes and
 * counts in the simulator) and hands them in with events. Whoever keeps one
 * past the call takes a reference. The core drops references with ov_out_put(),
 * which chains buffers that reach zero for the driver to take back; drivers
 * drop theirs with the functions of their own pools.
 */
#ifndef OVERLAY_BASE_BUF_H
#define OVERLAY_BASE_BUF_H

#include <stdint.h>

#include "overlay/base/panic.h"

struct ov_buf {
    struct ov_buf *next; /* borrowed: free list or chain of freed buffers */
    uint8_t *mem;        /* owned by the driver, cap_bytes long */
    uint32_t cap_bytes;
    uint32_t len_bytes; /* bytes in use, from mem[0] */
    uint32_t refs;      /* 0: free */
};

static inline struct ov_buf *ov_buf_ref(struct ov_buf *buf)
{
    OV_ASSERT(buf->refs > 0);
    buf->refs++;
    return buf;
}

/* Drop one reference. Returns 1 when it was the last one: the caller then
 * owns the buffer and must give it back to its pool.
 */
static inline int ov_buf_unref(struct ov_buf *buf)
{
    OV_ASSERT(buf->refs > 0);
    return --buf->refs == 0;
}

#endif
