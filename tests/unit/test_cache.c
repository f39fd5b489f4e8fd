/* The cache of a channel's output, compared with a copy of every byte. */
#include "endpoints/sys/cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/chance.h"

enum { ALL_BYTES = 200000, ROUNDS = 300, PIECE_MAX = 9000 };

static uint8_t all[ALL_BYTES], got[ALL_BYTES];

static void fill(void)
{
    struct chance chance = chance_from(1);

    for (uint32_t i = 0; i < ALL_BYTES; i++)
        all[i] = (uint8_t)chance_next(&chance);
}

/* Checks that the selected bytes are consecutive bytes of the channel. */
static void check_bytes(const struct ep_cache *cache,
                        const struct ep_cache_part *part, struct chance *chance)
{
    uint64_t at = part->from;

    while (at < part->to) {
        uint32_t len = chance_in(chance, 1, PIECE_MAX);

        if (len > part->to - at)
            len = (uint32_t)(part->to - at);
        ep_cache_read(cache, at, got + at, len);
        at += len;
    }
    assert_memory_equal(got + part->from, all + part->from,
                        part->to - part->from);
    assert_int_equal(part->before_bytes, part->from);
    assert_int_equal(part->behind_bytes, cache->total_bytes - part->to);
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void check(const struct ep_cache *cache, uint32_t size,
                  struct chance *chance)
{
    uint32_t wanted = chance_in(chance, 1, size);
    struct ep_cache_part part;

    ep_cache_select(cache, wanted, false, &part);
    assert_int_equal(part.from, 0);
    assert_int_equal(part.to, least(wanted, cache->total_bytes));
    check_bytes(cache, &part, chance);
    ep_cache_select(cache, wanted, true, &part);
    assert_int_equal(part.to, cache->total_bytes);
    assert_int_equal(part.to - part.from, least(wanted, cache->total_bytes));
    check_bytes(cache, &part, chance);
}

/* Random pieces go into caches of random sizes; after each piece both ways to
 * select give the bytes of the copy, for a random part of the size. */
static void both_ends_are_kept_to_the_byte(void **state)
{
    struct chance chance = chance_start(11);

    (void)state;
    fill();
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t size =
            chance_in(&chance, 1, chance_is(&chance, 50) ? 100 : 50000);
        struct ep_cache_pool pool = {0};
        struct ep_cache cache = {0};

        while (cache.total_bytes < ALL_BYTES) {
            uint32_t len = chance_in(&chance, 1, PIECE_MAX);

            len = (uint32_t)least(len, ALL_BYTES - cache.total_bytes);
            ep_cache_add(&cache, &pool, size, all + cache.total_bytes, len);
            check(&cache, size, &chance);
        }
        assert_true(pool.heads_bytes <= size && pool.tails_bytes <= size);
        assert_false(pool.is_full);
        ep_cache_fini(&cache, &pool);
        assert_int_equal(pool.heads_bytes + pool.tails_bytes, 0);
    }
}

/* When more than the size is asked for, all kept bytes come, without a gap. */
static void no_more_than_is_kept_is_given(void **state)
{
    struct ep_cache_pool pool = {0};
    struct ep_cache cache = {0};
    struct ep_cache_part part;
    struct chance chance = chance_from(3);

    (void)state;
    fill();
    ep_cache_add(&cache, &pool, 1000, all, 1500);
    ep_cache_select(&cache, UINT32_MAX, false, &part);
    assert_int_equal(part.to, 1500); /* the first and the last bytes together
                                      * are all of it */
    check_bytes(&cache, &part, &chance);
    ep_cache_add(&cache, &pool, 1000, all + 1500, 3500);
    ep_cache_select(&cache, UINT32_MAX, false, &part);
    assert_int_equal(part.to, 1000);
    assert_int_equal(part.behind_bytes, 4000);
    ep_cache_select(&cache, UINT32_MAX, true, &part);
    assert_int_equal(part.from, 4000);
    check_bytes(&cache, &part, &chance);
    ep_cache_fini(&cache, &pool);
}

/* Other caches have used the pool up: less is kept, but consecutive bytes
 * still, and the pool reports that. */
static void the_pool_is_the_bound_of_all(void **state)
{
    struct chance chance = chance_start(5);

    (void)state;
    fill();
    for (int round = 0; round < ROUNDS; round++) {
        struct ep_cache_pool pool = {0};
        struct ep_cache cache = {0};
        uint32_t half = EP_CACHE_POOL_BYTES / 2;
        uint32_t heads = half - chance_in(&chance, 0, 70000);
        uint32_t tails = half - chance_in(&chance, 0, 40000);

        pool.heads_bytes = heads;
        pool.tails_bytes = tails;
        while (cache.total_bytes < ALL_BYTES) {
            uint32_t len = chance_in(&chance, 1, PIECE_MAX);
            struct ep_cache_part part;

            len = (uint32_t)least(len, ALL_BYTES - cache.total_bytes);
            ep_cache_add(&cache, &pool, 60000, all + cache.total_bytes, len);
            for (int is_last = 0; is_last < 2; is_last++) {
                ep_cache_select(&cache, 60000, is_last, &part);
                check_bytes(&cache, &part, &chance);
            }
            assert_true(pool.heads_bytes <= half && pool.tails_bytes <= half);
        }
        assert_true(pool.is_full);
        ep_cache_fini(&cache, &pool);
        assert_int_equal(pool.heads_bytes, heads);
        assert_int_equal(pool.tails_bytes, tails);
    }
}

/* A pool may be smaller than that of a daemon. */
static void a_pool_has_the_limit_that_it_is_given(void **state)
{
    struct ep_cache_pool pool = {.limit_bytes = 16384};
    struct ep_cache caches[3] = {{.total_bytes = 0}};
    struct ep_cache_part part;

    (void)state;
    fill();
    for (unsigned i = 0; i < 3; i++) {
        ep_cache_add(&caches[i], &pool, 4096, all, 10000);
        ep_cache_select(&caches[i], 4096, i == 1, &part);
        assert_int_equal(part.to - part.from, i < 2 ? 4096 : 0);
        assert_int_equal(pool.is_full, i == 2);
    }
    assert_int_equal(pool.heads_bytes + pool.tails_bytes, 16384);
    for (unsigned i = 0; i < 3; i++)
        ep_cache_fini(&caches[i], &pool);
}

/* Some bytes of the channel are missing, at random places: the first bytes end
 * at the first gap, the last bytes begin after the last gap, and all are
 * counted. */
static void a_gap_parts_first_from_last(void **state)
{
    struct chance chance = chance_start(7);

    (void)state;
    fill();
    for (int round = 0; round < ROUNDS; round++) {
        const uint32_t size = chance_in(&chance, 1, 20000);
        uint64_t first = UINT64_MAX, behind = 0;
        struct ep_cache_pool pool = {0};
        struct ep_cache cache = {0};
        struct ep_cache_part part;

        while (cache.total_bytes < ALL_BYTES) {
            uint32_t len = chance_in(&chance, 0, PIECE_MAX);

            len = (uint32_t)least(len, ALL_BYTES - cache.total_bytes);
            if (chance_is(&chance, 20) && len > 0) {
                first = least(first, cache.total_bytes);
                ep_cache_skip(&cache, len);
                behind = cache.total_bytes;
            } else {
                ep_cache_add(&cache, &pool, size, all + cache.total_bytes, len);
            }
            ep_cache_select(&cache, size, false, &part);
            assert_int_equal(part.from, 0);
            assert_int_equal(
                part.to,
                least(first, least(size, part.to + part.behind_bytes)));
            check_bytes(&cache, &part, &chance);
            ep_cache_select(&cache, size, true, &part);
            assert_int_equal(part.to, cache.total_bytes);
            assert_int_equal(part.to - part.from,
                             least(size, cache.total_bytes - behind));
            check_bytes(&cache, &part, &chance);
        }
        ep_cache_fini(&cache, &pool);
        assert_int_equal(pool.heads_bytes + pool.tails_bytes, 0);
    }
}

/* A cache that is empty, or has size 0, gives nothing. */
static void nothing_is_kept_without_a_size(void **state)
{
    struct ep_cache_pool pool = {0};
    struct ep_cache cache = {0};
    struct ep_cache_part part;

    (void)state;
    ep_cache_add(&cache, &pool, 0, all, 100);
    ep_cache_select(&cache, 100, true, &part);
    assert_int_equal(part.from, part.to);
    assert_int_equal(part.before_bytes + part.behind_bytes, 0);
    assert_int_equal(pool.heads_bytes + pool.tails_bytes, 0);
    ep_cache_fini(&cache, &pool);
}

/* When there is no room, the cache that was retired first is emptied, and
 * reports the lost bytes; a cache that was recalled stays. The pool is so full
 * that the bytes of each cache are needed. */
static void the_oldest_of_the_retired_makes_room(void **state)
{
    struct ep_cache_pool pool = {.heads_bytes = EP_CACHE_POOL_BYTES / 2 - 12288,
                                 .tails_bytes = EP_CACHE_POOL_BYTES / 2};
    struct ep_cache caches[5] = {{.total_bytes = 0}};
    struct ep_cache_part part;

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        ep_cache_add(&caches[i], &pool, 4096, all, 100 + i);
        ep_cache_retire(&caches[i], &pool);
    }
    ep_cache_recall(&caches[0], &pool);
    ep_cache_add(&caches[3], &pool, 4096, all, 50);
    assert_false(pool.is_full);
    for (unsigned i = 0; i < 4; i++) {
        ep_cache_select(&caches[i], 4096, i == 1, &part);
        assert_int_equal(part.before_bytes, i == 1 ? 101 : 0);
        assert_int_equal(part.to - part.from, i == 1   ? 0
                                              : i == 3 ? 50
                                                       : 100 + i);
    }
    ep_cache_fini(&caches[2], &pool);
    ep_cache_add(&caches[4], &pool, 4096, all, 60);
    assert_false(pool.is_full);
    ep_cache_retire(&caches[0], &pool);
    for (unsigned i = 0; i < 5; i++)
        ep_cache_fini(&caches[i], &pool);
    assert_int_equal(pool.heads_bytes, EP_CACHE_POOL_BYTES / 2 - 12288);
    assert_null(pool.oldest);
    assert_null(pool.newest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ends_are_kept_to_the_byte),
        cmocka_unit_test(no_more_than_is_kept_is_given),
        cmocka_unit_test(the_pool_is_the_bound_of_all),
        cmocka_unit_test(a_pool_has_the_limit_that_it_is_given),
        cmocka_unit_test(a_gap_parts_first_from_last),
        cmocka_unit_test(nothing_is_kept_without_a_size),
        cmocka_unit_test(the_oldest_of_the_retired_makes_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
