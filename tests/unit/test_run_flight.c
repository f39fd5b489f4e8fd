/* Bytes of a stream that are on their way. */
#include "endpoints/run/flight.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { WINDOW = 4 };

static void what_is_not_taken_is_on_its_way(void **state)
{
    struct run_flight flight;

    (void)state;
    assert_int_equal(ep_run_flight_open(&flight, WINDOW), 0);
    assert_int_equal(ep_run_flight_bytes(&flight, 0), 0);
    ep_run_flight_add(&flight, 10);
    ep_run_flight_add(&flight, 0);
    ep_run_flight_add(&flight, 7);
    assert_int_equal(ep_run_flight_bytes(&flight, 0), 17);
    assert_int_equal(ep_run_flight_bytes(&flight, 1), 7);
    assert_int_equal(ep_run_flight_bytes(&flight, 2), 7);
    assert_int_equal(ep_run_flight_bytes(&flight, 3), 0);
    assert_int_equal(ep_run_flight_bytes(&flight, 4), 0);
    ep_run_flight_close(&flight);
    ep_run_flight_close(&flight);
}

/* Frame N has N bytes. At all times a whole window is remembered, and one frame
 * that is about to leave. */
static void a_window_is_remembered(void **state)
{
    struct run_flight flight;

    (void)state;
    assert_int_equal(ep_run_flight_open(&flight, WINDOW), 0);
    for (uint32_t i = 0; i < 100; i++)
        ep_run_flight_add(&flight, i);
    assert_int_equal(ep_run_flight_bytes(&flight, 99), 99);
    assert_int_equal(ep_run_flight_bytes(&flight, 96), 96 + 97 + 98 + 99);
    assert_int_equal(ep_run_flight_bytes(&flight, 95), 95 + 390);
    assert_int_equal(ep_run_flight_bytes(&flight, 7), 95 + 390);
    ep_run_flight_close(&flight);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_taken_is_on_its_way),
        cmocka_unit_test(a_window_is_remembered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
