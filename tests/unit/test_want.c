/* Orders about what is wanted, as bytes. */
#include "job/want.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/base/err.h"

/* As docs/protocol.md draws it: stdout and stderr of 3 to 5 and of 9. */
static const uint8_t order_bytes[] = {
    0x06, 0x01,                   /* the head */
    3,    0,    0, 0, 5, 0, 0, 0, /* 3 to 5 */
    9,    0,    0, 0, 9, 0, 0, 0, /* 9 */
};

static void an_order_has_the_bytes_that_are_drawn(void **state)
{
    struct job_want_order order = {.channels = 6, .is_wanted = true};
    uint8_t mem[JOB_WANT_ORDER_BYTES];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

    (void)state;
    job_want_order_encode(&wr, &order);
    assert_false(wr.bad);
    assert_int_equal(wr.at - mem, 2);
    assert_memory_equal(mem, order_bytes, 2);
    memset(&order, 0, sizeof(order));
    assert_int_equal(job_want_order_decode(
                         ov_rd_init(order_bytes, sizeof(order_bytes)), &order),
                     0);
    assert_int_equal(order.channels, 6);
    assert_true(order.is_wanted);
    assert_false(order.is_held_back);
    assert_int_equal(ov_rd_left(&order.ranges), 16);
    assert_int_equal(ov_rd_u32(&order.ranges), 3);
}

static void what_is_held_back_is_wanted(void **state)
{
    struct job_want_order order = {
        .channels = 6, .is_wanted = true, .is_held_back = true};
    uint8_t mem[sizeof(order_bytes)];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

    (void)state;
    memcpy(mem, order_bytes, sizeof(mem));
    job_want_order_encode(&wr, &order);
    assert_int_equal(mem[1], 3);
    memset(&order, 0, sizeof(order));
    assert_int_equal(
        job_want_order_decode(ov_rd_init(mem, sizeof(mem)), &order), 0);
    assert_true(order.is_wanted && order.is_held_back);
}

/* Cut anywhere but between ranges, with unknown flags. */
static void what_is_none_is_refused(void **state)
{
    struct job_want_order order;
    uint8_t mem[sizeof(order_bytes)];

    (void)state;
    for (size_t len = 0; len < sizeof(order_bytes); len++)
        assert_int_equal(
            job_want_order_decode(ov_rd_init(order_bytes, len), &order),
            len == 10 ? 0 : OV_EPROTO);
    memcpy(mem, order_bytes, sizeof(mem));
    for (uint8_t flags = 0; flags < 8; flags++) {
        mem[1] = flags;
        assert_int_equal(
            job_want_order_decode(ov_rd_init(mem, sizeof(mem)), &order),
            flags == 2 || flags > 3 ? OV_EPROTO : 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_order_has_the_bytes_that_are_drawn),
        cmocka_unit_test(what_is_held_back_is_wanted),
        cmocka_unit_test(what_is_none_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
