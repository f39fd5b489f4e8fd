/* A target that does not read: its bytes wait in a file, or it gets no more
 * bytes. */
#include "config.h"

#include "endpoints/daemon/feed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "tests/unit/slow_hose.h"

enum { PATIENCE = 100000 /* the most turns of the loop, to find a hang */ };

static int open_with(void **state, enum job_slow_policy policy,
                     uint64_t spill_bytes)
{
    return open_slow(state,
                     &(struct ep_feed_slow){.policy = policy,
                                            .window_frames = WINDOW,
                                            .after_ms = 20,
                                            .spill_bytes = spill_bytes,
                                            .spill_dir = getenv("TMPDIR")});
}

static int spilling(void **state)
{
    return open_with(state, JOB_SLOW_SPILL, 64 * MIB);
}

static int spilling_a_little(void **state)
{
    return open_with(state, JOB_SLOW_SPILL, 2 * MIB);
}

static int waiting(void **state)
{
    return open_slow(state, &(struct ep_feed_slow){.policy = JOB_SLOW_WAIT,
                                                   .window_frames = WINDOW,
                                                   .after_ms = 20,
                                                   .unread_ms = 20});
}

static int closing(void **state)
{
    return open_with(state, JOB_SLOW_CLOSE, 0);
}

/* The other targets get the whole stream; then the slow one gets it, too, with
 * the same bytes, and no file is left. */
static void a_target_that_does_not_read_is_spilled(void **state)
{
    struct slow_hose *sh = *state;
    uint32_t proc;
    uint64_t done;

    add_two(sh);
    flow(sh, 16 * MIB);
    assert_int_equal(sh->hose->readers[1].seen_bytes, 0);
    assert_int_equal(ep_feed_taken(sh->hose->feed, 1), 0);
    while (ep_feed_holder(sh->hose->feed, &proc, &done))
        turn(sh, 0, NULL, 0);
    assert_int_equal(sh->hose->consumed, sh->pushed);
    assert_true(spill_file_bytes() > 15 * MIB);
    catch_up(sh);
    while (spill_file_bytes() > 0)
        turn(sh, 0, NULL, 0);
    assert_int_equal(ep_feed_taken(sh->hose->feed, 1), 16 * MIB);
    check_end(sh, 1);
    assert_int_equal(sh->hose->slow_told, 0);
}

/* The target is behind by one or two MiB all the time: the file does not grow
 * beyond that. */
static void a_target_that_is_behind_by_some_has_a_small_file(void **state)
{
    struct slow_hose *sh = *state;
    int64_t most = 0;

    add_two(sh);
    for (uint64_t end = 2 * MIB; end <= 64 * MIB; end += MIB / 4) {
        flow(sh, end);
        while (sh->hose->readers[1].seen_bytes + 2 * MIB < end)
            turn(sh, 0, (const uint32_t[]){1}, 1);
        if (spill_file_bytes() > most)
            most = spill_file_bytes();
    }
    print_message("%lld bytes at most\n", (long long)most);
    assert_in_range(most, MIB, 5 * MIB);
    catch_up(sh);
    check_end(sh, 1);
}

/* Target 2 stops reading while target 1, spilled earlier, has almost caught up:
 * the bytes that 2 lacks are no longer needed by 1, and are there for 2 all the
 * same. */
static void who_is_spilled_later_finds_its_bytes(void **state)
{
    struct slow_hose *sh = *state;
    const struct reader *first = &sh->hose->readers[1];
    const struct reader *second = &sh->hose->readers[2];
    uint32_t proc;
    uint64_t done;

    add_two(sh);
    assert_int_equal(hose_add(sh->hose, 2), 0);
    while (sh->hose->stream_bytes < 6 * MIB)
        turn(sh, 8 * FRAME, (const uint32_t[]){0, 2}, 2);
    while (first->seen_bytes < second->seen_bytes + MIB + MIB / 4) {
        bool is_close = first->seen_bytes + MIB / 2 > sh->hose->stream_bytes;
        /* When the file is slow both targets are spilled soon, and the stream
         * would go on to the limit, at which all targets wait. */
        bool is_much = sh->hose->stream_bytes > 32 * MIB;

        turn(sh, is_much ? 0 : 8 * FRAME, (const uint32_t[]){0, 1},
             is_close ? 1 : 2);
    }
    /* If target 1 is back at the stream by now, it reads on. */
    while (ep_feed_holder(sh->hose->feed, &proc, &done))
        turn(sh, 0, (const uint32_t[]){0, 1}, proc == 1 ? 2 : 1);
    while (second->seen_bytes < sh->hose->stream_bytes)
        turn(sh, 0, (const uint32_t[]){2}, 1);
    catch_up(sh);
    check_end(sh, 2);
}

/* All targets wait at the limit, which is reported once; whenever the slow
 * target reads, the stream goes on. */
static void at_the_bound_everybody_waits(void **state)
{
    struct slow_hose *sh = *state;
    uint32_t proc;
    uint64_t done;

    add_two(sh);
    for (unsigned round = 1; round <= 3; round++) {
        uint64_t before;

        while (sh->hose->slow_told == 0 ||
               sh->pushed - sh->hose->consumed < WINDOW)
            turn(sh, FRAME, (const uint32_t[]){0}, 1);
        assert_int_equal(sh->hose->slow_told, 1);
        assert_int_equal(sh->hose->slow_proc, 1);
        assert_int_equal(sh->hose->slow_what, JOB_STDIN_FULL);
        before = sh->hose->readers[1].seen_bytes;
        assert_in_range(sh->hose->stream_bytes - before, MIB, 3 * MIB);
        assert_in_range(spill_file_bytes(), MIB, 2 * MIB);
        assert_true(ep_feed_holder(sh->hose->feed, &proc, &done));
        assert_int_equal(proc, 1);
        while (sh->hose->readers[1].seen_bytes < before + MIB + MIB / 2)
            turn(sh, FRAME, (const uint32_t[]){0, 1}, 2);
    }
    catch_up(sh);
    check_end(sh, 1);
}

/* The result is the same as at the limit, with the system's error message. */
static void on_a_full_disk_everybody_waits(void **state)
{
    struct slow_hose *sh = *state;

    spill_file_limit(MIB + MIB / 2);
    add_two(sh);
    while (sh->hose->slow_told == 0 || sh->pushed - sh->hose->consumed < WINDOW)
        turn(sh, FRAME, (const uint32_t[]){0}, 1);
    assert_int_equal(sh->hose->slow_proc, 1);
    assert_int_equal(sh->hose->slow_what, JOB_STDIN_UNSAVED);
    assert_int_equal(sh->hose->slow_err, EFBIG);
    assert_true(sh->hose->stream_bytes > MIB);
    catch_up(sh);
    flow(sh, sh->hose->stream_bytes); /* no write is under way now */
    for (unsigned i = 0; i < 200; i++)
        turn(sh, FRAME, (const uint32_t[]){0, 1}, 2);
    catch_up(sh);
    spill_file_limit(RLIM_INFINITY);
    check_end(sh, 1);
    assert_int_equal(sh->hose->slow_told, 1);
}

/* The target gets no wrong bytes, and no other target is affected. */
static void what_cannot_be_read_back_is_told(void **state)
{
    struct slow_hose *sh = *state;

    add_two(sh);
    flow(sh, 8 * MIB);
    while (sh->hose->consumed < sh->pushed || !ep_writer_is_idle(sh->writer))
        turn(sh, 0, NULL, 0);
    spill_file_cut();
    while (sh->hose->slow_told == 0)
        turn(sh, 0, (const uint32_t[]){1}, 1);
    assert_int_equal(sh->hose->slow_proc, 1);
    assert_int_equal(sh->hose->slow_what, JOB_STDIN_LOST);
    assert_int_equal(sh->hose->slow_err, EIO);
    ep_feed_drop_target(sh->hose->feed, 1);
    flow(sh, 9 * MIB);
    check_end(sh, 0);
}

/* A target that has ended, or closed its stdin, needs no file. */
static void who_is_gone_leaves_no_file(void **state)
{
    struct slow_hose *sh = *state;

    add_two(sh);
    assert_int_equal(hose_add(sh->hose, 2), 0);
    while (sh->hose->readers[0].seen_bytes < 4 * MIB)
        turn(sh, FRAME, (const uint32_t[]){0}, 1);
    assert_true(spill_file_bytes() > MIB);
    ep_feed_drop_target(sh->hose->feed, 1);
    assert_true(spill_file_bytes() > MIB);
    hose_close(sh->hose, 2);
    while (spill_file_bytes() > 0)
        turn(sh, 0, NULL, 0);
    flow(sh, 5 * MIB);
    assert_int_equal(spill_file_bytes(), 0);
    check_end(sh, 0);
}

static void a_target_that_does_not_read_is_closed(void **state)
{
    struct slow_hose *sh = *state;

    add_two(sh);
    flow(sh, 4 * MIB);
    assert_int_equal(sh->hose->slow_told, 1);
    assert_int_equal(sh->hose->slow_proc, 1);
    assert_int_equal(sh->hose->slow_what, JOB_STDIN_CLOSED);
    assert_int_equal(ep_feed_taken(sh->hose->feed, 1), 0);
    /* The bytes in its pipe are there, and then the end comes. */
    hose_drink(sh->hose, 1, SIZE_MAX);
    assert_true(sh->hose->readers[1].at_end);
    assert_int_equal(sh->hose->readers[1].seen_bytes, PIPE_BYTES);
    assert_int_equal(ep_feed_taken(sh->hose->feed, 1), PIPE_BYTES);
    check_end(sh, 0);
}

/* Keeps the window full for some time; the other target reads this much at a
 * time. */
static void stay_full(struct slow_hose *sh, size_t bytes, unsigned ms)
{
    uint64_t until_ns = 0;

    while (until_ns == 0 || rig_now_ns() < until_ns ||
           sh->pushed - sh->hose->consumed < WINDOW) {
        turn(sh, FRAME, (const uint32_t[]){0}, 1);
        hose_drink(sh->hose, 1, bytes);
        if (until_ns == 0 && sh->pushed - sh->hose->consumed == WINDOW)
            until_ns = rig_now_ns() + ms * UINT64_C(1000000);
    }
}

/* All targets wait for the slow one, which is reported once, and it gets all
 * bytes in the end. */
static void a_target_that_does_not_read_is_told(void **state)
{
    struct slow_hose *sh = *state;
    uint32_t proc;
    uint64_t done;

    add_two(sh);
    while (sh->hose->slow_told == 0)
        turn(sh, FRAME, (const uint32_t[]){0}, 1);
    assert_int_equal(sh->hose->slow_proc, 1);
    assert_int_equal(sh->hose->slow_what, JOB_STDIN_UNREAD);
    assert_true(ep_feed_holder(sh->hose->feed, &proc, &done));
    assert_int_equal(proc, 1);
    hose_drink(sh->hose, 1, 2 * FRAME);
    stay_full(sh, 0, 300);
    assert_int_equal(sh->hose->slow_told, 1);
    catch_up(sh);
    check_end(sh, 1);
}

static void a_target_that_reads_a_little_is_not_told(void **state)
{
    struct slow_hose *sh = *state;

    add_two(sh);
    stay_full(sh, 1, 500);
    assert_int_equal(sh->hose->slow_told, 0);
    catch_up(sh);
    check_end(sh, 1);
}

/* Reading one byte between two looks is enough. */
static void a_target_that_reads_a_little_is_not_closed(void **state)
{
    struct slow_hose *sh = *state;

    add_two(sh);
    stay_full(sh, 1, 500);
    assert_int_equal(sh->hose->slow_told, 0);
    catch_up(sh);
    check_end(sh, 1);
}

/* All frames of the window come before the target has its first turn, and no
 * more follow. */
static void a_window_that_comes_at_once_is_noticed(void **state)
{
    struct slow_hose *sh = *state;

    add_two(sh);
    for (; sh->pushed < WINDOW + 3; sh->pushed++)
        assert_int_equal(hose_push(sh->hose, FRAME), 0);
    flow(sh, 4 * MIB);
    assert_int_equal(sh->hose->slow_what, JOB_STDIN_CLOSED);
}

/* All but one of the window's frames wait for the target: no other target is
 * delayed, so it may take its time. */
static void who_holds_up_nobody_is_not_closed(void **state)
{
    struct slow_hose *sh = *state;
    uint64_t until_ns;

    add_two(sh);
    flow(sh, PIPE_BYTES + (WINDOW - 1) * FRAME);
    until_ns = rig_now_ns() + 300 * UINT64_C(1000000);
    while (rig_now_ns() < until_ns)
        turn(sh, 0, NULL, 0);
    assert_int_equal(sh->hose->slow_told, 0);
    flow(sh, 4 * MIB);
    assert_int_equal(sh->hose->slow_what, JOB_STDIN_CLOSED);
}

static void nobody_is_slow_while_all_are_stopped(void **state)
{
    struct slow_hose *sh = *state;

    add_two(sh);
    ep_feed_pause(sh->hose->feed, true);
    stay_full(sh, 0, 300);
    assert_int_equal(sh->hose->slow_told, 0);
    ep_feed_pause(sh->hose->feed, false);
    flow(sh, 4 * MIB);
    assert_int_equal(sh->hose->slow_what, JOB_STDIN_CLOSED);
}

/* --- random order of everything */

struct crowd {
    bool gone[READERS_MAX];
    uint32_t count;
    uint32_t fast; /* a target that reads all the time */
    uint64_t seed;
};

static void random_turn(struct slow_hose *sh, struct crowd *crowd)
{
    uint32_t proc = rig_random(&crowd->seed) % crowd->count;
    uint32_t dice = rig_random(&crowd->seed) % 1000;
    uint32_t len = rig_random(&crowd->seed) % 9 == 0
                       ? 0
                       : rig_random(&crowd->seed) % (3 * FRAME);

    if (!crowd->gone[proc] && dice < 300) {
        hose_drink(sh->hose, proc, rig_random(&crowd->seed) % 400000);
    } else if (!crowd->gone[proc] && proc != crowd->fast && dice == 999) {
        ep_feed_drop_target(sh->hose->feed, proc);
        crowd->gone[proc] = true;
    } else if (!crowd->gone[proc] && proc != crowd->fast && dice == 998) {
        hose_close(sh->hose, proc);
        crowd->gone[proc] = true;
    }
    turn(sh, len, &crowd->fast, 1);
    assert_true(sh->hose->consumed <= sh->pushed);
    assert_in_range(spill_file_bytes() + 1, 0, 2 * MIB + 1);
}

static void random_round(struct slow_hose *sh, struct crowd *crowd)
{
    crowd->count = 2 + rig_random(&crowd->seed) % 6;
    crowd->fast = rig_random(&crowd->seed) % crowd->count;
    memset(crowd->gone, 0, sizeof(crowd->gone));
    for (uint32_t i = 0; i < crowd->count; i++)
        assert_int_equal(hose_add(sh->hose, i), 0);
    for (unsigned i = 0; i < 4000; i++)
        random_turn(sh, crowd);
    ep_feed_end(sh->hose->feed);
    for (uint32_t i = 0; i < crowd->count; i++) {
        while (!crowd->gone[i] && !sh->hose->readers[i].at_end)
            turn(sh, 0, &i, 1);
        if (!crowd->gone[i])
            assert_int_equal(sh->hose->readers[i].seen_bytes,
                             sh->hose->stream_bytes);
    }
    while (sh->hose->consumed < sh->pushed)
        turn(sh, 0, NULL, 0);
}

static void spilled_or_not_all_get_the_stream(void **state)
{
    const char *given = getenv("XYLEM_TEST_SEED");
    struct crowd crowd = {.seed = given != NULL ? strtoull(given, NULL, 10)
                                                : 20261121};

    print_message("seed %llu (XYLEM_TEST_SEED chooses another)\n",
                  (unsigned long long)crowd.seed);
    for (unsigned i = 0; i < 10; i++) {
        random_round(*state, &crowd);
        slow_teardown(state);
        spilling_a_little(state);
    }
}

#define TEST(name, setup)                                                      \
    cmocka_unit_test_setup_teardown(name, setup, slow_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(a_target_that_does_not_read_is_spilled, spilling),
        TEST(a_target_that_is_behind_by_some_has_a_small_file, spilling),
        TEST(who_is_spilled_later_finds_its_bytes, spilling),
        TEST(at_the_bound_everybody_waits, spilling_a_little),
        TEST(on_a_full_disk_everybody_waits, spilling),
        TEST(what_cannot_be_read_back_is_told, spilling),
        TEST(who_is_gone_leaves_no_file, spilling),
        TEST(a_target_that_does_not_read_is_told, waiting),
        TEST(a_target_that_reads_a_little_is_not_told, waiting),
        TEST(a_target_that_does_not_read_is_closed, closing),
        TEST(a_target_that_reads_a_little_is_not_closed, closing),
        TEST(a_window_that_comes_at_once_is_noticed, closing),
        TEST(who_holds_up_nobody_is_not_closed, closing),
        TEST(nobody_is_slow_while_all_are_stopped, closing),
        TEST(spilled_or_not_all_get_the_stream, spilling_a_little),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
