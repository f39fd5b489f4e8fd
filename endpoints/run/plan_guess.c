/* Guesses the tree when nothing but the names of the hosts is known.
 *
 * Hosts with similar names are put under the same subtree. They can also be
 * grouped, as if each group were under a switch. Groups cost a table, or
 * another level of the tree where a group would not fit; so they are used only
 * when they are worth it.
 */
#include <stdlib.h>

#include "endpoints/boot/launcher.h"
#include "endpoints/run/plan.h"
#include "overlay/base/err.h"
#include "topo/guess.h"
#include "topo/spread.h"

#define ADDRESSES "/etc/hosts"

/* --- giving the shape to the session and the job */

/* Tells the job which node each place is, as runs of places whose nodes follow
 * one another. */
static int list_places(struct run_plan *p)
{
    uint32_t *node_of = calloc((size_t)p->nodes_count + 1, sizeof(*node_of));
    int rc = node_of == NULL ? OV_ENOMEM : 0;

    for (uint32_t n = 1; rc == 0 && n <= p->nodes_count; n++)
        node_of[p->tree.shape.host[n] + 1] = n;
    for (uint32_t place = 1; rc == 0 && place <= p->nodes_count;) {
        struct job_places run = {{place, place}, node_of[place]};

        while (++place <= p->nodes_count &&
               node_of[place] == node_of[place - 1] + 1)
            run.places.last++;
        rc = job_add_places(p->job, run);
    }
    free(node_of);
    return rc == 0 ? 0 : ep_voice_fail(p->voice, "out of memory");
}

int ep_run_use_shape(struct run_plan *p)
{
    struct topo_shape *shape = &p->tree.shape;

    if (shape->parents != NULL && ep_boot_set_tree(&p->config, &shape->tree))
        return ep_voice_fail(p->voice, "out of memory");
    return list_places(p);
}

/* --- guessing */

/* Makes a complete tree, in which hosts that are neighbours in the guessed
 * order are under one subtree. */
static int shape_order(struct run_plan *p, const struct topo_guess *guess,
                       struct topo_shape *out)
{
    struct topo_spread_ask ask = {
        .tree = &p->config.tree, .order = guess->order, .switches = 1};

    *out = (struct topo_shape){.tree = p->config.tree};
    out->host = calloc((size_t)p->nodes_count + 1, sizeof(*out->host));
    return out->host == NULL ? OV_ENOMEM : topo_spread(&ask, out->host);
}

/* Makes a tree in which each group of hosts is treated as if it were under a
 * switch. */
static int shape_groups(struct run_plan *p, const struct topo_guess *guess,
                        struct topo_under *under, struct topo_shape *out)
{
    struct topo_spread_ask spread = {.tree = &out->tree, .order = guess->order};
    struct topo_shape_ask ask = {.hosts = p->nodes_count,
                                 .arity = p->tree.arity};
    int rc = topo_under_init(under, &guess->fabric, &p->hosts, p->nodes_count,
                             p->host);

    if (rc != 0)
        return rc;
    ask.switches = spread.switches = under->switches;
    ask.under = spread.under = under->under;
    ask.above = under->above;
    ask.launcher = under->launcher;
    rc = topo_shape_init(out, &ask);
    return rc == 0 ? topo_spread(&spread, out->host) : rc;
}

/* Tells whether groups are worth it: fewer links of the tree cross from one
 * group to another than without them; at most half as many when groups give the
 * tree another level. */
static bool is_worth_it(const struct topo_shape *groups,
                        const struct topo_shape *plain,
                        const struct topo_under *under)
{
    uint32_t before = topo_spread_crossings(&plain->tree, plain->host,
                                            under->under, under->launcher);
    uint32_t levels = topo_tree_height(&groups->tree);

    if (levels > topo_tree_height(&plain->tree))
        return groups->crossings <= before / 2;
    return groups->crossings < before;
}

/* Puts the better of the two trees into the plan. */
static int choose_tree(struct run_plan *p, struct topo_guess *guess)
{
    struct ep_tree_plan *plan = &p->tree;
    struct topo_under under = {0};
    struct topo_shape groups = {0};
    int rc = shape_order(p, guess, &plan->shape);

    plan->by = EP_TREE_ORDER;
    if (rc == 0 && guess->by != TOPO_GUESS_ORDER)
        rc = shape_groups(p, guess, &under, &groups);
    if (rc == 0 && groups.host != NULL &&
        is_worth_it(&groups, &plan->shape, &under)) {
        topo_shape_fini(&plan->shape);
        plan->shape = groups;
        plan->under = under;
        plan->fabric = guess->fabric;
        guess->fabric = (struct topo_fabric){0};
        plan->by =
            guess->by == TOPO_GUESS_NAMES ? EP_TREE_NAMES : EP_TREE_ADDRESSES;
        return 0;
    }
    topo_shape_fini(&groups);
    topo_under_fini(&under);
    return rc;
}

int ep_run_plan_guess(struct run_plan *p)
{
    struct topo_guess guess;
    int rc;

    /* There is nothing to guess when there are no real hosts, or when all nodes
     * are children of the launcher. */
    if (p->hosts.count == 0 || ep_launcher_ops(p->launcher)->is_here ||
        p->nodes_count <= p->tree.arity)
        return 0;
    rc = topo_guess_init(&guess, &p->hosts, p->nodes_count, p->host, ADDRESSES);
    if (rc == 0)
        rc = choose_tree(p, &guess);
    topo_guess_fini(&guess);
    if (rc != 0)
        return ep_voice_fail(p->voice, "out of memory");
    ep_voice_note(p->voice, "no switches known: the tree goes by %s",
                  p->tree.by == EP_TREE_ORDER   ? "the order of names"
                  : p->tree.by == EP_TREE_NAMES ? "names of hosts"
                                                : "addresses of hosts");
    return ep_run_use_shape(p);
}
