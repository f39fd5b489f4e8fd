/* Finds the first of several failures. */
#include "job/failure.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

enum { START_MS = 5000 };

static int exit_of(int code) /* The status of an exit with this code, as
                              * waitpid() gives it. */
{
    return code << 8;
}

/* Adds a process that failed between these two times. */
static void add(struct job_failure *failure, uint32_t rank, uint64_t first_ms,
                uint64_t last_ms)
{
    job_failure_add(failure, rank, exit_of((int)rank + 1),
                    (struct job_span){(START_MS + first_ms) * MS,
                                      (START_MS + last_ms) * MS});
}

/* Checks that this many have failed, and that the first was one of `firsts`,
 * whose lowest rank this is. */
static void expect(const struct job_failure *failure, uint32_t count,
                   uint32_t firsts, uint32_t rank)
{
    assert_int_equal(failure->count, count);
    assert_int_equal(failure->firsts_count, firsts);
    assert_int_equal(failure->rank, rank);
    assert_int_equal(failure->status, exit_of((int)rank + 1));
}

static void one_alone_is_the_first(void **state)
{
    struct job_failure failure = {0};

    (void)state;
    add(&failure, 7, 0, 3);
    expect(&failure, 1, 1, 7);
    assert_int_equal(job_failure_unsure_ns(&failure), 0);
}

static void in_the_same_moment_the_lowest_rank_is_the_first(void **state)
{
    static const uint32_t orders[][3] = {{2, 5, 9}, {2, 9, 5}, {5, 2, 9},
                                         {5, 9, 2}, {9, 2, 5}, {9, 5, 2}};

    (void)state;
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        struct job_failure failure = {0};

        for (size_t j = 0; j < 3; j++)
            add(&failure, orders[i][j], 10 + j, 20 + j);
        expect(&failure, 3, 3, 2);
        assert_int_equal(job_failure_unsure_ns(&failure), 12 * MS);
    }
}

static void the_earlier_one_is_the_first(void **state)
{
    struct job_failure failure = {0};

    (void)state;
    add(&failure, 3, 50, 60);
    add(&failure, 1, 61, 61);
    expect(&failure, 2, 1, 3);
    add(&failure, 9, 40,
        49); /* this failure is reported last, but was the first */
    expect(&failure, 3, 1, 9);
}

/* One exactly known time decides the order of others that was open before. */
static void one_narrows_the_others(void **state)
{
    struct job_failure failure = {0};

    (void)state;
    add(&failure, 1, 30, 90);
    add(&failure, 4, 10, 80);
    expect(&failure, 2, 2, 1);
    add(&failure, 6, 20, 29);
    expect(&failure, 3, 2, 4);
    assert_int_equal(failure.firsts[1].rank, 6);
}

static void too_many_leave_out_the_highest_ranks(void **state)
{
    struct job_failure failure = {0};

    (void)state;
    for (uint32_t rank = 100; rank > 0; rank--)
        add(&failure, rank, 0, 10);
    expect(&failure, 100, JOB_FAILURE_FIRSTS, 1);
    assert_int_equal(failure.firsts[JOB_FAILURE_FIRSTS - 1].rank,
                     JOB_FAILURE_FIRSTS);
}

/* The process that certainly ended first is kept, as it may turn out to be the
 * first. */
static void who_was_over_first_stays(void **state)
{
    struct job_failure failure = {0};

    (void)state;
    add(&failure, 200, 0, 50);
    for (uint32_t rank = 0; rank < 20; rank++)
        add(&failure, rank, 49, 90);
    expect(&failure, 21, JOB_FAILURE_FIRSTS, 0);
    add(&failure, 300, 40, 48);
    expect(&failure, 22, 2, 200);
    for (uint32_t rank = 20; rank < 60; rank++)
        add(&failure, rank, 41, 90);
    add(&failure, 400, 39, 47);
    assert_int_equal(failure.firsts_count, JOB_FAILURE_FIRSTS);
    assert_int_equal(failure.firsts[JOB_FAILURE_FIRSTS - 1].rank, 400);
}

static void rank_0_at_time_0_counts(void **state)
{
    struct job_failure failure = {0};

    (void)state;
    job_failure_add(&failure, 0, exit_of(4), (struct job_span){0, 0});
    job_failure_add(&failure, 1, exit_of(5), (struct job_span){0, 0});
    assert_int_equal(failure.count, 2);
    assert_int_equal(failure.rank, 0);
    assert_int_equal(failure.status, exit_of(4));
}

static void codes_are_those_of_a_shell(void **state)
{
    (void)state;
    assert_int_equal(job_failure_code(exit_of(0)), 0);
    assert_int_equal(job_failure_code(exit_of(1)), 1);
    assert_int_equal(job_failure_code(exit_of(255)), 255);
    assert_int_equal(job_failure_code(SIGKILL), 128 + SIGKILL);
    assert_int_equal(job_failure_code(SIGSEGV | 0x80), 128 + SIGSEGV);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_alone_is_the_first),
        cmocka_unit_test(in_the_same_moment_the_lowest_rank_is_the_first),
        cmocka_unit_test(the_earlier_one_is_the_first),
        cmocka_unit_test(one_narrows_the_others),
        cmocka_unit_test(too_many_leave_out_the_highest_ranks),
        cmocka_unit_test(who_was_over_first_stays),
        cmocka_unit_test(rank_0_at_time_0_counts),
        cmocka_unit_test(codes_are_those_of_a_shell),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
