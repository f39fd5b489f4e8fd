/* Daemons that do not connect: the messages about them, and the hosts that the
 * next launch leaves out. */
#include "endpoints/run/missing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "endpoints/boot/boot.h"
#include "tests/unit/plan_rig.h"

enum { SETTLE_MS = 1000 };

struct launch {
    struct fixture f;
    struct run_missing *missing;
    unsigned settles; /* how often it was called */
};

static void on_settle(void *arg, uint32_t after_ms)
{
    struct launch *l = arg;

    assert_int_equal(after_ms, SETTLE_MS);
    l->settles++;
}

static void on_failed(void *arg)
{
    (void)arg;
    fail();
}

static void open_launch(struct launch *l, const char *hosts)
{
    static const struct run_missing_events events = {.settle = on_settle,
                                                     .failed = on_failed};

    memset(l, 0, sizeof(*l));
    open_fixture(&l->f, hosts);
    assert_int_equal(ep_run_plan_nodes(&l->f.plan, &l->f.most), 0);
    assert_int_equal(ep_run_missing_open(&l->f.plan, &events, l, &l->missing),
                     0);
    assert_false(ep_run_missing_are_some(l->missing));
}

static void close_launch(struct launch *l)
{
    ep_run_missing_close(l->missing);
    close_fixture(&l->f);
}

/* Returns the node on a host. */
static uint32_t node_on(const struct launch *l, const char *host)
{
    uint32_t node = 1;

    while (strcmp(ep_run_host(&l->f.plan, node), host) != 0)
        assert_true(node++ < l->f.plan.nodes_count);
    return node;
}

static void add(struct launch *l, const char *host, const char *why)
{
    char text[256];

    snprintf(text, sizeof(text), "%s: %s", host, why);
    ep_run_missing_add(l->missing, node_on(l, host), text, NULL);
}

/* Checks the message when no further daemon fails. */
static void settled(struct launch *l, const char *want)
{
    struct capture said;

    capture_begin(&said);
    ep_run_missing_settled(l->missing);
    capture_end(&said);
    assert_string_equal(said.text, want);
}

static void one_is_told_with_its_reason(void **state)
{
    struct launch l;

    (void)state;
    open_launch(&l, "h1,h2,h3");
    add(&l, "h2", "no route");
    assert_int_equal(l.settles, 1);
    assert_true(ep_run_missing_are_some(l.missing));
    assert_false(ep_run_missing_is_told(l.missing));
    add(&l, "h2", "a later reason");
    assert_int_equal(l.settles, 1);
    settled(&l, "xylem: cannot start the daemon on h2: no route\n");
    assert_false(l.f.again.is_due);
    close_launch(&l);
}

static void those_of_one_reason_are_one_line(void **state)
{
    struct launch l;

    (void)state;
    open_launch(&l, "h1,h2,h3,h4");
    add(&l, "h3", "cannot reach h3 (h3a)");
    add(&l, "h4", "another reason");
    add(&l, "h1", "cannot reach h1 (h3a)");
    assert_int_equal(l.settles, 3);
    settled(&l,
            "xylem: cannot start 2 daemons on h[1,3]: cannot reach HOST "
            "(h3a)\nxylem: cannot start the daemon on h4: another reason\n");
    close_launch(&l);
}

/* A message that daemons above have passed on begins with their names. */
static void the_last_name_is_whom_it_is_about(void **state)
{
    struct launch l;

    (void)state;
    open_launch(&l, "h1,h2,h3");
    ep_run_missing_add(l.missing, node_on(&l, "h1"), "h1: h3: it is down",
                       NULL);
    settled(&l, "xylem: cannot start the daemon on h3: it is down\n");
    close_launch(&l);
}

static void who_only_has_ended_is_not_told_beside_reasons(void **state)
{
    struct launch l;

    (void)state;
    open_launch(&l, "h1,h2,h3");
    ep_run_missing_ended(l.missing, node_on(&l, "h1"), "it has ended");
    add(&l, "h3", EP_BOOT_HUNG_UP);
    add(&l, "h2", "the reason");
    settled(&l, "xylem: cannot start the daemon on h2: the reason\n");
    close_launch(&l);

    open_launch(&l, "h1,h2,h3");
    ep_run_missing_ended(l.missing, node_on(&l, "h1"), "it has ended");
    settled(&l, "xylem: cannot start the daemon on h1: it has ended\n");
    close_launch(&l);
}

static void a_resource_manager_knows_better(void **state)
{
    struct launch l;

    (void)state;
    open_launch(&l, "h1,h2,h3");
    ep_run_missing_ended(l.missing, node_on(&l, "h1"), "it has ended");
    ep_run_missing_task(l.missing, "h1", EP_SRUN_ENDED, "exit status 1");
    assert_true(ep_run_missing_is_told(l.missing));
    ep_run_missing_task(l.missing, "nobody", EP_SRUN_ENDED, "exit status 1");
    add(&l, "h2", "killed");
    ep_run_missing_task(l.missing, "h3", EP_SRUN_REFUSED, "not started");
    settled(&l, "xylem: cannot start the daemon on h3: not started\n");
    close_launch(&l);
}

static void why_the_parent_could_not_is_told_too(void **state)
{
    char want[512];
    struct launch l;

    (void)state;
    open_launch(&l, "h1,h2,h3");
    ep_run_missing_add(l.missing, node_on(&l, "h2"), "h2: refused from here",
                       "h2: no ssh");
    ep_run_missing_add(l.missing, node_on(&l, "h3"), "h3: the same",
                       "h3: the same");
    snprintf(want, sizeof(want),
             "xylem: cannot start the daemon on h2: refused from here; the "
             "first attempt, from %s: no ssh\nxylem: cannot start the daemon "
             "on h3: the same\n",
             ep_run_host(&l.f.plan, 0));
    settled(&l, want);
    close_launch(&l);
}

static void the_next_launch_goes_without(void **state)
{
    struct launch l;

    (void)state;
    open_launch(&l, "h1,h2,h3");
    l.f.options.min_nodes = 2;
    add(&l, "h2", "no route");
    settled(&l, "xylem: cannot start the daemon on h2: no route\nxylem: "
                "starting again without them, on 2 hosts\n");
    assert_true(l.f.again.is_due);
    assert_int_equal(topo_hosts_find(&l.f.again.left_out, "h2", 2), 0);
    close_launch(&l);

    open_launch(&l, "h1,h2,h3");
    l.f.options.min_nodes = 2;
    add(&l, "h2", "no route");
    add(&l, "h1", "no route");
    settled(&l,
            "xylem: cannot start 2 daemons on h[1-2]: no "
            "route\nxylem: only 1 host is left, but --min-nodes asks for 2\n");
    assert_false(l.f.again.is_due);
    close_launch(&l);
}

/* The command that starts all daemons has ended: it is not known which are
 * missing, unless that was reported before. */
static void nobody_knows_who(void **state)
{
    struct launch l;

    (void)state;
    open_launch(&l, "h1,h2,h3");
    l.f.options.min_nodes = 1;
    ep_run_missing_add(l.missing, 0, "it has ended", NULL);
    settled(&l, "xylem: cannot start a daemon: it has ended\n");
    assert_false(l.f.again.is_due);
    close_launch(&l);

    open_launch(&l, "h1,h2,h3");
    add(&l, "h2", "no route");
    ep_run_missing_add(l.missing, 0, "it has ended", NULL);
    settled(&l, "xylem: cannot start the daemon on h2: no route\n");
    close_launch(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_is_told_with_its_reason),
        cmocka_unit_test(those_of_one_reason_are_one_line),
        cmocka_unit_test(the_last_name_is_whom_it_is_about),
        cmocka_unit_test(who_only_has_ended_is_not_told_beside_reasons),
        cmocka_unit_test(a_resource_manager_knows_better),
        cmocka_unit_test(why_the_parent_could_not_is_told_too),
        cmocka_unit_test(the_next_launch_goes_without),
        cmocka_unit_test(nobody_knows_who),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
