/* The memory that launcher and PMIx helper share, by two mappings of it as
 * theirs are. */
#include "pmix_api/share.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pthread.h>
#include <cmocka.h>

#include "tests/unit/chance.h"

enum { PIECE = 64 * 1024, PIECES = PX_SHARE_BYTES / PIECE, WAITING_MAX = 300 };

struct both {
    struct px_share launcher, helper;
};

/* What was put, by its number: its length and bytes follow from it. */
struct note {
    uint64_t at;
    uint32_t number, len_bytes;
};

static int open_both(void **state)
{
    struct both *both = calloc(1, sizeof(*both));
    int fd;

    assert_non_null(both);
    assert_int_equal(px_share_make(&both->launcher, &fd), 0);
    assert_int_equal(px_share_take(&both->helper, fd), 0);
    assert_int_equal(ftruncate(fd, 0), -1); /* nobody takes it away */
    close(fd);
    *state = both;
    return 0;
}

static int close_both(void **state)
{
    struct both *both = *state;

    px_share_close(&both->launcher);
    px_share_close(&both->helper);
    free(both);
    return 0;
}

static void make(uint8_t *mem, struct note *note, uint32_t number,
                 uint32_t len_bytes)
{
    for (uint32_t i = 0; i < len_bytes; i++)
        mem[i] = (uint8_t)(number * 31 + i * 7 + (i >> 8));
    *note = (struct note){.number = number, .len_bytes = len_bytes};
}

static bool put(struct both *both, uint32_t number, uint32_t len_bytes,
                struct note *note)
{
    uint8_t *mem = malloc(len_bytes);
    bool has_room;

    assert_non_null(mem);
    make(mem, note, number, len_bytes);
    has_room = px_share_put(&both->launcher, mem, len_bytes, &note->at);
    free(mem);
    return has_room;
}

static void expect(const struct both *both, const struct note *note)
{
    const uint8_t *got =
        px_share_look(&both->helper, note->at, note->len_bytes);
    uint8_t *want = malloc(note->len_bytes);
    struct note again;

    assert_non_null(got);
    assert_non_null(want);
    make(want, &again, note->number, note->len_bytes);
    assert_memory_equal(got, want, note->len_bytes);
    free(want);
}

static void read_all(struct both *both, const struct note *note)
{
    expect(both, note);
    px_share_free(&both->helper, note->at + note->len_bytes);
}

static void it_is_full_until_something_was_read(void **state)
{
    struct both *both = *state;
    struct note notes[PIECES], more;

    for (uint32_t i = 0; i < PIECES; i++)
        assert_true(put(both, i, PIECE, &notes[i]));
    assert_false(put(both, 99, 1, &more));
    read_all(both, &notes[0]);
    assert_false(put(both, 99, PIECE + 1, &more));
    assert_true(put(both, 99, PIECE, &more));
    for (uint32_t i = 1; i < PIECES; i++)
        read_all(both, &notes[i]);
    read_all(both, &more);
}

/* What would go beyond the end is at the beginning, where that is free. */
static void no_output_is_in_two_pieces(void **state)
{
    struct both *both = *state;
    struct note first, second, third;

    assert_true(put(both, 1, PX_SHARE_BYTES - PIECE, &first));
    assert_false(put(both, 2, PIECE + 1, &second));
    px_share_free(&both->helper, PIECE + 1);
    assert_true(put(both, 2, PIECE + 1, &second));
    assert_int_equal(second.at, PX_SHARE_BYTES);
    assert_false(put(both, 3, 1, &third)); /* the rest was skipped */
    read_all(both, &second);
}

/* One at a time are all at the same place: no more memory is touched. */
static void empty_it_begins_anew(void **state)
{
    struct both *both = *state;
    struct note note;

    for (uint32_t i = 0; i < 3 * PIECES; i++) {
        assert_true(put(both, i, PIECE, &note));
        assert_int_equal(note.at % PX_SHARE_BYTES, 0);
        read_all(both, &note);
    }
    assert_true(put(both, 7, PX_SHARE_BYTES, &note)); /* also all of it */
    read_all(both, &note);
}

/* A helper that says it has read what was never there frees nothing. */
static void positions_without_sense_free_nothing(void **state)
{
    struct both *both = *state;
    struct note note, more;

    assert_true(put(both, 1, PX_SHARE_BYTES, &note));
    px_share_free(&both->helper, note.at + PX_SHARE_BYTES + 1);
    assert_false(put(both, 2, 1, &more));
    px_share_free(&both->helper, UINT64_MAX);
    assert_false(put(both, 2, 1, &more));
    px_share_free(&both->helper, note.at);
    assert_false(put(both, 2, 1, &more));
    read_all(both, &note);
    assert_true(put(both, 2, 1, &more));
}

static void bytes_beyond_the_end_are_not_shown(void **state)
{
    struct both *both = *state;
    uint64_t end = 5 * (uint64_t)PX_SHARE_BYTES;

    assert_non_null(px_share_look(&both->helper, end - 1, 1));
    assert_null(px_share_look(&both->helper, end - 1, 2));
    assert_null(px_share_look(&both->helper, end, PX_SHARE_BYTES + 1));
}

static void without_memory_there_is_no_room(void **state)
{
    struct both none = {.launcher = {.head = NULL}};
    struct note note;

    (void)state;
    assert_int_not_equal(px_share_take(&none.helper, -1), 0);
    assert_false(put(&none, 1, 1, &note));
    assert_null(px_share_look(&none.helper, 0, 1));
    assert_false(px_share_await(&none.launcher));
    px_share_close(&none.helper);
}

static void half_of_it_is_told_to_be_free(void **state)
{
    struct both *both = *state;
    struct note notes[PIECES];
    uint32_t half = PIECES / 2;

    assert_false(px_share_await(&both->launcher));
    for (uint32_t i = 0; i < PIECES; i++)
        assert_true(put(both, i, PIECE, &notes[i]));
    assert_true(px_share_await(&both->launcher));
    for (uint32_t i = 0; i < half - 1; i++)
        assert_false(px_share_free(&both->helper, notes[i].at + PIECE));
    assert_true(px_share_free(&both->helper, notes[half - 1].at + PIECE));
    assert_false(px_share_free(&both->helper, notes[half].at + PIECE));
    assert_false(px_share_await(&both->launcher)); /* there is so much */
}

enum { TURNS = 50000, LEN = 32 * 1024 };

/* The helper's thread reads from the launcher's positions; it says by the other
 * pipe that half is free. */
struct talk {
    struct both *both;
    int said[2], room[2];
};

static void *read_on(void *arg)
{
    struct talk *talk = arg;
    uint64_t end;

    while (read(talk->said[0], &end, sizeof(end)) == sizeof(end)) {
        if (px_share_free(&talk->both->helper, end) &&
            write(talk->room[1], "", 1) != 1)
            abort();
    }
    return NULL;
}

static void tell(const struct talk *talk, uint64_t end)
{
    assert_int_equal(write(talk->said[1], &end, sizeof(end)), sizeof(end));
}

/* Two threads: the launcher never waits for a word that does not come. One that
 * it does not wait for any more is harmless. */
static void no_word_of_room_is_lost(void **state)
{
    struct both *both = *state;
    struct talk talk = {.both = both};
    static uint8_t mem[LEN];
    uint32_t waits = 0;
    pthread_t thread;
    char byte;

    assert_int_equal(pipe(talk.said), 0);
    assert_int_equal(pipe(talk.room), 0);
    assert_int_equal(pthread_create(&thread, NULL, read_on, &talk), 0);
    for (uint32_t i = 0; i < TURNS;) {
        uint64_t at;

        if (px_share_put(&both->launcher, mem, LEN, &at)) {
            tell(&talk, at + LEN);
            i++;
        } else if (px_share_await(&both->launcher)) {
            assert_int_equal(read(talk.room[0], &byte, 1), 1);
            waits++;
        }
    }
    close(talk.said[1]);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(waits > 0);
    close(talk.said[0]);
    close(talk.room[0]);
    close(talk.room[1]);
}

/* Whatever the lengths and the order, what is read is what was put. */
static void bytes_are_read_as_they_were_put(void **state)
{
    struct both *both = *state;
    struct note notes[WAITING_MAX];
    uint32_t first = 0, next = 0, full = 0;
    struct chance chance = chance_start(7);

    while (next < 20000) {
        uint32_t len = chance_in(&chance, 1, PIECE);

        if (chance_is(&chance, 60)) {
            if (put(both, next, len, &notes[next % WAITING_MAX]))
                next++;
            else
                full++;
        } else if (first < next) {
            read_all(both, &notes[first++ % WAITING_MAX]);
        }
    }
    assert_true(full > 100);
}

static void expect_state(const struct px_share *share, uint32_t pull,
                         unsigned at, struct px_share_state want)
{
    struct px_share_state state = {0, 0};
    unsigned slot = PX_SHARE_SLOTS - 1;

    assert_true(px_share_settled(share, pull, &slot, &state));
    assert_int_equal(slot, at);
    assert_int_equal(state.sent, want.sent);
    assert_int_equal(state.read, want.read);
}

static void expect_nothing(const struct px_share *share, uint32_t pull)
{
    struct px_share_state state = {7, 8};
    unsigned slot = 5;

    assert_false(px_share_settled(share, pull, &slot, &state));
    assert_int_equal(slot, 5);
    assert_int_equal(state.sent, 7);
    assert_int_equal(state.read, 8);
}

/* Of each pull what was said last, wherever that is; of others nothing. */
static void each_pull_has_its_state(void **state)
{
    struct both *both = *state;
    const struct px_share_state a = {1000, 900}, b = {2000, 2000},
                                c = {1500, 1200};

    expect_nothing(&both->launcher, 5);
    px_share_settle(&both->helper, 3, 5, a);
    px_share_settle(&both->helper, 4, 6, b);
    expect_state(&both->launcher, 5, 3, a);
    px_share_settle(&both->helper, 3, 5, c);
    expect_state(&both->launcher, 5, 3, c);
    px_share_settle(&both->helper, 3, 7, a);
    expect_nothing(&both->launcher, 5);
    px_share_settle(&both->helper, 4, 0, b);
    expect_nothing(&both->launcher, 6);
    expect_state(&both->launcher, 7, 3, a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_is_full_until_something_was_read,
                                        open_both, close_both),
        cmocka_unit_test_setup_teardown(no_output_is_in_two_pieces, open_both,
                                        close_both),
        cmocka_unit_test_setup_teardown(empty_it_begins_anew, open_both,
                                        close_both),
        cmocka_unit_test_setup_teardown(positions_without_sense_free_nothing,
                                        open_both, close_both),
        cmocka_unit_test_setup_teardown(bytes_beyond_the_end_are_not_shown,
                                        open_both, close_both),
        cmocka_unit_test_setup_teardown(each_pull_has_its_state, open_both,
                                        close_both),
        cmocka_unit_test(without_memory_there_is_no_room),
        cmocka_unit_test_setup_teardown(half_of_it_is_told_to_be_free,
                                        open_both, close_both),
        cmocka_unit_test_setup_teardown(no_word_of_room_is_lost, open_both,
                                        close_both),
        cmocka_unit_test_setup_teardown(bytes_are_read_as_they_were_put,
                                        open_both, close_both),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
