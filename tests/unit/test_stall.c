/* Which processes make no progress, over hours of their time. */
#include "job/stall.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define S UINT64_C(1000000000)

enum { EVERY_MS = 400 };

static const struct job_stall_limit minute = {60 * S, true};
static const struct job_stall_limit minute_all = {60 * S, false};

/* A process that is looked at all the time. */
struct watched {
    struct job_stall stall;
    struct job_stall_sample sample;
    uint64_t now_ns;
    uint64_t told_ns; /* when it was last told */
    unsigned told, went_on;
};

static struct watched begin(enum job_doing doing)
{
    return (struct watched){.sample = {.doing = doing, .members = 7},
                            .now_ns = S};
}

/* Lets time pass, in which the process uses so many ticks and moves so many
 * bytes between two looks. */
static void pass(struct watched *w, const struct job_stall_limit *limit,
                 uint64_t s, uint64_t ticks, uint64_t bytes)
{
    const uint64_t end_ns = w->now_ns + s * S;

    while (w->now_ns < end_ns) {
        enum job_doing news;

        w->now_ns += EVERY_MS * UINT64_C(1000000);
        w->sample.cpu_ticks += ticks;
        w->sample.moved_bytes += bytes;
        news = job_stall_step(&w->stall, limit, &w->sample, w->now_ns);
        if (news == JOB_DOING_GOES_ON) {
            w->went_on++;
        } else if (news != JOB_DOING_UNKNOWN) {
            assert_int_equal(news, w->sample.doing);
            w->told++;
            w->told_ns = w->now_ns;
        }
    }
}

static void one_that_is_stopped_is_told_once_within_a_second(void **state)
{
    struct watched w = begin(JOB_DOING_COMPUTES);
    uint64_t stopped_ns;

    (void)state;
    pass(&w, &minute, 300, 40, 0);
    stopped_ns = w.now_ns;
    w.sample.doing = JOB_DOING_STOPPED;
    pass(&w, &minute, 3600, 0, 0);
    assert_int_equal(w.told, 1);
    assert_in_range(w.told_ns - stopped_ns, 60 * S, 61 * S);
}

static void an_hour_of_quiet_computing_is_progress(void **state)
{
    struct watched w = begin(JOB_DOING_COMPUTES);

    (void)state;
    pass(&w, &minute, 3600, 40, 0);
    assert_int_equal(w.told, 0);
    /* It is looked at when it waits for a moment, as it does for memory. */
    w.sample.doing = JOB_DOING_WAITS;
    pass(&w, &minute, 3600, 1, 0);
    assert_int_equal(w.told, 0);
}

static void quiet_computing_is_told_where_it_is_no_progress(void **state)
{
    struct watched w = begin(JOB_DOING_COMPUTES);

    (void)state;
    pass(&w, &minute_all, 50, 40, 0);
    assert_int_equal(w.told, 0);
    pass(&w, &minute_all, 3600, 40, 0);
    assert_int_equal(w.told, 1);
    pass(&w, &minute_all, 1, 40, 512);
    assert_int_equal(w.went_on, 1);
}

static void each_kind_of_progress_counts(void **state)
{
    struct watched w = begin(JOB_DOING_WAITS);

    (void)state;
    for (unsigned i = 0; i < 100; i++) {
        pass(&w, &minute, 50, 0, 0);
        w.sample.output_bytes++;
        pass(&w, &minute, 50, 0, 0);
        w.sample.members = i; /* it has started another one */
        pass(&w, &minute, 50, 0, 0);
        w.sample.moved_bytes--; /* and that has ended */
    }
    assert_int_equal(w.told, 0);
}

static void one_that_goes_on_may_be_told_again(void **state)
{
    struct watched w = begin(JOB_DOING_READS);

    (void)state;
    pass(&w, &minute, 100, 0, 0);
    pass(&w, &minute, 1, 0, 10);
    pass(&w, &minute, 100, 0, 0);
    assert_int_equal(w.told, 2);
    assert_int_equal(w.went_on, 1);
}

static void without_a_limit_nothing_is_told(void **state)
{
    static const struct job_stall_limit none = {0, true};
    struct watched w = begin(JOB_DOING_WAITS);

    (void)state;
    pass(&w, &none, 3600, 0, 0);
    assert_int_equal(w.told, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_is_stopped_is_told_once_within_a_second),
        cmocka_unit_test(an_hour_of_quiet_computing_is_progress),
        cmocka_unit_test(quiet_computing_is_told_where_it_is_no_progress),
        cmocka_unit_test(each_kind_of_progress_counts),
        cmocka_unit_test(one_that_goes_on_may_be_told_again),
        cmocka_unit_test(without_a_limit_nothing_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
