/* The advice that a user gets about a program that cannot be started. */
#include "endpoints/run/advice.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void check_has(const char *words, const char *advice)
{
    if (strstr(advice, words) == NULL)
        fail_msg("no \"%s\" in \"%s\"", words, advice);
    assert_memory_equal(advice, " (", 2);
    assert_int_equal(advice[strlen(advice) - 1], ')');
}

/* Words that are probably a shell command, an option or a whole command
 * line. */
static void a_word_that_is_something_else_is_known(void **state)
{
    (void)state;
    check_has("sh -c", ep_advice_word("echo hi"));
    check_has("sh -c", ep_advice_word("a;b"));
    check_has("sh -c", ep_advice_word("export"));
    check_has("--env", ep_advice_word("A=1"));
    check_has("before", ep_advice_word("--label"));
    check_has("outside of quotes", ep_advice_word("~/bin/a"));
    assert_string_equal(ep_advice_word("program"), "");
    assert_string_equal(ep_advice_word("./a=b"), "");
    assert_string_equal(ep_advice_word("=1"), "");
    assert_string_equal(ep_advice_word(""), "");
}

static void advice_goes_by_the_step_and_the_error(void **state)
{
    (void)state;
    check_has("PATH", ep_advice("exec", "program", ENOENT));
    check_has("sh -c", ep_advice("exec", "a b", ENOENT));
    check_has("chmod", ep_advice("exec", "./a b", EACCES));
    check_has("#!", ep_advice("interpreter", "./a b", ENOENT));
    assert_string_equal(ep_advice("exec", "./program", ENOENT), "");
    assert_string_equal(ep_advice("exec", "a b", EISDIR), "");
    assert_string_equal(ep_advice("chdir", "program", ENOENT), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_word_that_is_something_else_is_known),
        cmocka_unit_test(advice_goes_by_the_step_and_the_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
