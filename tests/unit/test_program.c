/* Requests for programs, and the programs of a job. */
#include "job/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* The original is overwritten, and the job's program stays as it was. */
static void a_program_is_copied_and_lent_again(void **state)
{
    char word[] = "ls", dir[] = "/tmp";
    const char *const argv[] = {word, "-l", NULL};
    const struct job_program lent = {argv, dir, true};
    struct job_app app = {0};
    struct job_program back;

    (void)state;
    assert_int_equal(job_app_set(&app, &lent), 0);
    memset(word, 'x', 2);
    memset(dir, 'x', 4);
    back = job_app_program(&app);
    assert_string_equal(back.argv[0], "ls");
    assert_string_equal(back.argv[1], "-l");
    assert_null(back.argv[2]);
    assert_string_equal(back.cwd, "/tmp");
    assert_true(back.cwd_is_optional);
    job_app_fini(&app);
}

static void a_program_needs_no_directory(void **state)
{
    const char *const argv[] = {"ls", NULL};
    const struct job_program lent = {.argv = argv};
    struct job_app app = {0};

    (void)state;
    assert_int_equal(job_app_set(&app, &lent), 0);
    assert_null(job_app_program(&app).cwd);
    assert_false(job_app_program(&app).cwd_is_optional);
    job_app_fini(&app);
}

/* There are more strings than the array has room for at first, and NULL follows
 * the last. */
static void strings_are_copied_in_their_order(void **state)
{
    struct job_strings strings = {0};
    char text[] = "a";

    (void)state;
    for (uint32_t i = 0; i < 20; i++) {
        text[0] = (char)('a' + i);
        assert_int_equal(job_strings_add(&strings, text), 0);
        assert_null(strings.at[i + 1]);
    }
    assert_int_equal(strings.count, 20);
    assert_string_equal(strings.at[0], "a");
    assert_string_equal(strings.at[19], "t");
    job_strings_fini(&strings);
    assert_null(strings.at);
}

static void a_string_takes_the_place_of_another(void **state)
{
    char *at = NULL;
    struct job_app app = {0};

    (void)state;
    assert_int_equal(job_set_string(&at, "one"), 0);
    assert_string_equal(at, "one");
    assert_int_equal(job_set_string(&at, "another"), 0);
    assert_string_equal(at, "another");
    assert_int_equal(job_set_string(&at, NULL), 0);
    assert_null(at);
    assert_int_equal(job_set_string(&at, "/"), 0);
    app.cwd = at;
    job_app_fini(&app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_is_copied_and_lent_again),
        cmocka_unit_test(a_program_needs_no_directory),
        cmocka_unit_test(strings_are_copied_in_their_order),
        cmocka_unit_test(a_string_takes_the_place_of_another),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
