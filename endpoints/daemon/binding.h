/* Which processors each process of a daemon is bound to.
 *
 * The launcher says which kind of objects of a machine take turns, or lists the
 * objects when it runs on the same machine. Otherwise the machine is looked at
 * here, once for all nodes of the daemon, and only for a job that asks for
 * binding.
 */
#ifndef ENDPOINTS_DAEMON_BINDING_H
#define ENDPOINTS_DAEMON_BINDING_H

#include <stdint.h>

#include "job/job.h"
#include "topo/machine.h"

struct ep_binding {
    /* The objects of this machine; empty: not looked at. */
    struct topo_cpus own;
    const char *const *at; /* the objects that take turns */
    uint32_t count;        /* 0: no process is bound */
    bool by_rank;          /* the nodes of the job share the machine */
};

/* Prepares the binding of a job, which is borrowed. All zero binds no process.
 * Waits for the system, some milliseconds, when it has to look at the machine.
 * Returns 0; OV_ESYS, OV_EINVAL or OV_ENOMEM with a sentence in why
 * (TOPO_WHY_MAX bytes). */
int ep_binding_open(struct ep_binding *binding, const struct job *job,
                    char *why);
void ep_binding_close(struct ep_binding *binding);

/* The processors of a process, as "0-3,8"; NULL: the process is not bound.
 * O(1). */
const char *ep_binding_of(const struct ep_binding *binding, uint32_t rank,
                          uint32_t local_rank);

#endif
