/* Resource limits and their names. */
#include "job/manners.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Names of limits travel in the text of a job: they are the system's names,
 * none is missing and none comes twice. */
static void each_limit_has_a_name_of_its_own(void **state)
{
    (void)state;
    assert_string_equal(job_manners_name(JOB_MANNERS_AS), "as");
    assert_string_equal(job_manners_name(JOB_MANNERS_NOFILE), "nofile");
    assert_string_equal(job_manners_name(JOB_MANNERS_STACK), "stack");
    for (unsigned i = 0; i < JOB_MANNERS_LIMITS; i++) {
        const char *name = job_manners_name((enum job_manners_limit)i);

        assert_true(strlen(name) > 0);
        /* each host has its own limit on locked memory */
        assert_string_not_equal(name, "memlock");
        for (unsigned other = 0; other < i; other++)
            assert_string_not_equal(
                name, job_manners_name((enum job_manners_limit)other));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_limit_has_a_name_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
