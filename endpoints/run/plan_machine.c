/* What a run needs to know of machines. */
#include "endpoints/run/impl.h"
#include "endpoints/run/plan.h"
#include "topo/machine.h"

int ep_run_plan_bind(struct run *r)
{
    enum topo_object object =
        r->options.bind == EP_BIND_CORE ? TOPO_CORE : TOPO_SOCKET;
    char why[TOPO_WHY_MAX] = "";
    struct topo_cpus cpus;
    int rc = 0;

    r->job.bind = r->options.bind;
    if (r->job.bind == EP_BIND_NONE || !r->config.is_virtual)
        return 0;
    if (topo_machine_cpus(&cpus, object, NULL, why))
        return ep_run_fail(r, why);
    for (uint32_t i = 0; rc == 0 && i < cpus.count; i++)
        rc = ep_job_add_cpus(&r->job, cpus.at[i]);
    topo_cpus_fini(&cpus);
    return rc == 0 ? 0 : ep_run_fail(r, "out of memory");
}
