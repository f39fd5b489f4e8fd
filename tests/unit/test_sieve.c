/* What a channel gives is what its sieve gives and what it leaves out. */
#include "config.h"

#include "endpoints/daemon/sieve.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/chance.h"
#include "tests/unit/channel_tap.h"
#include "text/filter.h"
#include "text/pattern.h"

static struct ep_sieve_pool pool;
static struct text_filter_rules rules;
static struct ep_sieve *sieve;
static uint8_t got[1 << 20];
static size_t got_bytes;

static void open_sieve(bool keeps_last, struct ep_last *last)
{
    const struct ep_sieve_cfg cfg = {.pool = &pool,
                                     .rules = &rules,
                                     .keeps_last = keeps_last,
                                     .last = last,
                                     .last_room = 16};
    bool is_needed;

    sieve = ep_sieve_open(&cfg, &is_needed);
    assert_true(is_needed && sieve != NULL);
    got_bytes = 0;
}

static int teardown(void **state)
{
    ep_sieve_close(sieve);
    sieve = NULL;
    assert_int_equal(pool.held.used_bytes, 0);
    assert_int_equal(pool.bars, 0);
    ep_sieve_pool_fini(&pool);
    text_patterns_close(rules.grep);
    rules = (struct text_filter_rules){.head = 0};
    return tap_teardown(state);
}

static void set_grep(const char *text)
{
    struct text_pattern_fault fault;

    assert_int_equal(text_patterns_open(NULL, &rules.grep), 0);
    assert_int_equal(text_patterns_add(rules.grep, text, &fault), 0);
}

/* Reads with this room until nothing more comes. */
static enum ep_channel_state read_all(struct tap *tap, uint32_t room)
{
    enum ep_channel_state state = EP_CHANNEL_MORE;
    uint32_t some;

    while (state == EP_CHANNEL_MORE) {
        assert_true(got_bytes + room <= sizeof(got));
        assert_int_equal(ep_sieve_read(sieve, tap->ch, 0, got + got_bytes, room,
                                       &some, &state),
                         0);
        assert_true(some <= room);
        got_bytes += some;
    }
    return state;
}

/* Reads to the end of the channel, which the second call reaches at the
 * latest. */
static void read_to_end(struct tap *tap, uint32_t room)
{
    if (read_all(tap, room) != EP_CHANNEL_END)
        assert_int_equal(read_all(tap, room), EP_CHANNEL_END);
}

static void assert_got(const char *text)
{
    assert_int_equal(got_bytes, strlen(text));
    assert_memory_equal(got, text, got_bytes);
}

static uint64_t left_bytes(void)
{
    struct text_left left[TEXT_LEFT_REASONS] = {{.bytes = 0}};
    uint64_t limited = 0, sum = 0;

    ep_sieve_left(sieve, left, &limited);
    for (unsigned i = 0; i < TEXT_LEFT_REASONS; i++)
        sum += left[i].bytes;
    return sum;
}

static void without_rules_there_is_none(void **state)
{
    const struct ep_sieve_cfg cfg = {.pool = &pool};
    bool is_needed = true;

    (void)state;
    assert_null(ep_sieve_open(&cfg, &is_needed));
    assert_false(is_needed);
}

/* Bars first, then lines: a line is judged by its last state. */
static void stages_follow_each_other(void **state)
{
    struct tap *tap = *state;
    struct ep_last last = {.total_bytes = 0};
    uint8_t end[16];

    set_grep("b");
    open_sieve(true, &last);
    tap_open(tap, false, 0);
    tap_put_text(tap, "b\ra\nx\ra");
    assert_int_equal(read_all(tap, TAP_ROOM), EP_CHANNEL_IDLE);
    tap_put_text(tap, "\rb\na\nb");
    tap_put_end(tap);
    read_to_end(tap, TAP_ROOM);
    assert_got("b\nb");
    assert_int_equal(ep_sieve_source(sieve), 13);
    assert_int_equal(left_bytes(), 10);
    assert_int_equal(ep_last_read(&last, 16, 0, end, 16), 13);
    ep_last_fini(&last);
}

/* What is held back comes at the end, through however little room. */
static void the_last_lines_come_at_the_end(void **state)
{
    struct tap *tap = *state;

    rules.head = 1;
    rules.tail = 2;
    open_sieve(false, NULL);
    tap_open(tap, false, 0);
    tap_put_text(tap, "1\n2\n3\n4\n");
    assert_int_equal(read_all(tap, 3), EP_CHANNEL_IDLE);
    assert_got("1\n");
    tap_put_text(tap, "5");
    tap_put_end(tap);
    read_to_end(tap, 1);
    assert_got("1\n4\n5");
    assert_int_equal(left_bytes(), 4);
}

/* A line is judged by 64 KiB of it also where there is room for a few bytes. */
static void little_room_changes_no_judgement(void **state)
{
    static char line[50001];
    struct tap *tap = *state;

    set_grep("y$");
    memset(line, 'x', sizeof(line) - 1);
    line[sizeof(line) - 2] = 'y';
    open_sieve(false, NULL);
    tap_open(tap, false, 0);
    tap_put_text(tap, line);
    tap_put_text(tap, "\nx\n");
    tap_put_end(tap);
    read_to_end(tap, 700);
    assert_int_equal(got_bytes, sizeof(line));
    assert_int_equal(left_bytes(), 2);
}

/* Random lines through random rooms: what matches comes, in order, and the rest
 * is counted. */
static void random_lines_come_or_are_counted(void **state)
{
    static char text[30000], want[sizeof(text)];
    struct tap *tap = *state;
    struct chance chance = chance_start(9);

    set_grep("a");
    for (unsigned trial = 0; trial < 50; trial++) {
        size_t len = chance_in(&chance, 1, sizeof(text)), want_bytes = 0, at;

        for (size_t i = 0; i < len; i++)
            text[i] = "ab\n\0xxxxxxxxxxxx"[chance_in(&chance, 0, 15)];
        for (at = 0; at < len;) {
            const char *end = memchr(text + at, '\n', len - at);
            const size_t line =
                end != NULL ? (size_t)(end - text) + 1 - at : len - at;

            if (memchr(text + at, 'a', line) != NULL) {
                memcpy(want + want_bytes, text + at, line);
                want_bytes += line;
            }
            at += line;
        }
        open_sieve(false, NULL);
        tap_open(tap, false, 0);
        for (at = 0; at < len;) {
            size_t some = chance_in(&chance, 1, 5000);

            if (some > len - at)
                some = len - at;
            tap_put(tap, text + at, some);
            at += some;
            if (at == len)
                tap_put_end(tap);
            read_all(tap, chance_in(&chance, 1, 2000));
        }
        read_to_end(tap, 100);
        assert_int_equal(got_bytes, want_bytes);
        assert_memory_equal(got, want, want_bytes);
        assert_int_equal(ep_sieve_source(sieve), len);
        assert_int_equal(left_bytes(), len - want_bytes);
        ep_sieve_close(sieve);
        sieve = NULL;
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, tap_setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(without_rules_there_is_none),
        CASE(stages_follow_each_other),
        CASE(the_last_lines_come_at_the_end),
        CASE(little_room_changes_no_judgement),
        CASE(random_lines_come_or_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
