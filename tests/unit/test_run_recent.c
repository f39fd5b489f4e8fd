/* The last lines of a process that has failed, among the output of all
 * processes. */
#include "endpoints/run/recent.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct run_recent *recent;
static char said[4096];

static int begin(void **state)
{
    (void)state;
    return ep_recent_open(&recent);
}

static int end(void **state)
{
    (void)state;
    ep_recent_close(recent);
    return 0;
}

static void writes(uint32_t rank, const char *text)
{
    ep_recent_add(recent, rank, (const uint8_t *)text, (uint32_t)strlen(text));
}

/* Other processes write this many lines of 100 bytes. */
static void others_write(unsigned lines)
{
    char line[101];

    snprintf(line, sizeof(line), "%099d\n", 7);
    for (unsigned i = 0; i < lines; i++)
        writes(1000 + i % 10, line);
}

static void note(void *arg, const char *text)
{
    (void)arg;
    strcat(strcat(said, text), "|");
}

static const char *last_lines(void)
{
    said[0] = '\0';
    ep_recent_show(recent, note, NULL);
    return said;
}

static void they_are_shown_when_they_have_scrolled_away(void **state)
{
    (void)state;
    writes(3, "one\ntwo");
    writes(4, "other\n");
    ep_recent_add(recent, 3, NULL, 0);
    writes(3, " and a half\nthree\n");
    ep_recent_keep(recent, 3);
    assert_string_equal(last_lines(), "");
    others_write(50);
    assert_string_equal(last_lines(), "one|two and a half|three|");
}

static void they_are_fifty_at_most(void **state)
{
    char text[16], want[256] = "";

    (void)state;
    for (int i = 1; i <= 70; i++) {
        snprintf(text, sizeof(text), "%d\n", i);
        writes(3, text);
    }
    writes(3, "open");
    ep_recent_keep(recent, 3);
    said[0] = '\0';
    assert_int_equal(ep_recent_lines(recent, 3, note, NULL), 3);
    assert_string_equal(said, "69|70|open|");
    for (int i = 22; i <= 70; i++)
        snprintf(want + strlen(want), sizeof(want) - strlen(want), "%d|", i);
    strcat(want, "open|");
    said[0] = '\0';
    assert_int_equal(ep_recent_lines(recent, RUN_RECENT_LINES, note, NULL), 50);
    assert_string_equal(said, want);
    assert_string_equal(last_lines(),
                        ""); /* the lines are on the screen still */
}

static void control_bytes_and_long_lines_are_no_harm(void **state)
{
    char text[RUN_RECENT_KEPT_BYTES + 1000];

    (void)state;
    memset(text, 'x', sizeof(text));
    memcpy(text + sizeof(text) - 6, "\n\033[0m", 6);
    writes(3, text);
    ep_recent_keep(recent, 3);
    others_write(50);
    /* The beginning of the long line is gone. */
    assert_string_equal(last_lines(), ".[0m|");

    memset(text, 'y', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    writes(4, text);
    ep_recent_keep(recent, 4);
    others_write(50);
    assert_int_equal(strlen(last_lines()), RUN_RECENT_LINE_MAX + 1);
}

static void what_was_kept_stays(void **state)
{
    (void)state;
    writes(3, "out of memory\n");
    ep_recent_keep(recent, 3);
    others_write(50000);
    assert_string_equal(last_lines(), "out of memory|");
    ep_recent_keep(recent,
                   3); /* the same process writes again: nothing changes */
    assert_string_equal(last_lines(), "out of memory|");
    writes(5, "another\n");
    ep_recent_keep(recent, 5);
    others_write(50);
    assert_string_equal(last_lines(), "another|");
}

/* Lines that were left out take the place of those that were shown, and are
 * shown however little came since. */
static void what_was_not_shown_is_shown(void **state)
{
    (void)state;
    writes(3, "out\n");
    ep_recent_add_unseen(recent, 3, (const uint8_t *)"why\nou", 6);
    ep_recent_add_unseen(recent, 3, (const uint8_t *)"t\n", 2);
    ep_recent_keep(recent, 3);
    assert_string_equal(last_lines(), "why|out|");
}

/* Entries go round the block many times, at any place of it. */
static void the_newest_are_there_after_much_output(void **state)
{
    char text[64];

    (void)state;
    for (unsigned i = 0; i < 300; i++) {
        others_write(97 + i % 7);
        snprintf(text, sizeof(text), "line %u of %u\n", i, i % 5);
        writes(i, text);
        others_write(50);
        ep_recent_keep(recent, i);
        text[strlen(text) - 1] = '|';
        assert_string_equal(last_lines(), text);
    }
    others_write(20000);
    ep_recent_keep(recent, 0); /* the lines are gone long ago */
    assert_string_equal(last_lines(), "");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(they_are_shown_when_they_have_scrolled_away),
        TEST(they_are_fifty_at_most),
        TEST(control_bytes_and_long_lines_are_no_harm),
        TEST(what_was_kept_stays),
        TEST(what_was_not_shown_is_shown),
        TEST(the_newest_are_there_after_much_output),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
