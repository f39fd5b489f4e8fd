/* Which of several failures is the first. */
#include "job/failure.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

enum { START_MS = 5000 };

static int exit_of(int code) /* as waitpid() has it */
{
    return code << 8;
}

static void add(struct job_failure *failure, uint32_t rank, uint64_t ms)
{
    job_failure_add(failure, rank, exit_of((int)rank + 1),
                    (START_MS + ms) * MS);
}

static void expect(const struct job_failure *failure, uint32_t count,
                   uint32_t rank)
{
    assert_int_equal(failure->count, count);
    assert_int_equal(failure->rank, rank);
    assert_int_equal(failure->status, exit_of((int)rank + 1));
    assert_int_equal(failure->since_ns, START_MS * MS);
}

static void one_alone_is_the_first(void **state)
{
    struct job_failure failure = {0};

    (void)state;
    add(&failure, 7, 0);
    expect(&failure, 1, 7);
}

static void in_the_same_moment_the_lowest_rank_is_the_first(void **state)
{
    static const uint32_t orders[][3] = {{2, 5, 9}, {2, 9, 5}, {5, 2, 9},
                                         {5, 9, 2}, {9, 2, 5}, {9, 5, 2}};

    (void)state;
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        struct job_failure failure = {0};

        for (size_t j = 0; j < 3; j++)
            add(&failure, orders[i][j], j == 0 ? 0 : 33 * j);
        expect(&failure, 3, 2);
    }
}

/* The moment is that of the first word, whatever comes later. */
static void later_ones_change_nothing(void **state)
{
    struct job_failure failure = {0};

    (void)state;
    add(&failure, 9, 0);
    add(&failure, 5, 99);
    expect(&failure, 2, 5);
    add(&failure, 3, 100);
    add(&failure, 1, 198);
    add(&failure, 0, 100000);
    expect(&failure, 5, 5);
}

static void rank_0_at_time_0_counts(void **state)
{
    struct job_failure failure = {0};

    (void)state;
    job_failure_add(&failure, 0, exit_of(4), 0);
    job_failure_add(&failure, 1, exit_of(5), 0);
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
        cmocka_unit_test(later_ones_change_nothing),
        cmocka_unit_test(rank_0_at_time_0_counts),
        cmocka_unit_test(codes_are_those_of_a_shell),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
