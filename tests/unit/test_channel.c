/* Output channels give every byte once, in order, and in whole lines.
 *
 * Each test writes into a real pipe and pulls from the channel at the other
 * end; `seen` has everything that was pulled. The loop only handles what is
 * ready now, so nothing depends on time except in the two tests of open_ms.
 */
#include "config.h"

#include "endpoints/daemon/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <event2/event.h>

#include "tests/unit/channel_tap.h"
#include "tests/unit/rig.h"

static void only_whole_lines_come_out(void **state)
{
    struct tap *tap = *state;

    tap_open(tap, false, 0);
    tap_expect(tap, TAP_ROOM, "", EP_CHANNEL_IDLE);
    tap_put_text(tap, "one\ntwo\nth");
    tap_expect(tap, TAP_ROOM, "one\ntwo\n", EP_CHANNEL_IDLE);
    tap_put_text(tap, "r");
    tap_expect(tap, TAP_ROOM, "", EP_CHANNEL_IDLE);
    tap_put_text(tap, "ee\nfo");
    tap_expect(tap, TAP_ROOM, "three\n", EP_CHANNEL_IDLE);
    tap_put_text(tap, "ur\n");
    tap_expect(tap, TAP_ROOM, "four\n", EP_CHANNEL_IDLE);
    tap_put_end(tap);
    tap_expect(tap, TAP_ROOM, "", EP_CHANNEL_END);
}

static void last_line_without_newline_comes_at_the_end(void **state)
{
    struct tap *tap = *state;

    tap_open(tap, false, 0);
    tap_put_text(tap, "one\nlast");
    tap_expect(tap, TAP_ROOM, "one\n", EP_CHANNEL_IDLE);
    tap_put_end(tap);
    tap_expect(tap, TAP_ROOM, "last", EP_CHANNEL_END);

    tap_open(tap, false, 0);
    tap_put_end(tap);
    tap_expect(tap, TAP_ROOM, "", EP_CHANNEL_END);
}

static void nul_bytes_and_empty_lines_pass(void **state)
{
    static const char text[] = "\n\n\0\n\0\0x\n\n";
    struct tap *tap = *state;
    enum ep_channel_state channel;

    tap_open(tap, false, 0);
    tap_put(tap, text, sizeof(text)); /* the text with its NUL: an unfinished
                                       * line */
    assert_int_equal(tap_pull(tap, TAP_ROOM, &channel), sizeof(text) - 1);
    assert_memory_equal(tap->seen, text, sizeof(text) - 1);
    tap_put_end(tap);
    while (channel != EP_CHANNEL_END)
        tap_pull(tap, TAP_ROOM, &channel);
    assert_int_equal(tap->seen_bytes, sizeof(text));
    assert_memory_equal(tap->seen, text, sizeof(text));
}

static void ready_is_told_once_until_drained(void **state)
{
    struct tap *tap = *state;

    tap_open(tap, false, 0);
    tap_turn(tap);
    assert_int_equal(tap->ready, 0);
    tap_put_text(tap, "one\n");
    tap_turn(tap);
    tap_put_text(tap, "two\n");
    tap_turn(tap);
    tap_turn(tap);
    assert_int_equal(tap->ready, 1);
    /* A channel that nobody reads is not even watched, so it costs nothing. */
    assert_int_equal(
        event_base_get_num_events(tap->base, EVENT_BASE_COUNT_ADDED |
                                                 EVENT_BASE_COUNT_ACTIVE),
        0);
    tap_expect(tap, TAP_ROOM, "one\ntwo\n", EP_CHANNEL_IDLE);
    tap_turn(tap);
    assert_int_equal(tap->ready, 1);
    tap_put_text(tap, "three\n");
    tap_turn(tap);
    assert_int_equal(tap->ready, 2);
    tap_expect(tap, 2, "three\n", EP_CHANNEL_IDLE);
    tap_put_end(tap);
    tap_turn(tap);
    assert_int_equal(tap->ready, 3);
    tap_expect(tap, TAP_ROOM, "", EP_CHANNEL_END);
    tap_turn(tap);
    assert_int_equal(tap->ready, 3);
}

/* The channel may be read without a call of on_ready: the owner may look at any
 * time. */
static void reading_without_being_told_disarms_as_well(void **state)
{
    struct tap *tap = *state;
    enum ep_channel_state channel;

    tap_open(tap, false, 0);
    tap_put_text(tap, "a\nb\nc\n");
    assert_int_equal(tap_pull(tap, 3, &channel), 2);
    assert_int_equal(channel, EP_CHANNEL_MORE);
    tap_turn(tap);
    assert_int_equal(tap->ready, 0);
    tap_expect(tap, TAP_ROOM, "b\nc\n", EP_CHANNEL_IDLE);
}

static void channel_may_be_closed_when_ready(void **state)
{
    struct tap *tap = *state;

    tap_open(tap, false, 0);
    tap->close_when_ready = true;
    tap_put_text(tap, "one\n");
    tap_turn(tap);
    assert_null(tap->ch);
}

/* Returns a line of `len` bytes without its newline; each letter tells its
 * position. */
static uint8_t *long_line(size_t len)
{
    uint8_t *line = malloc(len + 1);

    assert_non_null(line);
    for (size_t i = 0; i < len; i++)
        line[i] = (uint8_t)('a' + i % 25);
    line[len] = '\n';
    return line;
}

/* Writes as much as the pipe takes, and reads when the channel reports data;
 * the pieces are as large as possible. */
static void ten_megabytes_with(struct tap *tap, uint32_t room)
{
    enum { BYTES = 10 * 1000 * 1000 };
    uint8_t *line = long_line(BYTES);
    size_t written = 0;
    size_t pieces = 0;
    enum ep_channel_state channel = EP_CHANNEL_IDLE;

    tap_open(tap, false, 0);
    while (tap->seen_bytes < BYTES + 1) {
        ssize_t count = write(tap->out, line + written, BYTES + 1 - written);
        uint32_t got;

        if (count > 0)
            written += (size_t)count;
        got = tap_pull(tap, room, &channel);
        pieces += got > 0;
        assert_true(got == 0 || got == (room < TAP_ROOM ? room : TAP_ROOM) ||
                    tap->seen_bytes == BYTES + 1);
    }
    assert_memory_equal(tap->seen, line, BYTES + 1);
    assert_int_equal(pieces, BYTES / (room < TAP_ROOM ? room : TAP_ROOM) + 1);
    assert_int_equal(channel, EP_CHANNEL_IDLE);
    free(line);
}

static void line_of_ten_megabytes_comes_in_pieces(void **state)
{
    ten_megabytes_with(*state, 64 * 1024);
    ten_megabytes_with(*state, 16 * 1024);
    ten_megabytes_with(*state, 10007);
}

/* The longest line that stays whole, and a line of one byte more. */
static void line_of_the_carry_is_whole_a_longer_one_is_not(void **state)
{
    struct tap *tap = *state;
    uint8_t *line = long_line(TAP_ROOM);
    enum ep_channel_state channel;

    line[TAP_ROOM - 1] = '\n';
    tap_open(tap, false, 0);
    tap_put(tap, line, 40000);
    assert_int_equal(tap_pull(tap, TAP_ROOM, &channel), 0);
    tap_put(tap, line + 40000, TAP_ROOM - 40000);
    assert_int_equal(tap_pull(tap, TAP_ROOM, &channel), TAP_ROOM);

    line[TAP_ROOM - 1] = 'x';
    tap_put(tap, line, TAP_ROOM);
    assert_int_equal(tap_pull(tap, TAP_ROOM, &channel), TAP_ROOM);
    assert_int_equal(tap->dst[TAP_ROOM - 1], 'x');
    tap_put(tap, "\n", 1);
    assert_int_equal(tap_pull(tap, TAP_ROOM, &channel), 1);
    free(line);
}

/* There is room for more than the carry: lines, then a long unfinished line
 * after them. */
static void long_tail_behind_lines_goes_out_at_once(void **state)
{
    struct tap *tap = *state;
    uint8_t *line = long_line(3 * TAP_ROOM);
    enum ep_channel_state channel;

    tap_open(tap, false, 0);
    if (fcntl(tap->out, F_SETPIPE_SZ, 4 * TAP_ROOM) < 0)
        skip();
    tap_put_text(tap, "one\n");
    tap_put(tap, line, TAP_ROOM);
    assert_int_equal(tap_pull(tap, 4 * TAP_ROOM, &channel), TAP_ROOM + 4);
    tap_put_text(tap, "\ntwo\n");
    tap_put(tap, line, TAP_ROOM - 1);
    assert_int_equal(tap_pull(tap, 4 * TAP_ROOM, &channel), 5);
    free(line);
}

static void end_with_a_full_carry_loses_nothing(void **state)
{
    static const uint32_t rooms[] = {TAP_ROOM, 16384, 1000, 1};
    struct tap *tap = *state;
    uint8_t *line = long_line(TAP_ROOM);

    for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
        enum ep_channel_state channel;

        tap_open(tap, false, 0);
        tap_put(tap, line, TAP_ROOM - 1);
        assert_int_equal(tap_pull(tap, TAP_ROOM, &channel), 0);
        tap_put_end(tap);
        do {
            tap_pull(tap, rooms[i], &channel);
        } while (channel == EP_CHANNEL_MORE);
        assert_int_equal(channel, EP_CHANNEL_END);
        assert_int_equal(tap->seen_bytes, TAP_ROOM - 1);
        assert_memory_equal(tap->seen, line, TAP_ROOM - 1);
    }
    free(line);
}

static void raw_bytes_come_as_they_are(void **state)
{
    struct tap *tap = *state;

    tap_open(tap, true, 0);
    tap_put_text(tap, "one\ntw");
    tap_expect(tap, TAP_ROOM, "one\ntw", EP_CHANNEL_IDLE);
    tap_put_text(tap, "o");
    tap_expect(tap, 1, "o", EP_CHANNEL_IDLE);
    tap_put_text(tap, "last");
    tap_put_end(tap);
    tap_turn(tap);
    assert_int_equal(tap->ready, 1);
    tap_expect(tap, 3, "last", EP_CHANNEL_IDLE);
    tap_turn(tap);
    assert_int_equal(tap->ready, 2);
    tap_expect(tap, 3, "", EP_CHANNEL_END);
}

static void old_open_line_comes_by_itself(void **state)
{
    struct tap *tap = *state;

    tap_open(tap, false, 20);
    tap_put_text(tap, "name? ");
    while (tap->ready < 1)
        event_base_loop(tap->base, EVLOOP_ONCE);
    tap_expect(tap, TAP_ROOM, "", EP_CHANNEL_IDLE);
    /* No byte is written from here on, so the line's age increases. */
    while (tap->ready < 2)
        event_base_loop(tap->base, EVLOOP_ONCE);
    tap_expect(tap, TAP_ROOM, "name? ", EP_CHANNEL_IDLE);
}

/* The timer of a line that is complete by then has no effect. */
static void completed_line_leaves_no_alarm(void **state)
{
    struct tap *tap = *state;

    tap_open(tap, false, 5);
    tap_put_text(tap, "a");
    tap_expect(tap, TAP_ROOM, "", EP_CHANNEL_IDLE);
    tap_put_text(tap, "b\n");
    tap_expect(tap, TAP_ROOM, "ab\n", EP_CHANNEL_IDLE);
    /* Runs until no timer is left, and once more for the data. */
    while (event_base_get_num_events(tap->base, EVENT_BASE_COUNT_ADDED) > 1)
        event_base_loop(tap->base, EVLOOP_ONCE);
    assert_int_equal(tap->ready, 0);
}

/* The writer goes on: bytes that were in the pipe count, later bytes do not. */
static void expired_channel_ends_with_what_the_pipe_holds(void **state)
{
    struct tap *tap = *state;

    tap_open(tap, false, 0);
    tap_put_text(tap, "carried");
    tap_expect(tap, TAP_ROOM, "", EP_CHANNEL_IDLE);
    tap_put_text(tap, " on\nlast");
    ep_channel_expire(tap->ch);
    tap_put_text(tap, " too late\n");
    tap_turn(tap);
    assert_int_equal(tap->ready, 1);
    tap_expect(tap, 3, "carried on\nlast", EP_CHANNEL_END);

    /* There are no bytes and none will follow: the end is reported all the
     * same. */
    tap_open(tap, false, 0);
    ep_channel_expire(tap->ch);
    tap_turn(tap);
    assert_int_equal(tap->ready, 1);
    tap_expect(tap, TAP_ROOM, "", EP_CHANNEL_END);

    tap_open(tap, true, 0);
    ep_channel_expire(tap->ch);
    tap_put_text(tap, "too late");
    tap_turn(tap);
    assert_int_equal(tap->ready, 1);
    tap_expect(tap, TAP_ROOM, "", EP_CHANNEL_END);
}

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The next unfinished line has its own age, whenever the timer of the first one
 * fires. Only the lower limit is tested: a timer may be late, never early. */
static void next_open_line_is_not_taken_for_the_old_one(void **state)
{
    static const struct timeval half = {.tv_usec = 50 * 1000};
    struct tap *tap = *state;
    int64_t since_ms;

    tap_open(tap, false, 100);
    tap_put_text(tap, "a");
    tap_expect(tap, TAP_ROOM, "", EP_CHANNEL_IDLE);
    event_base_loopexit(tap->base, &half);
    event_base_dispatch(tap->base);
    since_ms = now_ms();
    tap_put_text(tap, "b\nyoung");
    tap_expect(tap, TAP_ROOM, "ab\n", EP_CHANNEL_IDLE);
    tap->ready = 0;
    while (tap->ready < 1)
        event_base_loop(tap->base, EVLOOP_ONCE);
    assert_true(now_ms() - since_ms >= 80);
    tap_expect(tap, TAP_ROOM, "young", EP_CHANNEL_IDLE);
}

/* Reads once, after waiting if the channel asks for it. */
static uint32_t pull_waiting(struct tap *tap, enum ep_channel_state *channel)
{
    uint32_t got = tap_pull(tap, TAP_ROOM, channel);

    while (got == 0 && rig_readable(tap->in) > 0) {
        tap_turn(tap);
        got = tap_pull(tap, TAP_ROOM, channel);
    }
    return got;
}

/* Pieces come at once; a line is counted once, however many pieces it has. */
static void without_room_a_line_comes_in_pieces(void **state)
{
    static const uint8_t mem[EP_TAIL_BYTES_MAX];
    struct tap *tap = *state;
    struct ep_tail more = {0};
    uint8_t *line = long_line(4000);
    enum ep_channel_state channel;

    tap_open(tap, false, 0);
    tap_load(tap);
    assert_true(ep_tail_add(tap->tails, &more, mem, sizeof(mem)));
    tap_put(tap, line, 4000);
    assert_int_equal(pull_waiting(tap, &channel), 4000);
    assert_int_equal(ep_tails_cuts(tap->tails), 1);
    tap_put(tap, line, 4000);
    assert_int_equal(pull_waiting(tap, &channel), 4000);
    tap_put_text(tap, "the end\n");
    assert_int_equal(pull_waiting(tap, &channel), 8);
    assert_int_equal(ep_tails_cuts(tap->tails), 1);
    tap_put(tap, line, 4001); /* a whole line */
    assert_int_equal(pull_waiting(tap, &channel), 4001);
    tap_put(tap, line, 4000);
    assert_int_equal(pull_waiting(tap, &channel), 4000);
    assert_int_equal(ep_tails_cuts(tap->tails), 2);
    ep_tail_drop(tap->tails, &more);
    free(line);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_room_a_line_comes_in_pieces,
                                        tap_setup_nowhere, tap_teardown),
        TAP_TEST(only_whole_lines_come_out),
        TAP_TEST(last_line_without_newline_comes_at_the_end),
        TAP_TEST(nul_bytes_and_empty_lines_pass),
        TAP_TEST(ready_is_told_once_until_drained),
        TAP_TEST(reading_without_being_told_disarms_as_well),
        TAP_TEST(channel_may_be_closed_when_ready),
        TAP_TEST(line_of_ten_megabytes_comes_in_pieces),
        TAP_TEST(line_of_the_carry_is_whole_a_longer_one_is_not),
        TAP_TEST(long_tail_behind_lines_goes_out_at_once),
        TAP_TEST(end_with_a_full_carry_loses_nothing),
        TAP_TEST(raw_bytes_come_as_they_are),
        TAP_TEST(old_open_line_comes_by_itself),
        TAP_TEST(completed_line_leaves_no_alarm),
        TAP_TEST(next_open_line_is_not_taken_for_the_old_one),
        TAP_TEST(expired_channel_ends_with_what_the_pipe_holds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
