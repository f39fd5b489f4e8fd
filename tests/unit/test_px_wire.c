/* Words between the launcher and its PMIx helper: what is said is heard. */
#include "pmix_api/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/base/err.h"

static size_t encode(const struct px_msg *msg, uint8_t *mem, size_t size)
{
    struct ov_wr wr = ov_wr_init(mem, size);

    px_msg_encode(&wr, msg);
    assert_false(wr.bad);
    return (size_t)(wr.at - mem);
}

/* The layout on the wire is the one that wire.h draws. */
static void output_has_the_bytes_that_are_drawn(void **state)
{
    static const uint8_t want[] = {4, 3, 0, 0, 0, 2, 5, 9, 0, 0,   0,
                                   7, 0, 0, 0, 0, 0, 0, 0, 8, 0,   0,
                                   0, 0, 0, 0, 0, 2, 0, 0, 0, 'h', 'i'};
    uint8_t mem[64];
    struct px_msg msg = {.kind = PX_OUTPUT,
                         .output = {.rank = 3,
                                    .channel = 2,
                                    .is_end = true,
                                    .is_turn = true,
                                    .to = 9,
                                    .dropped_bytes = 7,
                                    .before_bytes = 8,
                                    .len_bytes = 2,
                                    .mem = (const uint8_t *)"hi"}};

    (void)state;
    assert_int_equal(encode(&msg, mem, sizeof(mem)), sizeof(want));
    assert_memory_equal(mem, want, sizeof(want));
    assert_int_equal(sizeof(want) - 2, PX_OUTPUT_HEAD_BYTES);
}

/* One whose bytes are elsewhere says where, in their place. */
static void shared_output_has_a_position_for_its_bytes(void **state)
{
    static const uint8_t want[] = {4, 3, 0, 0, 0, 1, 8, 9, 0, 0, 0, 0, 0,
                                   0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                   0, 0, 0, 1, 0, 6, 5, 4, 3, 2, 1, 0, 0};
    uint8_t mem[64];
    struct px_msg msg = {.kind = PX_OUTPUT,
                         .output = {.rank = 3,
                                    .channel = 1,
                                    .to = 9,
                                    .len_bytes = 65536,
                                    .is_shared = true,
                                    .at = 0x010203040506}};
    struct px_msg heard;
    struct ov_rd rd;

    (void)state;
    assert_int_equal(encode(&msg, mem, sizeof(mem)), sizeof(want));
    assert_memory_equal(mem, want, sizeof(want));
    assert_int_equal(sizeof(want), PX_OUTPUT_SHARED_BYTES);
    rd = ov_rd_init(mem, sizeof(want));
    assert_int_equal(px_msg_decode(&rd, &heard), 0);
    assert_true(heard.output.is_shared);
    assert_int_equal(heard.output.at, 0x010203040506);
    assert_null(heard.output.mem);
}

/* A packet holds several messages; each is read as it was written. */
static void messages_in_a_row_are_heard_as_said(void **state)
{
    uint8_t mem[512];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    struct ov_rd rd;
    struct px_msg msg;

    (void)state;
    px_msg_encode(
        &wr, &(struct px_msg){.kind = PX_START,
                              .start = {1, 2, 3, 4, 5, 3, true, 6,
                                        px_text("space"), px_text("/tmp/x")}});
    px_msg_encode(&wr, &(struct px_msg){.kind = PX_PART,
                                        .part = {1, 2, 3, px_text("host"),
                                                 px_text("./a b")}});
    px_msg_encode(&wr, &(struct px_msg){.kind = PX_PIDS,
                                        .pids = {7, 1, (const void *)"abcd"}});
    px_msg_encode(&wr, &(struct px_msg){.kind = PX_STAGE,
                                        .stage = {7, PX_STAGE_ENDED, 1u << 31,
                                                  true, true, 8, 256}});
    px_msg_encode(
        &wr, &(struct px_msg){.kind = PX_DONE, .done = {9, PX_ANSWER_FULL}});
    px_msg_encode(&wr,
                  &(struct px_msg){.kind = PX_LOG,
                                   .log = {10, 2, true, px_text("a line")}});
    px_msg_encode(&wr, &(struct px_msg){.kind = PX_SIGNAL,
                                        .signal = {11, 15, 1, {{4, 5}}}});
    px_msg_encode(&wr, &(struct px_msg){.kind = PX_QUIET});
    assert_false(wr.bad);
    rd = ov_rd_init(mem, (size_t)(wr.at - mem));
    assert_int_equal(px_msg_decode(&rd, &msg), 0);
    assert_int_equal(msg.start.parts, 5);
    assert_int_equal(msg.start.cache_bytes, 6);
    assert_memory_equal(msg.start.folder.at, "/tmp/x", 6);
    assert_int_equal(px_msg_decode(&rd, &msg), 0);
    assert_int_equal(msg.part.ranks, 3);
    assert_int_equal(msg.part.program.len_bytes, 5);
    assert_int_equal(px_msg_decode(&rd, &msg), 0);
    assert_int_equal(msg.pids.first, 7);
    assert_memory_equal(msg.pids.mem, "abcd", 4);
    assert_int_equal(px_msg_decode(&rd, &msg), 0);
    assert_int_equal(msg.stage.base, 7);
    assert_int_equal(msg.stage.time_s, 1u << 31);
    assert_true(msg.stage.has_failed && msg.stage.is_lost);
    assert_int_equal(px_msg_decode(&rd, &msg), 0);
    assert_int_equal(msg.done.answer, PX_ANSWER_FULL);
    assert_int_equal(px_msg_decode(&rd, &msg), 0);
    assert_memory_equal(msg.log.text.at, "a line", 6);
    assert_int_equal(px_msg_decode(&rd, &msg), 0);
    assert_int_equal(msg.signal.ranges[0].last, 5);
    assert_int_equal(px_msg_decode(&rd, &msg), 0);
    assert_int_equal(msg.kind, PX_QUIET);
    assert_int_equal(ov_rd_left(&rd), 0);
}

/* Output that goes back: that a pull is over is said and answered by one word,
 * and the launcher asks for more. */
static void what_goes_back_is_stopped_and_taken(void **state)
{
    static const uint8_t want[] = {44, 3, 0, 0, 0, 45};
    uint8_t mem[64];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    struct px_msg msg;
    struct ov_rd rd;

    (void)state;
    px_msg_encode(&wr, &(struct px_msg){.kind = PX_STOP, .id = 3});
    px_msg_encode(&wr, &(struct px_msg){.kind = PX_TAKEN});
    assert_false(wr.bad);
    assert_int_equal(wr.at - mem, sizeof(want));
    assert_memory_equal(mem, want, sizeof(want));
    rd = ov_rd_init(mem, sizeof(want));
    assert_int_equal(px_msg_decode(&rd, &msg), 0);
    assert_int_equal(msg.kind, PX_STOP);
    assert_int_equal(msg.id, 3);
    assert_int_equal(px_msg_decode(&rd, &msg), 0);
    assert_int_equal(msg.kind, PX_TAKEN);
    assert_int_equal(ov_rd_left(&rd), 0);
}

static void a_push_has_the_bytes_that_are_drawn(void **state)
{
    static const uint8_t want[] = {25, 2, 0, 0, 0, 'h', 'i', 10, 1, 3,
                                   0,  0, 0, 9, 0, 0,   0,   11, 4, 0,
                                   0,  0, 0, 1, 0, 0,   26,  29, 15};
    uint8_t mem[64];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

    (void)state;
    px_msg_encode(&wr, &(struct px_msg){.kind = PX_PUSH,
                                        .push = {2, (const uint8_t *)"hi"}});
    assert_int_equal(wr.at - mem, PX_PUSH_HEAD_BYTES + 2);
    px_msg_encode(&wr, &(struct px_msg){.kind = PX_STDIN, .in = {true, 3, 9}});
    px_msg_encode(&wr, &(struct px_msg){.kind = PX_GRANT, .grant = {4, 256}});
    px_msg_encode(&wr, &(struct px_msg){.kind = PX_REST});
    px_msg_encode(&wr, &(struct px_msg){.kind = PX_PUSHER});
    px_msg_encode(&wr, &(struct px_msg){.kind = PX_HELD});
    assert_false(wr.bad);
    assert_int_equal(wr.at - mem, sizeof(want));
    assert_memory_equal(mem, want, sizeof(want));
}

static void words_on_pulls_are_heard_as_said(void **state)
{
    uint8_t mem[512];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    struct ov_rd rd;
    struct px_msg msg;

    (void)state;
    px_msg_encode(&wr, &(struct px_msg){.kind = PX_PULL,
                                        .pull = {.id = 1,
                                                 .channels = 6,
                                                 .redirects = true,
                                                 .is_last = true,
                                                 .last = 9,
                                                 .cache_bytes = 5}});
    px_msg_encode(&wr,
                  &(struct px_msg){.kind = PX_END, .end = {1, 77, true, 99}});
    px_msg_encode(&wr, &(struct px_msg){.kind = PX_BEHIND, .id = 3});
    px_msg_encode(&wr, &(struct px_msg){.kind = PX_BROKEN, .broken = {8, 2}});
    assert_false(wr.bad);
    rd = ov_rd_init(mem, (size_t)(wr.at - mem));
    assert_int_equal(px_msg_decode(&rd, &msg), 0);
    assert_int_equal(msg.pull.last, 9);
    assert_true(msg.pull.redirects);
    assert_true(msg.pull.is_last);
    assert_false(msg.pull.has_more);
    assert_int_equal(msg.pull.cache_bytes, 5);
    assert_int_equal(px_msg_decode(&rd, &msg), 0);
    assert_int_equal(msg.kind, PX_END);
    assert_int_equal(msg.end.lost_bytes, 77);
    assert_true(msg.end.is_kept);
    assert_int_equal(msg.end.position, 99);
    assert_int_equal(px_msg_decode(&rd, &msg), 0);
    assert_int_equal(msg.kind, PX_BEHIND);
    assert_int_equal(msg.id, 3);
    assert_int_equal(px_msg_decode(&rd, &msg), 0);
    assert_int_equal(msg.broken.rank, 8);
    assert_int_equal(msg.broken.channel, 2);
    assert_int_equal(ov_rd_left(&rd), 0);
}

static void a_job_has_the_bytes_that_are_drawn(void **state)
{
    static const uint8_t want[] = {14, 9, 0, 0, 0, 3, 0, 0,   0,   2,  0, 0,
                                   0,  1, 0, 0, 0, 4, 0, 0,   0,   6,  5, 0,
                                   0,  0, 8, 0, 1, 0, 1, 0,   'x', 27, 9, 0,
                                   0,  0, 1, 2, 0, 0, 0, 'h', 'i'};
    uint8_t mem[64];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    struct ov_rd rd;
    struct px_msg msg;

    (void)state;
    px_msg_encode(&wr, &(struct px_msg){
                           .kind = PX_JOB,
                           .job = {9, 3, 2, 1, 4, 6, 5, 65544, px_text("x")}});
    px_msg_encode(&wr,
                  &(struct px_msg){.kind = PX_SPAWN,
                                   .spawn = {9, true, 2, (const void *)"hi"}});
    assert_false(wr.bad);
    assert_int_equal(wr.at - mem, sizeof(want));
    assert_memory_equal(mem, want, sizeof(want));
    rd = ov_rd_init(mem, sizeof(want));
    assert_int_equal(px_msg_decode(&rd, &msg), 0);
    assert_int_equal(msg.job.base, 3);
    assert_int_equal(msg.job.parts, 4);
    assert_int_equal(msg.job.cache_bytes, 65544);
    assert_int_equal(px_msg_decode(&rd, &msg), 0);
    assert_true(msg.spawn.is_more);
    assert_memory_equal(msg.spawn.mem, "hi", 2);
}

static int decode(const void *mem, size_t len)
{
    struct ov_rd rd = ov_rd_init(mem, len);
    struct px_msg msg;

    return px_msg_decode(&rd, &msg);
}

static void what_is_no_message_is_refused(void **state)
{
    static const uint8_t unknown[] = {99};
    static const uint8_t backwards[] = {17, 1, 0, 0, 0, 6, 0, 5, 0, 0,
                                        0,  4, 0, 0, 0, 0, 0, 0, 0};
    static const uint8_t no_pull[19] = {17, 0, 0, 0, 0, 6};
    static const uint8_t stdin_channel[24] = {4};
    static const uint8_t broken_stdin[6] = {12, 1};
    static const uint8_t odd_flag[24] = {4, 0, 0, 0, 0, 1, 8};
    static const uint8_t long_text[3 + 5000] = {19, 0x88, 0x13};
    static const uint8_t too_much[24] = {4, 0, 0, 0, 0, 1, 0, 0, 0,    0, 0, 0,
                                         0, 0, 0, 0, 0, 0, 0, 1, 0x80, 0, 0};
    uint8_t cut[64];
    struct px_msg msg = {.kind = PX_PART,
                         .part = {1, 2, 3, px_text("h"), px_text("p")}};
    size_t len = encode(&msg, cut, sizeof(cut));

    (void)state;
    assert_int_equal(decode(unknown, sizeof(unknown)), OV_EPROTO);
    assert_int_equal(decode(backwards, sizeof(backwards)), OV_EPROTO);
    assert_int_equal(decode(no_pull, sizeof(no_pull)), OV_EPROTO);
    assert_int_equal(decode(stdin_channel, sizeof(stdin_channel)), OV_EPROTO);
    assert_int_equal(decode(broken_stdin, sizeof(broken_stdin)), OV_EPROTO);
    assert_int_equal(decode(odd_flag, sizeof(odd_flag)), OV_EPROTO);
    assert_int_equal(decode(long_text, sizeof(long_text)), OV_EPROTO);
    assert_int_equal(decode(too_much, sizeof(too_much)), OV_EPROTO);
    for (size_t i = 0; i < len; i++)
        assert_int_equal(decode(cut, i), OV_EPROTO);
    assert_int_equal(decode(cut, len), 0);
}

static void texts_are_cut_to_their_room(void **state)
{
    char out[4];

    (void)state;
    px_text_copy(px_text("abcdef"), out, sizeof(out));
    assert_string_equal(out, "abc");
    px_text_copy(px_text(""), out, sizeof(out));
    assert_string_equal(out, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_has_the_bytes_that_are_drawn),
        cmocka_unit_test(shared_output_has_a_position_for_its_bytes),
        cmocka_unit_test(a_push_has_the_bytes_that_are_drawn),
        cmocka_unit_test(what_goes_back_is_stopped_and_taken),
        cmocka_unit_test(messages_in_a_row_are_heard_as_said),
        cmocka_unit_test(a_job_has_the_bytes_that_are_drawn),
        cmocka_unit_test(words_on_pulls_are_heard_as_said),
        cmocka_unit_test(what_is_no_message_is_refused),
        cmocka_unit_test(texts_are_cut_to_their_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
