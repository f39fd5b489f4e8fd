/* What was left out is summed up, and said with the options that did it. */
#include "endpoints/run/left_out.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct run_left *left;

static int open_two(void **state)
{
    (void)state;
    return ep_left_open(2, &left);
}

static int close_two(void **state)
{
    (void)state;
    ep_left_close(left);
    return 0;
}

static const struct job_tally none[JOB_WORD_OUTPUTS];

/* The last word of a rank counts, and ends make the sum exact. */
static void the_last_word_counts(void **state)
{
    struct job_word word = {.source_bytes = 9, .limited_lines = 1};
    const struct job_tally sent[JOB_WORD_OUTPUTS] = {{.bytes = 4},
                                                     {.bytes = 3}};
    struct ep_left_sum sum;

    (void)state;
    word.left[TEXT_LEFT_GREP] = (struct text_left){.bytes = 5, .lines = 1};
    ep_left_hear(left, 1, &word);
    word.left[TEXT_LEFT_GREP] = (struct text_left){.bytes = 8, .lines = 2};
    word.source_bytes = 15;
    ep_left_hear(left, 1, &word);
    ep_left_hear(left, 2, &word); /* there is no such rank */
    assert_int_equal(ep_left_ended(left, 1, sent), 0);
    sum = ep_left_sum(left);
    assert_true(sum.is_least);
    assert_int_equal(ep_left_ended(left, 0, none), 0);
    sum = ep_left_sum(left);
    assert_false(sum.is_least);
    assert_int_equal(sum.at[TEXT_LEFT_GREP].lines, 2);
    assert_int_equal(sum.at[TEXT_LEFT_GREP].bytes, 8);
    assert_int_equal(sum.limited_lines, 1);
    assert_int_equal(ep_left_of(left, 1)[TEXT_LEFT_GREP].bytes, 8);
    assert_int_equal(ep_left_of(left, 0)[TEXT_LEFT_GREP].bytes, 0);
}

static void bytes_that_are_nowhere_are_missing(void **state)
{
    const struct job_word word = {
        .source_bytes = 20,
        .left = {[TEXT_LEFT_ROOM] = {.bytes = 5, .lines = 1}}};
    const struct job_tally sent[JOB_WORD_OUTPUTS] = {[1] = {.bytes = 12}};

    (void)state;
    ep_left_hear(left, 0, &word);
    assert_int_equal(ep_left_ended(left, 0, sent), 3);
    assert_int_equal(ep_left_ended(NULL, 0, sent), 0);
    assert_int_equal(ep_left_ended(left, 7, sent), 0);
}

static void options_are_named(void **state)
{
    struct ep_left_sum sum = {
        .at = {[TEXT_LEFT_PROGRESS] = {.bytes = 1, .lines = 1}}};
    struct job_filter filter = {.head = 1};
    char text[EP_LEFT_TEXT_MAX];

    (void)state;
    ep_left_text(&sum, &filter, text);
    assert_string_equal(text, "");
    sum.at[TEXT_LEFT_GREP] = (struct text_left){.bytes = 2, .lines = 1};
    sum.at[TEXT_LEFT_LINES] = (struct text_left){.bytes = 90, .lines = 7};
    ep_left_text(&sum, &filter, text);
    assert_string_equal(text,
                        "1 line (2 bytes) by --grep, 7 lines (90 bytes) by "
                        "--head");
    filter.tail = 1;
    sum.at[TEXT_LEFT_GREP].bytes = 0;
    ep_left_text(&sum, &filter, text);
    assert_string_equal(text, "7 lines (90 bytes) by --head and --tail");
    filter.head = 0;
    ep_left_text(&sum, &filter, text);
    assert_string_equal(text, "7 lines (90 bytes) by --tail");
    for (unsigned i = 0; i < TEXT_LEFT_REASONS; i++)
        sum.at[i] = (struct text_left){UINT64_MAX, UINT64_MAX};
    ep_left_text(&sum, &filter, text);
    assert_non_null(strstr(text, "for lack of room"));
}

static void states_of_bars_are_counted(void **state)
{
    struct ep_left_sum sum = {.at = {[TEXT_LEFT_GREP] = {.bytes = 1}}};
    char text[EP_LEFT_TEXT_MAX];

    (void)state;
    ep_left_bars(&sum, text);
    assert_string_equal(text, "");
    sum.at[TEXT_LEFT_PROGRESS] = (struct text_left){.bytes = 40, .lines = 3};
    ep_left_bars(&sum, text);
    assert_string_equal(text, "3 earlier states of progress bars were left "
                              "out, 40 bytes (--progress=last)");
    sum.is_least = true;
    ep_left_bars(&sum, text);
    assert_memory_equal(text, "at least 3 ", 11);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_two, close_two)
    const struct CMUnitTest tests[] = {
        CASE(the_last_word_counts),
        CASE(bytes_that_are_nowhere_are_missing),
        CASE(options_are_named),
        CASE(states_of_bars_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
