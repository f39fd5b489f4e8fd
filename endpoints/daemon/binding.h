/* Which processors each process of a daemon is bound to.
 *
 * The job says which kind of object of a machine (core, socket) is given to the
 * processes in turn, or lists the objects when the launcher runs on the same
 * machine. Without such a list the daemon looks up the objects of its machine,
 * once for all its nodes, and only for a job that asks for binding.
 */
#ifndef ENDPOINTS_DAEMON_BINDING_H
#define ENDPOINTS_DAEMON_BINDING_H

#include <stdint.h>

#include "job/job.h"
#include "topo/machine.h"

struct ep_binding {
    /* The objects of this machine; empty when they were not looked up. */
    struct topo_cpus own;
    const char *const *at; /* the objects, given to the processes in turn */
    uint32_t count;        /* number of objects; 0: no process is bound */
    bool by_rank; /* nodes of the job share this machine: count by rank */
};

/* Prepares the binding for a job, which is borrowed. An all-zero binding binds
 * no process. May block for some milliseconds, while it looks up the objects of
 * the machine. Returns 0; OV_ESYS, OV_EINVAL or OV_ENOMEM with a sentence in
 * why (TOPO_WHY_MAX bytes). */
int ep_binding_open(struct ep_binding *binding, const struct job *job,
                    char *why);
void ep_binding_close(struct ep_binding *binding);

/* Returns the processors of a process, as "0-3,8"; NULL when the process is not
 * bound. O(1). */
const char *ep_binding_of(const struct ep_binding *binding, uint32_t rank,
                          uint32_t local_rank);

#endif
