/* What a channel has written before it is wanted: its first and its last bytes,
 * as many of each as the owner says.
 *
 * A client that comes later says which of the two it wants, and how much. The
 * rule for overflow is not known while the bytes go by, so both ends are kept.
 *
 * Memory: twice the size for each channel, taken as it is needed. The pool's
 * limit bounds all of its channels together, half of it for first bytes and
 * half for last ones. At the limit retired channels are emptied, the one that
 * was retired first before the others; after that a channel keeps what it has
 * room for.
 */
#ifndef ENDPOINTS_SYS_CACHE_H
#define ENDPOINTS_SYS_CACHE_H

#include <stdbool.h>
#include <stdint.h>

enum { EP_CACHE_POOL_BYTES = 64 << 20 }; /* for all channels of a daemon */

struct ep_cache;

/* All zero is empty. */
struct ep_cache_pool {
    uint64_t limit_bytes; /* 0: EP_CACHE_POOL_BYTES */
    uint64_t heads_bytes, tails_bytes;
    struct ep_cache *oldest, *newest; /* retired caches, in their order */
    /* Some bytes were not kept for want of room. */
    bool is_full;
};

/* All zero is empty. */
struct ep_cache {
    uint64_t total_bytes; /* of the channel so far */
    uint8_t *head, *tail; /* owned */
    uint32_t head_bytes, head_room;
    uint32_t tail_bytes, tail_room;
    uint32_t tail_first; /* place of the oldest byte in the tail */
    struct ep_cache *older, *newer;
    bool is_retired;
};

/* A selection: the bytes from one position to another, and how many before and
 * after them are gone. */
struct ep_cache_part {
    uint64_t from, to;
    uint64_t before_bytes, behind_bytes;
};

/* Gives the memory back to the pool; the cache is then empty. */
void ep_cache_fini(struct ep_cache *cache, struct ep_cache_pool *pool);

/* Adds the channel's next bytes; size_bytes must be the same in all calls.
 * O(len_bytes), plus what is kept when the memory grows. */
void ep_cache_add(struct ep_cache *cache, struct ep_cache_pool *pool,
                  uint32_t size_bytes, const uint8_t *mem, uint32_t len_bytes);

/* Says that this many of the channel's next bytes do not exist here: those
 * before them stay first bytes, those behind them are last ones. O(1). */
void ep_cache_skip(struct ep_cache *cache, uint64_t len_bytes);

/* The first says that nothing more comes: the cache may be emptied when others
 * need the room, and then all of it is gone. The second undoes that while the
 * cache is being read. O(1). */
void ep_cache_retire(struct ep_cache *cache, struct ep_cache_pool *pool);
void ep_cache_recall(struct ep_cache *cache, struct ep_cache_pool *pool);

/* Selects the first max_bytes of the channel, or the last; fewer when fewer are
 * kept. O(1). */
void ep_cache_select(const struct ep_cache *cache, uint32_t max_bytes,
                     bool is_last, struct ep_cache_part *out);

/* Copies len_bytes from a position on, within a part that was selected since
 * the last ep_cache_add. */
void ep_cache_read(const struct ep_cache *cache, uint64_t from, uint8_t *dst,
                   uint32_t len_bytes);

#endif
