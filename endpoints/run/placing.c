/* Places the programs of a further job on nodes. */
#include "endpoints/run/placing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints/run/nodes.h"
#include "endpoints/run/plan.h"
#include "endpoints/run/pool.h"
#include "overlay/base/err.h"
#include "topo/programs.h"

/* Programs with the same list of hosts, which are placed one after the
 * other. */
struct group {
    struct run_pool pool;
    struct topo_programs placed;
    uint32_t first; /* the index of its first program */
    /* Owned: the processes per host of each of its programs; NULL when no
     * program is placed by machines. */
    uint32_t *ppn;
};

struct placing {
    const struct run_plan *plan;
    struct run_nodes *nodes;
    const struct ep_client_spawn *spawn;
    struct group groups[JOB_APPS_MAX];
    uint32_t count;                  /* how many groups there are */
    uint32_t group_of[JOB_APPS_MAX]; /* the group of each program */
    bool is_tight; /* no node gets more processes than it has room for */
    /* owned: how many processes of this job each node has */
    uint32_t *procs_of;
    /* owned: the place of each node, from 1; 0: it has none */
    uint32_t *place_of;
};

/* --- programs */

static bool is_same(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool are_alike(const struct job_wish *a, const struct job_wish *b)
{
    bool has_files = a->hostfile != NULL || a->add_hostfile != NULL;

    return a->map == b->map && is_same(a->hosts, b->hosts) &&
           is_same(a->hostfile, b->hostfile) &&
           is_same(a->add_hosts, b->add_hosts) &&
           is_same(a->add_hostfile, b->add_hostfile) &&
           (!has_files || is_same(a->program.cwd, b->program.cwd));
}

static void group_apps(struct placing *p)
{
    const struct job_wish *apps = p->spawn->apps;

    for (uint32_t i = 0; i < p->spawn->apps_count; i++) {
        uint32_t g = 0;

        while (g < p->count && !are_alike(&apps[i], &apps[p->groups[g].first]))
            g++;
        if (g == p->count)
            p->groups[p->count++].first = i;
        p->group_of[i] = g;
    }
}

/* Returns how many nodes to use: all; or, when each program has a number of
 * processes, not more nodes than processes. */
static uint32_t share_among(const struct topo_program *programs, uint32_t count,
                            uint32_t nodes)
{
    uint64_t procs = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (programs[i].procs == 0)
            return nodes;
        procs += programs[i].procs;
    }
    return procs < nodes ? (uint32_t)procs : nodes;
}

static bool is_by_object(const struct job_wish *app)
{
    return app->per != TOPO_NO_OBJECT && app->ppn > 0;
}

static bool has_objects(const struct placing *p, uint32_t g)
{
    for (uint32_t i = 0; i < p->spawn->apps_count; i++) {
        if (p->group_of[i] == g && is_by_object(&p->spawn->apps[i]))
            return true;
    }
    return false;
}

/* Lowers the processes of a program on each host to those for which the node
 * has room. */
static void lower_program(const struct placing *p, const struct group *group,
                          uint32_t *ppn_of, struct topo_program *out)
{
    out->ppn = 0;
    out->ppn_of = ppn_of;
    for (uint32_t i = 0; i < group->pool.hosts.count; i++) {
        uint32_t room = ep_run_nodes_room(p->nodes, group->pool.nodes[i]);

        if (ppn_of[i] > room)
            ppn_of[i] = room;
        if (ppn_of[i] > out->ppn)
            out->ppn = ppn_of[i];
    }
}

/* Sets how many processes a program has on each of its hosts, whose machines
 * are known, by the cores or sockets that they have. */
static void count_program(const struct placing *p, const struct group *group,
                          const struct job_wish *app, uint32_t *ppn_of,
                          struct topo_program *out)
{
    for (uint32_t i = 0; i < group->pool.hosts.count; i++)
        ppn_of[i] = ep_machine_has(
            ep_run_nodes_machine(p->nodes, group->pool.nodes[i]), app->per);
    topo_program_count(out, app->ppn, ppn_of, group->pool.hosts.count);
    if (p->is_tight)
        lower_program(p, group, ppn_of, out);
}

/* Lists the programs of group `g`. Returns how many there are. */
static uint32_t list_programs(const struct placing *p, uint32_t g,
                              struct topo_program *out)
{
    const struct group *group = &p->groups[g];
    uint32_t *ppn_of = group->ppn, count = 0;

    for (uint32_t i = group->first; i < p->spawn->apps_count; i++) {
        const struct job_wish *app = &p->spawn->apps[i];

        if (p->group_of[i] != g)
            continue;
        out[count] = (struct topo_program){
            .name = app->program.argv[0], .procs = app->procs, .ppn = app->ppn};
        if (is_by_object(app)) {
            count_program(p, group, app, ppn_of, &out[count]);
            ppn_of += group->pool.hosts.count;
        }
        count++;
    }
    return count;
}

static int place_group(struct placing *p, uint32_t g, char *why)
{
    struct group *group = &p->groups[g];
    struct topo_program programs[JOB_APPS_MAX];
    struct topo_programs_ask ask = {.hosts = &group->pool.hosts,
                                    .programs = programs};
    char text[TOPO_WHY_MAX] = "out of memory";
    int rc;

    if (has_objects(p, g)) {
        group->ppn =
            calloc((size_t)p->spawn->apps_count * group->pool.hosts.count,
                   sizeof(*group->ppn));
        if (group->ppn == NULL)
            return OV_ENOMEM;
    }
    ask.count = list_programs(p, g, programs);
    if (p->is_tight || p->spawn->apps[group->first].map == JOB_MAP_NODES)
        ask.nodes = share_among(programs, ask.count, group->pool.hosts.count);
    rc = topo_programs_place(&group->placed, &ask, text);
    if (rc != 0)
        snprintf(why, EP_CLIENT_WHY_MAX, "%.*s", EP_CLIENT_WHY_MAX - 1, text);
    return rc;
}

/* Tells whether each program has a number of processes. A program without one
 * has processes on each node. */
static bool are_counted(const struct placing *p)
{
    for (uint32_t i = 0; i < p->spawn->apps_count; i++) {
        if (p->spawn->apps[i].procs == 0)
            return false;
    }
    return true;
}

/* Returns for how many processes a node must have room to be used. A program
 * that is placed by cores or sockets counts with the processes of one of
 * these. */
static uint32_t least(const struct placing *p, uint32_t g)
{
    uint32_t most = 1;

    for (uint32_t i = 0; i < p->spawn->apps_count; i++) {
        if (p->group_of[i] == g && p->spawn->apps[i].ppn > most)
            most = p->spawn->apps[i].ppn;
    }
    return most;
}

static int open_pool(struct placing *p, uint32_t g,
                     enum ep_client_refusal *refusal, char *why)
{
    const struct job_wish *app = &p->spawn->apps[p->groups[g].first];
    struct run_pool *pool = &p->groups[g].pool;
    int rc = ep_run_pool_open(p->plan, p->nodes, app, pool, refusal, why);

    if (rc == 0 && p->is_tight)
        rc = ep_run_pool_tighten(p->nodes, pool, least(p, g));
    if (rc != 0)
        return rc;
    if (p->count > 1)
        return ep_run_pool_sort(p->plan, pool);
    if (app->hosts == NULL && app->hostfile == NULL && are_counted(p))
        return ep_run_pool_level(p->nodes, pool);
    return 0;
}

static int open_pools(struct placing *p, enum ep_client_refusal *refusal,
                      char *why)
{
    int rc = 0;

    for (uint32_t g = 0; rc == 0 && g < p->count; g++)
        rc = open_pool(p, g, refusal, why);
    return rc;
}

/* Asks for the machines of a group's nodes. Returns 0, OV_EAGAIN or OV_ESYS, as
 * ep_run_nodes_ask() does. */
static int ask_group(struct placing *p, uint32_t g, char *why)
{
    const struct run_pool *pool = &p->groups[g].pool;
    uint32_t which;
    int rc = ep_run_nodes_ask(p->nodes, pool->nodes, pool->hosts.count, &which);

    if (rc == OV_ESYS)
        snprintf(why, EP_CLIENT_WHY_MAX, "%.64s: %.180s",
                 ep_run_host(p->plan, which),
                 ep_run_nodes_why(p->nodes, which));
    if (rc == OV_EAGAIN)
        ep_voice_note(p->plan->voice,
                      "a job waits to learn the cores and sockets of %u node%s",
                      which, which == 1 ? "" : "s");
    return rc;
}

/* Asks for all machines that are not known, at once for all groups. */
static int ask_machines(struct placing *p, enum ep_client_refusal *refusal,
                        char *why)
{
    bool is_asked = false;

    for (uint32_t g = 0; g < p->count; g++) {
        int rc = has_objects(p, g) ? ask_group(p, g, why) : 0;

        if (rc == OV_ESYS) {
            *refusal = EP_CLIENT_BLIND;
            return rc;
        }
        is_asked |= rc == OV_EAGAIN;
    }
    if (is_asked)
        *refusal = EP_CLIENT_LATER;
    return is_asked ? OV_EAGAIN : 0;
}

static void count_procs(struct placing *p)
{
    memset(p->procs_of, 0, (p->plan->nodes_count + 1) * sizeof(*p->procs_of));
    for (uint32_t g = 0; g < p->count; g++) {
        const struct group *group = &p->groups[g];

        for (uint32_t i = 0; i < group->placed.count; i++) {
            const struct topo_block *block = &group->placed.blocks[i];

            for (uint32_t n = block->nodes.first; n <= block->nodes.last; n++)
                p->procs_of[group->pool.nodes[n]] += block->each;
        }
    }
}

static bool has_room(const struct placing *p, char *why)
{
    for (uint32_t n = 1; n <= p->plan->nodes_count; n++) {
        uint32_t room = ep_run_nodes_room(p->nodes, n);

        if (p->procs_of[n] <= room)
            continue;
        snprintf(why, EP_CLIENT_WHY_MAX,
                 "node %u on %.128s has room for %u more process%s: further "
                 "jobs can have %d on a node at most",
                 ep_run_place(p->plan, n), ep_run_host(p->plan, n), room,
                 room == 1 ? "" : "es", RUN_SPARE_PROCS);
        return false;
    }
    return true;
}

static int place_all(struct placing *p, enum ep_client_refusal *refusal,
                     char *why)
{
    int rc = open_pools(p, refusal, why);

    if (rc == 0)
        rc = ask_machines(p, refusal, why);
    for (uint32_t g = 0; rc == 0 && g < p->count; g++)
        rc = place_group(p, g, why);
    if (rc != 0)
        return rc;
    count_procs(p);
    return has_room(p, why) ? 0 : OV_EFULL;
}

static void close_groups(struct placing *p)
{
    for (uint32_t g = 0; g < p->count; g++) {
        struct group *group = &p->groups[g];

        ep_run_pool_close(&group->pool);
        free(group->ppn);
        group->ppn = NULL;
        topo_programs_fini(&group->placed);
    }
}

/* Places all programs again, only on nodes that have room. Called when a node
 * had too little room. */
static int place_tight(struct placing *p)
{
    enum ep_client_refusal refusal;
    char why[EP_CLIENT_WHY_MAX];

    close_groups(p);
    p->is_tight = true;
    return place_all(p, &refusal, why) == 0 ? 0 : OV_EFULL;
}

/* --- numbering places and ranks */

/* Returns the nth node in the order of the job; 0 when there are fewer. */
static uint32_t nth_node(const struct placing *p, uint32_t nth)
{
    const struct run_pool *pool = &p->groups[0].pool;

    if (p->count > 1)
        return nth < p->plan->nodes_count ? job_node_at(p->plan->job, nth + 1)
                                          : 0;
    return nth < pool->hosts.count ? pool->nodes[nth] : 0;
}

/* Numbers the nodes that have processes of the job: they become its places 1,
 * 2, ... */
static int list_places(struct placing *p, struct job *job)
{
    struct job_places run = {{1, 0}, 0};
    uint32_t node;
    int rc = 0;

    for (uint32_t nth = 0; rc == 0 && (node = nth_node(p, nth)) != 0; nth++) {
        if (p->procs_of[node] == 0)
            continue;
        p->place_of[node] = ++job->nodes;
        if (run.places.last >= run.places.first &&
            node != run.node + (run.places.last - run.places.first) + 1) {
            rc = job_add_places(job, run);
            run.places.first = job->nodes;
        }
        if (run.places.first == job->nodes)
            run.node = node;
        run.places.last = job->nodes;
    }
    return rc == 0 ? job_add_places(job, run) : rc;
}

/* Adds a place, with `each` ranks, to those of a program. */
static int add_rank(struct job_app *app, uint32_t place, uint32_t each,
                    uint32_t first_rank)
{
    struct job_ranks *last =
        app->ranks_count > 0 ? &app->ranks[app->ranks_count - 1] : NULL;
    struct job_ranks ranks = {{place, place}, each, first_rank};

    if (last == NULL || last->each != each || last->nodes.last + 1 != place)
        return job_app_add_ranks(app, ranks);
    last->nodes.last = place;
    return 0;
}

/* Lists the ranks of a program. `program` is its index in the group, and *ranks
 * the number of the job's ranks so far. */
static int list_app(const struct placing *p, const struct group *group,
                    uint32_t program, struct job_app *app, uint64_t *ranks)
{
    int rc = 0;

    for (uint32_t i = 0; i < group->placed.count; i++) {
        const struct topo_block *block = &group->placed.blocks[i];

        if (block->program != program)
            continue;
        for (uint32_t n = block->nodes.first; rc == 0 && n <= block->nodes.last;
             n++) {
            uint32_t place = p->place_of[group->pool.nodes[n]];

            if (*ranks + block->each > TOPO_NUMBER_MAX)
                return OV_EFULL;
            rc = add_rank(app, place, block->each, (uint32_t)*ranks);
            *ranks += block->each;
        }
    }
    return rc;
}

static int list_ranks(const struct placing *p, struct job *job)
{
    /* how many programs of each group are listed so far */
    uint32_t programs[JOB_APPS_MAX] = {0};
    uint64_t ranks = 0;
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < job->apps_count; i++) {
        uint32_t g = p->group_of[i];

        rc = list_app(p, &p->groups[g], programs[g]++, &job->apps[i], &ranks);
    }
    job->size = (uint32_t)ranks;
    return rc;
}

int ep_run_placing(const struct run_plan *plan, struct run_nodes *nodes,
                   const struct ep_client_spawn *spawn, struct job *job,
                   enum ep_client_refusal *refusal, char *why)
{
    struct placing *p = calloc(1, sizeof(*p));
    int rc = OV_ENOMEM;

    if (p == NULL)
        return rc;
    p->plan = plan;
    p->nodes = nodes;
    p->spawn = spawn;
    p->procs_of = calloc((size_t)plan->nodes_count + 1, sizeof(*p->procs_of));
    p->place_of = calloc((size_t)plan->nodes_count + 1, sizeof(*p->place_of));
    group_apps(p);
    if (p->procs_of != NULL && p->place_of != NULL)
        rc = place_all(p, refusal, why);
    if (rc == OV_EFULL && are_counted(p))
        rc = place_tight(p);
    if (rc == 0)
        rc = list_places(p, job);
    if (rc == 0)
        rc = list_ranks(p, job);
    close_groups(p);
    free(p->procs_of);
    free(p->place_of);
    free(p);
    return rc;
}
