/* The tree of a run: how many children a node has, and which host is where.
 *
 * Places, of hosts in the list and of the nodes that the user sees, do not
 * depend on it; numbers of the overlay do.
 */
#include <stdlib.h>
#include <string.h>

#include "endpoints/run/impl.h"
#include "endpoints/run/plan.h"
#include "endpoints/run/scontrol.h"
#include "endpoints/sys/path.h"
#include "endpoints/sys/prelude.h"
#include "overlay/base/err.h"
#include "topo/fabric.h"

enum { ARITY_VIRTUAL = 16, SHOWN_BYTES = 200 };

uint32_t ep_run_place(const struct run *r, uint32_t node)
{
    return r->tree.shape.host != NULL ? r->tree.shape.host[node] : node - 1;
}

static int check_arity(struct run *r)
{
    uint32_t children = ep_session_children(r->config.tree);

    if (children <= EP_SESSION_CHILDREN_MAX)
        return 0;
    ep_voice_say(&r->voice,
                 "--arity %u gives a node %u children: the memory of a daemon "
                 "is for %d; give a smaller one",
                 r->options.arity, children, EP_SESSION_CHILDREN_MAX);
    return 2;
}

/* --- the fabric
 * */

static const char *source_of(const struct run *r)
{
    return r->options.topology != NULL ? r->options.topology : "scontrol";
}

/* Says which hosts the topology file leaves out. */
static int tell_unnamed(struct run *r, const struct topo_under *under)
{
    struct topo_hosts unnamed;
    char *text;
    int rc = 0;

    topo_hosts_init(&unnamed);
    for (uint32_t i = 0; i < r->nodes_count && rc == 0; i++) {
        const char *name = topo_hosts_name(&r->hosts, i);

        if (under->under[i] == under->switches - 1)
            rc = topo_hosts_add(&unnamed, name, strlen(name), 0);
    }
    text = rc == 0 ? topo_hosts_fold_short(&unnamed, SHOWN_BYTES) : NULL;
    if (text != NULL)
        (r->options.topology != NULL ? ep_voice_say : ep_voice_note)(
            &r->voice,
            "%s does not name %s: the tree has %s under a switch of "
            "%s own",
            source_of(r), text, under->unnamed == 1 ? "it" : "them",
            under->unnamed == 1 ? "its" : "their");
    free(text);
    topo_hosts_fini(&unnamed);
    return text != NULL ? 0 : ep_voice_fail(&r->voice, "out of memory");
}

static int shape_tree(struct run *r)
{
    struct ep_tree_plan *plan = &r->tree;
    struct topo_under *under = &plan->under;
    int rc = topo_under_init(under, &plan->fabric, &r->hosts, r->nodes_count,
                             r->host);

    if (rc == 0) {
        struct topo_shape_ask ask = {
            .hosts = r->nodes_count,
            .arity = plan->arity,
            .switches = under->switches,
            .under = under->under,
            .above = under->above,
            .launcher = under->launcher,
        };

        rc = topo_shape_init(&plan->shape, &ask);
    }
    if (rc != 0)
        return ep_voice_fail(&r->voice, "out of memory");
    return under->unnamed > 0 ? tell_unnamed(r, under) : 0;
}

static int use_fabric(struct run *r, enum ep_tree_by by)
{
    int rc = shape_tree(r);

    r->tree.by = by;
    return rc == 0 ? ep_run_use_shape(r) : rc;
}

static int plan_fabric(struct run *r)
{
    char why[TOPO_WHY_MAX] = "out of memory";
    int rc;

    if (r->hosts.count == 0) {
        ep_voice_say(&r->voice,
                     "--topology is about hosts: give --hosts or --hostfile");
        return 2;
    }
    rc = ep_path_look("--topology", r->options.topology, why);
    if (rc == 0)
        rc = topo_fabric_read(&r->tree.fabric, r->options.topology, why);
    ep_prelude_go_on();
    if (rc != 0) {
        ep_voice_say(&r->voice, "%s", why);
        return rc == OV_EINVAL ? 2 : 1;
    }
    return use_fabric(r, EP_TREE_FILE);
}

/* Is one of the hosts under a switch that is told? */
static bool names_some(const struct run *r)
{
    for (uint32_t i = 0; i < r->nodes_count; i++) {
        if (topo_fabric_leaf(&r->tree.fabric, topo_hosts_name(&r->hosts, i)) !=
            TOPO_NONE)
            return true;
    }
    return false;
}

/* Inside an allocation of Slurm it may know its switches. Where it does not,
 * or says so in words that are not understood, names are what is left. */
static int ask_slurm(struct run *r)
{
    char why[TOPO_WHY_MAX] = "it says nothing";
    struct text_buf text = {0};
    int rc = 0;

    if (r->hosts.count == 0 || r->options.launcher == EP_LAUNCHER_LOCAL ||
        getenv("SLURM_JOB_ID") == NULL)
        return 0;
    rc = ep_scontrol_topology(&text);
    if (rc == 0)
        rc = topo_fabric_parse(&r->tree.fabric, text.at, text.len_bytes,
                               "scontrol show topology", why);
    text_buf_fini(&text);
    if (rc == 0 && names_some(r))
        return use_fabric(r, EP_TREE_SLURM);
    if (rc == 0)
        strcpy(why, "it names none of the hosts");
    topo_fabric_fini(&r->tree.fabric);
    ep_voice_note(&r->voice, "no switches of Slurm: %s", why);
    return 0;
}

/* --- the arity
 * */

/* Virtual nodes share the processors of this machine: the model says nothing
 * about them. */
static bool wants_model(const struct run *r)
{
    const struct ep_run_options *o = &r->options;

    if (o->arity != 0)
        return o->arity == EP_RUN_ARITY_AUTO;
    return r->hosts.count > 0 && o->launcher != EP_LAUNCHER_LOCAL;
}

static int choose_arity(struct run *r)
{
    struct ep_tree_plan *plan = &r->tree;
    char why[TOPO_WHY_MAX] = "";
    int rc = 0;

    plan->cost = topo_cost_default;
    plan->procs = (r->own.desc.size - 1) / r->nodes_count + 1;
    if (r->options.model != NULL)
        rc = ep_path_look("--model", r->options.model, why);
    if (rc == 0 && r->options.model != NULL)
        rc = topo_cost_read(&plan->cost, r->options.model, why);
    ep_prelude_go_on();
    if (rc != 0) {
        ep_voice_say(&r->voice, "%s", why);
        return rc == OV_EINVAL ? 2 : 1;
    }
    plan->is_chosen = wants_model(r);
    plan->arity = r->options.arity != 0 ? r->options.arity : ARITY_VIRTUAL;
    if (plan->is_chosen)
        plan->arity = topo_cost_arity(&plan->cost, r->nodes_count + 1,
                                      plan->procs, EP_SESSION_CHILDREN_MAX);
    return 0;
}

int ep_run_plan_tree(struct run *r)
{
    int rc = choose_arity(r);

    if (rc != 0)
        return rc;
    r->config.tree.nodes = r->nodes_count + 1;
    r->config.tree.arity = r->tree.arity;
    if (check_arity(r))
        return 2;
    if (r->tree.is_chosen)
        ep_voice_note(&r->voice, "arity %u, by the model", r->tree.arity);
    if (r->options.topology == NULL)
        rc = ask_slurm(r);
    else if (strcmp(r->options.topology, "none") != 0)
        rc = plan_fabric(r);
    if (rc == 0 && r->options.topology == NULL && r->tree.by == EP_TREE_LIST)
        rc = ep_run_plan_guess(r);
    return rc;
}

void ep_tree_plan_fini(struct ep_tree_plan *plan)
{
    topo_shape_fini(&plan->shape);
    topo_under_fini(&plan->under);
    topo_fabric_fini(&plan->fabric);
}
