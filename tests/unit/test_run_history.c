/* Jobs that are over, and when each of them is forgotten. */
#include "endpoints/run/history.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "job/job.h"

enum { SEEN_MAX = 64, EACH = 2, NODES = 3, FIRST_NODE = 4 };

struct seen {
    /* the bases of forgotten jobs */
    uint32_t forgotten[SEEN_MAX], forgotten_count;
    /* the processes that were reported as lost */
    uint32_t lost[SEEN_MAX], lost_count;
    bool is_awaited;
};

static void on_forget(void *arg, uint32_t base, uint32_t size)
{
    struct seen *seen = arg;

    assert_int_equal(size, EACH * NODES);
    assert_true(seen->forgotten_count < SEEN_MAX);
    seen->forgotten[seen->forgotten_count++] = base;
}

static void on_lost(void *arg, uint32_t first, uint32_t count)
{
    struct seen *seen = arg;

    for (uint32_t i = 0; i < count; i++) {
        assert_true(seen->lost_count < SEEN_MAX);
        seen->lost[seen->lost_count++] = first + i;
    }
}

static bool is_awaited(void *arg)
{
    return ((struct seen *)arg)->is_awaited;
}

static const struct run_history_events events = {on_forget, on_lost,
                                                 is_awaited};

/* Adds a job with two processes on each of the nodes 4, 5 and 6. */
static void add_at(struct run_history *past, uint32_t base, uint64_t now_ns)
{
    const struct job_places places = {{1, NODES}, FIRST_NODE};
    struct job job = {.base = base, .size = EACH * NODES, .nodes = NODES};
    struct job_ranks ranks = {
        .nodes = {1, NODES}, .first_rank = 0, .each = EACH};

    assert_int_equal(job_add_places(&job, places), 0);
    assert_int_equal(job_add_app(&job), 0);
    assert_int_equal(job_app_add_ranks(job_app_last(&job), ranks), 0);
    ep_run_history_add(past, &job, now_ns);
    job_fini(&job);
}

static void add(struct run_history *past, uint32_t base)
{
    add_at(past, base, 0);
}

static struct run_history *open_past(struct seen *seen)
{
    struct run_history *past;

    assert_int_equal(ep_run_history_open(&events, seen, &past), 0);
    return past;
}

static void the_first_goes_when_there_are_too_many(void **state)
{
    struct seen seen = {0};
    struct run_history *past = open_past(&seen);

    (void)state;
    for (uint32_t i = 0; i < RUN_HISTORY_MAX; i++)
        add(past, 100 + 10 * i);
    assert_int_equal(seen.forgotten_count, 0);
    add(past, 9000);
    assert_int_equal(seen.forgotten_count, 1);
    assert_int_equal(seen.forgotten[0], 100);
    ep_run_history_close(past);
    assert_int_equal(seen.forgotten_count, 1); /* no report comes */
}

static void each_goes_when_its_time_is_over(void **state)
{
    const uint64_t s = UINT64_C(1000000000), begin = 77 * s;
    struct seen seen = {0};
    struct run_history *past = open_past(&seen);

    (void)state;
    assert_false(ep_run_history_tick(past, begin));
    add_at(past, 100, begin);
    add_at(past, 200, begin + 10 * s);
    assert_true(ep_run_history_tick(past, begin + RUN_HISTORY_S * s - 1));
    assert_int_equal(seen.forgotten_count, 0);
    assert_true(ep_run_history_tick(past, begin + RUN_HISTORY_S * s));
    assert_int_equal(seen.forgotten_count, 1);
    assert_int_equal(seen.forgotten[0], 100);
    seen.is_awaited = true;
    assert_true(ep_run_history_tick(past, begin + 60 * s));
    assert_int_equal(seen.forgotten_count, 1);
    seen.is_awaited = false;
    assert_false(ep_run_history_tick(past, begin + 60 * s));
    assert_int_equal(seen.forgotten_count, 2);
    assert_int_equal(seen.forgotten[1], 200);
    ep_run_history_close(past);
}

static void they_stay_while_an_answer_is_due(void **state)
{
    struct seen seen = {.is_awaited = true};
    struct run_history *past = open_past(&seen);

    (void)state;
    for (uint32_t i = 0; i < RUN_HISTORY_MAX + 2; i++)
        add(past, 100 + 10 * i);
    assert_int_equal(seen.forgotten_count, 0);
    seen.is_awaited = false;
    add(past, 9000);
    assert_int_equal(seen.forgotten_count, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(seen.forgotten[i], 100 + 10 * i);
    ep_run_history_close(past);
}

static void a_lost_node_takes_its_processes_of_all(void **state)
{
    struct seen seen = {0};
    struct run_history *past = open_past(&seen);

    (void)state;
    add(past, 100);
    add(past, 200);
    ep_run_history_lost(past, FIRST_NODE + 1);
    assert_int_equal(seen.lost_count, 2 * EACH);
    for (uint32_t i = 0; i < EACH; i++) {
        assert_int_equal(seen.lost[i], 100 + EACH + i);
        assert_int_equal(seen.lost[EACH + i], 200 + EACH + i);
    }
    ep_run_history_lost(past, FIRST_NODE + NODES);
    ep_run_history_lost(past, 1);
    assert_int_equal(seen.lost_count, 2 * EACH);
    ep_run_history_close(past);
    ep_run_history_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_goes_when_there_are_too_many),
        cmocka_unit_test(each_goes_when_its_time_is_over),
        cmocka_unit_test(they_stay_while_an_answer_is_due),
        cmocka_unit_test(a_lost_node_takes_its_processes_of_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
