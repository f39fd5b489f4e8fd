/* Lines of one channel that are held back until it ends: the last ones, as many
 * as there may be.
 *
 * They lie in a ring that grows up to TEXT_FILTER_HELD_MAX bytes, in which each
 * line takes four bytes more. All rings of a daemon together have
 * EP_HELD_POOL_BYTES; beyond that a channel keeps only what its own ring has
 * room for. What has to go is counted as left out, the oldest line first; of a
 * line that has gone later pieces go, too.
 */
#ifndef ENDPOINTS_DAEMON_HELD_H
#define ENDPOINTS_DAEMON_HELD_H

#include <stdbool.h>
#include <stdint.h>

#include "text/filter.h"

#define EP_HELD_POOL_BYTES (UINT64_C(64) << 20)

/* Memory for what waits in a daemon; all zero at first. */
struct ep_held_pool {
    uint64_t used_bytes;
};

/* Takes memory of the pool; false: there is less left. */
bool ep_held_pool_take(struct ep_held_pool *pool, uint64_t bytes);
void ep_held_pool_give(struct ep_held_pool *pool, uint64_t bytes);

/* All zero: nothing is held. */
struct ep_held {
    uint8_t *ring; /* owned */
    uint32_t room, first, used;
    uint32_t newest; /* where the newest line begins, from `first` on */
    uint32_t lines;
    uint64_t bytes; /* of the lines */
    uint32_t begun; /* while they are taken: bytes left of the line */
    bool is_gone;   /* the line that came last is no longer here */
    enum text_left_reason reason; /* and why */
};

void ep_held_fini(struct ep_held *held, struct ep_held_pool *pool);

/* Adds a piece of a line, and counts what has to go. O(len_bytes), plus copying
 * when the ring grows. */
void ep_held_add(struct ep_held *held, struct ep_held_pool *pool,
                 const struct text_filter_rules *rules,
                 struct text_filter *filter, const uint8_t *mem,
                 uint32_t len_bytes, bool is_first);

/* Moves the oldest bytes to dst. Returns how many, 0 when none is left. From
 * the first call on nothing may be added. O(room). */
uint32_t ep_held_take(struct ep_held *held, uint8_t *dst, uint32_t room);

static inline bool ep_held_is_empty(const struct ep_held *held)
{
    return held->used == 0;
}

#endif
