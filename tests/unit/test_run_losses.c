/* The messages about lost nodes: losses at about the same time share one line,
 * with their ranks. */
#include "config.h"

#include "endpoints/run/losses.h"

#include "tests/unit/rig.h"

#include "tests/unit/plan_rig.h"

struct loss {
    struct fixture f;
    struct event_base *base;
    struct run_losses *losses;
    struct capture said;
};

/* Opens six hosts with two ranks each; nodes are in the order of hosts. */
static void open_loss(struct loss *l)
{
    memset(l, 0, sizeof(*l));
    open_fixture(&l->f, "h[1-6]");
    l->f.options.apps[0].ppn = 2;
    assert_int_equal(ep_run_plan_nodes(&l->f.plan, &l->f.most), 0);
    for (uint32_t node = 1; node <= 6; node++)
        assert_int_equal(ep_run_place(&l->f.plan, node), node - 1);
    l->base = event_base_new();
    assert_int_equal(ep_run_losses_open(&l->f.plan, l->base, &l->losses), 0);
    capture_begin(&l->said);
}

static void close_loss(struct loss *l, const char *want)
{
    ep_run_losses_tell(l->losses);
    capture_end(&l->said);
    assert_string_equal(l->said.text, want);
    ep_run_losses_close(l->losses);
    event_base_free(l->base);
    close_fixture(&l->f);
}

static void those_of_a_moment_are_one_line(void **state)
{
    struct loss l;

    (void)state;
    open_loss(&l);
    ep_run_losses_add(l.losses, 4, true, true);
    ep_run_losses_add(l.losses, 2, true, true);
    ep_run_losses_add(l.losses, 3, true, true);
    close_loss(&l, "xylem: the daemons of nodes 1-3 on h[2-4] are lost, with "
                   "ranks 2-7; the job goes on without them\n");
}

/* The loop writes the message by itself. */
static void they_are_told_in_a_moment(void **state)
{
    struct loss l;

    (void)state;
    open_loss(&l);
    ep_run_losses_add(l.losses, 1, true, true);
    assert_int_equal(event_base_dispatch(l.base), 1); /* no timer is left */
    ep_run_losses_add(l.losses, 6, true, true);
    close_loss(&l, "xylem: the daemon of node 0 on h1 is lost, with ranks 0-1; "
                   "the job goes on without it\n"
                   "xylem: the daemon of node 5 on h6 is lost, with ranks "
                   "10-11; the job goes on without it\n");
}

static void what_ends_the_job_is_told_at_once(void **state)
{
    struct loss l;

    (void)state;
    open_loss(&l);
    ep_run_losses_add(l.losses, 1, true, true);
    ep_run_losses_add(l.losses, 2, false, true);
    /* shown with --verbose only */
    ep_run_losses_add(l.losses, 3, false, false);
    close_loss(&l, "xylem: the daemon of node 0 on h1 is lost, with ranks 0-1; "
                   "the job goes on without it\n"
                   "xylem: the daemon of node 1 on h2 is lost, with ranks 2-3; "
                   "the job ends\n");
}

static void a_dvm_has_no_ranks(void **state)
{
    struct loss l;

    (void)state;
    open_loss(&l);
    l.f.options.is_dvm = true;
    ep_run_losses_add(l.losses, 5, true, true);
    close_loss(&l, "xylem: the daemon of node 4 on h5 is lost; the tree goes "
                   "on without it\n");
}

static void one_that_fails_says_why(void **state)
{
    static const uint32_t nodes[] = {1, 3};
    struct loss l;

    (void)state;
    open_loss(&l);
    ep_run_losses_failed(&l.f.plan, nodes, 2, "out of memory");
    ep_run_losses_failed(&l.f.plan, NULL, 0, "out of memory");
    close_loss(&l, "xylem: the daemon of nodes 0,2 on h[1,3], with ranks "
                   "0-1,4-5, has failed: out of memory\n"
                   "xylem: a daemon has failed: out of memory\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_of_a_moment_are_one_line),
        cmocka_unit_test(they_are_told_in_a_moment),
        cmocka_unit_test(what_ends_the_job_is_told_at_once),
        cmocka_unit_test(a_dvm_has_no_ranks),
        cmocka_unit_test(one_that_fails_says_why),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
