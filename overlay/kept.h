/* A node's own records, kept until the root has acknowledged them: a list for
 * each node, in cells that the driver lends to all its nodes together. So a
 * node that writes little needs little memory. */
#ifndef OVERLAY_KEPT_H
#define OVERLAY_KEPT_H

#include <stdint.h>

#include "overlay/base/buf.h"

/* One record. Its source is the node, and its number follows from its position
 * in the list. */
struct ov_kept {
    struct ov_kept *next;
    struct ov_buf *buf; /* one reference; NULL for a record without bytes */
    uint32_t off_bytes;
    uint32_t len_bytes;
    uint32_t rank;
    uint16_t job;
    uint8_t channel;
    uint8_t flags;
};

_Static_assert(sizeof(struct ov_kept) <= 32, "ov_kept outgrew its budget");

/* The cells that are not in use, owned by the driver and shared by its nodes.
 * The driver must see to it that a cell is free whenever it gives a node a
 * record by OV_EV_READ: cfg.kept_max for each node is always enough. */
struct ov_kept_pool {
    struct ov_kept *free;
};

/* Adds cells to the pool. They remain the caller's, who frees them when no node
 * uses them any longer. */
void ov_kept_lend(struct ov_kept_pool *pool, struct ov_kept *cells,
                  uint32_t count);

/* The records of a node, the oldest first. */
struct ov_kept_list {
    struct ov_kept *first; /* NULL: empty */
    struct ov_kept *last;
};

/* Appends a copy of *record. O(1). */
struct ov_kept *ov_kept_push(struct ov_kept_list *list,
                             struct ov_kept_pool *pool,
                             const struct ov_kept *record);

/* Removes and returns the oldest record; its reference to the buffer passes to
 * the caller. O(1). */
struct ov_kept ov_kept_pop(struct ov_kept_list *list,
                           struct ov_kept_pool *pool);

#endif
