/* Sinks that share a thread: each has its turn, and each may be closed at any
 * time. */
#include "config.h"

#include "endpoints/sys/worker.h"

#include "tests/unit/rig.h"

#include <semaphore.h>

#include "endpoints/sys/writer.h"
#include "overlay/base/err.h"

enum { SHARING = 50, CALLS = 4 };

struct fixture {
    struct event_base *base;
    struct ep_writer *w; /* NULL: the test has closed it */
    unsigned written;
};

static unsigned threads_at_start;

static int setup(void **state)
{
    struct fixture *fx = calloc(1, sizeof(*fx));

    fx->base = event_base_new();
    assert_non_null(fx->base);
    assert_int_equal(ep_writer_open(fx->base, &fx->w), 0);
    *state = fx;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fx = *state;

    ep_writer_close(fx->w, true);
    event_base_free(fx->base);
    rig_threads_until(threads_at_start);
    free(fx);
    return 0;
}

struct share {
    struct fixture *fx;
    struct ep_sink *sink;
    struct ep_sink *leaves; /* the sink to close when this sink is answered */
    unsigned calls;         /* calls that were made; used by the thread */
    unsigned answers;
    unsigned lasts; /* last calls; used by the thread, and by the test after the
                     * thread has ended */
};

static sem_t gate, at_gate;

static int gate_main(void *arg)
{
    (void)arg;
    sem_post(&at_gate);
    while (sem_wait(&gate) != 0)
        ;
    return 0;
}

static unsigned spread_max; /* used by the thread */
static struct share *shares;

/* Counts how many calls one sink has had more than another. */
static int share_main(void *arg)
{
    struct share *share = arg;

    share->calls++;
    for (int i = 0; i < SHARING; i++) {
        if (shares[i].calls + spread_max < share->calls)
            spread_max = share->calls - shares[i].calls;
    }
    return 0;
}

static void last_main(void *arg)
{
    struct share *share = arg;

    share->lasts++;
}

static void on_share_written(void *arg, uint64_t cookie)
{
    struct share *share = arg;

    (void)cookie;
    share->answers++;
    share->fx->written++;
    if (share->leaves == NULL)
        return;
    ep_sink_leave(share->leaves, last_main, share);
    share->leaves = NULL;
}

static const struct ep_sink_events share_events = {
    .on_written = on_share_written,
};

/* Opens many sinks, the first of which holds the thread. */
static void shares_open(struct fixture *fx)
{
    shares = calloc(SHARING + 1, sizeof(*shares));
    spread_max = 0;
    for (int i = 0; i <= SHARING; i++) {
        shares[i].fx = fx;
        assert_int_equal(ep_sink_open_shared(fx->w, &share_events, &shares[i],
                                             &shares[i].sink),
                         0);
    }
    assert_int_equal(ep_sink_call(shares[SHARING].sink, gate_main, NULL, 0), 0);
    while (sem_wait(&at_gate) != 0)
        ;
}

/* One sink has queued all its calls before another queues its first. */
static void sinks_that_share_a_thread_have_it_in_turn(void **state)
{
    struct fixture *fx = *state;

    shares_open(fx);
    for (int i = 0; i < SHARING; i++) {
        for (uint64_t n = 0; n < EP_SINK_JOBS_MAX; n++)
            assert_int_equal(
                ep_sink_call(shares[i].sink, share_main, &shares[i], n), 0);
        assert_int_equal(
            ep_sink_call(shares[i].sink, share_main, &shares[i], 0), OV_EFULL);
    }
    assert_int_equal(rig_threads(), threads_at_start + 1);
    sem_post(&gate);
    rig_run_until(fx->base, &fx->written, SHARING * EP_SINK_JOBS_MAX + 1);
    assert_int_equal(spread_max, 1);
    for (int i = 0; i <= SHARING; i++)
        ep_sink_leave(shares[i].sink, last_main, &shares[i]);
    ep_writer_close(fx->w, false);
    for (int i = 0; i <= SHARING; i++)
        assert_int_equal(shares[i].lasts, 1);
    fx->w = NULL;
    free(shares);
}

/* The thread is held: sinks that leave lose calls that have not begun, and get
 * their last call all the same, in the thread or when it ends. */
static void leaving_waits_for_nobody(void **state)
{
    struct fixture *fx = *state;
    struct share *holder;

    for (int give_up = 0; give_up < 2; give_up++) {
        shares_open(fx);
        holder = &shares[SHARING];
        for (int i = 1; i < SHARING; i++) {
            for (uint64_t n = 0; n < CALLS; n++)
                assert_int_equal(
                    ep_sink_call(shares[i].sink, share_main, &shares[i], n), 0);
        }
        assert_true(ep_sink_drop(holder->sink));
        for (int i = 0; i < SHARING; i++) {
            assert_false(ep_sink_drop(shares[i].sink));
            ep_sink_leave(shares[i].sink, last_main, &shares[i]);
        }
        ep_sink_leave(holder->sink, last_main, holder);
        assert_int_equal(shares[0].lasts, 1); /* the sink has had no call */
        sem_post(&gate);
        ep_writer_close(fx->w, give_up);
        for (int i = 0; i <= SHARING; i++) {
            assert_int_equal(shares[i].lasts, 1);
            assert_int_equal(shares[i].calls, 0);
            assert_int_equal(shares[i].answers, 0);
        }
        assert_int_equal(ep_writer_open(fx->base, &fx->w), 0);
        free(shares);
    }
}

/* A sink closes itself, and another one that has an answer in the same
 * round. */
static void sinks_may_leave_in_their_callbacks(void **state)
{
    struct fixture *fx = *state;

    shares_open(fx);
    for (int i = 0; i < SHARING; i++) {
        for (uint64_t n = 0; n < CALLS; n++)
            assert_int_equal(
                ep_sink_call(shares[i].sink, share_main, &shares[i], n), 0);
        shares[i].leaves = shares[i ^ 1].sink;
    }
    shares[0].leaves = shares[0].sink;
    shares[1].leaves = shares[1].sink;
    for (int i = 2; i < SHARING; i += 2)
        shares[i].leaves = NULL;
    sem_post(&gate);
    rig_run_until(fx->base, &fx->written, 1 + SHARING / 2);
    ep_sink_leave(shares[SHARING].sink, last_main, &shares[SHARING]);
    ep_writer_close(fx->w, false);
    assert_int_equal(shares[0].answers, 1);
    assert_int_equal(shares[0].lasts + shares[1].lasts, 2);
    fx->w = NULL;
    free(shares);
}

#define WITH_WRITER(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_WRITER(sinks_that_share_a_thread_have_it_in_turn),
        WITH_WRITER(leaving_waits_for_nobody),
        WITH_WRITER(sinks_may_leave_in_their_callbacks),
    };

    sem_init(&gate, 0, 0);
    sem_init(&at_gate, 0, 0);
    threads_at_start = rig_threads();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
