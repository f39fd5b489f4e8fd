/* Holds lines back in a ring; each has its length before it. */
#include "config.h"

#include "endpoints/daemon/held.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM_MIN = 1024, HEAD_BYTES = sizeof(uint32_t) };

bool ep_held_pool_take(struct ep_held_pool *pool, uint64_t bytes)
{
    if (bytes > EP_HELD_POOL_BYTES - pool->used_bytes)
        return false;
    pool->used_bytes += bytes;
    return true;
}

void ep_held_pool_give(struct ep_held_pool *pool, uint64_t bytes)
{
    pool->used_bytes -= bytes;
}

void ep_held_fini(struct ep_held *held, struct ep_held_pool *pool)
{
    ep_held_pool_give(pool, held->room);
    free(held->ring);
    *held = (struct ep_held){.room = 0};
}

/* --- the ring; places are counted from its first byte on */

static uint32_t straight(const struct ep_held *held, uint32_t at, uint32_t len)
{
    const uint32_t left = held->room - at;

    return len < left ? len : left;
}

static uint32_t index_of(const struct ep_held *held, uint32_t place)
{
    return (uint32_t)(((uint64_t)held->first + place) % held->room);
}

static void put(struct ep_held *held, uint32_t place, const void *mem,
                uint32_t len)
{
    const uint32_t at = index_of(held, place), some = straight(held, at, len);

    memcpy(held->ring + at, mem, some);
    memcpy(held->ring, (const uint8_t *)mem + some, len - some);
}

static void get(const struct ep_held *held, uint32_t place, void *mem,
                uint32_t len)
{
    const uint32_t at = index_of(held, place), some = straight(held, at, len);

    memcpy(mem, held->ring + at, some);
    memcpy((uint8_t *)mem + some, held->ring, len - some);
}

static void skip(struct ep_held *held, uint32_t len)
{
    held->first = index_of(held, len);
    held->used -= len;
}

/* Makes room for `need` bytes more. */
static bool grow(struct ep_held *held, struct ep_held_pool *pool, uint32_t need)
{
    uint64_t wanted = held->room > 0 ? held->room : ROOM_MIN;
    uint8_t *ring;

    while (wanted < (uint64_t)held->used + need)
        wanted *= 2;
    if (wanted > TEXT_FILTER_HELD_MAX ||
        !ep_held_pool_take(pool, wanted - held->room))
        return false;
    ring = malloc(wanted);
    if (ring == NULL) {
        ep_held_pool_give(pool, wanted - held->room);
        return false;
    }
    if (held->used > 0)
        get(held, 0, ring, held->used);
    free(held->ring);
    held->ring = ring;
    held->room = (uint32_t)wanted;
    held->first = 0;
    return true;
}

/* --- lines */

static void drop_oldest(struct ep_held *held, struct text_filter *filter,
                        enum text_left_reason reason)
{
    uint32_t len;

    get(held, 0, &len, HEAD_BYTES);
    skip(held, HEAD_BYTES + len);
    held->newest -= HEAD_BYTES + len;
    held->bytes -= len;
    held->lines--;
    text_filter_leave(filter, reason, 1, len);
}

/* Tells whether something has to go before `need` bytes, of which `len` are of
 * a line, have room. */
static bool is_full(struct ep_held *held, struct ep_held_pool *pool,
                    const struct text_filter_rules *rules, uint32_t len,
                    uint32_t need, enum text_left_reason *reason)
{
    *reason = TEXT_LEFT_BUDGET;
    if (rules->budget_bytes > 0 && held->bytes + len > text_filter_held(rules))
        return true;
    *reason = TEXT_LEFT_ROOM;
    return held->used + (uint64_t)need > held->room && !grow(held, pool, need);
}

/* Makes room for a piece. Returns false when its own line has to go. */
static bool make_room(struct ep_held *held, struct ep_held_pool *pool,
                      const struct text_filter_rules *rules,
                      struct text_filter *filter, uint32_t len, bool is_first)
{
    const uint32_t need = len + (is_first ? HEAD_BYTES : 0);

    while (is_full(held, pool, rules, len, need, &held->reason)) {
        const bool is_own = !is_first && held->lines == 1;

        if (held->lines == 0) {
            text_filter_leave(filter, held->reason, 1, len);
            return false;
        }
        drop_oldest(held, filter, held->reason);
        if (is_own) {
            text_filter_leave(filter, held->reason, 0, len);
            return false;
        }
    }
    return true;
}

void ep_held_add(struct ep_held *held, struct ep_held_pool *pool,
                 const struct text_filter_rules *rules,
                 struct text_filter *filter, const uint8_t *mem,
                 uint32_t len_bytes, bool is_first)
{
    uint32_t line_bytes = 0;

    if (!is_first && held->is_gone) {
        text_filter_leave(filter, held->reason, 0, len_bytes);
        return;
    }
    if (is_first && rules->tail > 0 && held->lines >= rules->tail)
        drop_oldest(held, filter, TEXT_LEFT_LINES);
    held->is_gone = !make_room(held, pool, rules, filter, len_bytes, is_first);
    if (held->is_gone)
        return;
    if (is_first) {
        held->newest = held->used;
        held->used += HEAD_BYTES;
        held->lines++;
    } else {
        get(held, held->newest, &line_bytes, HEAD_BYTES);
    }
    line_bytes += len_bytes;
    put(held, held->newest, &line_bytes, HEAD_BYTES);
    put(held, held->used, mem, len_bytes);
    held->used += len_bytes;
    held->bytes += len_bytes;
}

uint32_t ep_held_take(struct ep_held *held, uint8_t *dst, uint32_t room)
{
    uint32_t taken = 0;

    while (taken < room && held->used > 0) {
        uint32_t some = room - taken;

        if (held->begun == 0) {
            get(held, 0, &held->begun, HEAD_BYTES);
            skip(held, HEAD_BYTES);
            held->lines--;
        }
        if (some > held->begun)
            some = held->begun;
        get(held, 0, dst + taken, some);
        skip(held, some);
        held->begun -= some;
        held->bytes -= some;
        taken += some;
    }
    return taken;
}
