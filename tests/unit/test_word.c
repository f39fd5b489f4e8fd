/* Words of a node to the launcher: a word that is encoded decodes to the same
 * word. */
#include "job/word.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/base/err.h"
#include "tests/unit/document.h"

static const struct job_word words[] = {
    {.kind = JOB_WORD_STARTED, .rank = 4, .count = 7, .sent_ns = 77},
    {.kind = JOB_WORD_EXIT,
     .rank = 0x01020304,
     .status = 0x8b00,
     .taken_bytes = UINT64_C(0x1122334455),
     .sent_ns = UINT64_C(0x0102030405060708),
     .exit_ns = UINT64_C(0x1112131415161718),
     .since_ns = UINT64_C(0x2122232425262728)},
    {.kind = JOB_WORD_EXIT,
     .rank = 5,
     .tallies = {{.bytes = UINT64_C(0x0102030405060708), .sum = 9}}},
    {.kind = JOB_WORD_EXIT,
     .rank = 6,
     .tallies = {{.bytes = 1, .sum = 0}, {.bytes = 2, .sum = UINT64_MAX}}},
    {.kind = JOB_WORD_EXIT, .rank = 7, .tallies = {[1] = {.bytes = 3}}},
    {.kind = JOB_WORD_FAILED, .rank = 3, .err = 2, .text = "exec"},
    {.kind = JOB_WORD_ADOPTED, .parent = 4, .away_us = 1500},
    {.kind = JOB_WORD_USAGE,
     .usage = {UINT64_MAX, 2, 3, UINT64_C(1) << 40, 5, 1, 7}},
    {.kind = JOB_WORD_NOTE, .text = "a word for the user"},
    {.kind = JOB_WORD_STDIN,
     .rank = 9,
     .stdin_event = JOB_STDIN_CLOSED,
     .err = 28},
    {.kind = JOB_WORD_PIDS, .rank = 3, .count = 2, .pids = {4711, UINT32_MAX}},
    {.kind = JOB_WORD_OVER, .jobs = 3},
    {.kind = JOB_WORD_MACHINE, .packages = 2, .cores = 128},
    {.kind = JOB_WORD_MACHINE, .text = "nobody can tell"},
    {.kind = JOB_WORD_PIECES, .err = 28},
    {.kind = JOB_WORD_LINE_LOST, .rank = 4, .err = 5},
    {.kind = JOB_WORD_DOING,
     .ticket = 0x102,
     .doing = JOB_DOING_STOPPED,
     .ranges = {{3, 5}, {9, 9}},
     .ranges_count = 2},
    {.kind = JOB_WORD_LEFT,
     .rank = 5,
     .source_bytes = 0x102,
     .limited_lines = 3,
     .left = {[TEXT_LEFT_GREP] = {.bytes = 7, .lines = 2},
              [TEXT_LEFT_ROOM] = {.bytes = 8, .lines = 1}}},
    {.kind = JOB_WORD_LAST, .rank = 6, .text = "bye\n"},
};

enum { WORDS = sizeof(words) / sizeof(words[0]) };

/* Several words travel in one record, one after the other. */
static void words_in_a_row_are_heard_as_said(void **state)
{
    uint8_t mem[1024];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    struct ov_rd rd;

    (void)state;
    for (unsigned i = 0; i < WORDS; i++)
        job_word_encode(&wr, &words[i]);
    assert_false(wr.bad);
    rd = ov_rd_init(mem, (size_t)(wr.at - mem));
    for (unsigned i = 0; i < WORDS; i++) {
        struct job_word heard;

        assert_int_equal(job_word_decode(&rd, &heard), 0);
        assert_memory_equal(&heard, &words[i], sizeof(heard));
    }
    assert_int_equal(ov_rd_left(&rd), 0);
}

static const uint8_t golden[] = {
    // clang-format off
    1, 16, 0, 4, 0, 0, 0, 7, 0, 0, 0, 77, 0, 0, 0, 0, 0, 0, 0,
    2, 40, 0, 4, 3, 2, 1, 0, 0x8b, 0, 0, 85, 68, 51, 34, 17, 0, 0, 0, 8, 7, 6,
    5, 4, 3, 2, 1, 24, 23, 22, 21, 20, 19, 18, 17, 40, 39, 38, 37, 36, 35, 34,
    33,
    2, 57, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 8, 7, 6, 5, 4, 3,
    2, 1, 9, 0, 0, 0, 0, 0, 0, 0,
    2, 74, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff,
    2, 57, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 3, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    3, 12, 0, 3, 0, 0, 0, 2, 0, 0, 0, 101, 120, 101, 99,
    4, 8, 0, 4, 0, 0, 0, 0xdc, 5, 0, 0,
    5, 56, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 0,
    0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 5, 0, 0, 0, 0, 0, 0,
    0, 1, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0,
    6, 19, 0, 97, 32, 119, 111, 114, 100, 32, 102, 111, 114, 32, 116, 104, 101,
    32, 117, 115, 101, 114,
    7, 12, 0, 9, 0, 0, 0, 4, 0, 0, 0, 28, 0, 0, 0,
    8, 12, 0, 3, 0, 0, 0, 103, 18, 0, 0, 0xff, 0xff, 0xff, 0xff,
    9, 4, 0, 3, 0, 0, 0,
    10, 8, 0, 2, 0, 0, 0, 0x80, 0, 0, 0,
    10, 23, 0, 0, 0, 0, 0, 0, 0, 0, 0, 110, 111, 98, 111, 100, 121, 32, 99, 97,
    110, 32, 116, 101, 108, 108,
    11, 4, 0, 28, 0, 0, 0,
    12, 8, 0, 4, 0, 0, 0, 5, 0, 0, 0,
    13, 19, 0, 2, 1, 4, 3, 0, 0, 0, 5, 0, 0, 0, 9, 0, 0, 0, 9, 0, 0, 0,
    14, 54, 0, 5, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1, 7,
    0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 6, 8, 0, 0, 0, 0, 0, 0, 0, 1,
    0, 0, 0, 0, 0, 0, 0,
    15, 8, 0, 6, 0, 0, 0, 98, 121, 101, 10,
    // clang-format on
};

/* The bytes on the wire change only when this table does. */
static void words_are_these_bytes(void **state)
{
    uint8_t mem[1024];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

    (void)state;
    for (unsigned i = 0; i < WORDS; i++)
        job_word_encode(&wr, &words[i]);
    assert_false(wr.bad);
    assert_int_equal(wr.at - mem, sizeof(golden));
    assert_memory_equal(mem, golden, sizeof(golden));
}

/* Makes an exit with tallies of these channels, of `bytes` bytes each. */
static int exit_with(const uint8_t *channels, unsigned count, uint64_t bytes)
{
    uint8_t mem[128];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    struct job_word heard;
    struct ov_rd rd;

    ov_wr_u8(&wr, JOB_WORD_EXIT);
    ov_wr_u16(&wr, (uint16_t)(40 + count * 17));
    for (unsigned i = 0; i < 5; i++)
        ov_wr_u64(&wr, 0);
    for (unsigned i = 0; i < count; i++) {
        ov_wr_u8(&wr, channels[i]);
        ov_wr_u64(&wr, bytes);
        ov_wr_u64(&wr, 1);
    }
    rd = ov_rd_init(mem, (size_t)(wr.at - mem));
    return job_word_decode(&rd, &heard);
}

static void each_channel_is_told_once_in_order_or_refused(void **state)
{
    static const uint8_t all[] = {1, 2, 3}, back[] = {2, 1}, twice[] = {1, 1};
    static const uint8_t own[] = {0}, fourth[] = {4}, last[] = {255};

    (void)state;
    assert_int_equal(exit_with(all, 3, 1), 0);
    assert_int_equal(exit_with(all, 3, 0), OV_EPROTO);
    assert_int_equal(exit_with(back, 2, 1), OV_EPROTO);
    assert_int_equal(exit_with(twice, 2, 1), OV_EPROTO);
    assert_int_equal(exit_with(own, 1, 1), OV_EPROTO);
    assert_int_equal(exit_with(fourth, 1, 1), OV_EPROTO);
    assert_int_equal(exit_with(last, 1, 1), OV_EPROTO);
}

static void half_a_word_is_refused(void **state)
{
    (void)state;
    for (unsigned i = 0; i < WORDS; i++) {
        uint8_t mem[128];
        struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
        struct job_word heard;

        job_word_encode(&wr, &words[i]);
        for (size_t len = 0; len < (size_t)(wr.at - mem); len++) {
            struct ov_rd rd = ov_rd_init(mem, len);

            assert_int_equal(job_word_decode(&rd, &heard), OV_EPROTO);
        }
    }
}

static void what_says_nothing_is_refused(void **state)
{
    static const uint8_t bad[][16] = {
        {0, 4, 0, 1, 0, 0, 0}, /* a kind that does not exist */
        {JOB_WORD_KINDS, 4, 0, 1, 0, 0,
         0}, /* another kind that does not exist */
        {JOB_WORD_STARTED, 3, 0, 1, 0, 0}, /* a pid that is too short */
        {JOB_WORD_STARTED, 5, 0, 1, 0, 0, 0, 0},
        /* an event that does not exist */
        {JOB_WORD_STDIN, 12, 0, 1, 0, 0, 0, 0},
        /* another event that does not exist */
        {JOB_WORD_STDIN, 12, 0, 1, 0, 0, 0, JOB_STDIN_EVENTS},
        {JOB_WORD_STDIN, 12, 0, 1, 0, 0, 0, 1, 1},
        {JOB_WORD_PIDS, 4, 0, 1, 0, 0, 0}, /* an empty list */
        {JOB_WORD_PIDS, 6, 0, 1, 0, 0, 0, 9, 9},
        /* a machine without a core */
        {JOB_WORD_MACHINE, 8, 0, 1, 0, 0, 0, 0, 0, 0, 0},
        {JOB_WORD_MACHINE, 4, 0, 1, 0, 0, 0},
        /* no machine, and no reason */
        {JOB_WORD_MACHINE, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0},
        {JOB_WORD_MACHINE, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
        /* a machine without a socket */
        {JOB_WORD_MACHINE, 9, 0, 0, 0, 0, 0, 1, 0, 0, 0, 'x'},
        /* a machine and also a reason */
        {JOB_WORD_MACHINE, 9, 0, 1, 0, 0, 0, 1, 0, 0, 0, 'x'},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct ov_rd rd = ov_rd_init(bad[i], sizeof(bad[i]));
        struct job_word heard;

        assert_int_equal(job_word_decode(&rd, &heard), OV_EPROTO);
    }
}

/* The text has one byte more than allowed. */
static void a_longer_text_is_refused(void **state)
{
    uint8_t mem[3 + JOB_WORD_BYTES_MAX];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    struct ov_rd rd = ov_rd_init(mem, sizeof(mem));
    struct job_word heard;

    (void)state;
    memset(mem, 'x', sizeof(mem));
    ov_wr_u8(&wr, JOB_WORD_NOTE);
    ov_wr_u16(&wr, JOB_WORD_BYTES_MAX);
    assert_int_equal(job_word_decode(&rd, &heard), OV_EPROTO);
    wr = ov_wr_init(mem + 1, 2);
    ov_wr_u16(&wr, JOB_WORD_BYTES_MAX - 1);
    rd = ov_rd_init(mem, sizeof(mem));
    assert_int_equal(job_word_decode(&rd, &heard), 0);
    assert_int_equal(strlen(heard.text), JOB_WORD_BYTES_MAX - 1);
}

/* Each kind has its row in the document: its number, and the fields of its body
 * with their bytes. */
static void the_document_has_the_rows(void **state)
{
    static const char *const names[JOB_WORD_KINDS] = {
        "",          "STARTED", "EXIT", "FAILED", "ADOPTED", "USAGE",
        "NOTE",      "STDIN",   "PIDS", "OVER",   "MACHINE", "PIECES",
        "LINE_LOST", "DOING",   "LEFT", "LAST",
    };

    (void)state;
    for (unsigned kind = 1; kind < JOB_WORD_KINDS; kind++)
        document_has_message(kind, names[kind], job_word_rows(kind));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_in_a_row_are_heard_as_said),
        cmocka_unit_test(words_are_these_bytes),
        cmocka_unit_test(each_channel_is_told_once_in_order_or_refused),
        cmocka_unit_test(half_a_word_is_refused),
        cmocka_unit_test(what_says_nothing_is_refused),
        cmocka_unit_test(a_longer_text_is_refused),
        cmocka_unit_test(the_document_has_the_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
