/* Compares what a tool has received of its job with a copy of every byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "endpoints/sys/cache.h"
#include "pmix_api/helper/history.h"
#include "tests/unit/chance.h"

enum {
    PROCS = 3,
    CHANNELS = 3,
    ALL_BYTES = 200000,
    PIECE_MAX = 9000,
    ROUNDS = 100,
    STEPS = 200,
    OWNER = 7,
};

static uint8_t all[ALL_BYTES];
static struct ep_cache_pool pool;

/* A channel: all channels have the same bytes. */
struct stream {
    uint64_t total, first_gap, last_gap; /* the number of bytes, and the
                                          * positions of gaps */
};

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static struct px_history *open_past(uint32_t room_bytes)
{
    const struct px_history_cfg cfg = {
        .procs = PROCS, .room_bytes = room_bytes, .pool = &pool};
    struct chance chance = chance_from(1);
    struct px_history *past;

    for (uint32_t i = 0; i < ALL_BYTES; i++)
        all[i] = (uint8_t)chance_next(&chance);
    assert_int_equal(px_history_open(&cfg, &past), 0);
    return past;
}

static void close_past(struct px_history *past)
{
    px_history_close(past);
    assert_int_equal(pool.heads_bytes + pool.tails_bytes, 0);
}

static struct px_lib_output piece_of(uint32_t nth, uint64_t from, uint32_t len)
{
    return (struct px_lib_output){.rank = nth / CHANNELS,
                                  .channel = (uint16_t)(2u << nth % CHANNELS),
                                  .mem = all + from,
                                  .len_bytes = len};
}

static void add(struct px_history *past, struct stream *stream, uint32_t nth,
                struct chance *chance)
{
    uint64_t gap = chance_is(chance, 5) ? chance_in(chance, 1, 500) : 0;
    struct px_lib_output piece;

    gap = least(gap, ALL_BYTES - stream->total);
    if (gap > 0) {
        stream->first_gap = least(stream->first_gap, stream->total);
        stream->total += gap;
        stream->last_gap = stream->total;
    }
    piece = piece_of(nth, stream->total,
                     (uint32_t)least(chance_in(chance, 0, PIECE_MAX),
                                     ALL_BYTES - stream->total));
    piece.dropped_bytes = gap;
    px_history_add(past, &piece);
    stream->total += piece.len_bytes;
}

/* Checks that the bytes paid of a channel are consecutive bytes of it, and that
 * missing ones are reported before or after them. */
static void check_paid(struct px_history *past, const struct stream *stream,
                       uint32_t nth, struct px_history_claim claim,
                       uint32_t room)
{
    const uint64_t most = least(claim.max_bytes, room);
    const uint64_t there = claim.is_last
                               ? stream->total - stream->last_gap
                               : least(stream->first_gap, stream->total);
    struct px_lib_output out = {.channel = 0};
    uint64_t at = 0, given = 0;

    assert_int_equal(px_history_owe(past, &claim), 0);
    assert_int_equal(px_history_owes(past, claim.rank), claim.channels);
    while (px_history_pay(past, &out) == PX_HISTORY_PIECE) {
        assert_int_equal(out.rank, nth / CHANNELS);
        assert_int_equal(out.channel, claim.channels);
        assert_true(out.len_bytes <= PX_HISTORY_PIECE_BYTES);
        assert_true(out.len_bytes + out.before_bytes > 0);
        at += out.before_bytes;
        assert_memory_equal(out.mem != NULL ? out.mem : all, all + at,
                            out.len_bytes);
        at += out.len_bytes;
        given += out.len_bytes;
    }
    assert_int_equal(out.rank, nth / CHANNELS);
    assert_int_equal(out.channel, claim.channels);
    assert_int_equal(at, stream->total);
    assert_in_range(given, least(most, there), least(claim.max_bytes, there));
    assert_true(px_history_is_paid(past));
    assert_int_equal(px_history_owes(past, claim.rank), 0);
}

static void each_claim_gets_its_part(void **state)
{
    struct chance chance = chance_start(3);

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const uint32_t room =
            chance_in(&chance, 1, chance_is(&chance, 50) ? 100 : 70000);
        struct stream streams[PROCS * CHANNELS];
        struct px_history *past = open_past(room);

        for (uint32_t i = 0; i < PROCS * CHANNELS; i++)
            streams[i] = (struct stream){.first_gap = UINT64_MAX};
        for (int step = 0; step < STEPS; step++) {
            const uint32_t nth = chance_in(&chance, 0, PROCS * CHANNELS - 1);

            if (chance_is(&chance, 80))
                add(past, &streams[nth], nth, &chance);
            else
                check_paid(past, &streams[nth], nth,
                           (struct px_history_claim){
                               .owner = OWNER,
                               .rank = nth / CHANNELS,
                               .channels = (uint8_t)(2u << nth % CHANNELS),
                               .max_bytes = chance_in(&chance, 1, 2 * room),
                               .is_last = chance_is(&chance, 50)},
                           room);
        }
        close_past(past);
    }
}

/* Several channels are paid one after the other, in the order of the claims;
 * the bytes that were chosen with the first piece stay chosen. A pull that has
 * ended is owed nothing. */
static void debts_are_paid_in_turn(void **state)
{
    struct px_history *past = open_past(100);
    struct px_lib_output out = piece_of(0, 0, 5);

    (void)state;
    px_history_add(past, &out);
    out = piece_of(1, 10, 5);
    px_history_add(past, &out);
    assert_int_equal(
        px_history_owe(past,
                       &(struct px_history_claim){.owner = OWNER,
                                                  .rank = 0,
                                                  .channels = 2 | 4 | 8,
                                                  .max_bytes = UINT64_MAX}),
        0);
    assert_int_equal(
        px_history_owe(past, &(struct px_history_claim){.owner = OWNER + 1,
                                                        .rank = 1,
                                                        .channels = 2,
                                                        .max_bytes = 1}),
        0);
    assert_int_equal(px_history_pay(past, &out), PX_HISTORY_PIECE);
    assert_memory_equal(out.mem, all, 5);
    assert_int_equal(px_history_pay(past, &out), PX_HISTORY_PAID);
    assert_int_equal(out.channel, 2);
    assert_int_equal(px_history_owes(past, 0), 4 | 8);
    assert_int_equal(px_history_pay(past, &out), PX_HISTORY_PIECE);
    assert_int_equal(out.channel, 4);
    assert_memory_equal(out.mem, all + 10, 5);
    px_history_forget(past, OWNER);
    assert_int_equal(px_history_owes(past, 0), 0);
    assert_false(px_history_is_paid(past));
    assert_int_equal(px_history_pay(past, &out), PX_HISTORY_PAID);
    assert_int_equal(out.rank, 1);
    assert_int_equal(px_history_pay(past, &out), PX_HISTORY_NOTHING);
    assert_int_equal(
        px_history_owe(past, &(struct px_history_claim){.owner = OWNER,
                                                        .channels = 8,
                                                        .max_bytes = 1}),
        0);
    close_past(past); /* while output is still owed */
}

/* The end of a channel drops what was kept of it. */
static void an_end_takes_all(void **state)
{
    struct px_history *past = open_past(100);
    struct px_lib_output out = piece_of(0, 0, 50), end = piece_of(0, 0, 0);

    (void)state;
    px_history_add(past, &out);
    assert_true(pool.heads_bytes > 0);
    end.is_end = true;
    px_history_add(past, &end);
    assert_int_equal(pool.heads_bytes + pool.tails_bytes, 0);
    close_past(past);
}

/* A job of which nothing is kept owes nothing. */
static void nothing_is_fine(void **state)
{
    struct px_lib_output out = piece_of(0, 0, 5);

    (void)state;
    px_history_add(NULL, &out);
    assert_int_equal(
        px_history_owe(NULL, &(struct px_history_claim){.channels = 2}), 0);
    px_history_forget(NULL, OWNER);
    assert_int_equal(px_history_owes(NULL, 0), 0);
    assert_true(px_history_is_paid(NULL));
    assert_int_equal(px_history_pay(NULL, &out), PX_HISTORY_NOTHING);
    px_history_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_claim_gets_its_part),
        cmocka_unit_test(debts_are_paid_in_turn),
        cmocka_unit_test(an_end_takes_all),
        cmocka_unit_test(nothing_is_fine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
