/* The groups of processes that ended in the same way, and which groups are
 * shown. */
#include "job/census.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct job_census census;
static struct job_census_view view;

static int begin(void **state)
{
    (void)state;
    census = (struct job_census){0};
    return 0;
}

/* Notes that `count` processes return this code; the first of them has rank
 * `first`. */
static void exits(uint32_t first, uint32_t count, int code)
{
    for (uint32_t i = 0; i < count; i++)
        job_census_add(&census, first + i, code << 8, JOB_EXIT_ITSELF);
}

static const struct job_exits *shown(uint32_t i)
{
    assert_true(i < view.shown_count);
    return &census.groups[view.shown[i]];
}

static void those_that_end_alike_are_a_group(void **state)
{
    (void)state;
    assert_int_equal(job_census_add(&census, 9, 1 << 8, JOB_EXIT_ITSELF), 0);
    assert_int_equal(job_census_add(&census, 5, 2 << 8, JOB_EXIT_ITSELF), 1);
    assert_int_equal(job_census_add(&census, 4, 1 << 8, JOB_EXIT_ITSELF), 0);
    assert_int_equal(census.count, 2);
    assert_int_equal(census.groups[0].count, 2);
    assert_int_equal(census.groups[0].first, 4);
    assert_int_equal(census.groups[0].status, 1 << 8);
}

static void a_core_dump_makes_no_difference(void **state)
{
    (void)state;
    job_census_add(&census, 0, SIGSEGV, JOB_EXIT_ITSELF);
    job_census_add(&census, 1, SIGSEGV | 0x80, JOB_EXIT_ITSELF);
    assert_int_equal(census.count, 1);
    assert_int_equal(census.groups[0].status, SIGSEGV);
}

static void the_cause_makes_a_difference(void **state)
{
    (void)state;
    job_census_add(&census, 0, SIGKILL, JOB_EXIT_ITSELF);
    job_census_add(&census, 1, SIGKILL, JOB_EXIT_KILLED);
    job_census_add(&census, 2, SIGKILL, JOB_EXIT_SIGNAL);
    assert_int_equal(census.count, 3);
}

static void a_full_table_has_a_group_for_the_rest(void **state)
{
    (void)state;
    for (int code = 1; code <= 255; code++)
        exits((uint32_t)code, 1, code);
    assert_int_equal(census.count, JOB_CENSUS_GROUPS);
    const struct job_exits *last = &census.groups[JOB_CENSUS_GROUPS - 1];
    assert_int_equal(last->cause, JOB_EXIT_OTHER);
    assert_int_equal(last->count, 255 - JOB_CENSUS_GROUPS + 1);
    assert_int_equal(last->first, JOB_CENSUS_GROUPS);
}

static void larger_groups_come_first(void **state)
{
    (void)state;
    job_census_add(&census, 0, SIGKILL, JOB_EXIT_KILLED);
    job_census_add(&census, 1, SIGINT, JOB_EXIT_SIGNAL);
    exits(30, 1, 3);
    exits(20, 1, 2);
    exits(40, 2, 4);
    job_census_view(&census, 9, UINT32_MAX, &view);
    assert_int_equal(view.shown_count, 5);
    assert_int_equal(view.left_groups, 0);
    assert_int_equal(shown(0)->first, 40);
    assert_int_equal(shown(1)->first, 20);
    assert_int_equal(shown(2)->first, 30);
    assert_int_equal(shown(3)->cause, JOB_EXIT_SIGNAL);
    assert_int_equal(shown(4)->cause, JOB_EXIT_KILLED);
}

static void the_smallest_are_left_out(void **state)
{
    (void)state;
    job_census_add(&census, 0, SIGKILL, JOB_EXIT_KILLED);
    for (int code = 1; code <= 8; code++)
        exits((uint32_t)(code * 100), (uint32_t)code, code);
    job_census_view(&census, 9, UINT32_MAX, &view);
    assert_int_equal(view.shown_count, 9);
    assert_int_equal(view.left_groups, 0);

    exits(900, 9, 9);
    job_census_view(&census, 9, UINT32_MAX, &view);
    assert_int_equal(view.shown_count, 8);
    assert_int_equal(view.left_groups, 2);
    assert_int_equal(view.left_processes, 1 + 2);
    assert_int_equal(shown(0)->status, 9 << 8);
    assert_int_equal(shown(6)->status, 3 << 8);
    assert_int_equal(shown(7)->cause, JOB_EXIT_KILLED);
}

static void no_line_is_too_much_when_only_signals_are_there(void **state)
{
    (void)state;
    for (int signo = 1; signo <= 12; signo++)
        job_census_add(&census, (uint32_t)signo, signo, JOB_EXIT_SIGNAL);
    job_census_view(&census, 9, UINT32_MAX, &view);
    assert_int_equal(view.shown_count, 8);
    assert_int_equal(view.left_groups, 4);
    assert_int_equal(view.left_processes, 4);
}

static void who_is_named_already_has_no_group(void **state)
{
    (void)state;
    exits(3, 1, 1);
    exits(5, 2, 2);
    job_census_view(&census, 9, 3, &view);
    assert_int_equal(view.shown_count, 1);
    assert_int_equal(shown(0)->first, 5);
    job_census_view(&census, 9, 5, &view);
    assert_int_equal(view.shown_count, 2);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, begin)
    const struct CMUnitTest tests[] = {
        TEST(those_that_end_alike_are_a_group),
        TEST(a_core_dump_makes_no_difference),
        TEST(the_cause_makes_a_difference),
        TEST(a_full_table_has_a_group_for_the_rest),
        TEST(larger_groups_come_first),
        TEST(the_smallest_are_left_out),
        TEST(no_line_is_too_much_when_only_signals_are_there),
        TEST(who_is_named_already_has_no_group),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
