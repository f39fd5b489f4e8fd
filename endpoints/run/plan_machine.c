/* What a run needs to know of machines. */
#include "endpoints/run/impl.h"
#include "endpoints/run/plan.h"
#include "topo/machine.h"

/* The processes of a node are as many as the session has memory for. */
static int count_app(struct run *r, struct ep_run_app *app,
                     const struct topo_machine *machine)
{
    uint32_t count = topo_machine_count(machine, app->per);
    uint64_t ppn = (uint64_t)app->ppn * count;

    if (ppn <= EP_RUN_PPN_MAX) {
        app->per_count = count;
        app->ppn = (uint32_t)ppn;
        return 0;
    }
    ep_run_say(r,
               "--ppn %u:%s makes %llu processes on a node with %u of them: %d "
               "at most",
               app->ppn, topo_object_name(app->per), (unsigned long long)ppn,
               count, EP_RUN_PPN_MAX);
    return 2;
}

int ep_run_plan_ppn(struct run *r)
{
    struct topo_machine machine = {0};
    char why[TOPO_WHY_MAX] = "";
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < r->options.apps_count; i++) {
        struct ep_run_app *app = &r->options.apps[i];

        if (app->per == TOPO_NO_OBJECT)
            continue;
        if (machine.pus == 0 && topo_machine_load(&machine, NULL, why))
            return ep_run_fail(r, why);
        rc = count_app(r, app, &machine);
    }
    return rc;
}

/* Hosts must have what the programs were counted by. */
static void demand_objects(struct run *r)
{
    for (uint32_t i = 0; i < r->job.apps_count; i++) {
        r->job.apps[i].per = r->options.apps[i].per;
        r->job.apps[i].per_count = r->options.apps[i].per_count;
    }
}

int ep_run_plan_bind(struct run *r)
{
    char why[TOPO_WHY_MAX] = "";
    struct topo_cpus cpus;
    int rc = 0;

    r->job.bind = r->options.bind;
    if (!r->config.is_virtual) {
        demand_objects(r);
        return 0;
    }
    if (r->job.bind == TOPO_NO_OBJECT)
        return 0;
    if (topo_machine_cpus(&cpus, r->job.bind, NULL, why))
        return ep_run_fail(r, why);
    for (uint32_t i = 0; rc == 0 && i < cpus.count; i++)
        rc = ep_job_add_cpus(&r->job, cpus.at[i]);
    topo_cpus_fini(&cpus);
    return rc == 0 ? 0 : ep_run_fail(r, "out of memory");
}
