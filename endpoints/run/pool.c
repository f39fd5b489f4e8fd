/* The nodes that a program of a further job may run on. */
#include "endpoints/run/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "endpoints/run/nodes.h"
#include "endpoints/run/plan.h"
#include "overlay/base/err.h"

/* The arguments of ep_run_pool_open(). */
struct making {
    const struct run_plan *plan;
    const struct run_nodes *nodes;
    struct run_pool *pool;
    enum ep_client_refusal *refusal;
    char *why;
};

/* A node of a pool, with the number of its processes of further jobs. */
struct spare {
    uint32_t procs;
    uint32_t at; /* the node's index in the pool */
    uint32_t node, slots;
};

/* A list of hosts that a client has named. */
struct named {
    struct topo_hosts list; /* owned */
    char label[80];         /* where the list comes from, for messages */
};

void ep_run_pool_close(struct run_pool *pool)
{
    free(pool->hosts.items);
    free(pool->nodes);
    *pool = (struct run_pool){.nodes = NULL};
}

/* Makes an empty pool with room for all nodes. */
static int pool_new(const struct run_plan *plan, struct run_pool *pool)
{
    *pool = (struct run_pool){
        .nodes = calloc(plan->nodes_count + 1, sizeof(*pool->nodes))};
    pool->hosts.items =
        calloc(plan->nodes_count + 1, sizeof(*pool->hosts.items));
    if (pool->nodes != NULL && pool->hosts.items != NULL)
        return 0;
    ep_run_pool_close(pool);
    return OV_ENOMEM;
}

static void add_node(struct run_pool *pool, uint32_t node, uint32_t slots)
{
    pool->nodes[pool->hosts.count] = node;
    pool->hosts.items[pool->hosts.count++].slots = slots;
}

static void add_living(const struct making *m)
{
    for (uint32_t place = 1; place <= m->plan->nodes_count; place++) {
        uint32_t node = job_node_at(m->plan->job, place);
        uint32_t slots = m->plan->hosts.count > 0
                             ? m->plan->hosts.items[place - 1].slots
                             : 0;

        if (!ep_run_nodes_is_lost(m->nodes, node))
            add_node(m->pool, node, slots);
    }
}

/* --- hosts that are named */

static void named_fini(struct named *named)
{
    topo_hosts_fini(&named->list);
}

static int fail(const struct making *m, enum ep_client_refusal refusal,
                const char *what)
{
    *m->refusal = refusal;
    snprintf(m->why, EP_CLIENT_WHY_MAX, "%.*s", EP_CLIENT_WHY_MAX - 1, what);
    return OV_EINVAL;
}

static int named_text(const struct making *m, const char *text,
                      struct named *out)
{
    char why[TOPO_WHY_MAX] = "out of memory";
    int rc = topo_hosts_parse(&out->list, text, why);

    snprintf(out->label, sizeof(out->label), "the list of hosts");
    return rc == 0 ? 0 : fail(m, EP_CLIENT_BAD_HOSTS, why);
}

/* Accepts only a file that can be read without blocking: no pipe, and no device
 * that has no end. */
static int check_file(const struct making *m, const char *path)
{
    char what[TOPO_WHY_MAX];
    struct stat st;

    if (stat(path, &st) != 0 ||
        (S_ISREG(st.st_mode) && st.st_size <= RUN_HOSTFILE_BYTES_MAX))
        return 0;
    snprintf(what, sizeof(what),
             "the host file %.150s is not a file, or has more than %d MiB",
             path, RUN_HOSTFILE_BYTES_MAX >> 20);
    return fail(m, EP_CLIENT_BAD_HOSTS, what);
}

static int named_file(const struct making *m, const struct job_wish *app,
                      const char *name, struct named *out)
{
    char path[4096], why[TOPO_WHY_MAX] = "out of memory";
    bool is_whole = name[0] == '/' || app->program.cwd == NULL;
    int len =
        snprintf(path, sizeof(path), "%s%s%s", is_whole ? "" : app->program.cwd,
                 is_whole ? "" : "/", name);
    int rc;

    topo_hosts_init(&out->list);
    snprintf(out->label, sizeof(out->label), "the host file");
    if (len >= (int)sizeof(path))
        return fail(m, EP_CLIENT_BAD_HOSTS, "the host file's path is too long");
    rc = check_file(m, path);
    if (rc != 0)
        return rc;
    rc = topo_hosts_read(&out->list, path, why);
    return rc == 0 ? 0 : fail(m, EP_CLIENT_BAD_HOSTS, why);
}

/* Tells whether the name means this machine. */
static bool is_here(const struct run_plan *plan, const char *name)
{
    return strcmp(name, plan->host) == 0 || strcmp(name, "localhost") == 0;
}

/* Returns the place of a host, from 1. Returns 0, which means all places, for
 * the name that all virtual nodes share; TOPO_NONE when the host is not in the
 * tree. */
static uint32_t place_of(const struct run_plan *plan, const char *name)
{
    uint32_t at = topo_hosts_find(&plan->hosts, name, strlen(name));

    if (plan->hosts.count == 0)
        return is_here(plan, name) ? 0 : TOPO_NONE;
    if (at == TOPO_NONE && is_here(plan, name))
        at = topo_hosts_find(&plan->hosts, plan->host, strlen(plan->host));
    return at < plan->nodes_count ? at + 1 : TOPO_NONE;
}

/* --- choosing among the nodes */

/* Adds all nodes, which have the same name, and shares these slots among them;
 * nodes that get no slot are left out. When no slots are given, each node keeps
 * its own. */
static void add_all(const struct run_pool *from, uint32_t slots,
                    struct run_pool *to)
{
    uint32_t count = from->hosts.count;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t each = slots / count + (i < slots % count);

        if (slots == 0)
            each = from->hosts.items[i].slots;
        if (slots == 0 || each > 0)
            add_node(to, from->nodes[i], each);
    }
}

/* Adds host `i` of the list to the new pool. at[node] is the index of the node
 * in the old pool plus 1; 0 when the old pool does not have it; TOPO_NONE when
 * it was already added under another name. */
static int choose_one(const struct making *m, const struct named *named,
                      uint32_t i, uint32_t *at, struct run_pool *to)
{
    const char *name = topo_hosts_name(&named->list, i);
    uint32_t place = place_of(m->plan, name),
             slots = named->list.items[i].slots;
    char what[TOPO_WHY_MAX];
    uint32_t node;

    if (place == 0) {
        if (to->hosts.count == 0)
            add_all(m->pool, slots, to);
        return 0;
    }
    node = place != TOPO_NONE ? job_node_at(m->plan->job, place) : 0;
    if (node == 0 || (at[node] == 0 && !ep_run_nodes_is_lost(m->nodes, node))) {
        snprintf(what, sizeof(what), "%.128s of %s is not a host of %s", name,
                 named->label, node == 0 ? "the tree" : "the host file");
        return fail(m, EP_CLIENT_NO_HOST, what);
    }
    if (at[node] == 0 || at[node] == TOPO_NONE)
        return 0;
    add_node(to, node,
             slots > 0 ? slots : m->pool->hosts.items[at[node] - 1].slots);
    at[node] = TOPO_NONE;
    return 0;
}

/* Reduces the pool to the hosts that are named, in the order in which they are
 * named. */
static int choose_hosts(const struct making *m, const struct named *named)
{
    uint32_t *at = calloc((size_t)m->plan->nodes_count + 1, sizeof(*at));
    struct run_pool to;
    int rc = at == NULL ? OV_ENOMEM : pool_new(m->plan, &to);

    if (rc != 0) {
        free(at);
        return rc;
    }
    for (uint32_t i = 0; i < m->pool->hosts.count; i++)
        at[m->pool->nodes[i]] = i + 1;
    for (uint32_t i = 0; rc == 0 && i < named->list.count; i++)
        rc = choose_one(m, named, i, at, &to);
    free(at);
    if (rc == 0) {
        ep_run_pool_close(m->pool);
        *m->pool = to;
    } else {
        ep_run_pool_close(&to);
    }
    return rc;
}

/* Refuses hosts that would have to be added to the tree. A tree has only the
 * nodes that it began with, except for those that are lost. */
static int check_growth(const struct making *m, const struct named *named)
{
    char what[TOPO_WHY_MAX];

    for (uint32_t i = 0; i < named->list.count; i++) {
        const char *name = topo_hosts_name(&named->list, i);
        uint32_t place = place_of(m->plan, name);

        if (place == 0 ||
            (place != TOPO_NONE &&
             !ep_run_nodes_is_lost(m->nodes, job_node_at(m->plan->job, place))))
            continue;
        snprintf(what, sizeof(what),
                 "%.128s cannot be added: a running dvm gets no further hosts; "
                 "start one that has it",
                 name);
        return fail(m, EP_CLIENT_NO_GROWTH, what);
    }
    return 0;
}

/* --- the whole pool */

static int use_text(const struct making *m, const char *text,
                    int (*use)(const struct making *, const struct named *))
{
    struct named named;
    int rc = text == NULL ? 0 : named_text(m, text, &named);

    if (text == NULL || rc != 0)
        return rc;
    rc = use(m, &named);
    named_fini(&named);
    return rc;
}

static int use_file(const struct making *m, const struct job_wish *app,
                    const char *path,
                    int (*use)(const struct making *, const struct named *))
{
    struct named named;
    int rc = path == NULL ? 0 : named_file(m, app, path, &named);

    if (path == NULL || rc != 0)
        return rc;
    rc = use(m, &named);
    named_fini(&named);
    return rc;
}

int ep_run_pool_open(const struct run_plan *plan, const struct run_nodes *nodes,
                     const struct job_wish *app, struct run_pool *pool,
                     enum ep_client_refusal *refusal, char *why)
{
    struct making m = {plan, nodes, pool, refusal, why};
    int rc = pool_new(plan, pool);

    *refusal = EP_CLIENT_NO_ROOM;
    if (rc == 0)
        add_living(&m);
    if (rc == 0)
        rc = use_file(&m, app, app->add_hostfile, check_growth);
    if (rc == 0)
        rc = use_text(&m, app->add_hosts, check_growth);
    if (rc == 0)
        rc = use_file(&m, app, app->hostfile, choose_hosts);
    if (rc == 0)
        rc = use_text(&m, app->hosts, choose_hosts);
    if (rc == 0 && pool->hosts.count == 0)
        rc = fail(&m, EP_CLIENT_NO_ROOM,
                  "all nodes on which the job may run are lost");
    if (rc != 0)
        ep_run_pool_close(pool);
    return rc;
}

int ep_run_pool_sort(const struct run_plan *plan, struct run_pool *pool)
{
    uint32_t *at = calloc((size_t)plan->nodes_count + 1, sizeof(*at));
    struct run_pool to;
    int rc = at == NULL ? OV_ENOMEM : pool_new(plan, &to);

    for (uint32_t i = 0; rc == 0 && i < pool->hosts.count; i++)
        at[pool->nodes[i]] = i + 1;
    for (uint32_t place = 1; rc == 0 && place <= plan->nodes_count; place++) {
        uint32_t node = job_node_at(plan->job, place);

        if (at[node] > 0)
            add_node(&to, node, pool->hosts.items[at[node] - 1].slots);
    }
    free(at);
    if (rc == 0) {
        ep_run_pool_close(pool);
        *pool = to;
    }
    return rc;
}

static int by_spare(const void *a, const void *b)
{
    const struct spare *x = a, *y = b;

    if (x->procs != y->procs)
        return x->procs < y->procs ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

int ep_run_pool_level(const struct run_nodes *nodes, struct run_pool *pool)
{
    const uint32_t count = pool->hosts.count;
    struct spare *spare = calloc(count, sizeof(*spare));

    if (spare == NULL)
        return OV_ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        spare[i] = (struct spare){ep_run_nodes_spare(nodes, pool->nodes[i]), i,
                                  pool->nodes[i], pool->hosts.items[i].slots};
    qsort(spare, count, sizeof(*spare), by_spare);
    pool->hosts.count = 0;
    for (uint32_t i = 0; i < count; i++)
        add_node(pool, spare[i].node, spare[i].slots);
    free(spare);
    return 0;
}

/* --- removing nodes that have too little room */

int ep_run_pool_tighten(const struct run_nodes *nodes, struct run_pool *pool,
                        uint32_t least)
{
    uint32_t count = pool->hosts.count;

    pool->hosts.count = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = pool->nodes[i], slots = pool->hosts.items[i].slots;
        uint32_t room = ep_run_nodes_room(nodes, node);

        if (room >= least)
            add_node(pool, node, slots > 0 && slots < room ? slots : room);
    }
    return pool->hosts.count > 0 ? 0 : OV_EFULL;
}
