/* Which hosts are swept, how many at a time, and which were not reached; the
 * test replaces the spawner. */
#include "config.h"

#include "endpoints/run/sweeps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <event2/event.h>

#include "endpoints/run/signals.h"
#include "endpoints/spawn/leftover.h"
#include "endpoints/spawn/spawner.h"
#include "overlay/base/err.h"
#include "tests/unit/plan_rig.h"

enum { STARTS_MAX = 80, AT_ONCE = 64, NODES_MAX = 80 };

/* A process that was started and has not ended. */
struct started {
    char host[64], line[256];
    uint32_t proc;
    int out; /* owned */
};

struct ep_spawner {
    const struct ep_spawner_events *events;
    void *arg;
    struct started starts[STARTS_MAX];
    unsigned count;
};

static struct ep_spawner spawner;
static bool has_spawner;
static bool is_dead; /* the spawner accepts nothing, which has not been noticed
                      * yet */
static unsigned opened, closed;
static uint32_t interrupts;

int ep_spawner_exec(const char *path, struct ep_spawner **out)
{
    assert_string_equal(path, "/proc/self/exe");
    *out = &spawner;
    opened += has_spawner;
    is_dead = false;
    return has_spawner ? 0 : OV_ESYS;
}

int ep_spawner_attach(struct ep_spawner *sp, struct event_base *base,
                      const struct ep_spawner_events *events, void *arg)
{
    assert_non_null(base);
    sp->events = events;
    sp->arg = arg;
    return 0;
}

int ep_spawner_job(struct ep_spawner *sp, uint32_t job,
                   const struct ep_spawn_job *what)
{
    (void)what;
    assert_ptr_equal(sp, &spawner);
    assert_int_equal(job, 0);
    return 0;
}

int ep_spawner_start(struct ep_spawner *sp, const struct ep_spawn_proc *what)
{
    struct started *one = &sp->starts[sp->count++];

    assert_in_range(sp->count, 1, STARTS_MAX);
    if (is_dead) {
        sp->count--;
        return OV_ECLOSED;
    }
    *one = (struct started){.proc = what->proc, .out = dup(what->stdio[1])};
    if (what->args[0] != NULL) {
        snprintf(one->host, sizeof(one->host), "%s", what->args[0]);
        snprintf(one->line, sizeof(one->line), "%s", what->args[1]);
    }
    return 0;
}

int ep_spawner_signal(struct ep_spawner *sp, uint32_t proc, int signo)
{
    (void)sp;
    (void)proc;
    (void)signo;
    fail(); /* nothing in this test takes ten seconds */
    return 0;
}

bool ep_spawner_close(struct ep_spawner *sp)
{
    closed += sp != NULL;
    return true;
}

uint32_t ep_run_signals_interrupts(const struct run_signals *signals)
{
    (void)signals;
    return interrupts;
}

struct run {
    struct fixture f;
    struct event_base *base;
    struct run_sweeps *sweeps;
    bool is_lost[NODES_MAX];
};

static bool is_lost(void *arg, uint32_t node)
{
    const struct run *r = arg;

    return r->is_lost[node];
}

static void open_run(struct run *r, const char *hosts,
                     enum ep_launcher launcher, uint32_t daemons)
{
    struct run_sweeps_cfg cfg = {
        .plan = &r->f.plan, .daemons = daemons, .is_lost = is_lost, .arg = r};

    memset(r, 0, sizeof(*r));
    spawner = (struct ep_spawner){.count = 0};
    has_spawner = true;
    opened = closed = 0;
    open_fixture(&r->f, hosts);
    assert_int_equal(ep_run_plan_nodes(&r->f.plan, &r->f.most), 0);
    r->f.plan.config.launcher = launcher;
    r->f.plan.config.xylemd = strdup("/opt/xylemd");
    r->f.plan.config.rsh = strdup("ssh");
    cfg.base = r->base = event_base_new();
    assert_int_equal(ep_run_sweeps_open(&cfg, &r->sweeps), 0);
}

static void close_run(struct run *r)
{
    ep_run_sweeps_close(r->sweeps);
    for (unsigned i = 0; i < spawner.count; i++) {
        if (spawner.starts[i].out >= 0)
            close(spawner.starts[i].out);
    }
    event_base_free(r->base);
    close_fixture(&r->f);
}

/* Ends the nth process that was started, after it has written these words. */
static void end_one(unsigned nth, const char *words)
{
    struct started *one = &spawner.starts[nth];

    assert_int_equal(write(one->out, words, strlen(words)), strlen(words));
    close(one->out);
    one->out = -1;
    spawner.events->on_exit(spawner.arg, one->proc, 0, 0);
}

/* Checks the hosts that were not reached. */
static void check_missed(struct run *r, const char *want)
{
    char *missed = ep_run_sweeps_end(r->sweeps);

    if (want == NULL)
        assert_null(missed);
    else
        assert_string_equal(missed, want);
    free(missed);
}

static void a_host_is_swept_once(void **state)
{
    struct run r;

    (void)state;
    open_run(&r, "h1,h2", EP_LAUNCHER_SSH, 2);
    ep_run_sweep_lost(r.sweeps, 2);
    ep_run_sweep(r.sweeps, 2);
    assert_int_equal(spawner.count, 1);
    assert_string_equal(spawner.starts[0].host, ep_run_host(&r.f.plan, 2));
    assert_non_null(strstr(spawner.starts[0].line, "exec /opt/xylemd --sweep"));
    end_one(0, "a word of the shell\n" EP_SWEPT " 0\n");
    check_missed(&r, NULL);
    close_run(&r);
}

/* The last words count, whatever a shell has written before. */
static void words_of_a_shell_are_passed_over(void **state)
{
    char words[16384];
    struct run r;

    (void)state;
    memset(words, 'x', sizeof(words));
    memcpy(words + sizeof(words) - sizeof("\n" EP_SWEPT " 0\n"),
           "\n" EP_SWEPT " 0\n", sizeof("\n" EP_SWEPT " 0\n"));
    open_run(&r, "h1", EP_LAUNCHER_SSH, 1);
    ep_run_sweep(r.sweeps, 1);
    end_one(0, words);
    check_missed(&r, NULL);
    close_run(&r);
}

static void who_does_not_say_so_was_not_reached(void **state)
{
    struct run r;

    (void)state;
    open_run(&r, "h1,h2,h3,h4", EP_LAUNCHER_SSH, 4);
    for (uint32_t node = 1; node <= 3; node++)
        ep_run_sweep_lost(r.sweeps, node);
    end_one(0, "connection refused\n");
    end_one(1, "\n" EP_SWEPT " 0\n");
    spawner.events->on_failed(spawner.arg, spawner.starts[2].proc, "exec", 2);
    check_missed(&r, "h[1,3]");
    close_run(&r);

    open_run(&r, "h1,h2", EP_LAUNCHER_SSH, 2);
    has_spawner = false;
    ep_run_sweep_lost(r.sweeps, 1);
    check_missed(&r, "h1");
    close_run(&r);
}

/* Sweeps that were under way begin again with another spawner, as if nothing
 * had happened. */
static void a_spawner_that_dies_is_replaced_once(void **state)
{
    struct run r;

    (void)state;
    open_run(&r, "h1,h2,h3,h4", EP_LAUNCHER_SSH, 4);
    ep_run_sweep_lost(r.sweeps, 1);
    ep_run_sweep_lost(r.sweeps, 2);
    end_one(0, "\n" EP_SWEPT " 0\n");
    is_dead = true;
    ep_run_sweep_lost(r.sweeps, 3);
    assert_int_equal(spawner.count, 2);
    spawner.events->on_lost(spawner.arg);
    assert_int_equal(spawner.count, 4);
    assert_int_equal(opened, 2);
    assert_int_equal(closed, 1);
    end_one(2, "\n" EP_SWEPT " 0\n");
    end_one(3, "\n" EP_SWEPT " 0\n");
    spawner.events->on_lost(spawner.arg);
    ep_run_sweep_lost(r.sweeps, 4);
    assert_int_equal(spawner.count, 4);
    assert_int_equal(opened, 2);
    check_missed(&r, "h4");
    close_run(&r);
    assert_int_equal(closed, 2);
}

static void one_that_dies_while_nothing_runs_is_replaced(void **state)
{
    struct run r;

    (void)state;
    open_run(&r, "h1,h2", EP_LAUNCHER_SSH, 2);
    ep_run_sweep_lost(r.sweeps, 1);
    end_one(0, "\n" EP_SWEPT " 0\n");
    spawner.events->on_lost(spawner.arg);
    ep_run_sweep_lost(r.sweeps, 2);
    assert_int_equal(spawner.count, 2);
    end_one(1, "\n" EP_SWEPT " 0\n");
    check_missed(&r, NULL);
    close_run(&r);
}

/* A host that is still waited for when a signal ends the wait was not
 * reached. */
static void on_interrupt(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
    interrupts++;
}

static void sixty_four_are_swept_at_a_time(void **state)
{
    static const struct timeval soon = {.tv_usec = 1000};
    struct topo_hosts missed;
    struct run r;
    char *list;

    (void)state;
    open_run(&r, "h[1-70]", EP_LAUNCHER_SSH, 70);
    for (uint32_t node = 1; node <= 70; node++)
        ep_run_sweep_lost(r.sweeps, node);
    assert_int_equal(spawner.count, AT_ONCE);
    end_one(0, "\n" EP_SWEPT " 0\n");
    assert_int_equal(spawner.count, AT_ONCE + 1);
    event_base_once(r.base, -1, EV_TIMEOUT, on_interrupt, NULL, &soon);
    list = ep_run_sweeps_end(r.sweeps);
    assert_int_equal(topo_hosts_parse(&missed, list, NULL), 0);
    assert_int_equal(missed.count, 69);
    assert_int_equal(topo_hosts_find(&missed, "h1", 2), TOPO_NONE);
    topo_hosts_fini(&missed);
    free(list);
    close_run(&r);
}

/* Virtual nodes are dealt out: 1, 3 and 5 belong to the first daemon. */
static void a_daemon_is_lost_with_all_of_its_nodes(void **state)
{
    struct run r;

    (void)state;
    open_run(&r, "h[1-6]", EP_LAUNCHER_LOCAL, 2);
    r.is_lost[1] = r.is_lost[3] = r.is_lost[2] = true;
    ep_run_sweep_lost(r.sweeps, 3);
    ep_run_sweep_lost(r.sweeps, 2);
    assert_int_equal(spawner.count, 0);
    r.is_lost[5] = true;
    ep_run_sweep_lost(r.sweeps, 5);
    ep_run_sweep_lost(r.sweeps, 3);
    assert_int_equal(spawner.count, 1);
    end_one(0, "\n" EP_SWEPT " 2\n");
    check_missed(&r, NULL);
    close_run(&r);
}

/* Called from within the wait. */
static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    const bool *is_interrupt = arg;

    (void)fd;
    (void)what;
    if (*is_interrupt)
        interrupts++;
    else
        end_one(0, "\n" EP_SWEPT " 1\n");
}

static void the_end_waits_for_all_or_an_interrupt(void **state)
{
    static const struct timeval soon = {.tv_usec = 1000};
    struct run r;

    (void)state;
    for (int i = 0; i < 2; i++) {
        bool is_interrupt = i > 0;

        open_run(&r, "h1", EP_LAUNCHER_SSH, 1);
        ep_run_sweep(r.sweeps, 1);
        event_base_once(r.base, -1, EV_TIMEOUT, on_timer, &is_interrupt, &soon);
        check_missed(&r, is_interrupt ? "h1" : NULL);
        close_run(&r);
    }
}

static void a_resource_manager_sweeps_itself(void **state)
{
    struct run r;

    (void)state;
    open_run(&r, "h1,h2", EP_LAUNCHER_SLURM, 2);
    ep_run_sweep_lost(r.sweeps, 1);
    assert_int_equal(spawner.count, 0);
    check_missed(&r, NULL);
    close_run(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_is_swept_once),
        cmocka_unit_test(words_of_a_shell_are_passed_over),
        cmocka_unit_test(who_does_not_say_so_was_not_reached),
        cmocka_unit_test(a_spawner_that_dies_is_replaced_once),
        cmocka_unit_test(one_that_dies_while_nothing_runs_is_replaced),
        cmocka_unit_test(sixty_four_are_swept_at_a_time),
        cmocka_unit_test(a_daemon_is_lost_with_all_of_its_nodes),
        cmocka_unit_test(the_end_waits_for_all_or_an_interrupt),
        cmocka_unit_test(a_resource_manager_sweeps_itself),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
