/* Texts as tables of lines: each kind of line, which lines are refused, and
 * which line is named as wrong. */
#include "job/lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/base/err.h"

struct part {
    uint8_t number;
    char *name;
};

/* A text with a member of each kind. */
struct whole {
    uint16_t u16;
    uint64_t u64;
    char text[4];
    uint8_t hex[2];
    bool is_marked;
    char *word;
    struct job_strings words;
    struct part *parts;
    uint32_t parts_count, parts_cap;
    uint32_t own;
};

static void put_own(const void *what, struct text_buf *out)
{
    const struct whole *whole = what;

    for (uint32_t i = 0; i < whole->own; i++)
        text_buf_puts(out, "own\n");
}

static int get_own(void *what, struct text_fields *fields)
{
    struct whole *whole = what;

    (void)fields;
    return ++whole->own > 2 ? OV_EINVAL : 0;
}

#define AT(member)   JOB_LINE_AT(struct whole, member)
#define UINT(member) JOB_SCHEMA_UINT(struct whole, member, NULL)

static const struct job_line part_lines[] = {
    JOB_LINE(WORD, "name NAME", JOB_LINE_AT(struct part, name)),
    {.kind = JOB_LINE_END},
};

static const struct job_line lines[] = {
    JOB_LINE(FIELDS, "some TEXT HEX", .is_needed = true,
             JOB_LINE_FIELDS(JOB_SCHEMA_TEXT(struct whole, text, NULL, 1, 3),
                             JOB_SCHEMA_HEX(struct whole, hex))),
    JOB_LINE(OPTION, "more N N",
             JOB_LINE_FIELDS(
                 JOB_SCHEMA_RANGE(struct whole, u64, NULL, 1, UINT64_MAX),
                 UINT(u16))),
    JOB_LINE(MARK, "mark, or none", AT(is_marked)),
    JOB_LINE(WORD, "word WORD", AT(word)),
    JOB_LINE(WORDS, "words WORD", AT(words)),
    JOB_LINE(OWNS, "own", .put = put_own, .get = get_own),
    JOB_LINE(ITEMS, "part N", JOB_LINE_ARRAY(struct whole, parts), .max = 9,
             JOB_LINE_FIELDS(JOB_SCHEMA_UINT(struct part, number, NULL)),
             .lines = part_lines),
    {.kind = JOB_LINE_END},
};

static void close_whole(struct whole *whole)
{
    for (uint32_t i = 0; i < whole->parts_count; i++)
        free(whole->parts[i].name);
    free(whole->parts);
    free(whole->word);
    job_strings_fini(&whole->words);
}

/* Reads lines until one is refused; the caller may look at the reader
 * afterwards. */
static int read_text(const char *text, struct whole *whole,
                     struct job_lines *rd)
{
    char *copy = strdup(text), *line, *rest = copy;
    int rc = 0;

    assert_non_null(copy);
    *whole = (struct whole){0};
    *rd = (struct job_lines){.lines = lines, .what = whole};
    while (rc == 0 && (line = strsep(&rest, "\n")) != NULL && rest != NULL) {
        struct text_fields fields = text_fields_init(line, strlen(line));

        rc = job_lines_decode(rd, text_fields_next(&fields), &fields);
    }
    free(copy);
    return rc;
}

static void what_is_read_is_written_again(void **state)
{
    static const char *const texts[] = {
        "some a%20b 00ff\n",
        "some a 00ff\nmore 18446744073709551615 65535\nmark\nword %\n"
        "words a\nwords %0A\nown\nown\npart 255\npart 0\nname a\npart 1\n"
        "name b\n",
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct text_buf again = {0};
        struct job_lines rd;
        struct whole whole;

        assert_int_equal(read_text(texts[i], &whole, &rd), 0);
        job_lines_encode(lines, &whole, &again);
        assert_string_equal(again.at, texts[i]);
        text_buf_fini(&again);
        close_whole(&whole);
    }
}

static const struct {
    const char *text;
    int rc;
    const char *usage; /* the form of the line that cannot be read */
} wrong[] = {
    {"som a 00ff\n", OV_ENOENT, NULL},
    {"\n", OV_ENOENT, NULL},
    {"name a\n", OV_ENOENT, NULL}, /* the line belongs to no part */
    {"part 1\nmark\n", OV_ENOENT, NULL},
    {"mark\nmark\n", OV_EFULL, "mark, or none"},
    {"word a\nword a\n", OV_EFULL, "word WORD"},
    {"part 1\nname a\nname a\n", OV_EFULL, "name NAME"},
    {"some 00ff\n", OV_EPROTO, "some TEXT HEX"},
    {"some % 00ff\n", OV_EPROTO, "some TEXT HEX"},
    {"some abcd 00ff\n", OV_EPROTO, "some TEXT HEX"},
    {"some a 00f\n", OV_EPROTO, "some TEXT HEX"},
    {"some a 00ff 1\n", OV_EPROTO, "some TEXT HEX"},
    {"more 0 1\n", OV_EPROTO, "more N N"},
    /* more items than there is room for */
    {"more 1 65536\n", OV_EPROTO, "more N N"},
    {"mark 1\n", OV_EPROTO, "mark, or none"},
    {"word\n", OV_EPROTO, "word WORD"},
    {"words a b\n", OV_EPROTO, "words WORD"},
    {"own\nown\nown\n", OV_EPROTO, "own"},
    {"part 256\n", OV_EPROTO, "part N"},
    {"part 1\npart 1\npart 1\npart 1\npart 1\npart 1\npart 1\npart 1\npart 1\n"
     "part 1\n",
     OV_EPROTO, "part N"},
};

static void what_nobody_writes_is_refused(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct job_lines rd;
        struct whole whole;

        if (read_text(wrong[i].text, &whole, &rd) != wrong[i].rc)
            fail_msg("%s", wrong[i].text);
        if (wrong[i].usage == NULL)
            assert_null(rd.line);
        else
            assert_string_equal(rd.line->usage, wrong[i].usage);
        close_whole(&whole);
    }
}

static void a_line_that_is_needed_is_missed(void **state)
{
    struct job_lines rd;
    struct whole whole;

    (void)state;
    assert_int_equal(read_text("mark\n", &whole, &rd), 0);
    assert_string_equal(job_lines_missing(&rd)->usage, "some TEXT HEX");
    assert_int_equal(read_text("some a 0000\n", &whole, &rd), 0);
    assert_null(job_lines_missing(&rd));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_is_written_again),
        cmocka_unit_test(what_nobody_writes_is_refused),
        cmocka_unit_test(a_line_that_is_needed_is_missed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
