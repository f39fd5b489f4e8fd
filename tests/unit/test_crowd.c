/* Time limits and priorities when many processes share few processors. */
#include "endpoints/hub/crowd.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void few_processes_change_nothing(void **state)
{
    (void)state;
    for (uint32_t processors = 1; processors <= 64; processors++) {
        struct ep_crowd crowd = ep_crowd_of(256 * processors, processors);

        assert_int_equal(crowd.heartbeat_ms, 10000);
        assert_int_equal(crowd.nice, 0);
        assert_in_range(crowd.starting, 8, 64);
        assert_true(crowd.starting >= 4 * processors || crowd.starting == 64);
    }
}

/* A node may be delayed for half of the heartbeat time: a time slice of 4 ms
 * for each other process is less than that. */
static void a_turn_of_all_others_is_less_than_half_a_heartbeat(void **state)
{
    (void)state;
    for (uint64_t each = 1; each <= 32768; each++)
        assert_true(ep_crowd_of(2 * each, 2).heartbeat_ms / 2 > each * 4);
    assert_int_equal(ep_crowd_of(10000, 2).heartbeat_ms, 50000);
}

/* All niced processes of a crowd together get as much of a processor as 40
 * ordinary processes, as far as there is a nice value for that. */
static void a_daemon_is_one_of_forty_at_most(void **state)
{
    (void)state;
    for (uint64_t each = 257; each <= 32 * 68; each++) {
        double weight = (double)each;

        for (unsigned n = ep_crowd_of(each, 1).nice; n > 0; n--)
            weight /= 1.25;
        assert_true(weight <= 40);
    }
    assert_int_equal(ep_crowd_of(257, 1).nice, 10);
    assert_int_equal(ep_crowd_of(1000000, 1).nice, 19);
}

/* More processes never shorten the time limits, and more processors never
 * lengthen them. */
static void all_grows_with_processes_for_each_processor(void **state)
{
    (void)state;
    for (uint64_t procs = 1; procs < 40000; procs += 7) {
        struct ep_crowd a = ep_crowd_of(procs, 3);
        struct ep_crowd b = ep_crowd_of(procs + 7, 3);
        struct ep_crowd c = ep_crowd_of(procs, 4);

        assert_true(a.heartbeat_ms <= b.heartbeat_ms && a.nice <= b.nice);
        assert_true(a.heartbeat_ms >= c.heartbeat_ms && a.nice >= c.nice);
    }
}

static void extremes_are_within_bounds(void **state)
{
    struct ep_crowd crowd = ep_crowd_of(UINT64_MAX, 0);

    (void)state;
    assert_int_equal(crowd.heartbeat_ms, 600000);
    assert_int_equal(crowd.nice, 19);
    assert_int_equal(crowd.starting, 8);
    crowd = ep_crowd_of(0, 0);
    assert_int_equal(crowd.heartbeat_ms, 10000);
    assert_int_equal(crowd.nice, 0);
    crowd = ep_crowd_of(1, UINT32_MAX);
    assert_int_equal(crowd.starting, 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_processes_change_nothing),
        cmocka_unit_test(a_turn_of_all_others_is_less_than_half_a_heartbeat),
        cmocka_unit_test(a_daemon_is_one_of_forty_at_most),
        cmocka_unit_test(all_grows_with_processes_for_each_processor),
        cmocka_unit_test(extremes_are_within_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
