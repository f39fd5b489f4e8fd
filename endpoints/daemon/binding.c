/* Processes take turns on the objects of the machine, and are counted by them.
 */
#include "endpoints/daemon/binding.h"

#include <stddef.h>

#include "overlay/base/err.h"

int ep_binding_open(struct ep_binding *binding, const struct ep_job *job,
                    char *why)
{
    int rc = 0;

    *binding = (struct ep_binding){.by_rank = job->cpus.count > 0};
    if (job->bind == TOPO_NO_OBJECT)
        return 0;
    if (!binding->by_rank)
        rc = topo_machine_cpus(&binding->own, job->bind, NULL, why);
    if (rc != 0)
        return rc;
    binding->at = (const char *const *)(binding->by_rank ? job->cpus.at
                                                         : binding->own.at);
    binding->count = binding->by_rank ? job->cpus.count : binding->own.count;
    return 0;
}

/* A host unlike the launcher's has other numbers of processes to run. */
static int fail_unlike(const struct ep_job_app *app,
                       const struct topo_machine *machine, char *why)
{
    const char *object = topo_object_name(app->per);
    char own[80];

    topo_machine_name(machine, own, sizeof(own));
    topo_why(why,
             "this host has %s, not %u %s%s as the launcher's, by which --ppn "
             "N:%s counts: give --ppn a number alone",
             own, app->per_count, object, app->per_count == 1 ? "" : "s",
             object);
    return OV_EINVAL;
}

int ep_binding_check(const struct ep_job *job, uint32_t node, char *why)
{
    struct ep_job_part part = {0};
    struct topo_machine machine = {0};

    while (ep_job_next_on_node(job, node, &part)) {
        const struct ep_job_app *app = &job->apps[part.app];
        int rc = 0;

        if (app->per == TOPO_NO_OBJECT)
            continue;
        if (machine.pus == 0)
            rc = topo_machine_load(&machine, NULL, why);
        if (rc != 0)
            return rc;
        if (topo_machine_count(&machine, app->per) != app->per_count)
            return fail_unlike(app, &machine, why);
    }
    return 0;
}

void ep_binding_close(struct ep_binding *binding)
{
    topo_cpus_fini(&binding->own);
    *binding = (struct ep_binding){0};
}

const char *ep_binding_of(const struct ep_binding *binding, uint32_t rank,
                          uint32_t local_rank)
{
    uint32_t turn = binding->by_rank ? rank : local_rank;

    return binding->count > 0 ? binding->at[turn % binding->count] : NULL;
}
