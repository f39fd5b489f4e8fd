/* Lines, JSON objects and XML elements: what they look like, and that no byte
 * is lost in them, whatever the bytes are and however little room there is. */
#include "config.h"

#include "text/format.h"

#include "tests/unit/rig.h"

#include "text/escape.h"
#include "text/row.h"

#define TIME_NS                                                                \
    UINT64_C(1795313584123456789) /* The time 2026-11-22 02:13:04              \
                                   * UTC. */

enum { OUT_MAX = 4 << 20 };

static struct text_format fm;
static uint8_t out[OUT_MAX];
static size_t out_bytes;
static bool mid_line;

static void begin(void)
{
    memset(&fm, 0, sizeof(fm));
    out_bytes = 0;
    mid_line = false;
}

/* Formats one record, with this much room at a time. */
static void say_in(const struct text_origin *from, const void *mem, size_t len,
                   size_t room)
{
    const uint8_t *src = mem;
    const uint8_t *end = src + len;

    while (src < end || text_format_is_open(&fm)) {
        uint8_t *block = malloc(room); /* a block of its own, so that the
                                        * sanitizer sees its end */
        size_t got =
            text_format_lines(&fm, from, &mid_line, &src, end, block, room);

        assert_true(got > 0);
        assert_true(got <= room);
        assert_true(out_bytes + got < OUT_MAX);
        memcpy(out + out_bytes, block, got);
        out_bytes += got;
        free(block);
    }
}

static void say(const struct text_origin *from, const char *text)
{
    say_in(from, text, strlen(text), 1 << 16);
}

static void expect(const char *want)
{
    out[out_bytes] = '\0';
    assert_string_equal((char *)out, want);
}

static void time_and_label_stand_before_each_line(void **state)
{
    const struct text_style style = {
        .nspace = "job", .label = TEXT_LABEL_FULL, .has_time = true};
    struct text_origin from = {.style = &style, .rank = 3, .time_ns = TIME_NS};

    (void)state;
    begin();
    from.channel = TEXT_CHANNEL_STDERR;
    say(&from, "one\n\ntw");
    from.time_ns += 5000000;
    say(&from, "o\nthree\n");
    expect("2026-11-22T04:13:04.123+02:00 [job,3]<stderr>: one\n"
           "2026-11-22T04:13:04.123+02:00 [job,3]<stderr>: \n"
           "2026-11-22T04:13:04.123+02:00 [job,3]<stderr>: two\n"
           "2026-11-22T04:13:04.128+02:00 [job,3]<stderr>: three\n");
}

/* Output that belongs to no process. */
static void a_tool_is_no_rank(void **state)
{
    struct text_style style = {.nspace = "job", .label = TEXT_LABEL_RANK};
    const struct text_origin from = {.style = &style,
                                     .host = "node",
                                     .rank = TEXT_CONSOLE_TOOL,
                                     .channel = TEXT_CHANNEL_STDOUT};
    struct text_head head = {0};

    (void)state;
    text_row_head(&head, &from);
    assert_string_equal(head.text, "tool: ");
    style.label = TEXT_LABEL_HOST;
    text_row_head(&head, &from);
    assert_string_equal(head.text, "tool: ");
    style.label = TEXT_LABEL_FULL;
    text_row_head(&head, &from);
    assert_string_equal(head.text, "[job,tool]<stdout>: ");
    style.format = TEXT_FORMAT_XML;
    text_row_head(&head, &from);
    assert_string_equal(head.text, "<stdout nspace=\"job\" rank=\"tool\">");
    style.format = TEXT_FORMAT_JSON;
    text_row_head(&head, &from);
    assert_string_equal(head.text, "{\"nspace\":\"job\",\"rank\":null,"
                                   "\"host\":null,\"channel\":\"stdout\","
                                   "\"");
}

/* The labels of ranks and hosts have the same width in all lines of a job. */
static void labels_are_as_wide_as_their_job_needs(void **state)
{
    struct text_style style = {.label = TEXT_LABEL_RANK};
    struct text_origin from = {.style = &style,
                               .host = "node9",
                               .rank = 7,
                               .channel = TEXT_CHANNEL_STDOUT};

    (void)state;
    assert_int_equal(text_style_digits(0), 1);
    assert_int_equal(text_style_digits(10), 1);
    assert_int_equal(text_style_digits(11), 2);
    assert_int_equal(text_style_digits(UINT32_MAX), 10);
    style.rank_digits = text_style_digits(1001);
    text_style_widen(&style, "node10");
    text_style_widen(&style, "n");
    begin();
    say(&from, "a\n");
    from.rank = 1000;
    say(&from, "b\n");
    from.ranks = "0-3";
    say(&from, "c\n");
    from.ranks = NULL;
    style.label = TEXT_LABEL_HOST;
    from.rank = 8;
    say(&from, "d\n");
    from.rank = TEXT_CONSOLE_TOOL;
    say(&from, "e\n");
    style.label = TEXT_LABEL_FULL;
    style.nspace = "job";
    from.rank = 9;
    say(&from, "f\n");
    expect("0007: a\n"
           "1000: b\n"
           "[0-3]: c\n"
           "node9 : d\n"
           "tool  : e\n"
           "[job,9]<stdout>: f\n");
}

/* The label of a progress bar is shown on a terminal only, however the bytes
 * are cut. */
static void a_bar_keeps_its_label(void **state)
{
    static const char bar[] = "\r 10%\r 20%\r\r 30%\r\nend\r\n\n\rx\n";
    const struct text_style style = {.label = TEXT_LABEL_RANK};
    const struct text_origin from = {
        .style = &style, .rank = 3, .channel = TEXT_CHANNEL_STDOUT};

    (void)state;
    begin();
    say(&from, bar);
    expect("3: \r 10%\r 20%\r\r 30%\r\n3: end\r\n3: \n3: \rx\n");
    for (size_t cut = 0; cut < sizeof(bar); cut++) {
        char first[sizeof(bar)] = "";

        memcpy(first, bar, cut);
        begin();
        fm.is_terminal = true;
        say(&from, first);
        say(&from, bar + cut);
        expect("3: \r3:  10%\r3:  20%\r\r3:  30%\r\n3: end\r\n3: \n"
               "3: \r3: x\n");
    }
}

static void a_name_that_is_too_long_is_cut(void **state)
{
    struct text_style style = {.label = TEXT_LABEL_FULL};
    struct text_origin from = {
        .style = &style, .rank = UINT32_MAX, .channel = TEXT_CHANNEL_STDERR};
    struct text_head head = {0};
    char name[1000];

    (void)state;
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    style.nspace = name;
    text_row_head(&head, &from);
    assert_int_equal(head.len_bytes,
                     TEXT_HEAD_NAME_MAX + strlen("[,4294967295]<stderr>: "));
    style.label = TEXT_LABEL_HOST;
    text_row_head(&head, &from);
    assert_memory_equal(head.text, "?: ", head.len_bytes);
    from.host = name;
    text_style_widen(&style, name);
    text_row_head(&head, &from);
    assert_int_equal(head.len_bytes, TEXT_HEAD_NAME_MAX + strlen(": "));
    /* The longest object of all: every byte of the names becomes six. */
    memset(name, '\1', sizeof(name) - 1);
    from.host = name;
    style.has_time = true;
    style.format = TEXT_FORMAT_JSON;
    text_row_head(&head, &from);
    assert_true(head.len_bytes > 2 * 6 * TEXT_HEAD_NAME_MAX);
    assert_true(head.len_bytes < TEXT_HEAD_MAX);
}

static void json_has_an_object_for_each_line(void **state)
{
    const struct text_style style = {.nspace = "job",
                                     .format = TEXT_FORMAT_JSON};
    const struct text_origin from = {.style = &style,
                                     .host = "no\"de",
                                     .rank = 3,
                                     .channel = TEXT_CHANNEL_STDOUT};
#define HEAD                                                                   \
    "{\"nspace\":\"job\",\"rank\":3,\"host\":\"no\\\"de\","                    \
    "\"channel\":\"stdout\","

    (void)state;
    begin();
    say(&from, "plain\n\n");
    say(&from, "q\"b\\t\tc\r\x01\x7f gr\xc3\xbc\xc3\x9f\n");
    say_in(&from, "n\0l\n", 4, 1 << 16);
    say(&from, "bad\xff\xfe\n");
    say(&from, "hal");
    say(&from, "f\n");
    expect(HEAD "\"text\":\"plain\"}\n" HEAD "\"text\":\"\"}\n" HEAD
                "\"text\":\"q\\\"b\\\\t\\tc\\r\\u0001\x7f gr\xc3\xbc\xc3\x9f\"}"
                "\n" HEAD "\"text\":\"n\\u0000l\"}\n" HEAD
                "\"base64\":\"YmFk//4=\"}\n" HEAD
                "\"text\":\"hal\",\"newline\":false}\n" HEAD
                "\"text\":\"f\"}\n");
#undef HEAD
}

static void json_tells_time_and_ranks(void **state)
{
    const struct text_style style = {
        .nspace = "job", .format = TEXT_FORMAT_JSON, .has_time = true};
    const struct text_origin from = {.style = &style,
                                     .ranks = "0-7,9",
                                     .time_ns = TIME_NS,
                                     .channel = TEXT_CHANNEL_STDERR};

    (void)state;
    begin();
    say(&from, "x\n");
    expect("{\"time\":\"2026-11-22T04:13:04.123+02:00\",\"nspace\":\"job\","
           "\"ranks\":\"0-7,9\",\"channel\":\"stderr\",\"text\":\"x\"}\n");
}

static void xml_has_an_element_for_each_line(void **state)
{
    struct text_style style = {.nspace = "j&b", .format = TEXT_FORMAT_XML};
    struct text_origin from = {.style = &style,
                               .host = "no\"de",
                               .rank = 3,
                               .time_ns = TIME_NS,
                               .channel = TEXT_CHANNEL_STDOUT};

    (void)state;
    begin();
    say(&from, "a<b> & \"c\"\n\n");
    say(&from, "\r\t\x01 gr\xc3\xbc\xc3\x9f \xff");
    style.label = TEXT_LABEL_FULL;
    style.has_time = true;
    from.channel = TEXT_CHANNEL_STDERR;
    say(&from, "x\n");
    style.has_time = false;
    style.label = TEXT_LABEL_HOST;
    from.channel = TEXT_CHANNEL_STDOUT;
    say(&from, "y\n");
    style.label = TEXT_LABEL_NONE;
    from.channel = TEXT_CHANNEL_STDDIAG;
    say(&from, "z");
    expect("<stdout rank=\"3\">a&lt;b&gt; &amp; \"c\"&#010;</stdout>\n"
           "<stdout rank=\"3\">&#010;</stdout>\n"
           "<stdout rank=\"3\">&#013;&#009;&#001; gr\xc3\xbc\xc3\x9f &#255;"
           "</stdout>\n"
           "<stderr nspace=\"j&amp;b\" rank=\"3\" "
           "timestamp=\"2026-11-22T04:13:04.123+02:00\">x&#010;</stderr>\n"
           "<stdout rank=\"3\" host=\"no?de\">y&#010;</stdout>\n"
           "<stddiag rank=\"3\">z</stddiag>\n");
}

static void only_characters_are_utf8(void **state)
{
    static const char *const good[] = {"a",
                                       "\xc2\x80",
                                       "\xdf\xbf",
                                       "\xe0\xa0\x80",
                                       "\xed\x9f\xbf",
                                       "\xee\x80\x80",
                                       "\xf0\x90\x80\x80",
                                       "\xf4\x8f\xbf\xbf"};
    static const char *const bad[] = {
        "\x80",
        "\xc0\x80",
        "\xc1\xbf",
        "\xc3",
        "\xc3(",
        "\xe0\x9f\xbf",
        "\xed\xa0\x80",
        "\xe2\x82",
        "\xe2\x28\xa1",
        "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80",
        "\xf5",
        "\xf0\x90\x80",
        "\xff",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        assert_int_equal(
            text_utf8_len((const uint8_t *)good[i], strlen(good[i])),
            strlen(good[i]));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(text_utf8_len((const uint8_t *)bad[i], strlen(bad[i])),
                         0);
    assert_true(text_utf8_is_valid((const uint8_t *)"0123456789\xc3\xbcx", 13));
    assert_false(text_utf8_is_valid((const uint8_t *)"01234567\xc3", 9));
}

/* --- any bytes, with any room */

static size_t unbase64(const char *text, size_t len, uint8_t *to)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t *const start = to;

    assert_int_equal(len % 4, 0);
    for (size_t i = 0; i < len; i += 4) {
        uint32_t bits = 0;
        size_t n = text[i + 2] == '=' ? 1 : text[i + 3] == '=' ? 2 : 3;

        for (size_t k = 0; k < 4; k++)
            bits =
                bits << 6 |
                (k <= n ? (uint32_t)(strchr(digits, text[i + k]) - digits) : 0);
        for (size_t k = 0; k < n; k++)
            *to++ = (uint8_t)(bits >> (16 - 8 * k));
    }
    return (size_t)(to - start);
}

static size_t unescape(const char *text, size_t len, uint8_t *to)
{
    uint8_t *const start = to;

    for (size_t i = 0; i < len; i++) {
        unsigned byte;

        if (text[i] != '\\') {
            *to++ = (uint8_t)text[i];
        } else if (text[++i] == 'u') {
            assert_int_equal(sscanf(text + i + 1, "%4x", &byte), 1);
            *to++ = (uint8_t)byte;
            i += 4;
        } else {
            const char *names = "nrt\"\\";
            const char *at = strchr(names, text[i]);

            assert_non_null(at);
            *to++ = (uint8_t) "\n\r\t\"\\"[at - names];
        }
    }
    return (size_t)(to - start);
}

/* Decodes the objects in `out` back to bytes. */
static size_t read_back(uint8_t *to)
{
    static const char less[] = ",\"newline\":false}\n";
    const char *at = (const char *)out;
    const char *const limit = at + out_bytes;
    uint8_t *const start = to;

    while (at < limit) {
        const char *end =
            (const char *)memchr(at, '\n', (size_t)(limit - at)) + 1;
        bool is_less = (size_t)(end - at) > strlen(less) &&
                       strncmp(end - strlen(less), less, strlen(less)) == 0;
        const char *tail = is_less ? end - strlen(less) : end - 2;
        const char *body = memmem(at, (size_t)(end - at), "\"text\":\"", 8);

        assert_int_equal(tail[-1], '"');
        if (body != NULL) {
            body += strlen("\"text\":\"");
            to += unescape(body, (size_t)(tail - 1 - body), to);
        } else {
            body = memmem(at, (size_t)(end - at), "\"base64\":\"", 10);
            assert_non_null(body);
            body += strlen("\"base64\":\"");
            to += unbase64(body, (size_t)(tail - 1 - body), to);
        }
        if (!is_less)
            *to++ = '\n';
        at = end;
    }
    return (size_t)(to - start);
}

static size_t random_text(uint8_t *mem, size_t len, uint64_t *seed)
{
    static const char *const words[] = {"\n", "\n\n", "\xc3\xbc", "\"",  "text",
                                        "\\", "\xff", "\r\n",     "\xe2"};
    size_t at = 0;
    bool is_wild = rig_random(seed) % 4 == 0;

    while (at + 8 < len) {
        if (is_wild) {
            mem[at++] = (uint8_t)rig_random(seed);
        } else {
            const char *word =
                words[rig_random(seed) % (sizeof(words) / sizeof(words[0]))];

            memcpy(mem + at, word, strlen(word));
            at += strlen(word);
        }
    }
    return at;
}

/* A reader of the objects gets the bytes of the process, whatever they are, and
 * the room makes no difference. */
static void json_keeps_every_byte(void **state)
{
    static uint8_t bytes[20000], back[OUT_MAX], first[OUT_MAX];
    const struct text_style style = {.nspace = "job",
                                     .format = TEXT_FORMAT_JSON};
    const struct text_origin from = {
        .style = &style, .rank = 3, .channel = TEXT_CHANNEL_STDOUT};

    (void)state;
    for (uint64_t next = 1; next <= 60; next++) {
        uint64_t seed = next;
        size_t max = next % 10 == 0 ? sizeof(bytes) : 2000;
        size_t len = random_text(bytes, max, &seed);
        size_t at = rig_random(&seed) % (len + 1), first_bytes;

        begin();
        say_in(&from, bytes, at, 1 << 16);
        say_in(&from, bytes + at, len - at, 1 << 16);
        if (read_back(back) != len || memcmp(back, bytes, len) != 0)
            fail_msg("seed %llu", (unsigned long long)next);
        memcpy(first, out, out_bytes);
        first_bytes = out_bytes;
        begin();
        say_in(&from, bytes, at, 100 + rig_random(&seed) % 200);
        say_in(&from, bytes + at, len - at, 100 + rig_random(&seed) % 200);
        assert_int_equal(out_bytes, first_bytes);
        assert_memory_equal(out, first, out_bytes);
    }
}

/* A line of 64 KiB, as daemons pass it on, is one object. */
static void a_long_line_is_one_object(void **state)
{
    static uint8_t line[65536], back[OUT_MAX];
    const struct text_style style = {.nspace = "job",
                                     .format = TEXT_FORMAT_JSON};
    const struct text_origin from = {
        .style = &style, .rank = 3, .channel = TEXT_CHANNEL_STDOUT};

    (void)state;
    memset(line, '\1', sizeof(line)); /* each byte becomes six bytes */
    line[sizeof(line) - 1] = '\n';
    begin();
    say_in(&from, line, sizeof(line), TEXT_FORMAT_ROOM_MIN);
    assert_int_equal(read_back(back), sizeof(line));
    assert_memory_equal(back, line, sizeof(line));
    out[out_bytes] = '\0';
    assert_ptr_equal(strchr((char *)out, '\n'), out + out_bytes - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_and_label_stand_before_each_line),
        cmocka_unit_test(a_tool_is_no_rank),
        cmocka_unit_test(labels_are_as_wide_as_their_job_needs),
        cmocka_unit_test(a_bar_keeps_its_label),
        cmocka_unit_test(a_name_that_is_too_long_is_cut),
        cmocka_unit_test(json_has_an_object_for_each_line),
        cmocka_unit_test(json_tells_time_and_ranks),
        cmocka_unit_test(xml_has_an_element_for_each_line),
        cmocka_unit_test(only_characters_are_utf8),
        cmocka_unit_test(json_keeps_every_byte),
        cmocka_unit_test(a_long_line_is_one_object),
    };

    setenv("TZ", "XYZ-2", 1); /* two hours east of UTC, without a time zone
                               * database */
    tzset();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
