/* Hosts of a run, and which ranks are where. */
#include "endpoints/run/impl.h"
#include "endpoints/run/plan.h"
#include "overlay/base/err.h"
#include "topo/programs.h"

const char *ep_run_host(const struct run *r, uint32_t node)
{
    if (node == 0 || r->hosts.count == 0 || node > r->nodes_count)
        return r->host;
    return topo_hosts_name(&r->hosts, ep_run_place(r, node));
}

const char *ep_run_host_of_rank(const struct run *r, uint32_t rank)
{
    return ep_run_host(r, ep_job_node_of(&r->job, rank, NULL));
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

/* The job's programs with their ranks, and how many are where. */
static int list_ranks(struct run *r, const struct topo_programs *placed)
{
    for (uint32_t i = 0; i < r->options.apps_count; i++) {
        if (ep_job_add_app(&r->job))
            return ep_run_fail(r, "out of memory");
    }
    for (uint32_t i = 0; i < placed->count; i++) {
        const struct topo_block *block = &placed->blocks[i];
        struct ep_job_ranks ranks = {
            .nodes = {block->nodes.first + 1, block->nodes.last + 1},
            .each = block->each,
            .first_rank = block->first_rank,
        };

        if (ep_job_app_add_ranks(&r->job.apps[block->program], ranks))
            return ep_run_fail(r, "out of memory");
    }
    r->job.size = placed->procs;
    r->job.nodes = placed->nodes;
    r->nodes_count = placed->nodes;
    return 0;
}

int ep_run_plan_ranks(struct run *r, uint32_t *most)
{
    const struct ep_run_options *o = &r->options;
    struct topo_program programs[EP_RUN_APPS_MAX];
    struct topo_programs_ask ask = {
        .hosts = r->hosts.count > 0 ? &r->hosts : NULL,
        .nodes = o->nodes,
        .programs = programs,
        .count = o->apps_count,
    };
    char why[TOPO_WHY_MAX] = "out of memory";
    struct topo_programs placed;
    int rc;

    for (uint32_t i = 0; i < o->apps_count; i++)
        programs[i] = (struct topo_program){.name = o->apps[i].argv[0],
                                            .procs = o->apps[i].procs,
                                            .ppn = o->apps[i].ppn};
    rc = topo_programs_place(&placed, &ask, why);
    if (rc != 0) {
        ep_run_say(r, "%s", why);
        return rc == OV_EINVAL ? 2 : 1;
    }
    *most = topo_programs_most(&placed);
    rc = *most > 0 ? list_ranks(r, &placed) : ep_run_fail(r, "out of memory");
    topo_programs_fini(&placed);
    if (rc == 0 && r->hosts.count == 0 && (o->nodes > 0 || o->verbose))
        ep_run_say(r, "no hosts given: %u virtual node%s on this machine",
                   r->nodes_count, r->nodes_count == 1 ? "" : "s");
    return rc;
}
