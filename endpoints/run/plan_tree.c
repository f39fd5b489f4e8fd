/* Plans the tree of a run: how many children a node has, and which host is at
 * which node.
 *
 * Places, which count hosts in the list and are the numbers of nodes that the
 * user sees, do not depend on the tree. The numbers of nodes in the overlay do.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints/boot/launcher.h"
#include "endpoints/run/plan.h"
#include "endpoints/run/scontrol.h"
#include "endpoints/sys/path.h"
#include "endpoints/sys/prelude.h"
#include "overlay/base/err.h"
#include "topo/fabric.h"

enum { ARITY_VIRTUAL = 16, SHOWN_BYTES = 200 };

uint32_t ep_run_place(const struct run_plan *p, uint32_t node)
{
    return p->tree.shape.host != NULL ? p->tree.shape.host[node] : node - 1;
}

/* Reads the number of a node of the tree. Returns false if there is none. */
static bool read_node(const struct run_plan *p, const char **at, uint32_t *node)
{
    uint64_t number = 0;
    const char *end = *at;

    for (; *end >= '0' && *end <= '9' && number <= p->nodes_count; end++)
        number = number * 10 + (uint64_t)(*end - '0');
    if (end == *at || number > p->nodes_count)
        return false;
    *at = end;
    *node = (uint32_t)number;
    return true;
}

void ep_run_name_nodes(const struct run_plan *p, const char *text, char *out,
                       size_t size_bytes)
{
    static const char mark[] = "node ";
    uint32_t node;

    for (const char *at; (at = strstr(text, mark)) != NULL;) {
        const char *behind = at + strlen(mark);
        char name[32] = "the launcher";
        int len;

        if (!read_node(p, &behind, &node))
            snprintf(name, sizeof(name), "%s", mark);
        else if (node > 0)
            snprintf(name, sizeof(name), "node %u", ep_run_place(p, node));
        len = snprintf(out, size_bytes, "%.*s%s", (int)(at - text), text, name);
        if (len < 0 || (size_t)len >= size_bytes)
            return;
        out += len;
        size_bytes -= (size_t)len;
        text = behind;
    }
    snprintf(out, size_bytes, "%s", text);
}

static int check_arity(struct run_plan *p)
{
    uint32_t children = ep_session_children(p->config.tree);

    if (children <= EP_SESSION_CHILDREN_MAX)
        return 0;
    ep_voice_say(p->voice,
                 "--arity %u gives a node %u children: a daemon can have %d at "
                 "most; give a smaller one",
                 p->options->arity, children, EP_SESSION_CHILDREN_MAX);
    return 2;
}

/* --- the fabric */

static const char *source_of(const struct run_plan *p)
{
    return p->options->topology != NULL ? p->options->topology : "scontrol";
}

/* Tells the user which hosts the list of switches does not name. */
static int tell_unnamed(struct run_plan *p, const struct topo_under *under)
{
    struct topo_hosts unnamed;
    char *text;
    int rc = 0;

    topo_hosts_init(&unnamed);
    for (uint32_t i = 0; i < p->nodes_count && rc == 0; i++) {
        const char *name = topo_hosts_name(&p->hosts, i);

        if (under->under[i] == under->switches - 1)
            rc = topo_hosts_add(&unnamed, name, strlen(name), 0);
    }
    text = rc == 0 ? topo_hosts_fold_short(&unnamed, SHOWN_BYTES) : NULL;
    if (text != NULL)
        (p->options->topology != NULL ? ep_voice_remark : ep_voice_note)(
            p->voice,
            "%s does not name %s: the tree has %s under a switch of "
            "%s own",
            source_of(p), text, under->unnamed == 1 ? "it" : "them",
            under->unnamed == 1 ? "its" : "their");
    free(text);
    topo_hosts_fini(&unnamed);
    return text != NULL ? 0 : ep_voice_fail(p->voice, "out of memory");
}

static int shape_tree(struct run_plan *p)
{
    struct ep_tree_plan *plan = &p->tree;
    struct topo_under *under = &plan->under;
    int rc = topo_under_init(under, &plan->fabric, &p->hosts, p->nodes_count,
                             p->host);

    if (rc == 0) {
        struct topo_shape_ask ask = {
            .hosts = p->nodes_count,
            .arity = plan->arity,
            .switches = under->switches,
            .under = under->under,
            .above = under->above,
            .launcher = under->launcher,
        };

        rc = topo_shape_init(&plan->shape, &ask);
    }
    if (rc != 0)
        return ep_voice_fail(p->voice, "out of memory");
    return under->unnamed > 0 ? tell_unnamed(p, under) : 0;
}

static int use_fabric(struct run_plan *p, enum ep_tree_by by)
{
    int rc = shape_tree(p);

    p->tree.by = by;
    return rc == 0 ? ep_run_use_shape(p) : rc;
}

static int plan_fabric(struct run_plan *p)
{
    char why[TOPO_WHY_MAX] = "out of memory";
    int rc;

    if (p->hosts.count == 0) {
        ep_voice_say(p->voice,
                     "--topology needs hosts: give --hosts or --hostfile");
        return 2;
    }
    rc = ep_path_look("--topology", p->options->topology, why);
    if (rc == 0)
        rc = topo_fabric_read(&p->tree.fabric, p->options->topology, why);
    ep_prelude_go_on();
    if (rc != 0) {
        ep_voice_say(p->voice, "%s", why);
        return rc == OV_EINVAL ? 2 : 1;
    }
    return use_fabric(p, EP_TREE_FILE);
}

/* Tells whether any host is under a known switch. */
static bool names_some(const struct run_plan *p)
{
    for (uint32_t i = 0; i < p->nodes_count; i++) {
        if (topo_fabric_leaf(&p->tree.fabric, topo_hosts_name(&p->hosts, i)) !=
            TOPO_NONE)
            return true;
    }
    return false;
}

/* Inside an allocation, asks Slurm for its switches. When Slurm knows none, or
 * its answer is not understood, the tree can only be guessed from names. */
static int ask_slurm(struct run_plan *p)
{
    char why[TOPO_WHY_MAX] = "its answer is empty";
    struct text_buf text = {0};
    int rc = 0;

    if (p->hosts.count == 0 || ep_launcher_ops(p->launcher)->is_here ||
        getenv("SLURM_JOB_ID") == NULL)
        return 0;
    rc = ep_scontrol_topology(&text);
    if (rc == 0)
        rc = topo_fabric_parse(&p->tree.fabric, text.at, text.len_bytes,
                               "scontrol show topology", why);
    text_buf_fini(&text);
    if (rc == 0 && names_some(p))
        return use_fabric(p, EP_TREE_SLURM);
    if (rc == 0)
        strcpy(why, "its answer names none of the hosts");
    topo_fabric_fini(&p->tree.fabric);
    ep_voice_note(p->voice, "Slurm reports no switches: %s", why);
    return 0;
}

/* --- the arity */

/* Tells whether the model of costs chooses the arity. It does not apply to
 * virtual nodes, as they share the processors of this machine. */
static bool wants_model(const struct run_plan *p)
{
    const struct ep_run_options *o = p->options;

    if (o->arity != 0)
        return o->arity == EP_RUN_ARITY_AUTO;
    return p->hosts.count > 0 && !ep_launcher_ops(p->launcher)->is_here;
}

static int choose_arity(struct run_plan *p)
{
    struct ep_tree_plan *plan = &p->tree;
    char why[TOPO_WHY_MAX] = "";
    int rc = 0;

    plan->cost = topo_cost_default;
    plan->procs = (p->job->size - 1) / p->nodes_count + 1;
    if (p->options->model != NULL)
        rc = ep_path_look("--model", p->options->model, why);
    if (rc == 0 && p->options->model != NULL)
        rc = topo_cost_read(&plan->cost, p->options->model, why);
    ep_prelude_go_on();
    if (rc != 0) {
        ep_voice_say(p->voice, "%s", why);
        return rc == OV_EINVAL ? 2 : 1;
    }
    plan->is_chosen = wants_model(p);
    plan->arity = p->options->arity != 0 ? p->options->arity : ARITY_VIRTUAL;
    if (plan->is_chosen)
        plan->arity = topo_cost_arity(&plan->cost, p->nodes_count + 1,
                                      plan->procs, EP_SESSION_CHILDREN_MAX);
    return 0;
}

int ep_run_plan_tree(struct run_plan *p)
{
    int rc = choose_arity(p);

    if (rc != 0)
        return rc;
    p->config.tree.nodes = p->nodes_count + 1;
    p->config.tree.arity = p->tree.arity;
    if (check_arity(p))
        return 2;
    if (p->tree.is_chosen)
        ep_voice_note(p->voice, "the cost model has chosen arity %u",
                      p->tree.arity);
    if (p->options->topology == NULL)
        rc = ask_slurm(p);
    else if (strcmp(p->options->topology, "none") != 0)
        rc = plan_fabric(p);
    if (rc == 0 && p->options->topology == NULL && p->tree.by == EP_TREE_LIST)
        rc = ep_run_plan_guess(p);
    return rc;
}

void ep_tree_plan_fini(struct ep_tree_plan *plan)
{
    topo_shape_fini(&plan->shape);
    topo_under_fini(&plan->under);
    topo_fabric_fini(&plan->fabric);
}
