/* Messages as tables of rows: each kind of row, its limits, and its end. */
#include "job/schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>

#include <cmocka.h>

#include "overlay/base/err.h"

struct pair {
    uint16_t first;
    uint8_t second;
};

/* A struct with a member for each kind of row; a table has some of them. */
struct message {
    uint8_t u8;
    bool is_true;
    uint16_t u16;
    uint32_t u32, count;
    uint64_t u64;
    bool is_red, is_blue;
    char text[8];
    struct ov_rd rest;
    struct pair pairs[3];
    const char *string;
    const char *const *strings;
};

#define UINT(member) JOB_SCHEMA_UINT(struct message, member, #member)

static const struct job_schema_row pair_rows[] = {
    JOB_SCHEMA_RANGE(struct pair, first, "first", 1, 0x1000),
    JOB_SCHEMA_UINT(struct pair, second, "second"),
    {.kind = JOB_ROW_END},
};

static const struct job_schema_row color_rows[] = {
    JOB_SCHEMA_FLAG(struct message, is_red, 1),
    JOB_SCHEMA_FLAG(struct message, is_blue, 4),
    {.kind = JOB_ROW_END},
};

static const struct job_schema_row u8_rows[] = {
    UINT(u8),
    {.kind = JOB_ROW_END},
};

/* clang-format off */
static const struct job_schema_row uint_rows[] = {
    UINT(u8), UINT(u16), UINT(u32), UINT(u64), {.kind = JOB_ROW_END}};
static const struct job_schema_row range_rows[] = {
    JOB_SCHEMA_RANGE(struct message, u16, "u16", 2, 300),
    {.kind = JOB_ROW_END}};
static const struct job_schema_row bool_rows[] = {
    JOB_SCHEMA_RANGE(struct message, is_true, "true", 0, 1),
    {.kind = JOB_ROW_END}};
static const struct job_schema_row flags_rows[] = {
    JOB_SCHEMA_FLAGS(2, color_rows), {.kind = JOB_ROW_END}};
static const struct job_schema_row when_rows[] = {
    JOB_SCHEMA_FLAGS(1, color_rows),
    JOB_SCHEMA_WHEN(struct message, is_red, true, u8_rows),
    JOB_SCHEMA_WHEN(struct message, is_blue, false, range_rows),
    {.kind = JOB_ROW_END}};
static const struct job_schema_row text_rows[] = {
    JOB_SCHEMA_TEXT(struct message, text, "text", 1, 7), {.kind = JOB_ROW_END}};
static const struct job_schema_row rest_rows[] = {
    UINT(u8), JOB_SCHEMA_REST(struct message, rest, "rest", 3, 1, 2),
    {.kind = JOB_ROW_END}};
static const struct job_schema_row list_rows[] = {
    UINT(u8), JOB_SCHEMA_LIST(struct message, pairs, count, 1, pair_rows),
    {.kind = JOB_ROW_END}};
static const struct job_schema_row places_rows[] = {
    JOB_SCHEMA_PLACES(struct message, pairs, "place", 5, pair_rows),
    {.kind = JOB_ROW_END}};
static const struct job_schema_row string_rows[] = {
    JOB_SCHEMA_STRING(struct message, string, "string"), UINT(u8),
    {.kind = JOB_ROW_END}};
static const struct job_schema_row strings_rows[] = {
    JOB_SCHEMA_STRINGS(struct message, strings, "strings", 1), UINT(u8),
    {.kind = JOB_ROW_END}};
/* clang-format on */

static const char *const two_strings[] = {"ab", "", NULL};
static const uint8_t two_pairs[] = {1, 0, 2, 3, 0, 4};

/* A message and its bytes. */
struct row_case {
    const struct job_schema_row *rows;
    struct message said;
    size_t len_bytes;
    uint8_t golden[24];
    uint32_t whole; /* bits: cut to this many bytes, the message is complete,
                     * too */
};

static const struct row_case cases[] = {
    {uint_rows,
     {.u8 = 1, .u16 = 0x203, .u32 = 0x4050607, .u64 = 0x8090a0b0c0d0e0f},
     15,
     {1, 3, 2, 7, 6, 5, 4, 15, 14, 13, 12, 11, 10, 9, 8},
     0},
    {range_rows, {.u16 = 300}, 2, {44, 1}, 0},
    {range_rows, {.u16 = 2}, 2, {2, 0}, 0},
    {bool_rows, {.is_true = true}, 1, {1}, 0},
    {flags_rows, {.is_red = true, .is_blue = true}, 2, {5, 0}, 0},
    {flags_rows, {.is_blue = true}, 2, {4, 0}, 0},
    {when_rows, {.is_red = true, .is_blue = true, .u8 = 9}, 2, {5, 9}, 0},
    {when_rows, {.is_blue = true}, 1, {4}, 0},
    {when_rows, {.is_red = true, .u8 = 9, .u16 = 2}, 4, {1, 9, 2, 0}, 0},
    {text_rows, {.text = "seven 7"}, 7, {"seven 7"}, 0x7e},
    {rest_rows,
     {.u8 = 7, .rest = {two_pairs, two_pairs + sizeof(two_pairs), false}},
     7,
     {7, 1, 0, 2, 3, 0, 4},
     1 << 4},
    {list_rows,
     {.u8 = 7, .count = 2, .pairs = {{1, 2}, {0x1000, 4}}, 0},
     7,
     {7, 1, 0, 2, 0, 16, 4},
     1 << 4},
    {places_rows,
     {.pairs = {{1, 2}, {0, 0}, {3, 4}}, 0},
     8,
     {5, 1, 0, 2, 7, 3, 0, 4},
     1 << 4 | 1},
    {string_rows, {.string = "ab", .u8 = 1}, 4, {'a', 'b', 0, 1}, 0},
    {string_rows, {.string = NULL, .u8 = 1}, 2, {0, 1}, 0},
    {strings_rows,
     {.strings = two_strings, .u8 = 1},
     9,
     {2, 0, 0, 0, 'a', 'b', 0, 0, 1},
     0},
};

enum { CASES = sizeof(cases) / sizeof(cases[0]) };

static void rows_are_written_as_these_bytes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < CASES; i++) {
        const struct row_case *one = &cases[i];
        uint8_t mem[32];
        struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

        job_schema_encode(one->rows, &one->said, &wr);
        assert_false(wr.bad);
        assert_int_equal(wr.at - mem, one->len_bytes);
        assert_memory_equal(mem, one->golden, one->len_bytes);
        assert_int_equal(job_schema_bytes(one->rows, &one->said),
                         one->len_bytes);
    }
}

/* Nothing is written beyond the end of the buffer. */
static void a_writer_without_room_says_so(void **state)
{
    (void)state;
    for (unsigned i = 0; i < CASES; i++) {
        uint8_t *mem = malloc(cases[i].len_bytes);
        struct ov_wr wr = ov_wr_init(mem, cases[i].len_bytes - 1);

        assert_non_null(mem);
        job_schema_encode(cases[i].rows, &cases[i].said, &wr);
        assert_true(wr.bad);
        free(mem);
    }
}

/* Reads the bytes from memory of exactly their size, so that a sanitizer sees
 * reads beyond it; then writes the message again and compares the bytes. */
static int read_again(const struct job_schema_row *rows, const uint8_t *bytes,
                      size_t len_bytes)
{
    uint8_t *mem = malloc(len_bytes + 1), again[32];
    struct ov_wr wr = ov_wr_init(again, sizeof(again));
    struct message heard = {0};
    int rc;

    assert_non_null(mem);
    memcpy(mem, bytes, len_bytes);
    rc = job_schema_decode(rows, ov_rd_init(mem, len_bytes), &heard);
    if (rc == 0) {
        job_schema_encode(rows, &heard, &wr);
        assert_int_equal(wr.at - again, len_bytes);
        assert_memory_equal(again, bytes, len_bytes);
        job_schema_fini(rows, &heard);
    }
    assert_null(heard.strings);
    free(mem);
    return rc;
}

static void what_was_written_is_read(void **state)
{
    (void)state;
    for (unsigned i = 0; i < CASES; i++)
        assert_int_equal(
            read_again(cases[i].rows, cases[i].golden, cases[i].len_bytes), 0);
}

/* A message is cut at each byte; only a message whose last row takes all bytes
 * may be shorter. */
static void half_a_message_is_refused(void **state)
{
    (void)state;
    for (unsigned i = 0; i < CASES; i++) {
        for (size_t len = 0; len < cases[i].len_bytes; len++) {
            bool is_whole = (cases[i].whole & 1u << len) != 0;

            assert_int_equal(read_again(cases[i].rows, cases[i].golden, len),
                             is_whole ? 0 : OV_EPROTO);
        }
    }
}

static void more_than_a_message_is_refused(void **state)
{
    (void)state;
    for (unsigned i = 0; i < CASES; i++)
        assert_int_equal(
            read_again(cases[i].rows, cases[i].golden, cases[i].len_bytes + 1),
            OV_EPROTO);
}

static void what_is_beyond_a_limit_is_refused(void **state)
{
    static const struct {
        const struct job_schema_row *rows;
        size_t len_bytes;
        uint8_t bytes[24];
    } bad[] = {
        {range_rows, 2, {1, 0}},
        {range_rows, 2, {45, 1}},
        {bool_rows, 1, {2}},
        {flags_rows, 2, {2, 0}},
        {flags_rows, 2, {0, 1}},
        {when_rows, 3, {0, 0, 0}}, /* a limit of rows that are present */
        {text_rows, 8, "seven+1"}, /* the text with its NUL */
        {text_rows, 8, {"seven +1"}},
        {text_rows, 3, {'a', 0, 'b'}},
        {rest_rows, 10, {7, 1, 0, 2, 1, 0, 2, 1, 0, 2}},
        {list_rows, 13, {7, 1, 0, 2, 1, 0, 2, 1, 0, 2, 1, 0, 2}},
        {list_rows, 4, {7, 0, 0, 2}},   /* the limit of an item */
        {list_rows, 4, {7, 1, 16, 2}},  /* the other limit of an item */
        {places_rows, 4, {4, 1, 0, 2}}, /* before the first place */
        {places_rows, 4, {8, 1, 0, 2}}, /* after the last place */
        {places_rows, 4, {5, 0, 0, 2}}, /* this row would have been left out */
        {places_rows, 8, {6, 1, 0, 2, 5, 1, 0, 2}},
        {places_rows, 8, {6, 1, 0, 2, 6, 1, 0, 2}},
        {strings_rows, 5, {0, 0, 0, 0, 1}},
        {strings_rows, 7, {255, 255, 255, 255, 'a', 0, 1}},
        {strings_rows, 7, {2, 0, 0, 0, 'a', 0, 'b'}},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(
            read_again(bad[i].rows, bad[i].bytes, bad[i].len_bytes), OV_EPROTO);
}

/* What was read is in the members, which borrow where their rows say so. */
static void members_are_what_was_said(void **state)
{
    static const uint8_t list[] = {7, 1, 0, 2, 3, 0, 4};
    static const uint8_t strings[] = {2, 0, 0, 0, 'a', 'b', 0, 0, 1};
    struct message heard = {0};

    (void)state;
    assert_int_equal(
        job_schema_decode(list_rows, ov_rd_init(list, sizeof(list)), &heard),
        0);
    assert_int_equal(heard.u8, 7);
    assert_int_equal(heard.count, 2);
    assert_int_equal(heard.pairs[1].first, 3);
    assert_int_equal(heard.pairs[1].second, 4);
    assert_int_equal(
        job_schema_decode(rest_rows, ov_rd_init(list, sizeof(list)), &heard),
        0);
    assert_ptr_equal(heard.rest.at, list + 1);
    assert_int_equal(ov_rd_left(&heard.rest), 6);
    assert_int_equal(job_schema_decode(strings_rows,
                                       ov_rd_init(strings, sizeof(strings)),
                                       &heard),
                     0);
    assert_ptr_equal(heard.strings[0], strings + 4);
    assert_string_equal(heard.strings[1], "");
    assert_null(heard.strings[2]);
    job_schema_fini(strings_rows, &heard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_written_as_these_bytes),
        cmocka_unit_test(a_writer_without_room_says_so),
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(half_a_message_is_refused),
        cmocka_unit_test(more_than_a_message_is_refused),
        cmocka_unit_test(what_is_beyond_a_limit_is_refused),
        cmocka_unit_test(members_are_what_was_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
