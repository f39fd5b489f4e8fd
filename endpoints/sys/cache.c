/* Keeps a channel's first bytes in one piece of memory, and its last bytes in a
 * ring. */
#include "endpoints/sys/cache.h"

#include <stdlib.h>
#include <string.h>

#include "overlay/base/panic.h"

enum { ROOM_MIN = 4096 };

static uint32_t least(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

static void unlink_retired(struct ep_cache *cache, struct ep_cache_pool *pool)
{
    *(cache->older != NULL ? &cache->older->newer : &pool->oldest) =
        cache->newer;
    *(cache->newer != NULL ? &cache->newer->older : &pool->newest) =
        cache->older;
    cache->older = cache->newer = NULL;
    cache->is_retired = false;
}

static void free_room(struct ep_cache *cache, struct ep_cache_pool *pool)
{
    pool->heads_bytes -= cache->head_room;
    pool->tails_bytes -= cache->tail_room;
    free(cache->head);
    free(cache->tail);
}

/* Empties the cache that was retired first; only its count of bytes stays.
 * Returns false when no cache is retired. */
static bool evict(struct ep_cache_pool *pool)
{
    struct ep_cache *cache = pool->oldest;

    if (cache == NULL)
        return false;
    unlink_retired(cache, pool);
    free_room(cache, pool);
    *cache = (struct ep_cache){.total_bytes = cache->total_bytes};
    return true;
}

static uint64_t half_of(const struct ep_cache_pool *pool)
{
    return (pool->limit_bytes > 0 ? pool->limit_bytes : EP_CACHE_POOL_BYTES) /
           2;
}

/* Allocates memory for `need` bytes, at most `size`. Returns NULL when that
 * half of the pool, of which *used is taken, has no room. The caller moves the
 * bytes of the old memory. */
static uint8_t *take_room(struct ep_cache_pool *pool, uint64_t *used,
                          uint32_t *room, uint32_t need, uint32_t size)
{
    uint64_t wanted = *room > 0 ? *room : ROOM_MIN;
    uint8_t *mem;

    while (wanted < need)
        wanted *= 2;
    wanted = least(wanted, size);
    while (*used + wanted - *room > half_of(pool) && evict(pool))
        continue;
    if (*used + wanted - *room > half_of(pool)) {
        pool->is_full = true;
        return NULL;
    }
    mem = malloc(wanted);
    if (mem == NULL) {
        pool->is_full = true;
        return NULL;
    }
    *used += wanted - *room;
    *room = (uint32_t)wanted;
    return mem;
}

void ep_cache_fini(struct ep_cache *cache, struct ep_cache_pool *pool)
{
    if (cache->is_retired)
        unlink_retired(cache, pool);
    free_room(cache, pool);
    *cache = (struct ep_cache){0};
}

void ep_cache_retire(struct ep_cache *cache, struct ep_cache_pool *pool)
{
    if (cache->is_retired || cache->head_room + cache->tail_room == 0)
        return;
    cache->is_retired = true;
    cache->older = pool->newest;
    *(pool->newest != NULL ? &pool->newest->newer : &pool->oldest) = cache;
    pool->newest = cache;
}

void ep_cache_recall(struct ep_cache *cache, struct ep_cache_pool *pool)
{
    if (cache->is_retired)
        unlink_retired(cache, pool);
}

/* --- adding */

/* Adds to the first bytes. Returns how many of the bytes were added. */
static uint32_t add_head(struct ep_cache *cache, struct ep_cache_pool *pool,
                         uint32_t size, const uint8_t *mem, uint32_t len)
{
    uint32_t count = least(len, size - cache->head_bytes);
    uint32_t need = cache->head_bytes + count;

    if (need > cache->head_room) {
        uint8_t *grown =
            take_room(pool, &pool->heads_bytes, &cache->head_room, need, size);

        if (grown != NULL) {
            if (cache->head_bytes > 0)
                memcpy(grown, cache->head, cache->head_bytes);
            free(cache->head);
            cache->head = grown;
        }
        count = least(count, cache->head_room - cache->head_bytes);
    }
    if (count > 0)
        memcpy(cache->head + cache->head_bytes, mem, count);
    cache->head_bytes += count;
    return count;
}

/* Copies len bytes of the last ones, from the byte on that is `skip` after the
 * oldest. */
static void copy_tail(const struct ep_cache *cache, uint32_t skip, uint8_t *dst,
                      uint32_t len)
{
    uint64_t at = ((uint64_t)cache->tail_first + skip) % cache->tail_room;
    uint32_t straight = least(len, cache->tail_room - at);

    memcpy(dst, cache->tail + at, straight);
    if (straight < len)
        memcpy(dst + straight, cache->tail, len - straight);
}

static void grow_tail(struct ep_cache *cache, struct ep_cache_pool *pool,
                      uint32_t need, uint32_t size)
{
    uint32_t room = cache->tail_room;
    uint8_t *grown = take_room(pool, &pool->tails_bytes, &room, need, size);

    if (grown == NULL)
        return;
    if (cache->tail_bytes > 0)
        copy_tail(cache, 0, grown, cache->tail_bytes);
    free(cache->tail);
    cache->tail = grown;
    cache->tail_room = room;
    cache->tail_first = 0;
}

static void add_tail(struct ep_cache *cache, struct ep_cache_pool *pool,
                     uint32_t size, const uint8_t *mem, uint32_t len)
{
    uint32_t need = least((uint64_t)cache->tail_bytes + len, size);
    uint64_t at, over;
    uint32_t straight;

    if (need > cache->tail_room)
        grow_tail(cache, pool, need, size);
    if (cache->tail_room == 0)
        return;
    if (len > cache->tail_room) {
        mem += len - cache->tail_room;
        len = cache->tail_room;
    }
    at = ((uint64_t)cache->tail_first + cache->tail_bytes) % cache->tail_room;
    straight = least(len, cache->tail_room - at);
    memcpy(cache->tail + at, mem, straight);
    if (straight < len)
        memcpy(cache->tail, mem + straight, len - straight);
    over = (uint64_t)cache->tail_bytes + len;
    over = over > cache->tail_room ? over - cache->tail_room : 0;
    cache->tail_first =
        (uint32_t)((cache->tail_first + over) % cache->tail_room);
    cache->tail_bytes = (uint32_t)(cache->tail_bytes + len - over);
}

void ep_cache_add(struct ep_cache *cache, struct ep_cache_pool *pool,
                  uint32_t size_bytes, const uint8_t *mem, uint32_t len_bytes)
{
    uint32_t count = 0;

    if (size_bytes == 0 || len_bytes == 0)
        return;
    if (cache->head_bytes == cache->total_bytes)
        count = add_head(cache, pool, size_bytes, mem, len_bytes);
    if (count < len_bytes)
        add_tail(cache, pool, size_bytes, mem + count, len_bytes - count);
    cache->total_bytes += len_bytes;
}

void ep_cache_skip(struct ep_cache *cache, uint64_t len_bytes)
{
    if (len_bytes == 0)
        return;
    cache->total_bytes += len_bytes;
    cache->tail_first = cache->tail_bytes = 0;
}

/* --- reading */

static uint64_t tail_start(const struct ep_cache *cache)
{
    return cache->total_bytes - cache->tail_bytes;
}

void ep_cache_select(const struct ep_cache *cache, uint32_t max_bytes,
                     bool is_last, struct ep_cache_part *out)
{
    uint64_t total = cache->total_bytes;
    bool has_gap = cache->head_bytes < tail_start(cache);
    uint64_t from = 0, to = total;

    if (is_last) {
        if (total > max_bytes)
            from = total - max_bytes;
        if (has_gap && from < tail_start(cache))
            from = tail_start(cache);
    } else {
        if (total > max_bytes)
            to = max_bytes;
        if (has_gap && to > cache->head_bytes)
            to = cache->head_bytes;
    }
    *out = (struct ep_cache_part){.from = from,
                                  .to = to,
                                  .before_bytes = from,
                                  .behind_bytes = total - to};
}

void ep_cache_read(const struct ep_cache *cache, uint64_t from, uint8_t *dst,
                   uint32_t len_bytes)
{
    uint32_t count = 0;

    OV_ASSERT(from + len_bytes <= cache->total_bytes);
    if (from < cache->head_bytes) {
        count = least(len_bytes, cache->head_bytes - from);
        memcpy(dst, cache->head + from, count);
    }
    if (count == len_bytes)
        return;
    from += count;
    OV_ASSERT(from >= tail_start(cache));
    copy_tail(cache, (uint32_t)(from - tail_start(cache)), dst + count,
              len_bytes - count);
}
