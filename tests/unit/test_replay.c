/* Answers about earlier output, as bytes. */
#include "job/replay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/base/err.h"

/* The bytes as docs/protocol.md draws them. */
static const uint8_t answer_bytes[] = {1, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 1};

static void an_answer_has_the_bytes_that_are_drawn(void **state)
{
    struct job_replay_answer answer = {
        .is_turn = true, .dropped_bytes = (UINT64_C(1) << 56) + 7};
    uint8_t mem[JOB_REPLAY_HEAD_BYTES];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

    (void)state;
    job_replay_answer_encode(&wr, &answer);
    assert_false(wr.bad);
    assert_int_equal(wr.at - mem, JOB_REPLAY_HEAD_BYTES);
    assert_memory_equal(mem, answer_bytes, sizeof(mem));
    memset(&answer, 0, sizeof(answer));
    assert_int_equal(
        job_replay_answer_decode(ov_rd_init(answer_bytes, sizeof(answer_bytes)),
                                 &answer),
        0);
    assert_true(answer.is_turn);
    assert_int_equal(answer.dropped_bytes, (UINT64_C(1) << 56) + 7);
}

static const uint8_t heard_bytes[] = {2, 0, 0, 0, 4, 3, 0, 0, 0, 0, 0, 0};

static void a_node_has_heard_with_the_bytes_that_are_drawn(void **state)
{
    struct job_replay_answer answer = {.is_heard = true, .heard = 0x304};
    uint8_t mem[JOB_REPLAY_HEAD_BYTES];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

    (void)state;
    job_replay_answer_encode(&wr, &answer);
    assert_false(wr.bad);
    assert_memory_equal(mem, heard_bytes, sizeof(mem));
    memset(&answer, 0xff, sizeof(answer));
    assert_int_equal(job_replay_answer_decode(
                         ov_rd_init(heard_bytes, sizeof(heard_bytes)), &answer),
                     0);
    assert_true(answer.is_heard);
    assert_int_equal(answer.heard, 0x304);
    assert_false(answer.is_turn);
    assert_int_equal(answer.dropped_bytes, 0);
}

static int decode(const uint8_t *mem, size_t len)
{
    struct job_replay_answer answer;

    return job_replay_answer_decode(ov_rd_init(mem, len), &answer);
}

/* Answers for no process, for too many processes, and with bytes are
 * refused. */
static void what_no_node_has_heard_is_refused(void **state)
{
    uint8_t mem[sizeof(heard_bytes) + 1] = {2, 0, 0, 0, 1};

    (void)state;
    assert_int_equal(decode(mem, sizeof(heard_bytes)), 0);
    assert_int_equal(decode(mem, sizeof(mem)), OV_EPROTO);
    mem[4] = 0;
    assert_int_equal(decode(mem, sizeof(heard_bytes)), OV_EPROTO);
    mem[8] = 1;
    assert_int_equal(decode(mem, sizeof(heard_bytes)), OV_EPROTO);
}

/* An answer is cut anywhere, or has unknown flags. */
static void what_is_none_is_refused(void **state)
{
    uint8_t mem[sizeof(answer_bytes)];

    (void)state;
    for (size_t len = 0; len < sizeof(answer_bytes); len++)
        assert_int_equal(decode(answer_bytes, len), OV_EPROTO);
    memcpy(mem, answer_bytes, sizeof(mem));
    mem[0] = 3;
    assert_int_equal(decode(mem, sizeof(answer_bytes)), OV_EPROTO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_has_the_bytes_that_are_drawn),
        cmocka_unit_test(a_node_has_heard_with_the_bytes_that_are_drawn),
        cmocka_unit_test(what_no_node_has_heard_is_refused),
        cmocka_unit_test(what_is_none_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
