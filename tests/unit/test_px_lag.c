/* How far the library is behind with each tool. */
#include "pmix_api/helper/lag.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

enum { PAYLOAD = 32 * 1024, COST = PAYLOAD + LAG_MESSAGE_BYTES };

static const char one, other;

static const struct px_write part = {.bytes = 1, .is_delivery = true},
                             rest = {.bytes = 1, .is_whole = true},
                             whole = {.bytes = 1,
                                      .is_whole = true,
                                      .is_delivery = true};

/* Until it takes no more; how many deliveries it was given. */
static unsigned fill(const char *tool)
{
    unsigned given = 0;

    for (; px_lag_room(tool, -1, 1) > 0; given++)
        px_lag_given(tool, -1, PAYLOAD);
    return given;
}

static unsigned drain(const char *tool)
{
    unsigned woken = 0;

    while (px_lag_bytes() > 0)
        woken += px_lag_wrote(tool, &whole);
    return woken;
}

/* A socket that takes a message in a thousand parts has taken one. */
static void a_message_counts_when_it_is_whole(void **state)
{
    uint64_t bytes;

    (void)state;
    assert_int_equal(fill(&one), (LAG_BYTES + COST - 1) / COST);
    bytes = px_lag_bytes();
    for (unsigned i = 0; i < 1000; i++)
        assert_false(px_lag_wrote(&one, &part));
    assert_int_equal(px_lag_bytes(), bytes);
    assert_int_equal(px_lag_room(&one, -1, 1), 0);
    px_lag_wrote(&one, &rest);
    assert_int_equal(px_lag_bytes(), bytes - COST);
    drain(&one);
}

/* An answer to the tool is none, whole or in parts that look like one. */
static void other_messages_do_not_count(void **state)
{
    static const struct px_write begin = {.bytes = 1};
    uint64_t bytes;

    (void)state;
    fill(&one);
    bytes = px_lag_bytes();
    for (unsigned i = 0; i < 1000; i++) {
        px_lag_wrote(&one, &rest);
        px_lag_wrote(&one, &begin);
        px_lag_wrote(&one, &part);
        px_lag_wrote(&one, &whole);
    }
    assert_int_equal(px_lag_bytes(), bytes);
    drain(&one);
}

/* Who waits is told once, when half is written, and not before. */
static void who_waits_goes_on_at_half(void **state)
{
    (void)state;
    fill(&one);
    while (px_lag_bytes() >= LAG_BYTES / 2 + COST) {
        assert_false(px_lag_wrote(&one, &whole));
        assert_int_equal(px_lag_room(&one, -1, 1), 0);
    }
    assert_int_equal(drain(&one), 1);
    assert_int_equal(px_lag_room(&one, -1, 1), LAG_BYTES);
    assert_int_equal(px_lag_due_ms(&one), 0);
}

/* Also many small ones, and more than there are slots for. */
static void nothing_is_left_over(void **state)
{
    (void)state;
    for (unsigned size = 0; size < 3000; size++)
        px_lag_given(&one, -1, size);
    for (unsigned i = 0; i < 3000; i++) {
        assert_true(px_lag_bytes() > 0);
        px_lag_wrote(&one, &whole);
    }
    assert_int_equal(px_lag_bytes(), 0);
}

static bool is_other(const void *tool, int fd)
{
    (void)fd;
    return tool == &other;
}

static void tools_do_not_wait_for_one_another(void **state)
{
    (void)state;
    fill(&one);
    assert_int_equal(px_lag_room(&other, -1, 1), LAG_BYTES);
    fill(&other);
    px_lag_keep(is_other);
    assert_int_equal(px_lag_room(&one, -1, 1), LAG_BYTES);
    assert_int_equal(px_lag_room(&other, -1, 1), 0);
    drain(&other);
}

/* Nothing is written for a second though the socket has room: the count is that
 * of another tool. A write, or no room, and the second begins anew. */
static void what_stands_still_is_forgotten(void **state)
{
    int pipe_[2];

    (void)state;
    assert_int_equal(pipe(pipe_), 0);
    fill(&one);
    assert_int_equal(px_lag_room(&one, pipe_[1], 1), 0);
    assert_int_equal(px_lag_due_ms(&one), 1 + LAG_FORGET_MS);
    px_lag_wrote(&one, &part);
    assert_int_equal(px_lag_room(&one, pipe_[1], 1001), 0);
    assert_int_equal(px_lag_room(&one, pipe_[1], 2000), 0);
    assert_int_equal(px_lag_room(&one, pipe_[0], 2001), 0); /* no room */
    assert_int_equal(px_lag_room(&one, pipe_[1], 3000), 0);
    assert_int_equal(px_lag_room(&one, pipe_[1], 3999), 0);
    assert_int_equal(px_lag_room(&one, pipe_[1], 4000), LAG_BYTES);
    assert_int_equal(px_lag_bytes(), 0);
    close(pipe_[0]);
    close(pipe_[1]);
}

static bool is_seven(const void *tool, int fd)
{
    (void)tool;
    return fd == 7;
}

/* Though it has no pull any more, and others leave. */
static void who_is_here_has_all_its_bytes(void **state)
{
    (void)state;
    px_lag_given(&one, -1, PAYLOAD);
    px_lag_given(&one, 7, PAYLOAD);
    px_lag_given(&one, -1, PAYLOAD);
    px_lag_given(&other, 8, PAYLOAD);
    px_lag_keep(is_seven);
    assert_int_equal(px_lag_bytes(), 3 * COST);
    drain(&one);
}

/* Tools that are gone make way for others. */
static void there_is_a_place_for_the_next(void **state)
{
    static const char tools[2 * LAG_TOOLS_MAX];

    (void)state;
    for (unsigned i = 0; i < 2 * LAG_TOOLS_MAX; i++) {
        px_lag_given(&tools[i], -1, PAYLOAD);
        px_lag_wrote(&tools[i], &part);
    }
    assert_int_equal(px_lag_bytes(), (uint64_t)LAG_TOOLS_MAX * COST);
    px_lag_keep(is_other);
    assert_int_equal(px_lag_bytes(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_counts_when_it_is_whole),
        cmocka_unit_test(other_messages_do_not_count),
        cmocka_unit_test(who_waits_goes_on_at_half),
        cmocka_unit_test(nothing_is_left_over),
        cmocka_unit_test(tools_do_not_wait_for_one_another),
        cmocka_unit_test(what_stands_still_is_forgotten),
        cmocka_unit_test(who_is_here_has_all_its_bytes),
        cmocka_unit_test(there_is_a_place_for_the_next),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
