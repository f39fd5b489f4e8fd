/* A target that does not read, in a stream that other feeds share. */
#include "config.h"

#include "tests/unit/slow_hose.h"

enum { NEVER_MS = 1000000 };

static int open_shared(void **state, enum job_slow_policy policy,
                       uint32_t unread_ms)
{
    struct slow_hose *sh;

    open_slow(state, &(struct ep_feed_slow){.policy = policy,
                                            .is_shared = true,
                                            .window_frames = WINDOW,
                                            .after_ms = 20,
                                            .unread_ms = unread_ms,
                                            .spill_bytes = 2 * MIB,
                                            .spill_dir = getenv("TMPDIR")});
    sh = *state;
    add_two(sh);
    return 0;
}

static int waiting_in_shared(void **state)
{
    return open_shared(state, JOB_SLOW_WAIT, NEVER_MS);
}

static int telling_in_shared(void **state)
{
    return open_shared(state, JOB_SLOW_WAIT, 60);
}

static int patient_in_shared(void **state)
{
    return open_shared(state, JOB_SLOW_WAIT, 1500);
}

static int spilling_in_shared(void **state)
{
    return open_shared(state, JOB_SLOW_SPILL, NEVER_MS);
}

static int closing_in_shared(void **state)
{
    return open_shared(state, JOB_SLOW_CLOSE, 60);
}

/* --- tests
 * */

/* Pushes frames for both targets, of which target 0 reads, until target 1 is
 * reported in this way; no more frames come once it is behind. */
static void flow_until(struct slow_hose *sh, enum job_stdin_event what)
{
    while (sh->hose->slow_what != what)
        turn(sh, sh->hose->slow_what != JOB_STDIN_BEHIND ? FRAME : 0,
             (const uint32_t[]){0}, 1);
    assert_int_equal(sh->hose->slow_proc, 1);
}

/* Runs until nothing waits in the stream: everything is consumed, because it is
 * in a file. */
static void drain(struct slow_hose *sh)
{
    while (sh->hose->consumed < sh->pushed)
        turn(sh, 0, (const uint32_t[]){0}, 1);
}

/* One waiting frame is enough to report the target as behind; it is reported
 * again when it has caught up. */
static void who_is_behind_is_told_and_when_it_is_not(void **state)
{
    struct slow_hose *sh = *state;

    for (unsigned round = 1; round <= 3; round++) {
        while (sh->hose->stream_bytes < round * (PIPE_BYTES + FRAME))
            turn(sh, FRAME, (const uint32_t[]){0}, 1);
        while (sh->hose->slow_what != JOB_STDIN_BEHIND)
            turn(sh, 0, (const uint32_t[]){0}, 1);
        drain(sh);
        assert_int_equal(sh->hose->slow_told, 2 * round - 1);
        while (sh->hose->slow_what != JOB_STDIN_FREE)
            turn(sh, 0, (const uint32_t[]){0, 1}, 2);
        assert_int_equal(sh->hose->slow_told, 2 * round);
        catch_up(sh);
    }
    check_end(sh, 1);
}

/* The user is told once, whatever the target does afterwards. */
static void who_reads_nothing_for_long_is_told_once(void **state)
{
    struct slow_hose *sh = *state;
    uint64_t until_ns;
    unsigned told;

    flow_until(sh, JOB_STDIN_BEHIND);
    flow_until(sh, JOB_STDIN_UNREAD);
    drain(sh);
    told = sh->hose->slow_told;
    until_ns = rig_now_ns() + 300 * UINT64_C(1000000);
    while (rig_now_ns() < until_ns)
        turn(sh, 0, (const uint32_t[]){0}, 1);
    assert_int_equal(sh->hose->slow_told, told);
    catch_up(sh);
    assert_int_equal(sh->hose->slow_what, JOB_STDIN_FREE);
    flow_until(sh, JOB_STDIN_BEHIND);
    told = sh->hose->slow_told;
    until_ns = rig_now_ns() + 300 * UINT64_C(1000000);
    while (rig_now_ns() < until_ns)
        turn(sh, 0, (const uint32_t[]){0}, 1);
    assert_int_equal(sh->hose->slow_told, told);
    catch_up(sh);
    check_end(sh, 1);
}

/* Time before the target had read everything does not count. */
static void who_has_read_all_begins_anew(void **state)
{
    struct slow_hose *sh = *state;

    for (unsigned round = 0; round < 10; round++) {
        uint64_t until_ns;

        flow_until(sh, JOB_STDIN_BEHIND);
        drain(sh);
        until_ns = rig_now_ns() + 200 * UINT64_C(1000000);
        while (rig_now_ns() < until_ns)
            turn(sh, 0, (const uint32_t[]){0}, 1);
        assert_int_equal(sh->hose->slow_what, JOB_STDIN_BEHIND);
        while (sh->hose->slow_what != JOB_STDIN_FREE)
            turn(sh, 0, (const uint32_t[]){0, 1}, 2);
        catch_up(sh);
    }
    check_end(sh, 1);
}

/* The target is as far behind as allowed, until it has read half of that; the
 * file has room for the frames on their way. */
static void with_spill_it_is_told_at_the_bound(void **state)
{
    struct slow_hose *sh = *state;

    flow_until(sh,
               JOB_STDIN_FULL); /* the report FULL follows the report BEHIND */
    assert_int_equal(sh->hose->slow_told, 2);
    assert_in_range(sh->hose->stream_bytes, 2 * MIB, 3 * MIB + WINDOW * FRAME);
    flow(sh, sh->hose->stream_bytes + 2 * MIB);
    drain(sh);
    while (sh->hose->slow_what != JOB_STDIN_FREE)
        turn(sh, 0, (const uint32_t[]){0, 1}, 2);
    assert_in_range(sh->hose->stream_bytes - sh->hose->readers[1].seen_bytes,
                    MIB / 2, MIB + PIPE_BYTES);
    catch_up(sh);
    check_end(sh, 1);
}

static void with_close_it_is_closed_when_it_reads_nothing(void **state)
{
    struct slow_hose *sh = *state;

    flow_until(sh, JOB_STDIN_BEHIND);
    /* FREE comes as the target ends, then the reason. */
    flow_until(sh, JOB_STDIN_CLOSED);
    hose_drink(sh->hose, 1, SIZE_MAX);
    assert_true(sh->hose->readers[1].at_end);
    drain(sh);
    check_end(sh, 0);
}

/* A target that has ended is no longer behind, and is not waited for. */
static void who_goes_while_behind_is_free(void **state)
{
    struct slow_hose *sh = *state;

    flow_until(sh, JOB_STDIN_BEHIND);
    ep_feed_drop_target(sh->hose->feed, 1);
    assert_int_equal(sh->hose->slow_what, JOB_STDIN_FREE);
    drain(sh);
    check_end(sh, 0);
}

#define TEST(name, setup)                                                      \
    cmocka_unit_test_setup_teardown(name, setup, slow_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(who_is_behind_is_told_and_when_it_is_not, waiting_in_shared),
        TEST(who_reads_nothing_for_long_is_told_once, telling_in_shared),
        TEST(who_has_read_all_begins_anew, patient_in_shared),
        TEST(with_spill_it_is_told_at_the_bound, spilling_in_shared),
        TEST(with_close_it_is_closed_when_it_reads_nothing, closing_in_shared),
        TEST(who_goes_while_behind_is_free, waiting_in_shared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
