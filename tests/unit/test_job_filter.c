/* What a job leaves out is copied whole. */
#include "job/filter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void a_copy_is_equal_and_apart(void **state)
{
    struct job_filter from = {.tail = 7, .keeps_last = true}, to;

    (void)state;
    assert_int_equal(job_strings_add(&from.grep, "a"), 0);
    assert_int_equal(job_strings_add(&from.grep, "b"), 0);
    assert_int_equal(job_strings_add(&from.grep_v, "c"), 0);
    assert_int_equal(job_filter_copy(&to, &from), 0);
    job_filter_fini(&from);
    assert_int_equal(to.grep.count, 2);
    assert_string_equal(to.grep.at[1], "b");
    assert_string_equal(to.grep_v.at[0], "c");
    assert_int_equal(to.tail, 7);
    assert_true(to.keeps_last);
    job_filter_fini(&to);
}

/* Progress bars are no lines. */
static void any_rule_of_lines_counts(void **state)
{
    (void)state;
    assert_false(job_filter_has_rules(&(struct job_filter){.head = 0}));
    assert_false(
        job_filter_has_rules(&(struct job_filter){.keeps_last = true}));
    assert_true(job_filter_has_rules(&(struct job_filter){.head = 1}));
    assert_true(job_filter_has_rules(&(struct job_filter){.tail = 1}));
    assert_true(job_filter_has_rules(&(struct job_filter){.rate = 1}));
    assert_true(job_filter_has_rules(&(struct job_filter){.budget_bytes = 1}));
    assert_true(job_filter_has_rules(&(struct job_filter){.grep.count = 1}));
    assert_true(job_filter_has_rules(&(struct job_filter){.grep_v.count = 1}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_is_equal_and_apart),
        cmocka_unit_test(any_rule_of_lines_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
