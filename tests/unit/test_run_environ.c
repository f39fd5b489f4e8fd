/* The environment of a program that runs beside the run: one list of
 * changes. */
#include "endpoints/run/environ.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Returns the result of these changes to A=1 B=2 A=3, separated by blanks. */
static const char *made_by(const struct job_env *env, uint32_t count)
{
    static char *const own[] = {"A=1", "B=2", "A=3", NULL};
    static char words[256];
    const struct job_strings run = {.at = (char **)own, .count = 3};
    const struct job_wish wish = {.env = env, .env_count = count};
    struct job_app app = {0};
    size_t len = 0;

    assert_int_equal(ep_run_environ(&run, &wish, &app), 0);
    words[0] = '\0';
    for (uint32_t i = 0; i < app.env.count; i++)
        len += (size_t)snprintf(words + len, sizeof(words) - len, "%s%s",
                                i > 0 ? " " : "", app.env.at[i]);
    job_app_fini(&app);
    return words;
}

static void without_changes_it_is_that_of_the_run(void **state)
{
    (void)state;
    assert_string_equal(made_by(NULL, 0), "A=1 B=2 A=3");
}

/* When a name is there twice, the last value holds, and one entry is left. */
static void each_change_does_what_it_says(void **state)
{
    static const struct {
        struct job_env change;
        const char *made;
    } cases[] = {
        {{JOB_ENV_SET, 0, "A=4"}, "B=2 A=4"},
        {{JOB_ENV_SET, 0, "C=4"}, "A=1 B=2 A=3 C=4"},
        {{JOB_ENV_ADD, 0, "A=4"}, "B=2 A=3"},
        {{JOB_ENV_ADD, 0, "C=4"}, "A=1 B=2 A=3 C=4"},
        {{JOB_ENV_UNSET, 0, "A"}, "B=2"},
        {{JOB_ENV_UNSET, 0, "C"}, "A=1 B=2 A=3"},
        {{JOB_ENV_CLEAR, 0, ""}, ""},
        {{JOB_ENV_PREPEND, ':', "A=4"}, "B=2 A=4:3"},
        {{JOB_ENV_APPEND, ',', "A=4"}, "B=2 A=3,4"},
        {{JOB_ENV_APPEND, ',', "C=4"}, "A=1 B=2 A=3 C=4"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(made_by(&cases[i].change, 1), cases[i].made);
}

static void changes_are_made_one_after_another(void **state)
{
    static const struct job_env changes[] = {
        {JOB_ENV_UNSET, 0, "A"},
        {JOB_ENV_ADD, 0, "A=5"},
        {JOB_ENV_APPEND, ':', "A=6"},
        {JOB_ENV_SET, 0, "B="},
    };

    (void)state;
    assert_string_equal(made_by(changes, COUNT(changes)), "A=5:6 B=");
}

static void what_comes_after_a_clear_is_there(void **state)
{
    static const struct job_env changes[] = {
        {JOB_ENV_SET, 0, "C=4"},
        {JOB_ENV_CLEAR, 0, ""},
        {JOB_ENV_APPEND, ':', "A=6"},
        {JOB_ENV_SET, 0, "B="},
    };

    (void)state;
    assert_string_equal(made_by(changes, COUNT(changes)), "A=6 B=");
}

/* Names are compared as a whole, except for the prefixes. */
static void what_is_the_launchers_own_is_private(void **state)
{
    static const char *const private[] = {
        "_=/bin/true",  "PWD=/",      "OLDPWD=/",       "SHLVL=1",
        "XYLEM_BUILD=", "PMIX_RANK=", "BASH_FUNC_x%%=", "SLURM_PROCID=3",
    };
    static const char *const passed_on[] = {
        "PATH=/bin", "PWDS=/", "__=1", "XYLEM=1", "SLURM_JOB_ID=7", "",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(private); i++)
        assert_true(ep_run_env_is_private(private[i]));
    for (size_t i = 0; i < COUNT(passed_on); i++)
        assert_false(ep_run_env_is_private(passed_on[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_changes_it_is_that_of_the_run),
        cmocka_unit_test(each_change_does_what_it_says),
        cmocka_unit_test(changes_are_made_one_after_another),
        cmocka_unit_test(what_comes_after_a_clear_is_there),
        cmocka_unit_test(what_is_the_launchers_own_is_private),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
