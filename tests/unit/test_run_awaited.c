/* The hosts that a launch waits for: when they are named, and when only
 * counted. */
#include "endpoints/run/awaited.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "endpoints/hub/hub.h"
#include "endpoints/run/launch.h"
#include "tests/unit/plan_rig.h"

/* A launch on h1 to h6, in which the daemon on h1 starts those on h3 and h4,
 * and the one on h2 those on h5 and h6. */
static struct {
    struct fixture f;
    const char *joined, *tried; /* lists of hosts: those that the tree and the
                                 * launch know of */
} launch;

static bool is_among(const char *hosts, uint32_t node)
{
    return strstr(hosts, ep_run_host(&launch.f.plan, node)) != NULL;
}

bool ep_hub_has_joined(const struct ep_hub *hub, uint32_t node)
{
    (void)hub;
    return is_among(launch.joined, node);
}

bool ep_run_launch_has_tried(const struct run_launch *l, uint32_t node)
{
    (void)l;
    return is_among(launch.tried, node);
}

typedef void tell_fn(const struct run_plan *plan, const struct ep_hub *hub);

static void wait(const struct run_plan *plan, const struct ep_hub *hub)
{
    assert_int_equal(ep_run_awaited_wait(plan, hub, 18), 54);
}

static void fail_launch(const struct run_plan *plan, const struct ep_hub *hub)
{
    ep_run_awaited_failed(plan, hub, NULL);
}

/* Opens the launch and checks the message. The lists of hosts replace the
 * hub. */
static void says(tell_fn *tell, enum ep_launcher launcher, bool is_again,
                 const char *want)
{
    struct fixture *f = &launch.f;
    struct capture said;

    open_fixture(f, "h[1-6]");
    f->options.arity = 2;
    assert_int_equal(ep_run_plan_nodes(&f->plan, &f->most), 0);
    f->plan.config.launcher = launcher;
    f->again.is_due = is_again;
    capture_begin(&said);
    tell(&f->plan, launch.joined == NULL ? NULL : (void *)&launch);
    capture_end(&said);
    assert_string_equal(said.text, want);
    close_fixture(f);
}

static void those_at_the_top_are_named(void **state)
{
    (void)state;
    launch.joined = "h2 h5";
    says(wait, EP_LAUNCHER_SSH, false,
         "xylem: after 18 s the launch still waits for h[1,6]: 4 of 6 nodes "
         "have not joined\n");
    says(ep_run_awaited_ended, EP_LAUNCHER_SLURM, false,
         "xylem: the launch still waited for h[1,6]: 4 of 6 nodes had not "
         "joined\n");
}

static void wait_long(const struct run_plan *plan, const struct ep_hub *hub)
{
    assert_int_equal(ep_run_awaited_wait(plan, hub, 0), 2);
    assert_int_equal(ep_run_awaited_wait(plan, hub, 1), 2);
    assert_int_equal(ep_run_awaited_wait(plan, hub, 2), 6);
    assert_int_equal(ep_run_awaited_wait(plan, hub, 54), 114);
}

static void it_is_told_ever_more_seldom(void **state)
{
    (void)state;
    launch.joined = "h1 h3 h4 h5 h6";
    says(wait_long, EP_LAUNCHER_SSH, false,
         "xylem: after 2 s the launch still waits for h2: 1 of 6 nodes have "
         "not joined\n"
         "xylem: after 54 s the launch still waits for h2: 1 of 6 nodes have "
         "not joined\n");
}

static void before_the_hub_all_are_awaited(void **state)
{
    (void)state;
    launch.joined = NULL;
    says(ep_run_awaited_ended, EP_LAUNCHER_SSH, false,
         "xylem: the launch still waited for h[1-2]: 6 of 6 nodes had not "
         "joined\n");
}

static void nothing_is_said_where_nobody_is_awaited(void **state)
{
    (void)state;
    launch.joined = "h1 h2 h3 h4 h5 h6";
    says(wait, EP_LAUNCHER_SSH, false, "");
    says(ep_run_awaited_ended, EP_LAUNCHER_SSH, false, "");
    launch.joined = "";
    says(wait, EP_LAUNCHER_LOCAL, false, "");
    says(ep_run_awaited_ended, EP_LAUNCHER_LOCAL, false, "");
}

static void a_failure_counts_the_untried(void **state)
{
    static const char two[] = "xylem: 4 of 6 hosts were tried; the other 2 "
                              "were not, as the daemons that start their "
                              "daemons had not connected\n";

    (void)state;
    launch.joined = "h2";
    launch.tried = "h1 h2";
    says(fail_launch, EP_LAUNCHER_SSH, false, two);
    says(fail_launch, EP_LAUNCHER_SSH, true, "");
    launch.joined = "";
    launch.tried = "h1 h2 h3 h6";
    says(fail_launch, EP_LAUNCHER_SSH, false, two);
    launch.tried = "h1 h2 h3 h4 h5 h6";
    says(fail_launch, EP_LAUNCHER_SSH, false, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_at_the_top_are_named),
        cmocka_unit_test(it_is_told_ever_more_seldom),
        cmocka_unit_test(before_the_hub_all_are_awaited),
        cmocka_unit_test(nothing_is_said_where_nobody_is_awaited),
        cmocka_unit_test(a_failure_counts_the_untried),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
