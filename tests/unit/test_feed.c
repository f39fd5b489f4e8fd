/* A feed gives every target the whole stream, each at its own pace. */
#include "config.h"

#include "endpoints/daemon/feed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>
#include <event2/event.h>

#include "overlay/base/err.h"
#include "tests/unit/hose.h"
#include "tests/unit/rig.h"

static void all_targets_get_the_stream_and_its_end(void **state)
{
    struct hose *hose = *state;

    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(hose_add(hose, i), 0);
    assert_int_equal(hose_push(hose, 100), 0);
    assert_int_equal(hose_push(hose, 0), 0);
    assert_int_equal(hose_push(hose, 3000), 0);
    assert_int_equal(hose->told, 0); /* reports never come from within a call */
    hose_settle(hose);
    assert_int_equal(hose->consumed, 3);
    for (uint32_t i = 0; i < 5; i++) {
        hose_drink_all(hose, i);
        assert_int_equal(hose->readers[i].seen_bytes, 3100);
        assert_false(hose->readers[i].at_end);
    }
    assert_int_equal(hose_push(hose, 50), 0);
    ep_feed_end(hose->feed);
    assert_int_equal(hose_push(hose, 1), OV_EINVAL);
    for (uint32_t i = 0; i < 5; i++) {
        hose_drink_all(hose, i);
        assert_int_equal(hose->readers[i].seen_bytes, 3150);
        assert_true(hose->readers[i].at_end);
    }
    assert_int_equal(hose->consumed, 4);
}

static void end_alone_closes_every_stdin(void **state)
{
    struct hose *hose = *state;

    hose_add(hose, 0);
    ep_feed_end(hose->feed);
    hose_drink_all(hose, 0);
    assert_true(hose->readers[0].at_end);
    /* A target that is added later gets the end, too. */
    assert_int_equal(hose_add(hose, 1), 0);
    hose_drink_all(hose, 1);
    assert_true(hose->readers[1].at_end);
}

static void slow_target_holds_the_count_but_nobody_else(void **state)
{
    struct hose *hose = *state;
    uint32_t proc;
    uint64_t done;

    for (uint32_t i = 0; i < 3; i++)
        hose_add(hose, i);
    assert_false(ep_feed_holder(hose->feed, &proc, &done));
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(hose_push(hose, 30000), 0);
    hose_drink_all(hose, 0);
    hose_drink_all(hose, 2);
    assert_int_equal(hose->readers[0].seen_bytes, 300000);
    assert_int_equal(hose->readers[2].seen_bytes, 300000);
    /* The target's pipe holds two frames and a part of the third. */
    assert_int_equal(hose->consumed, 2);
    assert_true(ep_feed_holder(hose->feed, &proc, &done));
    assert_int_equal(proc, 1);
    assert_int_equal(done, 2);
    assert_int_equal(ep_feed_taken(hose->feed, 1), 0);
    assert_int_equal(ep_feed_taken(hose->feed, 0), 300000);
    /* Buffers that all targets have read are given back. */
    assert_int_equal(hose->buffers, 8);

    assert_int_equal(hose_drink(hose, 1, 40000), 40000);
    assert_int_equal(ep_feed_taken(hose->feed, 1), 40000);
    hose_settle(hose);
    assert_int_equal(hose->consumed, 3);
    hose_drink_all(hose, 1);
    assert_int_equal(hose->consumed, 10);
    assert_false(ep_feed_holder(hose->feed, &proc, &done));
}

static void closed_stdin_counts_as_having_all(void **state)
{
    struct hose *hose = *state;
    uint32_t proc;
    uint64_t done;

    for (uint32_t i = 0; i < 2; i++)
        hose_add(hose, i);
    for (unsigned i = 0; i < 5; i++)
        hose_push(hose, 50000);
    hose_settle(hose);
    hose_drink(hose, 0, 1000);
    hose_close(hose, 0); /* the target's pipe is full, and the feed waits for
                          * room */
    hose_drink_all(hose, 1);
    assert_int_equal(hose->consumed, 5);
    assert_false(ep_feed_holder(hose->feed, &proc, &done));
    /* Now the other target closes its stdin, while no write is under way. */
    hose_close(hose, 1);
    hose_push(hose, 10);
    hose_push(hose, 10);
    hose_settle(hose);
    assert_int_equal(hose->consumed, 7);
}

/* A target that closes its stdin is reported a while later, if it still runs
 * then, even when there was nothing to write. */
static void who_closes_its_stdin_is_told(void **state)
{
    struct hose *hose = *state;
    const uint64_t limit_ns = rig_now_ns() + RIG_LIMIT_S * UINT64_C(1000000000);
    uint64_t closed_ns;

    for (uint32_t i = 0; i < 4; i++)
        hose_add(hose, i);
    hose_settle(hose);
    closed_ns = rig_now_ns();
    hose_close(hose, 1);
    ep_feed_drop_target(hose->feed, 1);
    hose_close(hose, 2);
    hose_settle(hose);
    if (rig_now_ns() - closed_ns < 100 * UINT64_C(1000000))
        assert_int_equal(hose->slow_told, 0);
    while (hose->slow_told == 0) {
        event_base_loop(hose->base, EVLOOP_ONCE);
        assert_true(rig_now_ns() < limit_ns);
    }
    assert_int_equal(hose->slow_proc, 2);
    assert_int_equal(hose->slow_what, JOB_STDIN_SHUT);
    hose_close(hose, 3);
    hose_push(hose, 10);
    while (hose->slow_told == 1) {
        event_base_loop(hose->base, EVLOOP_ONCE);
        assert_true(rig_now_ns() < limit_ns);
    }
    assert_int_equal(hose->slow_proc, 3);
    assert_int_equal(hose->slow_told, 2);
    hose_drink_all(hose, 0);
}

/* The stdin of a process that does not read it is reported over early: its end
 * lies after the bytes in the pipe. */
static void what_lies_in_the_pipe_is_not_taken(void **state)
{
    struct hose *hose = *state;

    for (uint32_t i = 0; i < 2; i++)
        hose_add(hose, i);
    hose_push(hose, 1000);
    hose_settle(hose);
    hose_drink(hose, 1, 300);
    hose_close(hose, 1);
    hose_push(hose, 500); /* this write finds that the stdin is closed */
    ep_feed_end(hose->feed);
    hose_settle(hose);
    assert_int_equal(hose->consumed, 2);
    assert_int_equal(ep_feed_taken(hose->feed, 1), 300);
    assert_int_equal(ep_feed_taken(hose->feed, 0), 0);
    assert_int_equal(hose_drink(hose, 0, 1100), 1100);
    assert_int_equal(ep_feed_taken(hose->feed, 0), 1100);
    hose_drink_all(hose, 0);
    assert_true(hose->readers[0].at_end);
    assert_int_equal(ep_feed_taken(hose->feed, 0), 1500);
}

static void dropped_target_counts_as_having_all(void **state)
{
    struct hose *hose = *state;

    for (uint32_t i = 0; i < 2; i++)
        hose_add(hose, i);
    for (unsigned i = 0; i < 5; i++)
        hose_push(hose, 50000);
    hose_drink_all(hose, 1);
    assert_int_equal(hose->consumed, 1);
    ep_feed_drop_target(hose->feed, 0);
    ep_feed_drop_target(hose->feed, 99);
    hose_settle(hose);
    assert_int_equal(hose->consumed, 5);
    assert_int_equal(ep_feed_taken(hose->feed, 0), 0);
    /* The bytes in the target's pipe are still there, and then the end comes.
     */
    hose_drink_all(hose, 0);
    assert_int_equal(hose->readers[0].seen_bytes, PIPE_BYTES);
    assert_true(hose->readers[0].at_end);
}

static void without_targets_everything_is_consumed_at_once(void **state)
{
    struct hose *hose = *state;

    hose_push(hose, 1000);
    hose_push(hose, 1000);
    assert_int_equal(hose->buffers, 0);
    hose_settle(hose);
    assert_int_equal(hose->consumed, 2);
    assert_int_equal(hose->told, 1);
    /* The first frames are gone, so the target is refused: it would miss them
     * without knowing. */
    assert_int_equal(hose_add(hose, 0), OV_EINVAL);
}

static void late_target_gets_the_stream_from_its_start(void **state)
{
    struct hose *hose = *state;

    hose_add(hose, 0);
    for (unsigned i = 0; i < 3; i++)
        hose_push(hose, 70000); /* more than a pipe holds: the first write is
                                 * within frame 0 */
    hose_settle(hose);
    assert_int_equal(hose->consumed, 0);
    assert_int_equal(hose_add(hose, 1), 0);
    assert_int_equal(hose_add(hose, 1), OV_EINVAL);
    hose_drink_all(hose, 0);
    assert_int_equal(hose->consumed, 0);
    hose_drink_all(hose, 1);
    assert_int_equal(hose->consumed, 3);
    assert_int_equal(hose->readers[1].seen_bytes, 210000);
}

static void full_ring_refuses_without_harm(void **state)
{
    struct hose *hose = *state;
    unsigned frames = 0;
    int rc;

    hose_add(hose, 0);
    while ((rc = hose_push(hose, 1)) == 0)
        frames++;
    assert_int_equal(rc, OV_EFULL);
    assert_int_equal(frames, EP_FEED_FRAMES_MAX);
    while (hose->consumed < frames)
        hose_drink_all(hose, 0);
    assert_int_equal(hose_push(hose, 1), 0);
    hose_drink_all(hose, 0);
    assert_int_equal(hose->readers[0].seen_bytes, frames + 1);
}

static void feed_may_be_closed_when_told(void **state)
{
    struct hose *hose = *state;

    hose->close_when_told = true;
    hose_add(hose, 0);
    hose_push(hose, 10);
    hose_settle(hose);
    assert_null(hose->feed);
}

/* Each call of the pump gives each target a turn: a target that could take
 * everything at once does not get everything first. */
static void targets_take_turns(void **state)
{
    struct hose *hose = *state;

    for (uint32_t i = 0; i < 8; i++)
        hose_add(hose, i);
    for (unsigned i = 0; i < 400; i++)
        hose_push(hose,
                  100); /* many small frames take many turns of the loop */
    event_base_loop(hose->base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
    for (uint32_t i = 0; i < 8; i++) {
        hose_drink(hose, i, SIZE_MAX);
        assert_in_range(hose->readers[i].seen_bytes, 1000, 39000);
    }
}

/* What one target should have read, and how many frames count as consumed. */
struct model {
    bool gone[READERS_MAX];
    bool added[READERS_MAX];
    size_t ends[4096]; /* the stream position after each frame */
    unsigned frames;
};

/* Checks that only frames count that each living target can have whole: what it
 * read and what its pipe holds must cover them. */
static void model_check(struct hose *hose, const struct model *model)
{
    size_t covered = hose->consumed == 0 ? 0 : model->ends[hose->consumed - 1];

    assert_true(hose->consumed <= model->frames);
    for (uint32_t i = 0; i < READERS_MAX; i++) {
        if (model->added[i] && !model->gone[i])
            assert_true(hose->readers[i].seen_bytes + PIPE_BYTES >= covered);
    }
}

static void random_action(struct hose *hose, struct model *model)
{
    uint32_t proc = (uint32_t)rand() % READERS_MAX;
    bool lives = model->added[proc] && !model->gone[proc];
    int dice = rand() % 100;

    if (dice < 40 && model->frames < 4096) {
        uint32_t len = rand() % 8 == 0 ? 0 : (uint32_t)rand() % 40000;

        assert_int_equal(hose_push(hose, len), 0);
        model->ends[model->frames++] = hose->stream_bytes;
    } else if (dice < 75 && lives) {
        hose_drink(hose, proc, 1 + (size_t)rand() % 100000);
    } else if (dice < 76 && lives) {
        hose_close(hose, proc);
        model->gone[proc] = true;
    } else if (dice < 77 && lives) {
        ep_feed_drop_target(hose->feed, proc);
        model->gone[proc] = true;
    } else {
        event_base_loop(hose->base, EVLOOP_NONBLOCK);
    }
    model_check(hose, model);
}

static void random_rounds(struct hose *hose)
{
    struct model model = {0};
    uint32_t targets = (uint32_t)rand() % READERS_MAX;

    for (uint32_t i = 0; i < targets; i++) {
        assert_int_equal(hose_add(hose, i), 0);
        model.added[i] = true;
    }
    for (unsigned i = 0; i < 600; i++)
        random_action(hose, &model);
    ep_feed_end(hose->feed);
    for (uint32_t i = 0; i < targets; i++) {
        if (model.gone[i])
            continue;
        hose_drink_all(hose, i);
        assert_true(hose->readers[i].at_end);
        assert_int_equal(hose->readers[i].seen_bytes, hose->stream_bytes);
    }
    hose_settle(hose);
    assert_int_equal(hose->consumed, model.frames);
    assert_int_equal(hose->buffers, 0);
}

static void random_targets_all_get_the_stream(void **state)
{
    const char *given = getenv("XYLEM_TEST_SEED");
    unsigned seed =
        given != NULL ? (unsigned)strtoul(given, NULL, 10) : 20240614;

    print_message("seed %u (XYLEM_TEST_SEED chooses another)\n", seed);
    srand(seed);
    for (unsigned i = 0; i < 12; i++) {
        void *fresh;

        random_rounds(*state);
        hose_teardown(state);
        hose_setup(&fresh);
        *state = fresh;
    }
}

#define HOSE_TEST(name)                                                        \
    cmocka_unit_test_setup_teardown(name, hose_setup, hose_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        HOSE_TEST(all_targets_get_the_stream_and_its_end),
        HOSE_TEST(end_alone_closes_every_stdin),
        HOSE_TEST(slow_target_holds_the_count_but_nobody_else),
        HOSE_TEST(closed_stdin_counts_as_having_all),
        HOSE_TEST(who_closes_its_stdin_is_told),
        HOSE_TEST(what_lies_in_the_pipe_is_not_taken),
        HOSE_TEST(dropped_target_counts_as_having_all),
        HOSE_TEST(without_targets_everything_is_consumed_at_once),
        HOSE_TEST(late_target_gets_the_stream_from_its_start),
        HOSE_TEST(full_ring_refuses_without_harm),
        HOSE_TEST(feed_may_be_closed_when_told),
        HOSE_TEST(targets_take_turns),
        HOSE_TEST(random_targets_all_get_the_stream),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
