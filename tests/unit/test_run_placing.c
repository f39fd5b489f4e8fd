/* Where the processes of a further job run, and what the job's description
 * contains. */
#include "endpoints/run/placing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "endpoints/run/job_plan.h"
#include "endpoints/run/nodes.h"
#include "overlay/base/err.h"
#include "tests/unit/plan_rig.h"

enum { TEXT_BYTES = 4096 };

static const char *const argv[] = {"prog", NULL};

struct tree {
    struct fixture f;
    struct run_nodes *nodes;
    enum ep_client_refusal refusal;
    char why[EP_CLIENT_WHY_MAX];
    char text[TEXT_BYTES]; /* the text that describes a job */
};

static void open_tree(struct tree *t, const char *hosts)
{
    memset(t, 0, sizeof(*t));
    open_fixture(&t->f, hosts);
    assert_int_equal(ep_run_plan_nodes(&t->f.plan, &t->f.most), 0);
    assert_int_equal(ep_run_nodes_open(t->f.plan.nodes_count, &t->nodes), 0);
}

static void close_tree(struct tree *t)
{
    ep_run_nodes_close(t->nodes);
    close_fixture(&t->f);
}

/* Returns the hosts of the job's ranks, one program after the other. */
static const char *hosts_of(struct tree *t, const struct job *job)
{
    uint32_t app, before = 0;
    size_t at = 0;

    for (uint32_t rank = 0; rank < job->size; rank++) {
        uint32_t node = job_node_of(job, rank, &app);
        const char *space = rank == 0 ? "" : app == before ? " " : " | ";

        at += (size_t)snprintf(t->text + at, TEXT_BYTES - at, "%s%s", space,
                               ep_run_host(&t->f.plan, node));
        before = app;
    }
    return t->text;
}

static int place(struct tree *t, struct job_wish *apps, uint32_t count,
                 struct job *job)
{
    const struct ep_client_spawn spawn = {.apps = apps, .apps_count = count};

    *job = (struct job){.size = 0};
    for (uint32_t i = 0; i < count; i++) {
        apps[i].program.argv = argv;
        assert_int_equal(job_add_app(job), 0);
    }
    return ep_run_placing(&t->f.plan, t->nodes, &spawn, job, &t->refusal,
                          t->why);
}

/* Checks that these processes run there, and keeps the job. */
static void is_placed(struct tree *t, struct job_wish *apps, uint32_t count,
                      const char *want)
{
    struct job job;

    assert_int_equal(place(t, apps, count, &job), 0);
    assert_string_equal(hosts_of(t, &job), want);
    ep_run_nodes_fill(t->nodes, &job);
    job_fini(&job);
}

static void is_refused(struct tree *t, struct job_wish *apps, uint32_t count,
                       int rc)
{
    struct job job;

    assert_int_equal(place(t, apps, count, &job), rc);
    job_fini(&job);
}

static struct job_wish procs(uint32_t count)
{
    return (struct job_wish){.procs = count, .per = TOPO_NO_OBJECT};
}

static void where_least_runs(void **state)
{
    struct job_wish apps[] = {procs(2)};
    struct tree t;

    (void)state;
    open_tree(&t, "h1:2,h2:2,h3:2");
    is_placed(&t, apps, 1, "h1 h1");
    is_placed(&t, apps, 1, "h2 h2");
    apps[0] = procs(1);
    is_placed(&t, apps, 1, "h3");
    is_placed(&t, apps, 1, "h3");
    is_placed(&t, apps, 1, "h1"); /* all programs together have two processes,
                                   * in their order */
    close_tree(&t);
}

static void programs_of_one_list_follow_each_other(void **state)
{
    struct job_wish apps[] = {procs(2), procs(3)};
    struct tree t;

    (void)state;
    open_tree(&t, "h1:2,h2:2,h3:2");
    apps[0].hosts = apps[1].hosts = "h3,h1,h2";
    is_placed(&t, apps, 2, "h3 h3 | h1 h1 h2");
    close_tree(&t);
}

static void those_of_others_do_not_see_each_other(void **state)
{
    struct job_wish apps[] = {procs(2), procs(1), procs(1)};
    struct tree t;

    (void)state;
    open_tree(&t, "h1:2,h2:3,h3:2");
    apps[0].hosts = "h2";
    apps[1].hosts = "h3";
    apps[2].hosts = "h2";
    is_placed(&t, apps, 3, "h2 h2 | h3 | h2");
    close_tree(&t);
}

static void without_a_number_one_on_each_node(void **state)
{
    struct job_wish apps[] = {procs(0)};
    struct tree t;

    (void)state;
    open_tree(&t, "h[1-4]");
    apps[0].ppn = 1;
    ep_run_nodes_lose(t.nodes, 2);
    is_placed(&t, apps, 1, "h1 h3 h4");
    close_tree(&t);
}

/* A node takes no more processes than it has room for. When the number of
 * processes is given, the nodes with room share them. */
static void what_does_not_fit_goes_where_there_is_room(void **state)
{
    struct job_wish full[] = {procs(RUN_SPARE_PROCS - 1)}, more[] = {procs(5)};
    struct tree t;
    struct job job;

    (void)state;
    open_tree(&t, "h1:1000,h2:1000");
    full[0].hosts = "h1";
    assert_int_equal(ep_run_nodes_room(t.nodes, 1), RUN_SPARE_PROCS);
    assert_int_equal(place(&t, full, 1, &job), 0);
    ep_run_nodes_fill(t.nodes, &job);
    job_fini(&job);
    more[0].hosts = "h1,h2"; /* h1 has five slots in the list, and room for one
                              * process */
    is_placed(&t, more, 1, "h1 h2 h2 h2 h2");
    more[0].hosts = "h1";
    is_refused(&t, more, 1, OV_EFULL);
    more[0] = procs(0);
    more[0].ppn = 1;
    is_refused(&t, more, 1, OV_EFULL);
    assert_string_equal(t.why, "node 0 on h1 has room for 0 more processes: "
                               "further jobs can have 256 on a node at most");
    close_tree(&t);
}

static void by_cores_once_they_are_known(void **state)
{
    struct job_wish apps[] = {procs(0)};
    struct job_word word = {.packages = 1, .cores = 3};
    struct tree t;
    bool is_news;

    (void)state;
    open_tree(&t, "h1,h2");
    apps[0].ppn = 1;
    apps[0].per = TOPO_CORE;
    is_refused(&t, apps, 1, OV_EAGAIN);
    assert_int_equal(t.refusal, EP_CLIENT_LATER);
    assert_int_equal(ep_run_nodes_due(t.nodes), 1);
    assert_int_equal(ep_run_nodes_due(t.nodes), 2);
    assert_true(ep_run_nodes_said(t.nodes, 1, &word, &is_news));
    is_refused(&t, apps, 1, OV_EAGAIN);
    assert_int_equal(ep_run_nodes_due(t.nodes), 0);
    word.cores = 1;
    assert_true(ep_run_nodes_said(t.nodes, 2, &word, &is_news));
    is_placed(&t, apps, 1, "h1 h1 h1 h2");
    close_tree(&t);
}

static void one_that_cannot_tell_is_named(void **state)
{
    struct job_wish apps[] = {procs(0)};
    struct job_word word = {.text = "no /sys there"};
    struct tree t;
    bool is_news;

    (void)state;
    open_tree(&t, "h1,h2");
    apps[0].ppn = 1;
    apps[0].per = TOPO_CORE;
    is_refused(&t, apps, 1, OV_EAGAIN);
    assert_int_equal(ep_run_nodes_due(t.nodes), 1);
    assert_int_equal(ep_run_nodes_due(t.nodes), 2);
    assert_true(ep_run_nodes_said(t.nodes, 2, &word, &is_news));
    is_refused(&t, apps, 1, OV_ESYS);
    assert_int_equal(t.refusal, EP_CLIENT_BLIND);
    assert_string_equal(t.why, "h2: no /sys there");
    close_tree(&t);
}

/* --- the rest of the description */

static int describe(struct tree *t, struct ep_client_spawn *spawn,
                    struct job *job)
{
    static struct job_wish one;

    one = procs(2);
    one.program.argv = argv;
    spawn->apps = &one;
    spawn->apps_count = 1;
    *job = (struct job){.size = 0};
    return ep_run_job_plan(&t->f.plan, t->nodes, spawn, job, &t->refusal,
                           t->why);
}

static void those_who_read_are_as_in_the_run(void **state)
{
    struct ep_client_spawn spawn = {.has_stdin = true, .reader = 1};
    struct tree t;
    struct job job;

    (void)state;
    open_tree(&t, "h1,h2");
    t.f.job.close_ms = 7000;
    assert_int_equal(describe(&t, &spawn, &job), 0);
    assert_int_equal(job.readers_count, 1);
    assert_int_equal(job.readers[0].first, 1);
    assert_int_equal(job.readers[0].last, 1);
    assert_int_equal(job.close_ms, 7000);
    job_fini(&job);
    spawn.reader = JOB_READERS_ALL;
    assert_int_equal(describe(&t, &spawn, &job), 0);
    assert_int_equal(job.readers[0].first, 0);
    assert_int_equal(job.readers[0].last, 1);
    job_fini(&job);
    spawn.reader = 2;
    assert_int_equal(describe(&t, &spawn, &job), OV_EINVAL);
    assert_int_equal(t.refusal, EP_CLIENT_NO_READER);
    assert_string_equal(t.why, "rank 2 is to have stdin, but the job has ranks "
                               "0 to 1");
    job_fini(&job);
    close_tree(&t);
}

static void what_its_spawn_says_of_the_cache_counts_first(void **state)
{
    struct ep_client_spawn spawn = {.cache_bytes = 500, .cache_channels = 1};
    struct tree t;
    struct job job;

    (void)state;
    open_tree(&t, "h1,h2");
    t.f.options.has_cache = true;
    t.f.options.cache_bytes = 4000;
    assert_int_equal(describe(&t, &spawn, &job), 0);
    assert_int_equal(job.cache_bytes, 500);
    job_fini(&job);
    spawn.cache_bytes = JOB_CACHE_UNSAID;
    assert_int_equal(describe(&t, &spawn, &job), 0);
    assert_int_equal(job.cache_bytes, 4000);
    job_fini(&job);
    spawn.cache_channels = 0;
    assert_int_equal(describe(&t, &spawn, &job), 0);
    assert_int_equal(job.cache_bytes, 0);
    job_fini(&job);
    close_tree(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_least_runs),
        cmocka_unit_test(programs_of_one_list_follow_each_other),
        cmocka_unit_test(those_of_others_do_not_see_each_other),
        cmocka_unit_test(without_a_number_one_on_each_node),
        cmocka_unit_test(what_does_not_fit_goes_where_there_is_room),
        cmocka_unit_test(by_cores_once_they_are_known),
        cmocka_unit_test(one_that_cannot_tell_is_named),
        cmocka_unit_test(those_who_read_are_as_in_the_run),
        cmocka_unit_test(what_its_spawn_says_of_the_cache_counts_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
