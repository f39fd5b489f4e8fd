/* The table of `xylem ps'. */
#include "commands/ps/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct ps_row few[] = {
    {.pid = 7,
     .kind = PS_JOB,
     .job = "j",
     .hosts = "n1",
     .text = "run it",
     .processes = 10,
     .left = 9,
     .hosts_count = 1,
     .age_s = 61,
     .output_bytes = 1023},
    {.pid = 1234,
     .kind = PS_DVM,
     .job = "dvm-1",
     .hosts = "n[1-3]",
     .hosts_count = 3,
     .age_s = 3599,
     .processes = 3},
    {.pid = 8, .kind = PS_SILENT},
    {.pid = 9, .kind = PS_IDLE, .job = "idle"},
    {.pid = 10, .kind = PS_REFUSED, .text = "no"},
};

/* Columns are as wide as their widest entry, and as their names. */
static void columns_are_aligned(void **state)
{
    static const char *const lines[] = {
        " PID JOB   RANKS HOSTS      AGE OUTPUT STDIN COMMAND",
        "   7 j      9/10 1 n1     01:01   1023     0 run it",
        "1234 dvm-1     - 3 n[1-3] 59:59      -     - (dvm)",
        "   8 -         - -            -      -     - (does not answer)",
        "   9 idle      - -            -      -     - (no job)",
        "  10 -         - -            -      -     - (no)",
    };
    struct ps_widths widths;
    char line[PS_LINE_BYTES];

    (void)state;
    ps_table_widths(few, 5, &widths);
    for (size_t i = 0; i < 6; i++) {
        ps_table_line(i > 0 ? &few[i - 1] : NULL, &widths, 0, line);
        assert_string_equal(line, lines[i]);
    }
}

static const char *cut(const struct ps_row *row, uint32_t columns)
{
    static char line[PS_LINE_BYTES];
    struct ps_widths widths;

    ps_table_widths(row, 1, &widths);
    ps_table_line(row, &widths, columns, line);
    return line;
}

/* A character that does not fit is left out as a whole. */
static void lines_are_cut_between_characters(void **state)
{
    const struct ps_row row = {.kind = PS_REFUSED, .text = "a\xc3\xa4\xc3\xa4"};
    const char *whole = cut(&row, 0);
    const size_t len = strlen(whole);
    char half[PS_LINE_BYTES];

    (void)state;
    assert_string_equal(whole + len - 7, "(a\xc3\xa4\xc3\xa4)");
    snprintf(half, sizeof(half), "%.*s", (int)len - 3, whole);
    assert_string_equal(cut(&row, (uint32_t)len - 4), half);
    assert_int_equal(strlen(cut(&row, 10)), 10);
}

/* Returns the word in a column of a job's line. */
static const char *word(const struct ps_row *row, unsigned nth)
{
    static char words[PS_LINE_BYTES];
    char *at = NULL;

    snprintf(words, sizeof(words), "%s", cut(row, 0));
    for (unsigned i = 0; i <= nth; i++)
        at = strtok(i == 0 ? words : NULL, " ");
    return at;
}

static void ages_are_those_of_ps(void **state)
{
    static const struct {
        uint64_t s;
        const char *text;
    } cases[] = {
        {0, "00:00"},          {59, "00:59"},
        {3600, "01:00:00"},    {86399, "23:59:59"},
        {86400, "1-00:00:00"}, {UINT64_C(200) * 86400 + 3661, "200-01:01:01"}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct ps_row row = {
            .kind = PS_JOB, .hosts = "h", .age_s = cases[i].s};

        assert_string_equal(word(&row, 5), cases[i].text);
    }
}

static void bytes_are_short(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {{0, "0"},           {1023, "1023"},
                 {1024, "1.0K"},     {10188, "9.9K"},
                 {10189, "10K"},     {1048063, "1023K"},
                 {1048064, "1.0M"},  {UINT64_C(3) << 30, "3.0G"},
                 {UINT64_MAX, "16E"}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct ps_row row = {
            .kind = PS_JOB, .hosts = "h", .output_bytes = cases[i].bytes};

        assert_string_equal(word(&row, 6), cases[i].text);
    }
}

static void flow_is_what_went_in_and_out(void **state)
{
    struct ps_row row = {.output_bytes = 2048,
                         .quiet_s = 61,
                         .stdin_bytes = 5000,
                         .waiting_bytes = 904};
    char line[PS_LINE_BYTES];

    (void)state;
    ps_table_flow(&row, line);
    assert_string_equal(line, "output: 2.0K, the last 01:01 ago; stdin: 4.0K "
                              "taken, 904 waiting");
    row.quiet_s = UINT64_MAX;
    ps_table_flow(&row, line);
    assert_string_equal(line,
                        "output: none yet; stdin: 4.0K taken, 904 waiting");
}

/* Texts from jobs contain no control characters that a terminal would obey. */
static void texts_are_made_clean(void **state)
{
    char text[8];

    (void)state;
    ps_text_clean("a\n\x1b\x7f\xff.", text, sizeof(text));
    assert_string_equal(text, "a????.");
    ps_text_clean("12345\xc3\xa4", text, sizeof(text));
    assert_string_equal(text, "12345\xc3\xa4");
    ps_text_clean("123456\xc3\xa4", text, sizeof(text));
    assert_string_equal(text, "123456");
}

static void lines_are_taken_one_by_one(void **state)
{
    const char *text = "a\n\n\x1b\nlast";
    char line[PS_LINE_BYTES];

    (void)state;
    assert_true(ps_text_line(&text, line));
    assert_string_equal(line, "a");
    assert_true(ps_text_line(&text, line));
    assert_string_equal(line, "");
    assert_true(ps_text_line(&text, line));
    assert_string_equal(line, "?");
    assert_true(ps_text_line(&text, line));
    assert_string_equal(line, "last");
    assert_false(ps_text_line(&text, line));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_aligned),
        cmocka_unit_test(lines_are_cut_between_characters),
        cmocka_unit_test(ages_are_those_of_ps),
        cmocka_unit_test(bytes_are_short),
        cmocka_unit_test(flow_is_what_went_in_and_out),
        cmocka_unit_test(texts_are_made_clean),
        cmocka_unit_test(lines_are_taken_one_by_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
