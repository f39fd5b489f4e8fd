/* The last lines are held within bounds, and what had to go is counted. */
#include "endpoints/daemon/held.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/chance.h"

static struct ep_held held;
static struct ep_held_pool pool;
static struct text_filter_rules rules;
static struct text_filter filter;

static int clear(void **state)
{
    (void)state;
    rules = (struct text_filter_rules){.head = 0};
    filter = (struct text_filter){.is_open = false};
    return 0;
}

static int end(void **state)
{
    (void)state;
    ep_held_fini(&held, &pool);
    assert_int_equal(pool.used_bytes, 0);
    return 0;
}

static void add(const char *text, bool is_first)
{
    ep_held_add(&held, &pool, &rules, &filter, (const uint8_t *)text,
                (uint32_t)strlen(text), is_first);
}

static void add_some(uint32_t len_bytes, bool is_first)
{
    uint8_t *mem = calloc(1, len_bytes);

    assert_non_null(mem);
    ep_held_add(&held, &pool, &rules, &filter, mem, len_bytes, is_first);
    free(mem);
}

/* All that is held, in pieces of five bytes. */
static const char *taken(void)
{
    static char text[1000];
    uint32_t len = 0, some;

    while ((some = ep_held_take(&held, (uint8_t *)text + len, 5)) > 0)
        len += some;
    assert_true(ep_held_is_empty(&held));
    text[len] = '\0';
    return text;
}

static void assert_left(enum text_left_reason reason, uint64_t lines,
                        uint64_t bytes)
{
    assert_int_equal(filter.left[reason].lines, lines);
    assert_int_equal(filter.left[reason].bytes, bytes);
}

static void the_last_lines_stay(void **state)
{
    (void)state;
    rules.tail = 2;
    add("one\n", true);
    add("two", true);
    add(" and more\n", false);
    add("three\n", true);
    assert_string_equal(taken(), "two and more\nthree\n");
    assert_left(TEXT_LEFT_LINES, 1, 4);
}

static void a_budget_is_kept(void **state)
{
    (void)state;
    rules.budget_bytes = 16;
    add("one\n", true);
    add("two\n", true);
    add("three\n", true);
    assert_left(TEXT_LEFT_BUDGET, 2, 8);
    /* A line that becomes too long goes with all of its pieces. */
    add("four", true);
    assert_left(TEXT_LEFT_BUDGET, 3, 14);
    add("567890", false);
    add("more\n", false);
    assert_left(TEXT_LEFT_BUDGET, 4, 29);
    add("as long as a line\n", true);
    assert_left(TEXT_LEFT_BUDGET, 5, 47);
    add("five\n", true);
    assert_string_equal(taken(), "five\n");
}

static void a_channel_has_a_bound(void **state)
{
    (void)state;
    rules.tail = 1000000;
    add_some(TEXT_FILTER_HELD_MAX - 4, true);
    assert_left(TEXT_LEFT_ROOM, 0, 0);
    add_some(1, false);
    assert_left(TEXT_LEFT_ROOM, 1, TEXT_FILTER_HELD_MAX - 3);
    add_some(7, false);
    assert_left(TEXT_LEFT_ROOM, 1, TEXT_FILTER_HELD_MAX + 4);
    add_some(TEXT_FILTER_HELD_MAX, true);
    assert_left(TEXT_LEFT_ROOM, 2, 2 * TEXT_FILTER_HELD_MAX + 4);
    add("a\n", true);
    assert_string_equal(taken(), "a\n");
}

/* Where the daemon has no memory left, a channel goes on with what it has. */
static void a_daemon_has_a_bound(void **state)
{
    (void)state;
    rules.tail = 1000000;
    assert_true(ep_held_pool_take(&pool, EP_HELD_POOL_BYTES));
    add("nothing\n", true);
    assert_left(TEXT_LEFT_ROOM, 1, 8);
    ep_held_pool_give(&pool, 1024);
    add_some(1000, true);
    add("abcdefghijklmnopqrs\n", true);
    assert_left(TEXT_LEFT_ROOM, 2, 1008);
    assert_string_equal(taken(), "abcdefghijklmnopqrs\n");
    ep_held_pool_give(&pool, EP_HELD_POOL_BYTES - 1024);
}

/* Random lines in random pieces: the last ones come out as they were, and what
 * is not among them was counted. */
static void random_lines_are_the_last(void **state)
{
    enum { LINES = 300, LINE_MAX = 40 };
    static char all[LINES * LINE_MAX];
    static uint8_t out[sizeof(all)];
    struct chance chance = chance_start(3);

    (void)state;
    for (unsigned trial = 0; trial < 200; trial++) {
        size_t begins[LINES + 1] = {0}, first;
        const unsigned lines = chance_in(&chance, 1, LINES);
        const unsigned tail = chance_in(&chance, 1, 100);
        uint32_t got = 0, some;

        clear(NULL);
        rules.tail = tail;
        for (unsigned i = 0; i < lines; i++) {
            size_t at = begins[i];
            const size_t len = chance_in(&chance, 1, LINE_MAX);

            begins[i + 1] = at + len;
            memset(all + at, (int)('a' + i % 26), len - 1);
            all[at + len - 1] = '\n';
            for (; at < begins[i + 1]; at += some) {
                some = chance_in(&chance, 1, (uint32_t)(begins[i + 1] - at));
                ep_held_add(&held, &pool, &rules, &filter, (uint8_t *)all + at,
                            some, at == begins[i]);
            }
        }
        first = begins[lines > tail ? lines - tail : 0];
        while ((some = ep_held_take(&held, out + got,
                                    chance_in(&chance, 1, 100))) > 0)
            got += some;
        assert_int_equal(got, begins[lines] - first);
        assert_memory_equal(out, all + first, got);
        assert_left(TEXT_LEFT_LINES, lines > tail ? lines - tail : 0, first);
        end(NULL);
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, clear, end)
    const struct CMUnitTest tests[] = {
        CASE(the_last_lines_stay),       CASE(a_budget_is_kept),
        CASE(a_channel_has_a_bound),     CASE(a_daemon_has_a_bound),
        CASE(random_lines_are_the_last),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
