/* The nodes that a program of a further job may run on. */
#include "endpoints/run/pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "endpoints/run/nodes.h"
#include "overlay/base/err.h"
#include "tests/unit/plan_rig.h"

struct tree {
    struct fixture f;
    struct run_nodes *nodes;
    struct run_pool pool;
    enum ep_client_refusal refusal;
    char why[EP_CLIENT_WHY_MAX];
    char text[1024]; /* the text that describes the pool */
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
    ep_run_pool_close(&t->pool);
    ep_run_nodes_close(t->nodes);
    close_fixture(&t->f);
}

/* Returns the hosts of the pool with their slots. */
static const char *pool_text(struct tree *t)
{
    size_t at = 0;

    t->text[0] = '\0';
    for (uint32_t i = 0; i < t->pool.hosts.count; i++)
        at += (size_t)snprintf(t->text + at, sizeof(t->text) - at, "%s%s:%u",
                               i > 0 ? " " : "",
                               ep_run_host(&t->f.plan, t->pool.nodes[i]),
                               t->pool.hosts.items[i].slots);
    return t->text;
}

static int open_pool(struct tree *t, const struct job_wish *app)
{
    ep_run_pool_close(&t->pool);
    return ep_run_pool_open(&t->f.plan, t->nodes, app, &t->pool, &t->refusal,
                            t->why);
}

static void is_pool(struct tree *t, const struct job_wish *app,
                    const char *want)
{
    assert_int_equal(open_pool(t, app), 0);
    assert_string_equal(pool_text(t), want);
}

static void is_refused(struct tree *t, const struct job_wish *app,
                       enum ep_client_refusal refusal, const char *why)
{
    assert_int_not_equal(open_pool(t, app), 0);
    assert_int_equal(t->refusal, refusal);
    assert_string_equal(t->why, why);
    assert_null(t->pool.nodes);
}

/* Returns a node of the tree that is on the host. */
static uint32_t node_on(const struct tree *t, const char *host)
{
    uint32_t node = 1;

    while (strcmp(ep_run_host(&t->f.plan, node), host) != 0)
        assert_true(node++ < t->f.plan.nodes_count);
    return node;
}

static void use(struct tree *t, const char *host, uint32_t times)
{
    const uint32_t node = node_on(t, host);
    struct job job = {.size = 1};

    assert_int_equal(job_add_app(&job), 0);
    assert_int_equal(
        job_app_add_ranks(job_app_last(&job), (struct job_ranks){{1, 1}, 1, 0}),
        0);
    assert_int_equal(job_add_places(&job, (struct job_places){{1, 1}, node}),
                     0);
    for (uint32_t i = 0; i < times; i++)
        ep_run_nodes_fill(t->nodes, &job);
    job_fini(&job);
}

static void all_that_live_without_a_list(void **state)
{
    const struct job_wish any = {.procs = 1};
    struct tree t;

    (void)state;
    open_tree(&t, "h1:2,h2,h3:4");
    is_pool(&t, &any, "h1:2 h2:0 h3:4");
    ep_run_nodes_lose(t.nodes, node_on(&t, "h1"));
    is_pool(&t, &any, "h2:0 h3:4");
    ep_run_nodes_lose(t.nodes, node_on(&t, "h2"));
    ep_run_nodes_lose(t.nodes, node_on(&t, "h3"));
    is_refused(&t, &any, EP_CLIENT_NO_ROOM,
               "all nodes on which the job may run are lost");
    close_tree(&t);
}

static void those_named_in_their_order(void **state)
{
    const struct job_wish named = {.hosts = "h3,h1:5"};
    struct tree t;

    (void)state;
    open_tree(&t, "h1:2,h2,h3:4");
    is_pool(&t, &named, "h3:4 h1:5");
    assert_int_equal(ep_run_pool_sort(&t.f.plan, &t.pool), 0);
    assert_string_equal(pool_text(&t), "h1:5 h3:4");
    close_tree(&t);
}

static void no_host_of_the_tree(void **state)
{
    const struct job_wish stranger = {.hosts = "h1,x9"};
    const struct job_wish growth = {.add_hosts = "h2,x9"};
    const struct job_wish known = {.add_hosts = "h2"};
    struct tree t;

    (void)state;
    open_tree(&t, "h1,h2");
    is_refused(&t, &stranger, EP_CLIENT_NO_HOST,
               "x9 of the list of hosts is not a host of the tree");
    is_refused(&t, &growth, EP_CLIENT_NO_GROWTH,
               "x9 cannot be added: a running dvm gets no further hosts; start "
               "one that has it");
    is_pool(&t, &known, "h1:0 h2:0");
    ep_run_nodes_lose(t.nodes, node_on(&t, "h2"));
    is_refused(&t, &known, EP_CLIENT_NO_GROWTH,
               "h2 cannot be added: a running dvm gets no further hosts; start "
               "one that has it");
    close_tree(&t);
}

/* A file is read in the program's folder; a list selects some of its hosts. */
static void a_file_and_a_list(void **state)
{
    char folder[] = "/tmp/xylem-pool-XXXXXX", path[64];
    struct job_wish app = {.hostfile = "hosts"};
    struct tree t;
    FILE *file;

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/hosts", folder);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("h2 slots=3\nh4\n", file);
    fclose(file);
    app.program.cwd = folder;
    open_tree(&t, "h[1-4]");
    is_pool(&t, &app, "h2:3 h4:0");
    app.hosts = "h4,h2";
    is_pool(&t, &app, "h4:0 h2:3");
    app.hosts = "h1";
    is_refused(&t, &app, EP_CLIENT_NO_HOST,
               "h1 of the list of hosts is not a host of the host file");
    app.hostfile = folder;
    assert_int_not_equal(open_pool(&t, &app), 0);
    assert_int_equal(t.refusal, EP_CLIENT_BAD_HOSTS);
    close_tree(&t);
    unlink(path);
    rmdir(folder);
}

static void virtual_nodes_have_one_name(void **state)
{
    struct job_wish app = {.hosts = "localhost"};
    struct tree t;

    (void)state;
    memset(&t, 0, sizeof(t));
    open_fixture(&t.f, NULL);
    t.f.options.launcher = EP_LAUNCHER_LOCAL;
    t.f.options.nodes = 3;
    assert_int_equal(ep_run_plan_nodes(&t.f.plan, &t.f.most), 0);
    assert_int_equal(ep_run_nodes_open(t.f.plan.nodes_count, &t.nodes), 0);
    snprintf(t.f.plan.host, sizeof(t.f.plan.host), "here");
    assert_int_equal(open_pool(&t, &app), 0);
    assert_int_equal(t.pool.hosts.count, 3);
    app.hosts = "here:2"; /* the slots are shared; the third node has none */
    assert_int_equal(open_pool(&t, &app), 0);
    assert_int_equal(t.pool.hosts.count, 2);
    assert_int_equal(t.pool.hosts.items[1].slots, 1);
    close_tree(&t);
}

static void those_that_do_least_come_first(void **state)
{
    const struct job_wish any = {.procs = 1};
    struct tree t;

    (void)state;
    open_tree(&t, "h1:1,h2:2,h3:3,h4:4");
    use(&t, "h1", 2);
    use(&t, "h3", 1);
    is_pool(&t, &any, "h1:1 h2:2 h3:3 h4:4");
    assert_int_equal(ep_run_pool_level(t.nodes, &t.pool), 0);
    assert_string_equal(pool_text(&t), "h2:2 h4:4 h3:3 h1:1");
    close_tree(&t);
}

static void those_that_have_room(void **state)
{
    const struct job_wish any = {.procs = 1};
    struct tree t;

    (void)state;
    open_tree(&t, "h1,h2:2,h3:300");
    use(&t, "h1", RUN_SPARE_PROCS);
    use(&t, "h3", 6);
    is_pool(&t, &any, "h1:0 h2:2 h3:300");
    assert_int_equal(ep_run_pool_tighten(t.nodes, &t.pool, 1), 0);
    assert_string_equal(pool_text(&t), "h2:2 h3:250");
    assert_int_equal(ep_run_pool_tighten(t.nodes, &t.pool, RUN_SPARE_PROCS), 0);
    assert_string_equal(pool_text(&t), "h2:2");
    use(&t, "h2", 1);
    assert_int_equal(ep_run_pool_tighten(t.nodes, &t.pool, RUN_SPARE_PROCS),
                     OV_EFULL);
    close_tree(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_live_without_a_list),
        cmocka_unit_test(those_named_in_their_order),
        cmocka_unit_test(no_host_of_the_tree),
        cmocka_unit_test(a_file_and_a_list),
        cmocka_unit_test(virtual_nodes_have_one_name),
        cmocka_unit_test(those_that_do_least_come_first),
        cmocka_unit_test(those_that_have_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
