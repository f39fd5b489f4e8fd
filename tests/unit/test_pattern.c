/* Patterns match bytes, are refused with a reason, and give up at limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/base/err.h"
#include "text/pattern.h"

static struct text_patterns *set;
static uint64_t cpu_ns;

/* A clock that says that a whole second has gone with each look. */
static uint64_t fast_clock(void)
{
    cpu_ns += UINT64_C(1000000000);
    return cpu_ns;
}

static int open_set(void **state)
{
    (void)state;
    return text_patterns_open(NULL, &set);
}

static int close_set(void **state)
{
    (void)state;
    text_patterns_close(set);
    return 0;
}

static void add(const char *text)
{
    struct text_pattern_fault fault;

    assert_int_equal(text_patterns_add(set, text, &fault), 0);
}

static bool match(const char *line, size_t len_bytes)
{
    bool is_limited = false;
    const bool is_match =
        text_patterns_match(set, (const uint8_t *)line, len_bytes, &is_limited);

    assert_false(is_limited);
    return is_match;
}

static void one_of_them_has_to_match(void **state)
{
    (void)state;
    assert_false(match("x", 1));
    add("err(or)?:");
    add("^w");
    assert_true(match("an error: 7", 11));
    assert_true(match("warn", 4));
    assert_false(match("a warning", 9));
    assert_false(match("", 0));
}

/* A line may have any bytes; what is no UTF-8 is no fault. */
static void bytes_are_bytes(void **state)
{
    (void)state;
    add("a\\x00b");
    add("\\xff$");
    assert_true(match("..a\0b..", 7));
    assert_true(match("x\xff", 2));
    assert_false(match("x\xc3\xbf\xfe", 4));
}

/* A line of many slices matches at its last byte, over the border of slices,
 * and at its begin alone for an anchored pattern. */
static void long_lines_match_everywhere(void **state)
{
    static char line[65536];

    (void)state;
    memset(line, 'x', sizeof(line));
    add("y$");
    add("(?<=x)z");
    assert_false(match(line, sizeof(line)));
    line[sizeof(line) - 1] = 'y';
    assert_true(match(line, sizeof(line)));
    line[sizeof(line) - 1] = 'x';
    for (size_t at = 1000; at < 5000; at++) {
        line[at] = 'z';
        assert_true(match(line, sizeof(line)));
        line[at] = 'x';
    }
    line[1024] = 'a';
    text_patterns_close(set);
    assert_int_equal(text_patterns_open(NULL, &set), 0);
    add("^a");
    assert_false(match(line, sizeof(line)));
    line[0] = 'a';
    assert_true(match(line, sizeof(line)));
}

static void a_bad_pattern_is_refused(void **state)
{
    struct text_pattern_fault fault;
    char *longer = malloc(TEXT_PATTERN_BYTES_MAX + 2);

    (void)state;
    assert_int_equal(text_patterns_add(set, "a(b", &fault), OV_EINVAL);
    assert_string_equal(fault.why, "missing closing parenthesis");
    assert_int_equal(fault.at_bytes, 3);
    assert_int_equal(text_patterns_add(set, "(*UTF)a", &fault), OV_EINVAL);
    assert_non_null(longer);
    memset(longer, 'a', TEXT_PATTERN_BYTES_MAX + 1);
    longer[TEXT_PATTERN_BYTES_MAX + 1] = '\0';
    assert_int_equal(text_patterns_add(set, longer, &fault), OV_EINVAL);
    assert_string_equal(fault.why, "more than 4096 bytes");
    free(longer);
    for (unsigned i = 0; i < TEXT_PATTERNS_MAX; i++)
        add("x");
    assert_int_equal(text_patterns_add(set, "x", &fault), OV_EFULL);
}

/* A pattern that would try for hours is given up; another one may match all the
 * same. */
static void a_limit_is_told(void **state)
{
    const char line[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!";
    bool is_limited = false;

    (void)state;
    add("^(a+)+$");
    assert_false(text_patterns_match(set, (const uint8_t *)line,
                                     sizeof(line) - 1, &is_limited));
    assert_true(is_limited);
    add("!");
    is_limited = false;
    assert_true(text_patterns_match(set, (const uint8_t *)line,
                                    sizeof(line) - 1, &is_limited));
    assert_false(is_limited);
}

/* Time is a limit for all lines together, short ones too, from one begin to the
 * next. */
static void time_is_a_limit(void **state)
{
    static uint8_t line[5000];
    bool is_limited = false;
    unsigned lines = 0;

    (void)state;
    text_patterns_close(set);
    assert_int_equal(text_patterns_open(fast_clock, &set), 0);
    add("b");
    text_patterns_begin(set);
    for (; !is_limited; lines++)
        assert_false(text_patterns_match(set, line, 40, &is_limited));
    assert_in_range(lines, 2, 20);
    is_limited = false;
    assert_false(text_patterns_match(set, line, 1, &is_limited));
    assert_true(is_limited);
    text_patterns_begin(set);
    is_limited = false;
    assert_false(text_patterns_match(set, line, 1, &is_limited));
    assert_false(is_limited);
    assert_false(text_patterns_match(set, line, sizeof(line), &is_limited));
    assert_true(is_limited);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_set, close_set)
    const struct CMUnitTest tests[] = {
        CASE(one_of_them_has_to_match),
        CASE(bytes_are_bytes),
        CASE(long_lines_match_everywhere),
        CASE(a_bad_pattern_is_refused),
        CASE(a_limit_is_told),
        CASE(time_is_a_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
