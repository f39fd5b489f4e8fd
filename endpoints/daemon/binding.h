/* Which processors each process of a daemon is bound to.
 *
 * The launcher says which objects of a machine take turns, or lists them where
 * it is on the same machine. Else the machine is looked at here, once for all
 * nodes of the daemon, and only for a job that asks for it.
 */
#ifndef ENDPOINTS_DAEMON_BINDING_H
#define ENDPOINTS_DAEMON_BINDING_H

#include <stdint.h>

#include "job/job.h"
#include "topo/machine.h"

struct ep_binding {
    struct topo_cpus own;  /* of this machine; empty: not looked at */
    const char *const *at; /* the objects that take turns */
    uint32_t count;        /* 0: nobody is bound */
    bool by_rank;          /* the nodes of the job share the machine */
};

/* For a job, which is borrowed. Zeroed it binds nobody. Waits for the system,
 * some milliseconds, where it has to look at the machine. Returns 0; OV_ESYS,
 * OV_EINVAL or OV_ENOMEM with a sentence in why (TOPO_WHY_MAX bytes). */
int ep_binding_open(struct ep_binding *binding, const struct job *job,
                    char *why);
void ep_binding_close(struct ep_binding *binding);

/* The processors of a process, as "0-3,8"; NULL: it is not bound. O(1). */
const char *ep_binding_of(const struct ep_binding *binding, uint32_t rank,
                          uint32_t local_rank);

#endif
