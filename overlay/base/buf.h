/* Payload buffers. The core passes on references to them and never copies their
 * bytes.
 *
 * A driver makes buffers (of registered memory in endpoints/, of header bytes
 * and counts in the simulator) and gives them to the core with events. A
 * function that keeps a buffer after it returns takes a reference. The core
 * drops references with ov_out_put(), which puts a buffer without references
 * into a chain, from which the driver takes it back. A driver drops its own
 * references with the functions of its pool.
 */
#ifndef OVERLAY_BASE_BUF_H
#define OVERLAY_BASE_BUF_H

#include <stdint.h>

#include "overlay/base/panic.h"

struct ov_buf {
    struct ov_buf *next; /* borrowed: next buffer in a free list or in the chain
                            of freed buffers */
    uint8_t *mem;        /* owned by the driver, cap_bytes long */
    uint32_t cap_bytes;
    uint32_t len_bytes; /* bytes in use, from mem[0] */
    uint32_t refs;      /* number of references; 0 when the buffer is free */
};

static inline struct ov_buf *ov_buf_ref(struct ov_buf *buf)
{
    OV_ASSERT(buf->refs > 0);
    buf->refs++;
    return buf;
}

/* Drops one reference. Returns 1 when it was the last one: the caller then owns
 * the buffer and must return it to its pool. */
static inline int ov_buf_unref(struct ov_buf *buf)
{
    OV_ASSERT(buf->refs > 0);
    return --buf->refs == 0;
}

#endif
