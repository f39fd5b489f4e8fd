/* The time of the launcher's clock goes to all nodes, and messages do not queue
 * up when there is no room. */
#include "endpoints/run/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <event2/event.h>

#include "endpoints/run/orders.h"
#include "endpoints/sys/clock.h"
#include "job/order.h"
#include "overlay/base/buf.h"
#include "overlay/control.h"
#include "overlay/wire/frame.h"

enum { MESSAGE_BYTES = 256 };

/* Carries the orders, as many as there is room for. */
struct carrier {
    struct ov_buf buf;
    uint8_t mem[OV_DOWN_HEAD_BYTES + MESSAGE_BYTES];
    uint32_t room;
    struct job_order heard;
    unsigned heard_count;
};

static struct carrier c;

static uint32_t room(void *arg)
{
    (void)arg;
    return c.room;
}

static struct ov_buf *take_buf(void *arg)
{
    (void)arg;
    return &c.buf;
}

static void hear(void *arg, struct ov_buf *buf, uint32_t len_bytes)
{
    struct ov_control control;

    (void)arg;
    assert_int_equal(
        ov_control_decode(buf->mem + OV_DOWN_HEAD_BYTES, len_bytes, &control),
        0);
    assert_int_equal(job_order_decode(control.kind, control.body, &c.heard), 0);
    c.heard_count++;
    c.room--;
}

static void the_time_is_told(void **state)
{
    static const struct run_carrier carrier = {room, take_buf, hear};
    const uint64_t before_ns = ep_clock_ns();
    struct event_base *base = event_base_new();
    struct run_orders *orders;
    struct run_clock *clock;

    (void)state;
    c = (struct carrier){.buf.mem = c.mem, .room = 1};
    assert_int_equal(ep_run_orders_open(&carrier, NULL, MESSAGE_BYTES, &orders),
                     0);
    assert_int_equal(ep_run_clock_open(base, orders, &clock), 0);
    assert_int_equal(c.heard_count, 0);
    ep_run_clock_begin(clock);
    assert_int_equal(c.heard_count, 1);
    assert_int_equal(c.heard.kind, JOB_CONTROL_CLOCK);
    assert_in_range(c.heard.time_ns, before_ns, ep_clock_ns());
    /* The time is sent again later, but nothing keeps the loop busy. */
    assert_int_equal(event_base_loop(base, EVLOOP_NONBLOCK), 0);
    assert_int_equal(c.heard_count, 1);
    ep_run_clock_close(clock);
    ep_run_orders_close(orders);
    event_base_free(base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_time_is_told)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
