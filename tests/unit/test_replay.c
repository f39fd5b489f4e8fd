/* Orders and answers about output from before, as bytes. */
#include "job/replay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/base/err.h"

/* As docs/protocol.md draws it: two ranges, the last 0x11223344 bytes. */
static const uint8_t order_bytes[] = {
    0x02, 0x01, 0x06, 0x01, 0x44, 0x33, 0x22, 0x11, /* the head */
    3,    0,    0,    0,    5,    0,    0,    0,    /* 3 to 5 */
    9,    0,    0,    0,    9,    0,    0,    0,    /* 9 */
};

static const uint8_t answer_bytes[] = {1, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 1};

static void an_order_has_the_bytes_that_are_drawn(void **state)
{
    struct job_replay_order order = {
        .ticket = 0x102, .channels = 6, .is_last = true, .bytes = 0x11223344};
    uint8_t mem[JOB_REPLAY_ORDER_BYTES];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

    (void)state;
    job_replay_order_encode(&wr, &order);
    assert_false(wr.bad);
    assert_int_equal(wr.at - mem, 8);
    assert_memory_equal(mem, order_bytes, 8);
    memset(&order, 0, sizeof(order));
    assert_int_equal(job_replay_order_decode(
                         ov_rd_init(order_bytes, sizeof(order_bytes)), &order),
                     0);
    assert_int_equal(order.ticket, 0x102);
    assert_int_equal(order.channels, 6);
    assert_true(order.is_last);
    assert_int_equal(order.bytes, 0x11223344);
    assert_int_equal(ov_rd_left(&order.ranges), 16);
    assert_int_equal(ov_rd_u32(&order.ranges), 3);
}

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

/* For nobody, for too many, with bytes. */
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

/* Cut anywhere but between ranges, without a ticket, with unknown flags. */
static void what_is_none_is_refused(void **state)
{
    struct job_replay_order order;
    uint8_t mem[sizeof(order_bytes)];

    (void)state;
    for (size_t len = 0; len < sizeof(order_bytes); len++)
        assert_int_equal(
            job_replay_order_decode(ov_rd_init(order_bytes, len), &order),
            len == 16 ? 0 : OV_EPROTO);
    memcpy(mem, order_bytes, sizeof(mem));
    mem[0] = mem[1] = 0;
    assert_int_equal(
        job_replay_order_decode(ov_rd_init(mem, sizeof(mem)), &order),
        OV_EPROTO);
    memcpy(mem, order_bytes, sizeof(mem));
    mem[3] = 2;
    assert_int_equal(
        job_replay_order_decode(ov_rd_init(mem, sizeof(mem)), &order),
        OV_EPROTO);
    for (size_t len = 0; len < sizeof(answer_bytes); len++)
        assert_int_equal(decode(answer_bytes, len), OV_EPROTO);
    memcpy(mem, answer_bytes, sizeof(answer_bytes));
    mem[0] = 3;
    assert_int_equal(decode(mem, sizeof(answer_bytes)), OV_EPROTO);
}

/* As many ranges as one order has, and one more. */
static void an_order_of_too_many_ranges_is_refused(void **state)
{
    uint8_t mem[JOB_REPLAY_ORDER_BYTES + 8] = {1};
    struct job_replay_order order;

    (void)state;
    assert_int_equal(job_replay_order_decode(
                         ov_rd_init(mem, JOB_REPLAY_ORDER_BYTES), &order),
                     0);
    assert_int_equal(
        job_replay_order_decode(ov_rd_init(mem, sizeof(mem)), &order),
        OV_EPROTO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_order_has_the_bytes_that_are_drawn),
        cmocka_unit_test(an_answer_has_the_bytes_that_are_drawn),
        cmocka_unit_test(a_node_has_heard_with_the_bytes_that_are_drawn),
        cmocka_unit_test(what_no_node_has_heard_is_refused),
        cmocka_unit_test(what_is_none_is_refused),
        cmocka_unit_test(an_order_of_too_many_ranges_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
