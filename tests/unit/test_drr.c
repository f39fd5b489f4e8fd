/* Deficit round robin: each input gets an equal share of bytes, whatever the
 * sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "overlay/base/panic.h"
#include "overlay/drr.h"
#include "tests/unit/chance.h"

enum { QUANTUM = 1000, INPUTS_MAX = 20 };

static struct ov_drr_input inputs[INPUTS_MAX];
static struct ov_drr drr;

static void fresh(uint16_t count)
{
    ov_drr_init(&drr, inputs, count, QUANTUM);
}

/* Serves the next input and returns it; the input spends this many bytes, and
 * stays when `more` is true. */
static uint16_t serve(uint32_t bytes, bool more)
{
    uint16_t who = ov_drr_first(&drr);

    if (who != OV_DRR_NONE)
        ov_drr_spend(&drr, bytes, more);
    return who;
}

static void an_empty_line_serves_nobody(void **state)
{
    (void)state;
    fresh(3);
    assert_int_equal(ov_drr_first(&drr), OV_DRR_NONE);
    ov_drr_back(&drr);
    assert_int_equal(ov_drr_first(&drr), OV_DRR_NONE);
}

/* Inputs are served in the order of arrival, each once; an input that is pushed
 * twice is served once. */
static void inputs_are_served_in_the_order_they_came(void **state)
{
    (void)state;
    fresh(4);
    ov_drr_push(&drr, 2);
    ov_drr_push(&drr, 0);
    ov_drr_push(&drr, 2);
    ov_drr_push(&drr, 3);
    assert_int_equal(serve(10, false), 2);
    assert_int_equal(serve(10, false), 0);
    assert_int_equal(serve(10, false), 3);
    assert_int_equal(serve(10, false), OV_DRR_NONE);
    ov_drr_push(&drr, 2); /* input 2 may be pushed again */
    assert_int_equal(serve(10, false), 2);
}

/* An input that has more to send keeps its turn until its quantum is used
 * up. */
static void a_turn_lasts_a_quantum(void **state)
{
    (void)state;
    fresh(2);
    ov_drr_push(&drr, 0);
    ov_drr_push(&drr, 1);
    assert_int_equal(serve(400, true), 0);
    assert_int_equal(serve(400, true), 0);
    assert_int_equal(serve(400, true), 0); /* 1200 bytes are 200 more than the
                                            * quantum */
    assert_int_equal(serve(1000, true), 1);
    assert_int_equal(serve(400, true), 0);
    assert_int_equal(serve(400, true),
                     0); /* 800 bytes of the quantum were left */
    assert_int_equal(serve(1, true), 1);
}

/* An input that has spent more than its quantum waits longer for its next
 * turns. */
static void a_large_item_is_paid_by_waiting(void **state)
{
    (void)state;
    fresh(2);
    ov_drr_push(&drr, 0);
    ov_drr_push(&drr, 1);
    assert_int_equal(serve(3500, true), 0);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(serve(1000, true), 1);
    assert_int_equal(serve(500, true), 0);
    assert_int_equal(serve(1000, true), 1);
}

/* The only input is served at once, whatever it has spent before. */
static void one_alone_never_waits(void **state)
{
    (void)state;
    fresh(2);
    ov_drr_push(&drr, 1);
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(serve(50000, true), 1);
}

/* An input that is set aside is not served, and not queued twice; afterwards it
 * goes to the end of the queue. */
static void inputs_set_aside_come_back_together(void **state)
{
    (void)state;
    fresh(4);
    for (uint16_t i = 0; i < 4; i++)
        ov_drr_push(&drr, i);
    assert_int_equal(ov_drr_first(&drr), 0);
    ov_drr_aside(&drr);
    assert_int_equal(ov_drr_first(&drr), 1);
    ov_drr_aside(&drr);
    ov_drr_push(&drr, 0);
    assert_int_equal(serve(1000, true), 2);
    assert_int_equal(serve(1000, true), 3);
    assert_int_equal(serve(1000, true), 2);
    ov_drr_back(&drr);
    assert_int_equal(serve(1000, false), 3);
    assert_int_equal(serve(1000, false), 2);
    assert_int_equal(serve(1000, false), 0);
    assert_int_equal(serve(1000, false), 1);
    assert_int_equal(ov_drr_first(&drr), OV_DRR_NONE);
}

/* Sizes are random, up to a frame: over any period the shares of two inputs
 * that always have data differ by at most two quanta. */
static void shares_are_even_whatever_the_sizes(void **state)
{
    struct chance chance = chance_start(1);
    uint64_t spent[INPUTS_MAX] = {0};
    uint32_t size[INPUTS_MAX];

    (void)state;
    fresh(INPUTS_MAX);
    for (uint16_t i = 0; i < INPUTS_MAX; i++) {
        size[i] = chance_in(&chance, 1, QUANTUM);
        ov_drr_push(&drr, i);
    }
    for (unsigned round = 0; round < 100000; round++) {
        uint16_t who = ov_drr_first(&drr);
        uint32_t bytes = chance_in(&chance, 1, size[who]);
        uint64_t low = UINT64_MAX, high = 0;

        spent[who] += bytes;
        ov_drr_spend(&drr, bytes, true);
        if (round % 100 != 0)
            continue;
        for (unsigned i = 0; i < INPUTS_MAX; i++) {
            low = spent[i] < low ? spent[i] : low;
            high = spent[i] > high ? spent[i] : high;
        }
        assert_true(high - low <= 2 * QUANTUM);
    }
}

/* A simple model of the same rules picks the same inputs. */
static void random_runs_follow_the_model(void **state)
{
    struct chance chance = chance_start(2);
    uint16_t line[INPUTS_MAX], count = 0;
    int64_t deficit[INPUTS_MAX] = {0};
    bool served = false;

    (void)state;
    fresh(INPUTS_MAX);
    for (unsigned i = 0; i < 200000; i++) {
        uint16_t who = (uint16_t)chance_in(&chance, 0, INPUTS_MAX - 1);
        uint32_t bytes = chance_in(&chance, 0, 3 * QUANTUM);
        bool more = chance_in(&chance, 0, 3) > 0, is_in = false;

        if (chance_in(&chance, 0, 2) == 0) {
            for (unsigned k = 0; k < count; k++)
                is_in |= line[k] == who;
            if (!is_in) {
                deficit[who] = 0;
                line[count++] = who;
            }
            ov_drr_push(&drr, who);
            continue;
        }
        while (count > 0) {
            who = line[0];
            deficit[who] += served ? 0 : QUANTUM;
            served = true;
            if (deficit[who] > 0)
                break;
            for (unsigned k = 1; k < count; k++)
                line[k - 1] = line[k];
            line[count - 1] = who;
            served = false;
        }
        assert_int_equal(ov_drr_first(&drr), count > 0 ? who : OV_DRR_NONE);
        if (count == 0)
            continue;
        ov_drr_spend(&drr, bytes, more);
        deficit[who] -= bytes;
        if (more && deficit[who] > 0)
            continue;
        for (unsigned k = 1; k < count; k++)
            line[k - 1] = line[k];
        count = (uint16_t)(count - 1);
        if (more)
            line[count++] = who;
        served = false;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_line_serves_nobody),
        cmocka_unit_test(inputs_are_served_in_the_order_they_came),
        cmocka_unit_test(a_turn_lasts_a_quantum),
        cmocka_unit_test(a_large_item_is_paid_by_waiting),
        cmocka_unit_test(one_alone_never_waits),
        cmocka_unit_test(inputs_set_aside_come_back_together),
        cmocka_unit_test(shares_are_even_whatever_the_sizes),
        cmocka_unit_test(random_runs_follow_the_model),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
