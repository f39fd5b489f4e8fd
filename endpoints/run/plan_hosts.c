/* Hosts of a run, and which ranks are where. */
#include "endpoints/run/impl.h"
#include "endpoints/run/plan.h"
#include "overlay/base/err.h"
#include "topo/place.h"
#include "topo/ranges.h"

const char *ep_run_host(const struct run *r, uint32_t node)
{
    if (node == 0 || r->hosts.count == 0 || node > r->hosts.count)
        return r->host;
    return topo_hosts_name(&r->hosts, node - 1);
}

const char *ep_run_host_of_rank(const struct run *r, uint32_t rank)
{
    return ep_run_host(r, ep_job_node_of(&r->job, rank));
}

int ep_run_plan_hosts(struct run *r)
{
    const struct ep_run_options *o = &r->options;
    char why[TOPO_WHY_MAX] = "out of memory";
    int rc = 0;

    topo_hosts_init(&r->hosts);
    if (o->hosts != NULL)
        rc = topo_hosts_parse(&r->hosts, o->hosts, why);
    else if (o->hostfile != NULL)
        rc = topo_hosts_read(&r->hosts, o->hostfile, why);
    if (rc != 0) {
        ep_run_say(r, "%s", why);
        return rc == OV_EINVAL ? 2 : 1;
    }
    if (r->hosts.count == 0 && o->launcher == EP_RUN_SSH) {
        ep_run_say(r, "--launcher ssh needs hosts: give --hosts or --hostfile");
        return 2;
    }
    return 0;
}

static uint32_t count_on(const struct topo_place *place, uint32_t node)
{
    struct topo_range ranks = topo_place_ranks(place, node);

    return ranks.last - ranks.first + 1;
}

/* Processes by node become runs of nodes with equally many. */
static int list_ranks(struct run *r, const struct topo_place *place,
                      uint32_t *most)
{
    for (uint32_t node = 0; node < place->nodes;) {
        uint32_t each = count_on(place, node);
        struct ep_job_ranks ranks = {.nodes = {node + 1, node + 1},
                                     .each = each,
                                     .first_rank = place->first[node]};

        while (++node < place->nodes && count_on(place, node) == each)
            ranks.nodes.last++;
        if (ep_job_add_ranks(&r->job, ranks))
            return ep_run_fail(r, "out of memory");
        if (each > *most)
            *most = each;
    }
    r->job.size = place->procs;
    r->job.nodes = place->nodes;
    r->nodes_count = place->nodes;
    return 0;
}

int ep_run_plan_ranks(struct run *r, uint32_t *most)
{
    const struct ep_run_options *o = &r->options;
    struct topo_place_ask ask = {
        .hosts = r->hosts.count > 0 ? &r->hosts : NULL,
        .nodes = o->nodes,
        .procs = o->procs,
        .ppn = o->ppn,
    };
    char why[TOPO_WHY_MAX] = "out of memory";
    struct topo_place place;
    int rc;

    rc = topo_place_init(&place, &ask, why);
    if (rc != 0) {
        ep_run_say(r, "%s", why);
        return rc == OV_EINVAL ? 2 : 1;
    }
    rc = list_ranks(r, &place, most);
    topo_place_fini(&place);
    if (rc == 0 && r->hosts.count == 0 && (o->nodes > 0 || o->verbose))
        ep_run_say(r, "no hosts given: %u virtual node%s on this machine",
                   r->nodes_count, r->nodes_count == 1 ? "" : "s");
    return rc;
}
