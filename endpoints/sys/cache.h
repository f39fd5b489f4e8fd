/* Keeps a channel's first and last bytes for clients that ask for them later,
 * as many of each as the owner says.
 *
 * A client that comes later says whether it wants the first bytes or the last,
 * and how many. That is not known while the bytes are written, so both are
 * kept.
 *
 * Memory: twice the size for each channel, allocated as it is needed. The
 * pool's limit bounds all of its channels together, half of it for first bytes
 * and half for last ones. At the limit retired channels are emptied, the one
 * that was retired first before the others; after that a channel keeps only
 * what there is room for.
 */
#ifndef ENDPOINTS_SYS_CACHE_H
#define ENDPOINTS_SYS_CACHE_H

#include <stdbool.h>
#include <stdint.h>

/* memory for all channels of a daemon */
enum { EP_CACHE_POOL_BYTES = 64 << 20 };

struct ep_cache;

/* An all-zero pool is empty. */
struct ep_cache_pool {
    uint64_t limit_bytes; /* 0 means EP_CACHE_POOL_BYTES */
    uint64_t heads_bytes, tails_bytes;
    /* list of the retired caches, in the order of retiring */
    struct ep_cache *oldest, *newest;
    /* Some bytes were not kept, because there was no room. */
    bool is_full;
};

/* An all-zero cache is empty. */
struct ep_cache {
    uint64_t total_bytes; /* bytes that the channel has had so far */
    uint8_t *head, *tail; /* owned */
    uint32_t head_bytes, head_room;
    uint32_t tail_bytes, tail_room;
    uint32_t tail_first; /* index of the oldest byte in `tail` */
    struct ep_cache *older, *newer;
    bool is_retired;
};

/* A selection: the bytes between two positions, and the numbers of bytes before
 * and after them that are not kept. */
struct ep_cache_part {
    uint64_t from, to;
    uint64_t before_bytes, behind_bytes;
};

/* Gives the cache's memory back to the pool; the cache is then empty. */
void ep_cache_fini(struct ep_cache *cache, struct ep_cache_pool *pool);

/* Adds the channel's next bytes. size_bytes, the number of first and of last
 * bytes to keep, must be the same in all calls. O(len_bytes), plus copying when
 * the memory grows. */
void ep_cache_add(struct ep_cache *cache, struct ep_cache_pool *pool,
                  uint32_t size_bytes, const uint8_t *mem, uint32_t len_bytes);

/* Says that this many of the channel's next bytes are not here: bytes before
 * them stay first bytes, and bytes after them are last bytes. O(1). */
void ep_cache_skip(struct ep_cache *cache, uint64_t len_bytes);

/* The first says that no byte will be added: the cache may be emptied when
 * other channels need the room, and then all its bytes are lost. The second
 * forbids that again while the cache is being read. O(1). */
void ep_cache_retire(struct ep_cache *cache, struct ep_cache_pool *pool);
void ep_cache_recall(struct ep_cache *cache, struct ep_cache_pool *pool);

/* Selects the first max_bytes of the channel, or the last ones (is_last); fewer
 * when fewer are kept. O(1). */
void ep_cache_select(const struct ep_cache *cache, uint32_t max_bytes,
                     bool is_last, struct ep_cache_part *out);

/* Copies len_bytes from position `from` on, all within a part that was selected
 * since the last ep_cache_add. */
void ep_cache_read(const struct ep_cache *cache, uint64_t from, uint8_t *dst,
                   uint32_t len_bytes);

#endif
