/* Which channels wait for their earlier output. */
#include "job/late.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/base/err.h"
#include "tests/unit/chance.h"

enum {
    OUT = 1 << 1, /* the bit of channel 1, and so on */
    ERR = 1 << 2,
    DIAG = 1 << 3,
    HIGHEST = 1 << 7,
};

/* Returns the ranges as "3-4,6-6"; "" for none. */
static const char *asked(const struct job_late *late)
{
    static char text[256];
    uint32_t count;
    struct topo_range *ranges = job_late_ranges(late, &count);
    size_t len = 0;

    text[0] = '\0';
    assert_int_equal(ranges != NULL, count > 0);
    for (uint32_t i = 0; i < count; i++)
        len +=
            (size_t)snprintf(text + len, sizeof(text) - len, "%s%u-%u",
                             i > 0 ? "," : "", ranges[i].first, ranges[i].last);
    free(ranges);
    return text;
}

static struct job_late opened(uint32_t first, uint32_t last)
{
    struct job_late late;

    memset(&late, 0xff, sizeof(late)); /* the old contents do not matter */
    assert_int_equal(job_late_open(&late, first, last), 0);
    assert_non_null(late.waits);
    assert_int_equal(late.ticket, 0);
    return late;
}

static void assert_closed(struct job_late *late)
{
    uint32_t count = 1;

    assert_null(late->waits);
    assert_int_equal(late->left, 0);
    assert_int_equal(late->unheard, 0);
    assert_null(job_late_ranges(late, &count));
    assert_int_equal(count, 0);
    job_late_expect(late, 0, OUT);
    job_late_expect(late, 5, OUT);
    assert_int_equal(late->left, 0);
    assert_int_equal(job_late_channels(late, 0), 0);
    assert_int_equal(job_late_channels(late, 5), 0);
    assert_false(job_late_waits(late, 5, 1));
    assert_false(job_late_heard(late, 0, UINT32_MAX));
    assert_false(job_late_turn(late, 5, 1));
    job_late_close(late);
    assert_null(late->waits);
}

/* The second report about a process changes nothing, whatever it says. */
static void a_process_counts_once(void **state)
{
    struct job_late late = opened(5, 9);

    (void)state;
    job_late_expect(&late, 6, OUT | HIGHEST);
    job_late_expect(&late, 6, OUT | ERR | DIAG);
    job_late_expect(&late, 7, 0);
    assert_int_equal(late.left, 2);
    assert_int_equal(late.unheard, 1);
    assert_int_equal(job_late_channels(&late, 6), OUT | HIGHEST);
    assert_int_equal(job_late_channels(&late, 7), 0);
    job_late_expect(&late, 7, ERR);
    assert_int_equal(late.left, 3);
    assert_int_equal(late.unheard, 2);
    assert_int_equal(job_late_channels(&late, 7), ERR);
    job_late_close(&late);
}

/* This is true for a process just beside the span, and where numbers wrap
 * around. */
static void outside_the_span_nothing_is_waited_for(void **state)
{
    struct job_late late = opened(5, 9);
    const uint32_t outside[] = {0, 4, 10, UINT32_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
        job_late_expect(&late, outside[i], OUT);
        assert_int_equal(job_late_channels(&late, outside[i]), 0);
        assert_false(job_late_waits(&late, outside[i], 1));
        assert_false(job_late_turn(&late, outside[i], 1));
    }
    assert_int_equal(late.left, 0);
    assert_int_equal(late.unheard, 0);
    job_late_expect(&late, 5, OUT);
    job_late_expect(&late, 9, OUT);
    assert_string_equal(asked(&late), "5-5,9-9");
    job_late_close(&late);
}

static void neighbours_are_one_range(void **state)
{
    struct job_late late = opened(10, 20);
    const uint32_t numbers[] = {20, 11, 10, 12, 14, 17, 16, 19};

    (void)state;
    assert_string_equal(asked(&late), "");
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        job_late_expect(&late, numbers[i], i % 2 > 0 ? OUT : ERR | DIAG);
    assert_string_equal(asked(&late), "10-12,14-14,16-17,19-20");
    job_late_expect(&late, 13, OUT);
    job_late_expect(&late, 18, OUT);
    assert_string_equal(asked(&late), "10-14,16-20");
    /* The channel has its turn even when the process's node has not been told.
     */
    assert_true(job_late_turn(&late, 18, 1));
    assert_string_equal(asked(&late), "10-14,16-17,19-20");
    job_late_close(&late);
}

/* The reports come in pieces, twice, and with processes that are not waited
 * for. */
static void all_have_heard_once(void **state)
{
    struct job_late late = opened(10, 20);

    (void)state;
    /* None of these processes is waited for. */
    assert_false(job_late_heard(&late, 10, 11));
    for (uint32_t number = 10; number <= 20; number += 2)
        job_late_expect(&late, number, OUT | ERR);
    assert_false(job_late_heard(&late, 10, 0));
    assert_false(job_late_heard(&late, 0, 10));
    assert_false(job_late_heard(&late, 3, 2));
    assert_false(job_late_heard(&late, 21, UINT32_MAX));
    assert_false(job_late_heard(&late, 11, 1));
    assert_int_equal(late.unheard, 6);
    assert_false(job_late_heard(&late, 8, 3));
    assert_int_equal(late.unheard, 5);
    assert_false(job_late_heard(&late, 13, 4));
    assert_false(job_late_heard(&late, 13, 4));
    assert_int_equal(late.unheard, 3);
    assert_false(job_late_heard(&late, 18, UINT32_MAX));
    assert_int_equal(late.unheard, 1);
    assert_true(job_late_heard(&late, 0, UINT32_MAX));
    assert_int_equal(late.unheard, 0);
    assert_false(job_late_heard(&late, 0, UINT32_MAX));
    assert_false(job_late_heard(&late, 12, 1));
    assert_int_equal(late.left,
                     12); /* this is not the last answer of a channel */
    assert_int_equal(job_late_channels(&late, 12), OUT | ERR);
    job_late_close(&late);
}

static void a_channel_has_one_turn(void **state)
{
    struct job_late late = opened(10, 20);

    (void)state;
    job_late_expect(&late, 12, OUT | DIAG);
    job_late_expect(&late, 13, OUT);
    assert_false(job_late_turn(&late, 12, 0)); /* this is no channel */
    assert_false(job_late_turn(&late, 12, 2));
    assert_false(job_late_turn(&late, 12, 8));
    assert_false(job_late_turn(&late, 12, 33));
    assert_true(job_late_waits(&late, 12, 1));
    assert_true(job_late_waits(&late, 12, 3));
    assert_false(job_late_waits(&late, 12, 0));
    assert_false(job_late_waits(&late, 12, 2));
    assert_true(job_late_turn(&late, 12, 1));
    assert_false(job_late_turn(&late, 12, 1));
    assert_int_equal(late.left, 2);
    assert_int_equal(job_late_channels(&late, 12), DIAG);
    assert_int_equal(job_late_channels(&late, 13), OUT);
    assert_int_equal(late.unheard, 2); /* the process's node has not been told
                                        * either */
    assert_false(job_late_heard(&late, 12, 1));
    assert_true(job_late_heard(&late, 13, 1));
    job_late_close(&late);
}

/* The ticket stays, for callers that still look at it. */
static void the_last_turn_closes(void **state)
{
    struct job_late late = opened(3, 7);

    (void)state;
    late.ticket = 9;
    job_late_expect(&late, 3, OUT);
    job_late_expect(&late, 7, OUT | HIGHEST);
    assert_false(job_late_heard(&late, 3, 1));
    assert_true(job_late_turn(&late, 7, 7));
    assert_true(job_late_turn(&late, 3, 1));
    assert_non_null(late.waits);
    assert_true(job_late_turn(&late, 7, 1));
    assert_closed(&late);
    assert_int_equal(late.ticket, 9);
}

static void whoever_wants_nothing_more_closes(void **state)
{
    struct job_late late = opened(3, 7), never = {.waits = NULL};

    (void)state;
    job_late_expect(&late, 5, OUT | ERR);
    job_late_close(&late);
    assert_closed(&late);
    assert_closed(&never);
}

static void a_span_has_bounds(void **state)
{
    struct job_late late = opened(4, 4);
    const uint8_t *waits = late.waits;
    const uint32_t largest = UINT32_MAX - JOB_LATE_SPAN_MAX + 1;

    (void)state;
    job_late_expect(&late, 4, OUT);
    assert_int_equal(job_late_open(&late, 4, 3), OV_EINVAL);
    assert_int_equal(job_late_open(&late, UINT32_MAX, 0), OV_EINVAL);
    assert_int_equal(job_late_open(&late, 0, UINT32_MAX), OV_EINVAL);
    assert_int_equal(job_late_open(&late, 7, 7 + JOB_LATE_SPAN_MAX), OV_EINVAL);
    assert_ptr_equal(late.waits, waits); /* unchanged */
    assert_int_equal(late.left, 1);
    assert_true(job_late_turn(&late, 4, 1));
    late = opened(largest, UINT32_MAX);
    job_late_expect(&late, largest, OUT);
    job_late_expect(&late, UINT32_MAX, OUT);
    job_late_expect(&late, UINT32_MAX - 1, OUT);
    assert_string_equal(asked(&late),
                        "4278190080-4278190080,4294967294-4294967295");
    assert_false(job_late_heard(&late, 0, largest));
    assert_false(job_late_heard(&late, largest + 1, UINT32_MAX));
    assert_int_equal(late.unheard, 1);
    assert_true(job_late_heard(&late, largest, 1));
    job_late_close(&late);
}

/* --- a model: it keeps the reports for each process, and searches all of
 * them */

enum { SPAN = 16, BESIDE = 5, RUNS = 300 };

struct model {
    bool are_open;
    uint32_t first, count;
    uint8_t channels[SPAN];
    bool is_told[SPAN], is_heard[SPAN];
};

static bool has(const struct model *model, uint32_t number)
{
    return model->are_open && number >= model->first &&
           number < model->first + model->count;
}

static uint8_t channels_of(const struct model *model, uint32_t number)
{
    return has(model, number) ? model->channels[number - model->first] : 0;
}

static uint32_t channels_left(const struct model *model)
{
    uint32_t left = 0;

    for (uint32_t i = 0; model->are_open && i < model->count; i++) {
        for (unsigned channel = 1; channel < 8; channel++)
            left += model->channels[i] >> channel & 1;
    }
    return left;
}

static uint32_t unheard(const struct model *model)
{
    uint32_t count = 0;

    for (uint32_t i = 0; model->are_open && i < model->count; i++)
        count += model->is_told[i] && !model->is_heard[i];
    return count;
}

static void expect(struct model *model, struct job_late *late, uint32_t number,
                   uint8_t channels)
{
    job_late_expect(late, number, channels);
    if (!has(model, number) || model->is_told[number - model->first])
        return;
    model->channels[number - model->first] = channels;
    model->is_told[number - model->first] = channels != 0;
}

static void hear(struct model *model, struct job_late *late, uint32_t number,
                 uint32_t count)
{
    uint32_t before = unheard(model);

    for (uint32_t i = 0; i < count; i++) {
        if (has(model, number + i))
            model->is_heard[number + i - model->first] = true;
    }
    assert_int_equal(job_late_heard(late, number, count),
                     before > 0 && unheard(model) == 0);
}

static void turn(struct model *model, struct job_late *late, uint32_t number,
                 uint8_t channel)
{
    bool is_due =
        channel > 0 && (channels_of(model, number) >> channel & 1) != 0;

    assert_int_equal(job_late_turn(late, number, channel), is_due);
    if (!is_due)
        return;
    model->channels[number - model->first] ^= (uint8_t)(1u << channel);
    model->are_open = channels_left(model) > 0;
}

/* Checks that every requested process waits, and no other, and that no two
 * ranges touch each other. */
static void compare_ranges(const struct model *model,
                           const struct job_late *late)
{
    uint32_t count, at = 0;
    struct topo_range *ranges = job_late_ranges(late, &count);

    for (uint32_t i = 0; i < SPAN; i++) {
        uint32_t number = model->first + i;
        bool is_asked;

        while (at < count && ranges[at].last < number)
            at++;
        is_asked = at < count && number >= ranges[at].first;
        assert_int_equal(is_asked, channels_of(model, number) != 0);
    }
    for (uint32_t i = 0; i < count; i++) {
        assert_true(has(model, ranges[i].first) && has(model, ranges[i].last));
        assert_true(i == 0 || ranges[i].first > ranges[i - 1].last + 1);
    }
    free(ranges);
}

static void compare(const struct model *model, const struct job_late *late)
{
    assert_int_equal(late->waits != NULL, model->are_open);
    assert_int_equal(late->left, channels_left(model));
    assert_int_equal(late->unheard, unheard(model));
    for (uint32_t i = 0; i < SPAN + 2 * BESIDE; i++) {
        uint32_t number = model->first - BESIDE + i;

        assert_int_equal(job_late_channels(late, number),
                         channels_of(model, number));
        for (uint8_t channel = 0; channel < 8; channel++)
            assert_int_equal(job_late_waits(late, number, channel),
                             (channels_of(model, number) >> channel & 1) != 0);
    }
    compare_ranges(model, late);
}

/* Plays one random run. Returns whether the last answer has come. */
static bool go_through(struct chance *chance)
{
    struct model model = {.are_open = true,
                          .first = chance_in(chance, BESIDE, 1000),
                          .count = chance_in(chance, 1, SPAN)};
    struct job_late late = opened(model.first, model.first + model.count - 1);
    uint32_t from = model.first - BESIDE;
    uint32_t to = model.first + model.count + BESIDE;
    uint32_t words = chance_in(chance, 0, 20 * SPAN);
    bool is_over;

    for (uint32_t i = chance_in(chance, 0, 2 * SPAN); i > 0; i--) {
        expect(&model, &late, chance_in(chance, from, to),
               (uint8_t)(chance_in(chance, 0, 7) << 1));
        compare(&model, &late);
    }
    while (words-- > 0) {
        uint32_t number = chance_in(chance, from, to);

        if (chance_is(chance, 25))
            hear(&model, &late, number, chance_in(chance, 0, BESIDE));
        else
            turn(&model, &late, number, (uint8_t)chance_in(chance, 0, 4));
        compare(&model, &late);
    }
    is_over = !model.are_open;
    job_late_close(&late);
    return is_over;
}

/* Some of the runs go on to the last answer, and some do not. */
static void whatever_comes_it_counts_as_the_model(void **state)
{
    struct chance chance = chance_start(1);
    unsigned over = 0;

    (void)state;
    for (unsigned i = 0; i < RUNS; i++)
        over += go_through(&chance);
    assert_in_range(over, RUNS / 10, RUNS - RUNS / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_counts_once),
        cmocka_unit_test(outside_the_span_nothing_is_waited_for),
        cmocka_unit_test(neighbours_are_one_range),
        cmocka_unit_test(all_have_heard_once),
        cmocka_unit_test(a_channel_has_one_turn),
        cmocka_unit_test(the_last_turn_closes),
        cmocka_unit_test(whoever_wants_nothing_more_closes),
        cmocka_unit_test(a_span_has_bounds),
        cmocka_unit_test(whatever_comes_it_counts_as_the_model),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
