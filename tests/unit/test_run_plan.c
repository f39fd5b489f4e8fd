/* The hosts, ranks and tree of a run, before anything is started. */
#include "endpoints/run/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "endpoints/run/layout.h"
#include "tests/unit/plan_rig.h"

/* True when one of the nodes is on this host. The tree has an order of its
 * own. */
static bool has_host(const struct fixture *f, const char *host)
{
    for (uint32_t node = 1; node <= f->plan.nodes_count; node++) {
        if (strcmp(ep_run_host(&f->plan, node), host) == 0)
            return true;
    }
    return false;
}

static void ranks_fill_hosts_to_their_slots(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, "a:2,b:4");
    f.options.apps[0].procs = 5;
    assert_int_equal(ep_run_plan_nodes(&f.plan, &f.most), 0);
    assert_int_equal(f.plan.nodes_count, 2);
    assert_int_equal(f.most, 3);
    assert_int_equal(f.job.size, 5);
    assert_string_equal(ep_run_host_of_rank(&f.plan, 1), "a");
    assert_string_equal(ep_run_host_of_rank(&f.plan, 2), "b");
    assert_false(ep_run_survey_asks(&f.plan));
    close_fixture(&f);
}

static void what_was_left_out_is_not_used(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, "a,b,c");
    f.options.nodes = 2;
    assert_int_equal(ep_run_relaunch_without(&f.again, "b"), 0);
    assert_int_equal(ep_run_plan_nodes(&f.plan, &f.most), 0);
    assert_int_equal(f.plan.nodes_count, 2);
    assert_true(has_host(&f, "a") && has_host(&f, "c"));
    close_fixture(&f);
}

/* Three of four nodes are left, so the job has three. */
static void fewer_hosts_make_fewer_nodes(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, "a,b,c,d");
    f.options.nodes = 4;
    assert_int_equal(ep_run_relaunch_without(&f.again, "a"), 0);
    assert_int_equal(ep_run_plan_nodes(&f.plan, &f.most), 0);
    assert_int_equal(f.plan.nodes_count, 3);
    assert_false(has_host(&f, "a"));
    close_fixture(&f);
}

static void ranks_go_by_the_machines_that_are_known(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, "a,b");
    f.options.apps[0].ppn = 1;
    f.options.apps[0].per = TOPO_CORE;
    assert_int_equal(
        ep_run_relaunch_know(&f.again, "a", (struct ep_machine){1, 2, true}),
        0);
    assert_int_equal(
        ep_run_relaunch_know(&f.again, "b", (struct ep_machine){1, 7, true}),
        0);
    assert_int_equal(ep_run_plan_nodes(&f.plan, &f.most), 0);
    assert_int_equal(f.job.size, 9);
    assert_int_equal(f.most, 7);
    assert_string_equal(ep_run_host_of_rank(&f.plan, 2), "b");
    assert_true(ep_run_survey_asks(&f.plan));
    close_fixture(&f);
}

static void hosts_are_left_out_of_some_alone(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, NULL);
    f.options.launcher = EP_LAUNCHER_LOCAL;
    f.options.exclude = "a";
    assert_int_equal(ep_run_plan_nodes(&f.plan, &f.most), 2);
    close_fixture(&f);
}

static void a_layout_is_a_plan_without_a_run(void **state)
{
    struct ep_layout *layout;
    struct fixture f;

    (void)state;
    open_fixture(&f, NULL);
    f.options.launcher = EP_LAUNCHER_LOCAL;
    f.options.nodes = 5;
    f.options.arity = 2;
    f.options.apps[0].ppn = 3;
    assert_int_equal(ep_layout_open(&f.options, &layout), 0);
    assert_true(ep_layout_is_virtual(layout));
    assert_int_equal(ep_layout_tree(layout)->nodes, 6);
    assert_int_equal(ep_layout_procs(layout, 5), 3);
    assert_int_equal(ep_layout_place(layout, 5), 4);
    assert_int_equal(ep_layout_switch(layout, 0), TOPO_NONE);
    ep_layout_close(layout);
    close_fixture(&f);
}

static void notes_of_daemons_name_nodes_as_users_do(void **state)
{
    char out[64], want[64];
    struct fixture f;

    (void)state;
    open_fixture(&f, "c,b,a");
    assert_int_equal(ep_run_plan_nodes(&f.plan, &f.most), 0);
    ep_run_name_nodes(&f.plan, "node 3 is refused by node 0: no", out, 64);
    snprintf(want, 64, "node %u is refused by the launcher: no",
             ep_run_place(&f.plan, 3));
    assert_string_equal(out, want);
    ep_run_name_nodes(&f.plan, "a node, node 4 and node 99999999999", out, 64);
    assert_string_equal(out, "a node, node 4 and node 99999999999");
    ep_run_name_nodes(&f.plan, "node 0 and node 0", out, 16);
    assert_string_equal(out, "the launcher an");
    ep_run_name_nodes(&f.plan, "node 0", out, 5);
    assert_string_equal(out, "the ");
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_fill_hosts_to_their_slots),
        cmocka_unit_test(what_was_left_out_is_not_used),
        cmocka_unit_test(fewer_hosts_make_fewer_nodes),
        cmocka_unit_test(ranks_go_by_the_machines_that_are_known),
        cmocka_unit_test(hosts_are_left_out_of_some_alone),
        cmocka_unit_test(a_layout_is_a_plan_without_a_run),
        cmocka_unit_test(notes_of_daemons_name_nodes_as_users_do),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
