/* Messages at a session's door: a message that is encoded decodes to the same
 * message. */
#include "job/door.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/base/err.h"
#include "tests/unit/document.h"

static const uint8_t two_ranges[] = {5, 0, 0, 0, 5, 0, 0, 0,
                                     7, 0, 0, 0, 7, 0, 0, 0};
static const uint8_t two_numbers[] = {5, 0, 0, 0, 7, 0, 0, 0};
static const uint8_t two_bytes[] = {'o', 'k'};

#define REST(mem)                                                              \
    {                                                                          \
        .at = (mem), .end = (mem) + sizeof(mem)                                \
    }

static const struct {
    struct job_door said;
    size_t len_bytes;
    uint8_t golden[64];
    /* the least length at which the text, cut there, is a complete message */
    size_t least_bytes;
} cases[] = {
    {{.kind = JOB_DOOR_HELLO, .version = 0x01020304, .text = "0.1"},
     8,
     {1, 4, 3, 2, 1, '0', '.', '1'},
     6},
    {{.kind = JOB_DOOR_WELCOME, .is_dvm = true, .text = "ab"},
     4,
     {2, 1, 'a', 'b'},
     3},
    {{.kind = JOB_DOOR_REFUSED, .text = "no"}, 3, {3, 'n', 'o'}, 2},
    {{.kind = JOB_DOOR_STOP}, 1, {4}, 1},
    {{.kind = JOB_DOOR_ADDRESS}, 1, {5}, 1},
    {{.kind = JOB_DOOR_TOOLS, .text = "a;b"}, 4, {6, 'a', ';', 'b'}, 2},
    {{.kind = JOB_DOOR_ATTACH, .text = "j"}, 2, {7, 'j'}, 1},
    {{.kind = JOB_DOOR_JOB,
      .first = 5,
      .count = 3,
      .channels = 6,
      .parts = 2,
      .push_bytes = 0x102,
      .cache_bytes = 9,
      .text = "j"},
     23,
     {8, 5, 0, 0, 0, 3, 0, 0, 0, 6, 2, 0, 0, 0, 2, 1, 0, 0, 9, 0, 0, 0, 'j'},
     23},
    {{.kind = JOB_DOOR_WHERE, .parts = 64}, 5, {9, 64}, 5},
    {{.kind = JOB_DOOR_PART, .parts = 1, .first = 6, .count = 2, .text = "h"},
     14,
     {10, 1, 0, 0, 0, 6, 0, 0, 0, 2, 0, 0, 0, 'h'},
     14},
    {{.kind = JOB_DOOR_RANGES, .rest = REST(two_ranges)},
     17,
     {11, 5, 0, 0, 0, 5, 0, 0, 0, 7, 0, 0, 0, 7},
     9},
    {{.kind = JOB_DOOR_PULL,
      .channels = 14,
      .redirects = true,
      .is_last = true,
      .cache_bytes = 0x100,
      .limit_bytes = 7},
     11,
     {12, 14, 3, 0, 1, 0, 0, 7},
     11},
    {{.kind = JOB_DOOR_PULLED, .redirects = true}, 2, {13, 1}, 2},
    {{.kind = JOB_DOOR_OUTPUT,
      .first = 7,
      .channel = 2,
      .is_end = true,
      .dropped_bytes = 3,
      .before_bytes = 4,
      .rest = REST(two_bytes)},
     25,
     {14, 7, 0, 0, 0, 2, 1, 3, 0, 0, 0,   0,  0,
      0,  0, 4, 0, 0, 0, 0, 0, 0, 0, 'o', 'k'},
     23},
    {{.kind = JOB_DOOR_PUSH,
      .needs_all = true,
      .is_more = true,
      .rest = REST(two_bytes)},
     4,
     {15, 3, 'o', 'k'},
     3},
    {{.kind = JOB_DOOR_PUSHED, .is_over = true}, 2, {16, 1}, 2},
    {{.kind = JOB_DOOR_SPAWN, .is_more = true, .rest = REST(two_bytes)},
     4,
     {17, 1, 'o', 'k'},
     3},
    {{.kind = JOB_DOOR_STARTED}, 1, {18}, 1},
    {{.kind = JOB_DOOR_UNSTARTED, .reason = JOB_DOOR_NO_DIR, .text = "w"},
     3,
     {19, 6, 'w'},
     2},
    {{.kind = JOB_DOOR_SIGNAL, .status = 15}, 5, {20, 15}, 5},
    {{.kind = JOB_DOOR_SIGNALLED, .is_over = true}, 2, {21, 1}, 2},
    {{.kind = JOB_DOOR_ENDED,
      .is_lost = true,
      .first = 5,
      .status = 0x300,
      .count = 2,
      .rest = REST(two_bytes)},
     16,
     {22, 1, 5, 0, 0, 0, 0, 3, 0, 0, 2, 0, 0, 0, 'o', 'k'},
     14},
    {{.kind = JOB_DOOR_TAKEN, .taken = 0x102, .is_over = true},
     10,
     {23, 2, 1, 0, 0, 0, 0, 0, 0, 1},
     10},
    {{.kind = JOB_DOOR_WATCH}, 1, {24}, 1},
    {{.kind = JOB_DOOR_WATCHED}, 1, {25}, 1},
    {{.kind = JOB_DOOR_BEGUN,
      .first = 5,
      .count = 3,
      .channels = 6,
      .is_dvm = true,
      .is_last = true,
      .cache_bytes = 7,
      .buffer = {8, 9},
      .text = "j"},
     24,
     {26, 5, 0, 0, 0, 3, 0, 0, 0, 6, 3, 7,
      0,  0, 0, 8, 0, 0, 0, 9, 0, 0, 0, 'j'},
     24},
    {{.kind = JOB_DOOR_STAGE,
      .base = 5,
      .reason = JOB_DOOR_OVER,
      .time_s = 9,
      .is_lost = true,
      .is_more = true,
      .first = 6,
      .status = 0x300,
      .count = 2},
     27,
     {27, 5, 0, 0, 0, 3, 9, 0, 0, 0, 0, 0, 0, 0,
      3,  6, 0, 0, 0, 0, 3, 0, 0, 2, 0, 0, 0},
     27},
    {{.kind = JOB_DOOR_BROKEN, .first = 5, .channel = 2},
     6,
     {28, 5, 0, 0, 0, 2},
     6},
    {{.kind = JOB_DOOR_FORGOTTEN, .base = 5}, 5, {29, 5}, 5},
    {{.kind = JOB_DOOR_DESCRIBE, .base = 5}, 5, {30, 5}, 5},
    {{.kind = JOB_DOOR_PLACE,
      .parts = 1,
      .first = 5,
      .count = 2,
      .host = "h",
      .text = "p"},
     16,
     {31, 1, 0, 0, 0, 5, 0, 0, 0, 2, 0, 0, 0, 'h', 0, 'p'},
     15},
    {{.kind = JOB_DOOR_PIDS, .first = 5, .rest = REST(two_numbers)},
     13,
     {32, 5, 0, 0, 0, 5, 0, 0, 0, 7, 0, 0, 0},
     9},
    {{.kind = JOB_DOOR_EXITS, .first = 5, .rest = REST(two_numbers)},
     13,
     {33, 5, 0, 0, 0, 5, 0, 0, 0, 7, 0, 0, 0},
     9},
    {{.kind = JOB_DOOR_DESCRIBED, .is_over = true, .text = "a b"},
     5,
     {34, 1, 'a', ' ', 'b'},
     2},
    {{.kind = JOB_DOOR_NAME, .first = 2, .text = "n"},
     6,
     {35, 2, 0, 0, 0, 'n'},
     5},
    {{.kind = JOB_DOOR_NAMED, .is_over = true, .first = 2, .text = "n"},
     7,
     {36, 1, 2, 0, 0, 0, 'n'},
     6},
    {{.kind = JOB_DOOR_LOG,
      .channel = 1,
      .is_more = true,
      .rest = REST(two_bytes)},
     5,
     {37, 1, 1, 'o', 'k'},
     3},
    {{.kind = JOB_DOOR_LOGGED, .is_over = true}, 2, {38, 1}, 2},
    {{.kind = JOB_DOOR_EVENT, .rest = REST(two_bytes)}, 3, {39, 'o', 'k'}, 2},
    {{.kind = JOB_DOOR_NOTE, .text = "n"}, 2, {40, 'n'}, 2},
    {{.kind = JOB_DOOR_LIST, .base = 5}, 5, {41, 5}, 5},
    {{.kind = JOB_DOOR_LISTED,
      .is_dvm = true,
      .is_over = true,
      .first = 5,
      .count = 3,
      .host = "h",
      .row = {.name = "j",
              .left = 2,
              .hosts = 1,
              .age_s = 9,
              .output_bytes = 0x100,
              .quiet_s = 8,
              .stdin_bytes = 7,
              .waiting_bytes = 6},
      .text = "c"},
     63,
     {42, 3, 5, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0,   0, 9,   0, 0,
      0,  0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0,   0, 0,   0, 0,
      7,  0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 'j', 0, 'h', 0, 'c'},
     62},
    {{.kind = JOB_DOOR_GROUPS, .base = 5}, 5, {43, 5}, 5},
    {{.kind = JOB_DOOR_GROUPED, .is_over = true, .rest = REST(two_bytes)},
     4,
     {44, 1, 'o', 'k'},
     2},
    {{.kind = JOB_DOOR_FIRST, .first = 5, .status = 0x300, .text = "w"},
     10,
     {45, 5, 0, 0, 0, 0, 3, 0, 0, 'w'},
     9},
    {{.kind = JOB_DOOR_STALLED, .text = "w"}, 2, {46, 'w'}, 1},
};

static void assert_heard(const struct job_door *heard,
                         const struct job_door *said)
{
    struct job_door rest = *heard;

    assert_int_equal(ov_rd_left(&heard->rest), ov_rd_left(&said->rest));
    if (said->rest.at != NULL)
        assert_memory_equal(heard->rest.at, said->rest.at,
                            ov_rd_left(&said->rest));
    rest.rest = said->rest;
    if (said->host != NULL)
        assert_string_equal(heard->host, said->host);
    rest.host = said->host;
    if (said->row.name != NULL)
        assert_string_equal(heard->row.name, said->row.name);
    rest.row.name = said->row.name;
    assert_memory_equal(&rest, said, sizeof(rest));
}

static bool is_whole(size_t i, size_t len_bytes)
{
    if (cases[i].said.kind ==
        JOB_DOOR_RANGES) /* RANGES is one of the two kinds */
        return len_bytes == 1 + JOB_DOOR_RANGE_BYTES;
    if (cases[i].said.kind == JOB_DOOR_PIDS ||
        cases[i].said.kind == JOB_DOOR_EXITS)
        return len_bytes == 5 + JOB_DOOR_NUMBER_BYTES;
    return len_bytes >= cases[i].least_bytes;
}

static void messages_are_these_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint8_t mem[JOB_DOOR_BYTES_MAX];
        struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
        struct job_door heard;

        job_door_encode(&wr, &cases[i].said);
        assert_false(wr.bad);
        assert_int_equal(wr.at - mem, cases[i].len_bytes);
        assert_memory_equal(mem, cases[i].golden, cases[i].len_bytes);
        assert_int_equal(
            job_door_decode(ov_rd_init(mem, cases[i].len_bytes), &heard), 0);
        assert_heard(&heard, &cases[i].said);
        for (size_t len = 0; len < cases[i].len_bytes; len++)
            assert_int_equal(job_door_decode(ov_rd_init(mem, len), &heard),
                             is_whole(i, len) ? 0 : OV_EPROTO);
    }
}

static void what_is_no_message_is_refused(void **state)
{
    static const uint8_t none[] = {0}, high[] = {JOB_DOOR_KINDS},
                         more[] = {JOB_DOOR_STOP, 0},
                         flag[] = {JOB_DOOR_WELCOME, 2, 'a'};
    static uint8_t longer[JOB_DOOR_TEXT_MAX + 1] = {JOB_DOOR_REFUSED};
    struct job_door heard;

    (void)state;
    memset(longer + 1, 'x', sizeof(longer) - 1);
    assert_int_equal(job_door_decode(ov_rd_init(none, 1), &heard), OV_EPROTO);
    assert_int_equal(job_door_decode(ov_rd_init(high, 1), &heard), OV_EPROTO);
    assert_int_equal(job_door_decode(ov_rd_init(more, 2), &heard), OV_EPROTO);
    assert_int_equal(job_door_decode(ov_rd_init(flag, 3), &heard), OV_EPROTO);
    assert_int_equal(
        job_door_decode(ov_rd_init(longer, sizeof(longer)), &heard), OV_EPROTO);
    assert_int_equal(
        job_door_decode(ov_rd_init(longer, sizeof(longer) - 1), &heard), 0);
}

static void the_document_has_the_rows(void **state)
{
    static const char *const names[] = {
        "HELLO",     "WELCOME", "REFUSED", "STOP",      "ADDRESS",
        "TOOLS",     "ATTACH",  "JOB",     "WHERE",     "PART",
        "RANGES",    "PULL",    "PULLED",  "OUTPUT",    "PUSH",
        "PUSHED",    "SPAWN",   "STARTED", "UNSTARTED", "SIGNAL",
        "SIGNALLED", "ENDED",   "TAKEN",   "WATCH",     "WATCHED",
        "BEGUN",     "STAGE",   "BROKEN",  "FORGOTTEN", "DESCRIBE",
        "PLACE",     "PIDS",    "EXITS",   "DESCRIBED", "NAME",
        "NAMED",     "LOG",     "LOGGED",  "EVENT",     "NOTE",
        "LIST",      "LISTED",  "GROUPS",  "GROUPED",   "FIRST",
        "STALLED"};

    (void)state;
    for (unsigned kind = JOB_DOOR_HELLO; kind < JOB_DOOR_KINDS; kind++)
        document_has_message(kind, names[kind - JOB_DOOR_HELLO],
                             job_door_rows(kind));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_these_bytes),
        cmocka_unit_test(what_is_no_message_is_refused),
        cmocka_unit_test(the_document_has_the_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
