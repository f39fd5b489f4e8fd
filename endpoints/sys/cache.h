/* What a channel has written before somebody wants it: its first and its last
 * bytes, as many of each as whoever keeps them says.
 *
 * Who comes later says which of the two it wants, and how much: the rule for
 * overflow is not known while the bytes go by, so both ends are kept.
 *
 * Memory: twice the size for each channel, as it is needed, and no more than
 * the pool's limit for all channels of one, half of it for first bytes and half
 * for last ones: beyond it a channel keeps what it has room for. Before that
 * those go which have been retired, the longest first.
 */
#ifndef ENDPOINTS_SYS_CACHE_H
#define ENDPOINTS_SYS_CACHE_H

#include <stdbool.h>
#include <stdint.h>

enum { EP_CACHE_POOL_BYTES = 64 << 20 }; /* of all channels of a daemon */

struct ep_cache;

/* Zeroed it is empty. */
struct ep_cache_pool {
    uint64_t limit_bytes; /* 0: EP_CACHE_POOL_BYTES */
    uint64_t heads_bytes, tails_bytes;
    struct ep_cache *oldest, *newest; /* of those that are retired */
    bool is_full;                     /* some were not kept for want of it */
};

/* Zeroed it is empty. */
struct ep_cache {
    uint64_t total_bytes; /* of the channel so far */
    uint8_t *head, *tail; /* owned */
    uint32_t head_bytes, head_room;
    uint32_t tail_bytes, tail_room;
    uint32_t tail_first; /* where the oldest byte of the tail is */
    struct ep_cache *older, *newer;
    bool is_retired;
};

/* What there is for somebody: the bytes from one position to another, and how
 * many before and behind them are gone. */
struct ep_cache_part {
    uint64_t from, to;
    uint64_t before_bytes, behind_bytes;
};

/* Gives its memory back to the pool, and is empty. */
void ep_cache_fini(struct ep_cache *cache, struct ep_cache_pool *pool);

/* The channel's next bytes; size_bytes is the same in all calls. O(len_bytes),
 * and where the memory grows what is kept. */
void ep_cache_add(struct ep_cache *cache, struct ep_cache_pool *pool,
                  uint32_t size_bytes, const uint8_t *mem, uint32_t len_bytes);

/* So many of the channel's next bytes are not to be had: those before them stay
 * as first bytes, those behind them as last ones. O(1). */
void ep_cache_skip(struct ep_cache *cache, uint64_t len_bytes);

/* Nothing more comes, and it may be emptied when others need the room; then all
 * that came is gone. Not before somebody reads it: ep_cache_recall(). O(1). */
void ep_cache_retire(struct ep_cache *cache, struct ep_cache_pool *pool);
void ep_cache_recall(struct ep_cache *cache, struct ep_cache_pool *pool);

/* The first max_bytes of the channel, or the last; fewer where they are not
 * kept. O(1). */
void ep_cache_select(const struct ep_cache *cache, uint32_t max_bytes,
                     bool is_last, struct ep_cache_part *out);

/* Copies len_bytes from a position on, within a part that was selected since
 * the last ep_cache_add. */
void ep_cache_read(const struct ep_cache *cache, uint64_t from, uint8_t *dst,
                   uint32_t len_bytes);

#endif
