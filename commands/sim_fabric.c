/* Plans the tree that is simulated. */
#include "commands/sim_fabric.h"

#include <stdlib.h>

#include "commands/refuse.h"
#include "commands/sim_options.h"
#include "endpoints/sys/path.h"
#include "endpoints/sys/prelude.h"
#include "overlay/base/err.h"
#include "topo/cost.h"

enum { ARITY_MOST = 256 }; /* the largest arity that xylem run accepts */

static _Noreturn void fail_memory(void)
{
    exit(refuse("out of memory for the tree"));
}

void sim_fabric_read(struct sim_fabric *fabric, const char *path)
{
    char why[TOPO_WHY_MAX] = "out of memory";
    int rc = ep_path_look("--topology", path, why);

    if (rc == 0)
        rc = topo_fabric_read(&fabric->fabric, path, why);
    ep_prelude_go_on();

    if (rc == OV_EINVAL)
        usage("%s", why);
    if (rc != 0)
        exit(refuse("%s", why));
}

/* The arity that xylem run would choose for a network with these costs. */
static uint32_t choose_arity(const struct sim_options *o)
{
    const struct sim_network *network = &o->cfg.network;
    struct topo_cost cost = {
        .latency_ns = (double)network->near.latency_ns,
        .overhead_ns = (double)network->overhead_ns,
        .bandwidth = (double)network->near.bandwidth,
    };

    return topo_cost_arity(&cost, o->nodes, 1, ARITY_MOST);
}

static void shape_tree(struct sim_options *o)
{
    struct sim_fabric *f = &o->fabric;
    struct sim_cfg *cfg = &o->cfg;
    struct topo_under under;
    struct topo_shape_ask ask = {.hosts = o->nodes - 1,
                                 .arity = cfg->overlay.plan.arity,
                                 .launcher = TOPO_NONE};

    topo_shape_fini(&f->shape);
    free(f->under);
    f->under = calloc(o->nodes, sizeof(*f->under));
    if (f->under == NULL ||
        topo_under_init(&under, &f->fabric, &f->fabric.hosts, ask.hosts, ""))
        fail_memory();
    ask.switches = under.switches;
    ask.under = under.under;
    ask.above = under.above;
    if (topo_shape_init(&f->shape, &ask))
        fail_memory();
    f->under[0] = TOPO_NONE;
    for (uint32_t n = 1; n < o->nodes; n++)
        f->under[n] = under.under[f->shape.host[n]];
    topo_under_fini(&under);
    cfg->overlay.plan = f->shape.tree;
    cfg->network.under = f->under;
}

void sim_fabric_plan(struct sim_options *o)
{
    uint32_t hosts = o->fabric.fabric.hosts.count;

    if (hosts > 0 && o->nodes == 0)
        o->nodes = hosts + 1;
    if (hosts > 0 && o->nodes > hosts + 1)
        usage("the topology has %u hosts, with the launcher %u nodes: give -N "
              "that many at most, or leave it out",
              hosts, hosts + 1);
    if (o->nodes == 0)
        o->nodes = SIM_NODES;
    o->cfg.overlay.plan = (struct topo_tree){
        .nodes = o->nodes, .arity = o->is_auto ? choose_arity(o) : o->arity};
    if (hosts > 0)
        shape_tree(o);
}
