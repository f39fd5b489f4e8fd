/* Lines are given, held back and left out by the rules, and counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/chance.h"
#include "text/filter.h"
#include "text/pattern.h"

static struct text_filter filter;
static struct text_filter_rules rules;
static uint64_t now_ns;

static int clear(void **state)
{
    (void)state;
    filter = (struct text_filter){.is_open = false};
    rules = (struct text_filter_rules){.head = 0};
    now_ns = 0;
    return 0;
}

static int drop(void **state)
{
    (void)state;
    text_patterns_close(rules.grep);
    text_patterns_close(rules.grep_v);
    return 0;
}

static struct text_patterns *pattern(const char *text)
{
    struct text_pattern_fault fault;
    struct text_patterns *set;

    assert_int_equal(text_patterns_open(NULL, &set), 0);
    assert_int_equal(text_patterns_add(set, text, &fault), 0);
    return set;
}

/* What becomes of these lines: + given, ~ held back, - left out, a sign for
 * each piece. */
static const char *judged(const char *text, size_t len_bytes)
{
    static char signs[64];
    size_t count = 0;

    for (size_t at = 0; at < len_bytes;) {
        const struct text_piece piece =
            text_filter_next(&filter, &rules, (const uint8_t *)text + at,
                             (uint32_t)(len_bytes - at), now_ns);

        assert_true(count < sizeof(signs) - 1);
        signs[count++] = "+~-"[piece.verdict];
        at += piece.len_bytes;
    }
    signs[count] = '\0';
    return signs;
}

#define SEEN(text) judged(text, sizeof(text) - 1)

static void assert_left(enum text_left_reason reason, uint64_t lines,
                        uint64_t bytes)
{
    assert_int_equal(filter.left[reason].lines, lines);
    assert_int_equal(filter.left[reason].bytes, bytes);
}

static void patterns_choose_lines(void **state)
{
    (void)state;
    rules.grep = pattern("a");
    rules.grep_v = pattern("b");
    assert_string_equal(SEEN("a\nx\nab\nb\n\na"), "+----+");
    assert_left(TEXT_LEFT_GREP, 3, 5);
    assert_left(TEXT_LEFT_GREP_V, 1, 3);
    assert_int_equal(filter.limited_lines, 0);
}

static void a_limit_keeps_the_line(void **state)
{
    (void)state;
    rules.grep = pattern("^(a+)+$");
    assert_string_equal(
        SEEN("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\nb\n"), "+-");
    assert_int_equal(filter.limited_lines, 1);
    assert_left(TEXT_LEFT_GREP, 1, 2);
}

static void first_and_last_lines_come(void **state)
{
    (void)state;
    rules.head = 2;
    assert_string_equal(SEEN("a\nb\nc\nd"), "++--");
    assert_left(TEXT_LEFT_LINES, 2, 3);
    clear(NULL);
    rules.tail = 1;
    assert_string_equal(SEEN("a\nb\n"), "~~");
    assert_true(text_filter_holds(&rules));
    clear(NULL);
    rules.head = rules.tail = 1;
    assert_string_equal(SEEN("a\nb\nc\n"), "+~~");
}

/* Lines that patterns leave out use up neither lines nor the rate. */
static void lines_are_counted_behind_patterns(void **state)
{
    (void)state;
    rules.grep = pattern("a");
    rules.head = 1;
    rules.rate = 2;
    assert_string_equal(SEEN("x\nx\nx\na\na\na\n"), "---+--");
    assert_left(TEXT_LEFT_GREP, 3, 6);
    assert_left(TEXT_LEFT_LINES, 1, 2);
    assert_left(TEXT_LEFT_RATE, 1, 2);
}

static void a_rate_is_kept(void **state)
{
    (void)state;
    rules.rate = 2;
    now_ns = 5000000000;
    assert_string_equal(SEEN("a\na\na\n"), "++-");
    now_ns += 499999999;
    assert_string_equal(SEEN("a\n"), "-");
    now_ns += 1;
    assert_string_equal(SEEN("a\na\n"), "+-");
    now_ns += 10000000000; /* no more than one second is saved up */
    assert_string_equal(SEEN("a\na\na\n"), "++-");
    assert_left(TEXT_LEFT_RATE, 4, 8);
}

static void a_budget_has_two_parts(void **state)
{
    (void)state;
    rules.budget_bytes = 9; /* 5 first, 4 last */
    assert_int_equal(text_filter_held(&rules), 4);
    assert_string_equal(SEEN("ab\nabc\na\n"), "+~~");
    clear(NULL);
    rules.budget_bytes = 1 << 30;
    assert_int_equal(text_filter_held(&rules), TEXT_FILTER_HELD_MAX);
}

/* The first piece of a line decides, and only its first 64 KiB. */
static void pieces_follow_the_first(void **state)
{
    static char line[100000];

    (void)state;
    memset(line, 'x', sizeof(line));
    rules.grep = pattern("a");
    line[TEXT_FILTER_LINE_MAX] = 'a';
    line[sizeof(line) - 1] = '\n';
    assert_string_equal(judged(line, sizeof(line)), "-");
    assert_string_equal(judged(line, 70000), "-");
    assert_string_equal(judged(line, 30000), "-");
    assert_string_equal(SEEN("a\n"), "-");
    assert_left(TEXT_LEFT_GREP, 2, sizeof(line) + 100002);
    line[TEXT_FILTER_LINE_MAX - 1] = 'a';
    assert_string_equal(judged(line, 65536), "+");
    assert_string_equal(SEEN("x\nx\n"), "+-");
}

/* --- against a model */

/* What becomes of a line that comes whole, as the words in the head of filter.h
 * say. */
static char expect(const char *line, size_t len, uint32_t *passed,
                   uint64_t *given, bool *is_spent)
{
    if (memchr(line, 'a', len) == NULL || memchr(line, 'b', len) != NULL)
        return '-';
    ++*passed;
    if (rules.head + rules.tail > 0 && *passed > rules.head)
        return rules.tail > 0 ? '~' : '-';
    *is_spent = *is_spent ||
                *given + len > rules.budget_bytes - text_filter_held(&rules);
    if (rules.budget_bytes > 0 && *is_spent)
        return '~';
    *given += len;
    return '+';
}

static void random_lines_are_judged_as_by_a_model(void **state)
{
    struct chance chance = chance_start(23);

    (void)state;
    for (unsigned trial = 0; trial < 300; trial++) {
        uint64_t lines = 0, bytes = 0, given = 0, kept_bytes = 0;
        bool is_spent = false;
        uint32_t passed = 0;

        clear(NULL);
        rules.grep = pattern("a");
        rules.grep_v = pattern("b");
        rules.head = (uint32_t)chance_in(&chance, 0, 20);
        rules.tail = (uint32_t)chance_in(&chance, 0, 2);
        rules.budget_bytes = chance_in(&chance, 0, 1) * 100;
        for (unsigned i = 0; i < 100; i++) {
            char line[9], want[2] = "";
            const size_t len = chance_in(&chance, 1, sizeof(line));

            for (size_t at = 0; at + 1 < len; at++)
                line[at] = "ab\0\xffxxxx"[chance_in(&chance, 0, 7)];
            line[len - 1] = '\n';
            want[0] = expect(line, len, &passed, &given, &is_spent);
            assert_string_equal(judged(line, len), want);
            if (want[0] == '-')
                lines++;
            else
                kept_bytes += len;
            bytes += len;
        }
        for (unsigned r = 0; r < TEXT_LEFT_REASONS; r++) {
            lines -= filter.left[r].lines;
            bytes -= filter.left[r].bytes;
        }
        assert_int_equal(lines, 0);
        assert_int_equal(bytes, kept_bytes);
        drop(NULL);
    }
    clear(NULL);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, clear, drop)
    const struct CMUnitTest tests[] = {
        CASE(patterns_choose_lines),
        CASE(a_limit_keeps_the_line),
        CASE(first_and_last_lines_come),
        CASE(lines_are_counted_behind_patterns),
        CASE(a_rate_is_kept),
        CASE(a_budget_has_two_parts),
        CASE(pieces_follow_the_first),
        CASE(random_lines_are_judged_as_by_a_model),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
