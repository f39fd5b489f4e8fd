/* Which output of a further job nodes send: each row of the table, and
 * processes that write while takers come and go, with a node that obeys its
 * orders. */
#include "job/subscription.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/chance.h"

enum {
    RANKS = 3,
    FIRST = 1, /* the first channel */
    LAST = 3,
    ROUNDS = 300,
    EVENTS = 2000,
    RECORD_BYTES = 4096,
    LATE_MAX = 8, /* the most records on their way when a node is told */
};

static struct job_subscription *open_one(void)
{
    struct job_subscription *sub;

    assert_int_equal(job_subscription_open(RANKS, &sub), 0);
    return sub;
}

static void what_comes_for_nobody_counts(void **state)
{
    struct job_subscription *sub = open_one();

    (void)state;
    for (unsigned turn = 0; turn < 2; turn++) {
        assert_false(
            job_subscription_unwanted(sub, 0, 1, JOB_UNWANTED_BYTES / 2));
        assert_false(job_subscription_unwanted(sub, 2, 2, 0));
        assert_false(
            job_subscription_unwanted(sub, 1, 3, JOB_UNWANTED_BYTES / 2 - 1));
        assert_true(job_subscription_unwanted(sub, 2, 1, 1));
    }
    job_subscription_close(sub);
    job_subscription_close(NULL);
}

static void a_turn_changes_what_is_otherwise(void **state)
{
    struct job_subscription *sub = open_one();

    (void)state;
    /* The channel's output is sent. */
    assert_false(job_subscription_turn(sub, 1, 2, true, true));
    assert_false(job_subscription_turn(sub, 1, 2, false, true));
    assert_false(job_subscription_turn(sub, 1, 2, true, false));
    assert_true(job_subscription_turn(sub, 1, 2, false, false));
    /* This channel's output is dropped, and no other. */
    assert_false(job_subscription_turn(sub, 1, 2, false, false));
    assert_false(job_subscription_turn(sub, 1, 2, true, false));
    assert_false(job_subscription_turn(sub, 1, 2, false, true));
    assert_false(job_subscription_unwanted(sub, 1, 2, 2 * JOB_UNWANTED_BYTES));
    assert_false(job_subscription_turn(sub, 1, 1, true, true));
    assert_false(job_subscription_turn(sub, 0, 2, true, true));
    assert_true(job_subscription_turn(sub, 1, 2, true, true));
    assert_true(job_subscription_unwanted(sub, 1, 2, JOB_UNWANTED_BYTES));
    job_subscription_close(sub);
}

/* --- a node, and takers */

struct world {
    struct job_subscription *sub;
    bool is_wanted[RANKS][LAST + 1];
    bool travels[RANKS][LAST + 1]; /* as the node was told: output of this
                                    * channel is sent */
    unsigned late[RANKS][LAST + 1];
    uint64_t unwanted_bytes; /* bytes sent since the last turn to drop that
                              * nobody wanted */
};

static void turn(struct world *w, struct chance *chance, bool is_to_send)
{
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        for (uint8_t channel = FIRST; channel <= LAST; channel++) {
            bool is_wanted = w->is_wanted[rank][channel];

            if (!job_subscription_turn(w->sub, rank, channel, is_wanted,
                                       is_to_send))
                continue;
            assert_int_equal(w->travels[rank][channel], !is_to_send);
            assert_int_equal(is_wanted, is_to_send);
            w->travels[rank][channel] = is_to_send;
            w->late[rank][channel] = chance_in(chance, 0, LATE_MAX);
        }
    }
}

static void write_one(struct world *w, struct chance *chance, uint32_t rank,
                      uint8_t channel)
{
    if (!w->travels[rank][channel]) {
        assert_false(w->is_wanted[rank][channel]);
        if (w->late[rank][channel] == 0)
            return; /* the node drops it */
        w->late[rank][channel]--;
    } else if (!w->is_wanted[rank][channel]) {
        w->unwanted_bytes += RECORD_BYTES;
    }
    if (!w->is_wanted[rank][channel] &&
        job_subscription_unwanted(w->sub, rank, channel, RECORD_BYTES)) {
        assert_true(w->unwanted_bytes >= JOB_UNWANTED_BYTES);
        w->unwanted_bytes = 0;
        turn(w, chance, false);
    }
    assert_true(w->unwanted_bytes < JOB_UNWANTED_BYTES);
}

static void happen(struct world *w, struct chance *chance)
{
    uint32_t rank = chance_in(chance, 0, RANKS - 1);
    uint8_t channel = (uint8_t)chance_in(chance, FIRST, LAST);

    if (chance_is(chance, 90)) {
        write_one(w, chance, rank, channel);
    } else {
        w->is_wanted[rank][channel] = !w->is_wanted[rank][channel];
        if (w->is_wanted[rank][channel])
            turn(w, chance, true);
    }
}

static void what_is_wanted_travels(void **state)
{
    struct chance chance = chance_start(20261127);

    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct world w = {.sub = open_one()};

        memset(w.travels, true, sizeof(w.travels));
        for (unsigned i = 0; i < EVENTS; i++)
            happen(&w, &chance);
        job_subscription_close(w.sub);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_for_nobody_counts),
        cmocka_unit_test(a_turn_changes_what_is_otherwise),
        cmocka_unit_test(what_is_wanted_travels),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
