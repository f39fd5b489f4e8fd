/* The launch of a run: which daemons are started, which addresses each is told,
 * and what their ends mean. No daemon is really started. */
#include "config.h"

#include "endpoints/run/launch.h"

#include "tests/unit/rig.h"

#include "tests/unit/fake_starter.h"
#include "tests/unit/plan_rig.h"

struct launch {
    struct fixture f;
    struct job_session session;
    struct event_base *base;
    struct run_launch *launch;
    struct capture said;
    unsigned failed, broken, gone; /* how often each callback was called */
};

static void self(void *arg, struct ep_boot_peer *out)
{
    (void)arg;
    *out = (struct ep_boot_peer){.node = 0};
    strcpy(out->address, "root");
}

static void on_failed(void *arg)
{
    struct launch *l = arg;

    l->failed++;
    job_session_step(&l->session, JOB_SESSION_ABORT, 1);
}

static void on_broken(void *arg)
{
    ((struct launch *)arg)->broken++;
}

static void on_gone(void *arg)
{
    ((struct launch *)arg)->gone++;
}

static void plan_launch(struct launch *l, const char *hosts,
                        enum ep_launcher launcher)
{
    memset(l, 0, sizeof(*l));
    l->session = JOB_SESSION_INIT;
    open_fixture(&l->f, hosts);
    l->f.options
        .launcher = /* the test does not run in an allocation of Slurm */
        launcher == EP_LAUNCHER_SLURM ? EP_LAUNCHER_SSH : launcher;
    l->f.options.arity = 2;
    if (hosts == NULL)
        l->f.options.nodes = 5;
    assert_int_equal(ep_run_plan_nodes(&l->f.plan, &l->f.most), 0);
    l->f.plan.config.launcher =
        launcher; /* has the value that the plan of the session sets */
    l->f.plan.nodes_per_daemon = hosts == NULL ? 3 : 1;
    l->base = event_base_new();
}

static void start(struct launch *l)
{
    static const struct run_launch_events events = {
        .self = self,
        .failed = on_failed,
        .on_broken = on_broken,
        .on_gone = on_gone,
    };
    const struct run_launch_cfg cfg = {
        .plan = &l->f.plan,
        .session = &l->session,
        .base = l->base,
        .events = &events,
        .arg = l,
    };

    capture_begin(&l->said);
    assert_int_equal(ep_run_launch_open(&cfg, &l->launch), 0);
}

static void open_launch(struct launch *l, const char *hosts,
                        enum ep_launcher launcher)
{
    plan_launch(l, hosts, launcher);
    start(l);
}

static void close_launch(struct launch *l, const char *want)
{
    capture_end(&l->said);
    assert_string_equal(l->said.text, want);
    ep_run_launch_close(l->launch);
    event_base_free(l->base);
    close_fixture(&l->f);
}

static void is_ready(uint32_t index, uint32_t node, const char *address)
{
    struct ep_boot_peer peer = {.node = node};

    strcpy(peer.address, address);
    fake_starter.events->on_ready(fake_starter.arg, index, &peer);
}

static void said(const char *want)
{
    assert_string_equal(fake_starter_said(), want);
}

/* --- which daemons are started, and what they are told */

/* Nodes are dealt out: 1, 3, 5 and 2, 4. All are told when all are there. */
static void virtual_nodes_are_dealt_out(void **state)
{
    struct launch l;

    (void)state;
    open_launch(&l, NULL, EP_LAUNCHER_LOCAL);
    said("start 0: 1-1 3-3 5-5\nstart 1: 2-2 4-4\n");
    assert_false(ep_run_launch_is_alive(l.launch));
    is_ready(0, 1, "a");
    is_ready(1, 2, "b");
    assert_true(ep_run_launch_is_alive(l.launch));
    said("");
    ep_run_launch_connect(l.launch);
    said("tell 0: 0 at root\ntell 0: 1 at a\ntell 0: 2 at b\n"
         "tell 1: 0 at root\ntell 1: 1 at a\n");
    ep_run_launch_joined(l.launch);
    said("sweep\n");
    close_launch(&l, "");
}

/* There are two daemons, and one processor is left for the launcher, or
 * none. */
static void daemons_begin_at_once_beside_a_free_processor(void **state)
{
    for (uint32_t processors = 2; processors <= 3; processors++) {
        struct launch l;

        (void)state;
        plan_launch(&l, NULL, EP_LAUNCHER_LOCAL);
        l.f.plan.room.processors = processors;
        start(&l);
        said(processors == 2
                 ? "start 0: 1-1 3-3 5-5\nstart 1: 2-2 4-4\n"
                 : "start 0: 1-1 3-3 5-5\nstart 1: 2-2 4-4\nbegin\n");
        close_launch(&l, "");
    }
}

/* The launcher starts its two children out of five hosts, and these start
 * theirs. */
static void children_hear_of_the_launcher(void **state)
{
    struct launch l;

    (void)state;
    open_launch(&l, "h[1-5]", EP_LAUNCHER_SSH);
    said("start 1\nstart 2\n");
    is_ready(1, 1, "a");
    said("");
    ep_run_launch_connect(l.launch);
    said("tell 1: 0 at root\ntell 2: 0 at root\n");
    ep_run_launch_joined(l.launch);
    said("");
    close_launch(&l, "");
}

/* The launcher starts all daemons: each is told the addresses of those above it
 * as they come. */
static void without_a_tree_all_are_told(void **state)
{
    struct launch l;

    (void)state;
    plan_launch(&l, "h[1-4]", EP_LAUNCHER_SSH);
    l.f.plan.config.no_tree_spawn = true;
    start(&l);
    said("start 1\nstart 2\nstart 3\nstart 4\n");
    ep_run_launch_connect(l.launch);
    said("tell 1: 0 at root\ntell 2: 0 at root\ntell 3: 0 at root\n"
         "tell 4: 0 at root\n");
    is_ready(1, 1, "a");
    said("tell 3: 1 at a\ntell 4: 1 at a\n");
    close_launch(&l, "");
}

/* A daemon that its own parent cannot start is started by the launcher, and is
 * told all known addresses above it. */
static void one_further_down_is_taken_over(void **state)
{
    struct ep_boot_peer peer = {.node = 1};
    struct launch l;

    (void)state;
    open_launch(&l, "h[1-5]", EP_LAUNCHER_SSH);
    ep_run_launch_connect(l.launch);
    strcpy(peer.address, "a");
    fake_starter.events->on_peer(fake_starter.arg, 1, &peer);
    is_ready(1, 1, "a");
    fake_starter_said();
    fake_starter.events->on_start(fake_starter.arg, 1, 3, 500, "no route");
    said(
        "take over 3 in 500 ms: no route\ntell 3: 1 at a\ntell 3: 0 at root\n");
    fake_starter.events->on_start(fake_starter.arg, 1, 2, 500, "not below it");
    said("");
    close_launch(&l, "");
}

static void one_command_starts_all(void **state)
{
    struct launch l;

    (void)state;
    open_launch(&l, "h[1-3]", EP_LAUNCHER_SLURM);
    said("gate\nexpect 1 on h1\nexpect 2 on h2\nstart all as 0\n");
    /* the process is srun itself */
    assert_true(ep_run_launch_is_alive(l.launch));
    ep_run_launch_joined(l.launch);
    said("arrived 0\ngate closed\n");
    close_launch(&l, "");
}

/* --- what the end of a daemon means */

static void one_that_does_not_come_ends_the_launch(void **state)
{
    struct launch l;

    (void)state;
    open_launch(&l, "h1,h2", EP_LAUNCHER_SSH);
    fake_starter.events->on_error(fake_starter.arg, 2, "h2: no route");
    assert_true(ep_run_launch_misses(l.launch));
    assert_int_equal(l.failed, 0); /* other daemons may fail as well, in a
                                    * moment */
    event_base_dispatch(l.base);
    assert_int_equal(l.failed, 1);
    close_launch(&l, "xylem: cannot start the daemon on h2: no route\n");
}

/* h1 starts the daemons on h3 and h4, and h2 those on h5 and h6. */
static void the_parent_tries_as_soon_as_it_is_there(void **state)
{
    struct launch l;
    char tried[8] = "";

    (void)state;
    open_launch(&l, "h[1-6]", EP_LAUNCHER_SSH);
    is_ready(1, 1, "a");
    fake_starter.events->on_error(fake_starter.arg, 2, "h2: h5: no route");
    for (uint32_t node = 1; node <= 6; node++) {
        if (ep_run_launch_has_tried(l.launch, node))
            sprintf(tried + strlen(tried), "%u", node);
    }
    assert_string_equal(tried, "12345");
    close_launch(&l, "");
}

/* A daemon has connected, and is gone before the others have connected. */
static void an_early_end_is_one_that_does_not_come(void **state)
{
    struct launch l;

    (void)state;
    open_launch(&l, "h1,h2", EP_LAUNCHER_SSH);
    is_ready(1, 1, "a");
    fake_starter.events->on_exit(fake_starter.arg, 1, 9);
    assert_int_equal(l.gone, 1);
    assert_true(ep_run_launch_misses(l.launch));
    event_base_dispatch(l.base);
    assert_int_equal(l.failed, 1);
    close_launch(&l, "xylem: cannot start the daemon on h1: it ended (signal "
                     "9) before the job began\n");
}

static void a_failure_in_the_job_is_told_at_once(void **state)
{
    struct launch l;

    (void)state;
    open_launch(&l, "h1,h2", EP_LAUNCHER_SSH);
    is_ready(1, 1, "a");
    is_ready(2, 2, "b");
    job_session_step(&l.session, JOB_SESSION_BEGUN, 0);
    fake_starter.events->on_error(fake_starter.arg, 2, "h2: out of memory");
    assert_int_equal(l.broken, 1);
    assert_false(ep_run_launch_misses(l.launch));
    job_session_step(&l.session, JOB_SESSION_ABORT, 1);
    fake_starter.events->on_error(fake_starter.arg, 1, "h1: out of memory");
    assert_int_equal(l.broken, 1); /* the daemon was told to end */
    close_launch(&l, "xylem: the daemon of node 1 on h2, with rank 1, has "
                     "failed: out of memory\n");
}

static void the_last_to_go_is_told(void **state)
{
    struct launch l;

    (void)state;
    open_launch(&l, "h1,h2", EP_LAUNCHER_SSH);
    is_ready(1, 1, "a");
    is_ready(2, 2, "b");
    job_session_step(&l.session, JOB_SESSION_BEGUN, 0);
    fake_starter_said();
    ep_run_launch_leave(l.launch);
    said("leave\n");
    fake_starter.events->on_exit(fake_starter.arg, 2, 0);
    assert_int_equal(l.gone, 0);
    fake_starter.events->on_exit(fake_starter.arg, 1, 0);
    assert_int_equal(l.gone, 1);
    assert_false(ep_run_launch_is_alive(l.launch));
    close_launch(&l, "");
}

static void without_a_spawner_nothing_is_heard(void **state)
{
    struct launch l;

    (void)state;
    open_launch(&l, "h1,h2", EP_LAUNCHER_SSH);
    is_ready(1, 1, "a");
    assert_false(ep_run_launch_is_deaf(l.launch));
    fake_starter.events->on_lost(fake_starter.arg);
    assert_true(ep_run_launch_is_deaf(l.launch));
    assert_false(ep_run_launch_is_alive(l.launch));
    assert_int_equal(l.failed, 1);
    close_launch(&l, "xylem: xylem's process that starts the daemons has died; "
                     "the job ends\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(virtual_nodes_are_dealt_out),
        cmocka_unit_test(daemons_begin_at_once_beside_a_free_processor),
        cmocka_unit_test(children_hear_of_the_launcher),
        cmocka_unit_test(without_a_tree_all_are_told),
        cmocka_unit_test(one_further_down_is_taken_over),
        cmocka_unit_test(one_command_starts_all),
        cmocka_unit_test(one_that_does_not_come_ends_the_launch),
        cmocka_unit_test(the_parent_tries_as_soon_as_it_is_there),
        cmocka_unit_test(an_early_end_is_one_that_does_not_come),
        cmocka_unit_test(a_failure_in_the_job_is_told_at_once),
        cmocka_unit_test(the_last_to_go_is_told),
        cmocka_unit_test(without_a_spawner_nothing_is_heard),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
