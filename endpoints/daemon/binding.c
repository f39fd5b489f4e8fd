/* Binds processes to processors: the objects of the machine (cores, sockets)
 * are given to the processes in turn. */
#include "endpoints/daemon/binding.h"

#include <stddef.h>

#include "endpoints/sys/machine.h"
#include "overlay/base/err.h"

int ep_binding_open(struct ep_binding *binding, const struct job *job,
                    char *why)
{
    int rc = 0;

    *binding = (struct ep_binding){.by_rank = job->cpus.count > 0};
    if (job->bind == TOPO_NO_OBJECT)
        return 0;
    if (!binding->by_rank)
        rc = ep_machine_cpus(&binding->own, job->bind, why);
    if (rc != 0)
        return rc;
    binding->at = (const char *const *)(binding->by_rank ? job->cpus.at
                                                         : binding->own.at);
    binding->count = binding->by_rank ? job->cpus.count : binding->own.count;
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
