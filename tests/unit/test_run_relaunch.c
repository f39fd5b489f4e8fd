/* What a launch passes on to the next launch. */
#include "endpoints/run/relaunch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

/* More hosts than a list has room for before it grows. */
enum { HOSTS = 1000 };

static const char *name_of(uint32_t host, char *name, size_t len_bytes)
{
    snprintf(name, len_bytes, "node%u", host);
    return name;
}

static void hosts_are_left_out_once(void **state)
{
    struct run_relaunch again = {0};

    (void)state;
    assert_int_equal(ep_run_relaunch_without(&again, "b"), 0);
    assert_int_equal(ep_run_relaunch_without(&again, "a"), 0);
    assert_int_equal(ep_run_relaunch_without(&again, "b"), 0);
    assert_int_equal(again.left_out.count, 2);
    assert_string_equal(topo_hosts_name(&again.left_out, 0), "b");
    assert_string_equal(topo_hosts_name(&again.left_out, 1), "a");
    ep_run_relaunch_fini(&again);
    assert_int_equal(again.left_out.count, 0);
}

static void machines_are_known_by_host(void **state)
{
    struct run_relaunch again = {0};
    char name[32];

    (void)state;
    assert_int_equal(ep_run_relaunch_machine(&again, "node0").cores, 0);
    for (uint32_t i = 0; i < HOSTS; i++) {
        struct ep_machine machine = {1, i + 1, true};

        assert_int_equal(
            ep_run_relaunch_know(&again, name_of(i, name, 32), machine), 0);
    }
    for (uint32_t i = 0; i < HOSTS; i++)
        assert_int_equal(
            ep_run_relaunch_machine(&again, name_of(i, name, 32)).cores, i + 1);
    assert_false(ep_run_relaunch_machine(&again, "other").is_known);
    ep_run_relaunch_fini(&again);
}

static void what_is_said_later_holds(void **state)
{
    struct run_relaunch again = {0};

    (void)state;
    assert_int_equal(
        ep_run_relaunch_know(&again, "a", (struct ep_machine){1, 4, true}), 0);
    assert_int_equal(
        ep_run_relaunch_know(&again, "a", (struct ep_machine){2, 8, true}), 0);
    assert_int_equal(again.known.count, 1);
    assert_int_equal(ep_run_relaunch_machine(&again, "a").packages, 2);
    ep_run_relaunch_fini(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_are_left_out_once),
        cmocka_unit_test(machines_are_known_by_host),
        cmocka_unit_test(what_is_said_later_holds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
