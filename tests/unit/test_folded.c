/* A line of several ranks, in each format, whatever the line is. */
#include "text/folded.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char shown[1 << 20];

static const char *put(struct text_style style, const char *who,
                       const char *line, size_t len_bytes)
{
    struct text_folded folded = {.style = NULL};
    const struct text_folded_line it = {.who = who,
                                        .who_bytes = strlen(who),
                                        .mem = (const uint8_t *)line,
                                        .len_bytes = len_bytes};
    size_t len;

    style.nspace = "job";
    text_folded_style(&style);
    assert_true(text_folded_max(&style, &it) < sizeof(shown));
    len = text_folded_put(&folded, &style, TEXT_CHANNEL_STDERR, &it,
                          (uint8_t *)shown);
    assert_true(len <= text_folded_max(&style, &it));
    shown[len] = '\0';
    return shown;
}

static const struct text_style text = {.label = TEXT_LABEL_NONE};
static const struct text_style json = {.format = TEXT_FORMAT_JSON,
                                       .label = TEXT_LABEL_HOST};
static const struct text_style xml = {.format = TEXT_FORMAT_XML};

static void each_format_names_the_ranks(void **state)
{
    struct text_style host = {.label = TEXT_LABEL_HOST, .host_bytes = 20};
    struct text_style full = {.label = TEXT_LABEL_FULL};

    (void)state;
    assert_string_equal(put(text, "0-3,7", "a\n", 2), "[0-3,7] a\n");
    assert_string_equal(put(host, "n[1-3]", "a\n", 2), "n[1-3]: a\n");
    assert_string_equal(put(full, "0-3", "a\n", 2), "[job,0-3]<stderr>: a\n");
    assert_string_equal(put(json, "0-3", "a\n", 2),
                        "{\"nspace\":\"job\",\"ranks\":\"0-3\",\"channel\":"
                        "\"stderr\",\"text\":\"a\"}\n");
    assert_string_equal(put(xml, "0-3", "a\n", 2),
                        "<stderr rank=\"0-3\">a&#010;</stderr>\n");
    full.format = TEXT_FORMAT_XML;
    assert_string_equal(
        put(full, "0-3", "a\n", 2),
        "<stderr nspace=\"job\" rank=\"0-3\">a&#010;</stderr>\n");
}

static void odd_lines_are_whole(void **state)
{
    (void)state;
    assert_string_equal(put(text, "1", "a", 1), "[1] a\n");
    assert_string_equal(put(text, "1", "\n", 1), "[1] \n");
    put(text, "1", "\0\n", 2);
    assert_memory_equal(shown, "[1] \0\n", 6);
    assert_string_equal(put(json, "1", "a", 1),
                        "{\"nspace\":\"job\",\"ranks\":\"1\",\"channel\":"
                        "\"stderr\",\"text\":\"a\",\"newline\":false}\n");
    assert_string_equal(put(json, "1", "\"\xc3\xa9\0\n", 5),
                        "{\"nspace\":\"job\",\"ranks\":\"1\",\"channel\":"
                        "\"stderr\",\"text\":\"\\\"\xc3\xa9\\u0000\"}\n");
    assert_string_equal(put(json, "1", "a\xff\n", 3),
                        "{\"nspace\":\"job\",\"ranks\":\"1\",\"channel\":"
                        "\"stderr\",\"base64\":\"Yf8=\"}\n");
}

/* A list of ranks is longer than any head may be. */
static void ranks_are_not_cut(void **state)
{
    static char who[100000];
    const size_t len = sizeof(who) - 1;

    (void)state;
    memset(who, '1', len);
    put(text, who, "a\n", 2);
    assert_int_equal(strlen(shown), len + 5);
    assert_memory_equal(shown + 1, who, len);
    put(json, who, "a\n", 2);
    assert_non_null(strstr(shown, who));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_format_names_the_ranks),
        cmocka_unit_test(odd_lines_are_whole),
        cmocka_unit_test(ranks_are_not_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
