/* Own records, kept until they are acknowledged: a list for each node, in
 * cells that the driver lends to all its nodes together.
 *
 * A quiet node so costs nothing for the records that it could keep.
 */
#ifndef OVERLAY_KEPT_H
#define OVERLAY_KEPT_H

#include <stdint.h>

#include "overlay/base/buf.h"

/* A record; its source and number follow from where it stands. */
struct ov_kept {
    struct ov_kept *next;
    struct ov_buf *buf; /* one reference; NULL: no bytes */
    uint32_t off_bytes;
    uint32_t len_bytes;
    uint32_t rank;
    uint16_t job;
    uint8_t channel;
    uint8_t flags;
};

_Static_assert(sizeof(struct ov_kept) <= 32, "ov_kept outgrew its budget");

/* Cells not in use. Owned by the driver, shared by its nodes; one must be
 * there whenever OV_EV_READ brings a record: cfg.kept_max for each node is
 * always enough. */
struct ov_kept_pool {
    struct ov_kept *free;
};

/* Adds cells, which stay the caller's to free once no node has them. */
void ov_kept_lend(struct ov_kept_pool *pool, struct ov_kept *cells,
                  uint32_t count);

/* The records from the oldest on. */
struct ov_kept_list {
    struct ov_kept *first; /* NULL: empty */
    struct ov_kept *last;
};

/* Appends a copy of *record. O(1). */
struct ov_kept *ov_kept_push(struct ov_kept_list *list,
                             struct ov_kept_pool *pool,
                             const struct ov_kept *record);

/* Removes the oldest record and returns what it was; its reference passes.
 * O(1). */
struct ov_kept ov_kept_pop(struct ov_kept_list *list,
                           struct ov_kept_pool *pool);

#endif
