/* Orders to all nodes, through a carrier whose room the test sets. */
#include "endpoints/run/orders.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "endpoints/client/requests.h"
#include "job/job.h"
#include "job/order.h"
#include "overlay/base/buf.h"
#include "overlay/control.h"
#include "overlay/wire/frame.h"

enum {
    MESSAGE_BYTES = OV_CONTROL_HEAD_BYTES + 600,
    BODY_BYTES = MESSAGE_BYTES - OV_CONTROL_HEAD_BYTES,
    MESSAGES_MAX = 16,
    KIND = OV_CONTROL_APP,
    RANGES = 150, /* the ranges fill two messages, and a part of a third */
};

struct fixture {
    struct run_orders *orders;
    uint32_t room, bufs;
    bool is_pumping; /* the carrier pumps from within its send function */
    struct ov_buf buf;
    uint8_t mem[OV_DOWN_HEAD_BYTES + MESSAGE_BYTES];
    uint8_t sent[MESSAGES_MAX][MESSAGE_BYTES];
    uint32_t sent_bytes[MESSAGES_MAX];
    unsigned count;
};

static uint32_t room(void *arg)
{
    const struct fixture *fx = arg;

    return fx->room;
}

static struct ov_buf *take_buf(void *arg)
{
    struct fixture *fx = arg;

    if (fx->bufs == 0)
        return NULL;
    fx->bufs--;
    return &fx->buf;
}

static void send_down(void *arg, struct ov_buf *buf, uint32_t len_bytes)
{
    struct fixture *fx = arg;

    assert_ptr_equal(buf, &fx->buf);
    assert_in_range(len_bytes, OV_CONTROL_HEAD_BYTES, MESSAGE_BYTES);
    assert_in_range(fx->count, 0, MESSAGES_MAX - 1);
    memcpy(fx->sent[fx->count], buf->mem + OV_DOWN_HEAD_BYTES, len_bytes);
    fx->sent_bytes[fx->count++] = len_bytes;
    fx->room--;
    fx->bufs++;
    if (fx->is_pumping)
        ep_run_orders_pump(fx->orders);
}

static int enter(void **state)
{
    static const struct run_carrier carrier = {
        .room = room,
        .buf = take_buf,
        .send = send_down,
    };
    struct fixture *fx = calloc(1, sizeof(*fx));

    if (fx == NULL)
        return -1;
    *state = fx;
    fx->room = MESSAGES_MAX;
    fx->bufs = 1;
    fx->buf.mem = fx->mem;
    return ep_run_orders_open(&carrier, fx, MESSAGE_BYTES, &fx->orders);
}

static int leave(void **state)
{
    struct fixture *fx = *state;

    ep_run_orders_close(fx->orders);
    free(fx);
    return 0;
}

/* Checks the head of the n-th message that was sent, and returns its body. */
static struct ov_rd sent(const struct fixture *fx, unsigned n, uint8_t kind,
                         bool more)
{
    struct ov_control control;

    assert_in_range(n, 0, fx->count - 1);
    assert_int_equal(
        ov_control_decode(fx->sent[n], fx->sent_bytes[n], &control), 0);
    assert_int_equal(control.kind, kind);
    assert_int_equal(control.more, more);
    return control.body;
}

static void queue_text(struct fixture *fx, const char *text)
{
    ep_run_orders_queue(fx->orders, KIND, text, (uint32_t)strlen(text));
}

static void check_text(const struct fixture *fx, unsigned n, const char *text)
{
    struct ov_rd body = sent(fx, n, KIND, false);

    assert_int_equal(ov_rd_left(&body), strlen(text));
    assert_memory_equal(body.at, text, strlen(text));
}

static void orders_leave_as_they_were_given(void **state)
{
    struct fixture *fx = *state;
    struct ov_rd body;

    assert_true(ep_run_orders_is_empty(fx->orders));
    queue_text(fx, "one");
    queue_text(fx, "two");
    assert_int_equal(fx->count, 0); /* nothing is sent before the pump */
    assert_false(ep_run_orders_is_empty(fx->orders));
    ep_run_orders_send(fx->orders, OV_CONTROL_GOODBYE, NULL, 0);
    assert_int_equal(fx->count, 3);
    assert_true(ep_run_orders_is_empty(fx->orders));
    check_text(fx, 0, "one");
    check_text(fx, 1, "two");
    body = sent(fx, 2, OV_CONTROL_GOODBYE, false);
    assert_int_equal(ov_rd_left(&body), 0);
}

/* Nothing is sent without room or without a buffer; orders that waited are sent
 * first. */
static void orders_wait_for_room_and_for_a_buffer(void **state)
{
    struct fixture *fx = *state;

    fx->room = 0;
    queue_text(fx, "one");
    queue_text(fx, "two");
    queue_text(fx, "three");
    ep_run_orders_pump(fx->orders);
    assert_int_equal(fx->count, 0);
    fx->room = 1;
    ep_run_orders_pump(fx->orders);
    assert_int_equal(fx->count, 1);
    fx->room = MESSAGES_MAX;
    fx->bufs = 0;
    ep_run_orders_pump(fx->orders);
    assert_int_equal(fx->count, 1);
    fx->bufs = 1;
    ep_run_orders_send(fx->orders, KIND, "four", 4);
    assert_int_equal(fx->count, 4);
    check_text(fx, 0, "one");
    check_text(fx, 1, "two");
    check_text(fx, 2, "three");
    check_text(fx, 3, "four");
}

/* Orders have lengths just below and above those at which one more message is
 * needed, with room for one message at a time, so that the rest of an order
 * waits, too. */
static void a_long_order_leaves_in_pieces(void **state)
{
    static const uint32_t lens[] = {1, BODY_BYTES - 1, BODY_BYTES,
                                    BODY_BYTES + 1, 3 * BODY_BYTES};
    static uint8_t text[3 * BODY_BYTES];
    struct fixture *fx = *state;

    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (uint8_t)(i * 7 + i / 256);
    for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
        unsigned pieces = (lens[i] + BODY_BYTES - 1) / BODY_BYTES;
        uint32_t at = 0;

        fx->count = 0;
        ep_run_orders_queue(fx->orders, KIND, text, lens[i]);
        for (unsigned n = 0; n < pieces; n++) {
            struct ov_rd body;

            assert_false(ep_run_orders_is_empty(fx->orders));
            fx->room = 1;
            ep_run_orders_pump(fx->orders);
            assert_int_equal(fx->count, n + 1);
            body = sent(fx, n, KIND, n + 1 < pieces);
            assert_memory_equal(body.at, text + at, ov_rd_left(&body));
            at += (uint32_t)ov_rd_left(&body);
        }
        assert_int_equal(at, lens[i]);
        assert_true(ep_run_orders_is_empty(fx->orders));
    }
}

/* A carrier may pump from within its send function. */
static void sending_may_send_what_comes_next(void **state)
{
    static const uint8_t text[2 * BODY_BYTES];
    struct fixture *fx = *state;

    fx->is_pumping = true;
    fx->bufs = MESSAGES_MAX;
    ep_run_orders_queue(fx->orders, KIND, text, sizeof(text));
    queue_text(fx, "last");
    ep_run_orders_pump(fx->orders);
    assert_int_equal(fx->count, 3);
    (void)sent(fx, 0, KIND, true);
    (void)sent(fx, 1, KIND, false);
    check_text(fx, 2, "last");
    assert_true(ep_run_orders_is_empty(fx->orders));
}

/* A leak checker, at the fixture's end, tests the rest. */
static void a_half_sent_order_is_forgotten_at_the_end(void **state)
{
    static const uint8_t text[2 * BODY_BYTES];
    struct fixture *fx = *state;

    fx->room = 1;
    ep_run_orders_send(fx->orders, KIND, text, sizeof(text));
    queue_text(fx, "more");
    assert_int_equal(fx->count, 1);
    ep_run_orders_close(NULL);
}

/* --- ranges of processes */

static struct topo_range ranges[RANGES];

static void make_ranges(void)
{
    for (uint32_t i = 0; i < RANGES; i++)
        ranges[i] = (struct topo_range){10 * i, 10 * i + 3};
}

/* Reads all ranges that are left in a body; they continue at ranges[at]. */
static struct job_order sent_order(struct fixture *fx, unsigned n, uint8_t kind)
{
    struct job_order order;

    assert_int_equal(job_order_decode(kind, sent(fx, n, kind, false), &order),
                     0);
    return order;
}

static uint32_t check_ranges(const struct job_order *order, uint32_t at)
{
    for (uint32_t i = 0; i < order->ranges_count; i++, at++) {
        assert_in_range(at, 0, RANGES - 1);
        assert_int_equal(order->ranges[i].first, ranges[at].first);
        assert_int_equal(order->ranges[i].last, ranges[at].last);
    }
    return at;
}

static void a_signal_without_ranges_is_for_all(void **state)
{
    struct fixture *fx = *state;
    struct job_order order;

    ep_run_orders_signal(fx->orders, 15, NULL, 0);
    assert_int_equal(fx->count, 1);
    order = sent_order(fx, 0, JOB_CONTROL_SIGNAL);
    assert_int_equal(order.number, 15);
    assert_int_equal(order.ranges_count, 0);
}

/* None of the messages may come without ranges, because such a message would be
 * for all processes. */
static void
a_signal_with_many_ranges_leaves_in_messages_of_its_own(void **state)
{
    struct fixture *fx = *state;
    uint32_t at = 0;

    make_ranges();
    ep_run_orders_signal(fx->orders, 9, ranges, RANGES);
    assert_int_equal(fx->count, 3);
    for (unsigned n = 0; n < 3; n++) {
        struct job_order order = sent_order(fx, n, JOB_CONTROL_SIGNAL);

        assert_int_equal(order.number, 9);
        assert_true(order.ranges_count > 0);
        at = check_ranges(&order, at);
    }
    assert_int_equal(at, RANGES);
    ep_run_orders_signal(fx->orders, 9, ranges, 64);
    assert_int_equal(fx->count, 4); /* the message is exactly full, so none
                                     * follows */
}

static void a_replay_says_its_ticket_in_each_message(void **state)
{
    const struct job_replay_wish want = {.ranges = ranges,
                                         .count = RANGES,
                                         .channels = 6,
                                         .is_last = true,
                                         .bytes = 4096};
    struct fixture *fx = *state;
    uint16_t ticket;
    uint32_t at = 0;

    make_ranges();
    ticket = ep_run_orders_replay(fx->orders, &want);
    assert_int_equal(fx->count, 3);
    for (unsigned n = 0; n < 3; n++) {
        struct job_order order = sent_order(fx, n, JOB_CONTROL_REPLAY);

        assert_int_equal(order.ticket, ticket);
        assert_int_equal(order.channels, 6);
        assert_true(order.is_last);
        assert_int_equal(order.bytes, 4096);
        at = check_ranges(&order, at);
    }
    assert_int_equal(at, RANGES);
}

/* Consecutive numbers become one range; a full order is sent at once. */
static void an_order_for_many_numbers_goes_in_parts(void **state)
{
    struct fixture *fx = *state;
    struct job_order order = {.kind = JOB_CONTROL_MACHINE}, first;

    for (uint32_t i = 0; i < 3 * JOB_ORDER_RANGES_MAX + 3; i++) {
        if (i % 3 != 2)
            ep_run_orders_add(fx->orders, &order, i);
    }
    assert_int_equal(fx->count, 1);
    first = sent_order(fx, 0, JOB_CONTROL_MACHINE);
    assert_int_equal(first.ranges_count, JOB_ORDER_RANGES_MAX);
    assert_int_equal(first.ranges[1].first, 3);
    assert_int_equal(first.ranges[1].last, 4);
    ep_run_orders_rest(fx->orders, &order);
    assert_int_equal(fx->count, 2);
    assert_int_equal(sent_order(fx, 1, JOB_CONTROL_MACHINE).ranges_count, 1);
    ep_run_orders_rest(fx->orders, &order);
    assert_int_equal(fx->count, 2); /* no order is left to send */
}

static void tickets_come_again_but_are_never_0(void **state)
{
    const struct job_replay_wish want = {.ranges = ranges, .count = 1};
    struct fixture *fx = *state;

    for (uint32_t n = 0; n < 2 * UINT16_MAX; n++) {
        fx->count = 0;
        fx->room = 1;
        assert_int_equal(ep_run_orders_replay(fx->orders, &want),
                         n % UINT16_MAX + 1);
        assert_int_equal(fx->count, 1);
    }
}

#define ORDERS_TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ORDERS_TEST(orders_leave_as_they_were_given),
        ORDERS_TEST(orders_wait_for_room_and_for_a_buffer),
        ORDERS_TEST(a_long_order_leaves_in_pieces),
        ORDERS_TEST(sending_may_send_what_comes_next),
        ORDERS_TEST(a_half_sent_order_is_forgotten_at_the_end),
        ORDERS_TEST(a_signal_without_ranges_is_for_all),
        ORDERS_TEST(a_signal_with_many_ranges_leaves_in_messages_of_its_own),
        ORDERS_TEST(a_replay_says_its_ticket_in_each_message),
        ORDERS_TEST(an_order_for_many_numbers_goes_in_parts),
        ORDERS_TEST(tickets_come_again_but_are_never_0),
    };

    return cmocka_run_group_tests_name("run_orders", tests, NULL, NULL);
}
