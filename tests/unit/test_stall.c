/* Which processes make no progress, over simulated hours. */
#include "job/stall.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

#define S  UINT64_C(1000000000)
#define MS UINT64_C(1000000)

enum { EVERY_MS = 400 };

static const struct job_stall_limit minute = {60 * S, true};
static const struct job_stall_limit minute_all = {60 * S, false};

/* A process that is looked at again and again. */
struct watched {
    struct job_stall stall;
    struct job_stall_sample sample;
    uint64_t now_ns;
    uint64_t told_ns; /* when the process was last reported */
    unsigned told, went_on;
};

static struct watched begin(enum job_doing doing)
{
    return (struct watched){.sample = {.doing = doing, .members = 7},
                            .now_ns = S};
}

/* Lets time pass, in which the process uses this many ticks and moves this many
 * bytes between two looks. */
static void pass(struct watched *w, const struct job_stall_limit *limit,
                 uint64_t s, uint64_t ticks, uint64_t bytes)
{
    const uint64_t end_ns = w->now_ns + s * S;

    while (w->now_ns < end_ns) {
        enum job_doing news;

        w->now_ns += EVERY_MS * MS;
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
    /* The look happens while the process waits for a moment, for example for
     * memory. */
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
        w.sample.members = i; /* the process has started another one */
        pass(&w, &minute, 50, 0, 0);
        w.sample.moved_bytes--; /* the other process has ended */
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

/* No time passes while the user has stopped it; then it begins anew, also for
 * one that has been reported. */
static void one_that_the_user_stops_is_not_told(void **state)
{
    struct watched w = begin(JOB_DOING_STOPPED);

    (void)state;
    pass(&w, &minute, 50, 0, 0);
    job_stall_pause(&w.stall, true);
    pass(&w, &minute, 3600, 0, 0);
    job_stall_pause(&w.stall, false);
    pass(&w, &minute, 50, 0, 0);
    assert_int_equal(w.told, 0);
    pass(&w, &minute, 50, 0, 0);
    assert_int_equal(w.told, 1);
    job_stall_pause(&w.stall, true);
    job_stall_pause(&w.stall, false);
    pass(&w, &minute, 100, 0, 9);
    assert_int_equal(w.told, 1);
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

/* --- the pace of looks */

/* What looks cost where 4000 of 4500 processes are in families of 2000, and
 * one in three has run since the last look. A look that read each of them would
 * take 74 ms of a processor. */
enum { LOOK_MS = 30, BUSY = 3 };

/* Looks at a process that makes progress until it is stopped at stop_ns, and
 * returns when it is reported. A look takes longer than it computes,
 * as others use the processors, too. */
static uint64_t told_at(const struct job_stall_limit *limit, uint64_t stop_ns)
{
    const uint64_t took_ns = LOOK_MS * MS;
    struct job_stall stall = {0};
    uint64_t begun_ns = S;

    for (;;) {
        const bool is_stopped = begun_ns >= stop_ns;
        const struct job_stall_sample sample = {
            .moved_bytes = is_stopped ? 0 : begun_ns,
            .doing = is_stopped ? JOB_DOING_STOPPED : JOB_DOING_WAITS};
        const enum job_doing news =
            job_stall_step(&stall, limit, &sample, begun_ns);
        const uint64_t due_ns = stall.since_ns + limit->ns - begun_ns;
        const uint64_t pace_ns = job_stall_pace(took_ns, due_ns);

        if (news != JOB_DOING_UNKNOWN)
            return begun_ns + BUSY * took_ns + JOB_STALL_GATHER_MS * MS;
        begun_ns += pace_ns > BUSY * took_ns ? pace_ns : BUSY * took_ns;
    }
}

static void one_of_2000_is_told_a_second_after_the_limit(void **state)
{
    static const struct job_stall_limit limits[] = {{5 * S, true},
                                                    {20 * S, true}};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        for (uint64_t stop_ns = 3 * S; stop_ns < 5 * S; stop_ns += 7 * MS)
            assert_in_range(told_at(&limits[i], stop_ns) - stop_ns,
                            limits[i].ns, limits[i].ns + S);
    }
}

/* However much there is to look at. */
static void looks_take_a_tenth_of_a_processor(void **state)
{
    (void)state;
    assert_int_equal(job_stall_pace(1 * MS, UINT64_MAX),
                     JOB_STALL_LOOK_MS * MS);
    assert_int_equal(job_stall_pace(74 * MS, UINT64_MAX), 740 * MS);
    assert_int_equal(job_stall_pace(74 * MS, 100 * MS), 100 * MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_is_stopped_is_told_once_within_a_second),
        cmocka_unit_test(an_hour_of_quiet_computing_is_progress),
        cmocka_unit_test(quiet_computing_is_told_where_it_is_no_progress),
        cmocka_unit_test(each_kind_of_progress_counts),
        cmocka_unit_test(one_that_goes_on_may_be_told_again),
        cmocka_unit_test(one_that_the_user_stops_is_not_told),
        cmocka_unit_test(without_a_limit_nothing_is_told),
        cmocka_unit_test(one_of_2000_is_told_a_second_after_the_limit),
        cmocka_unit_test(looks_take_a_tenth_of_a_processor),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
