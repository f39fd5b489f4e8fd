/* Allocations: which hosts a resource manager has given to the user, and how
 * many slots on each host, read from environment variables.
 *
 *   Slurm   SLURM_JOB_NODELIST, with SLURM_TASKS_PER_NODE, or else
 *           SLURM_JOB_CPUS_PER_NODE and SLURM_CPUS_PER_TASK
 *   LSF     LSB_DJOB_HOSTFILE, LSB_MCPU_HOSTS or LSB_HOSTS
 *   PBS     PBS_NODEFILE, one line a slot; PBS_NUM_PPN where it names each host
 *           once
 *   SGE     PE_HOSTFILE
 *
 * When the variables of several managers are set, the first manager in this
 * list is used. The lists of LSF and SGE name processors, each of which counts
 * as a slot; a host without processors is left out.
 */
#ifndef TOPO_ALLOCATION_H
#define TOPO_ALLOCATION_H

#include "topo/hosts.h"

enum topo_manager {
    TOPO_MANAGER_NONE,
    TOPO_MANAGER_SLURM,
    TOPO_MANAGER_LSF,
    TOPO_MANAGER_PBS,
    TOPO_MANAGER_SGE,
    TOPO_MANAGERS
};

/* Returns the value of a variable, or NULL, as getenv() does. */
typedef const char *(*topo_getenv_fn)(void *arg, const char *name);

/* The name of a manager: "Slurm", ..., or "none". */
const char *topo_manager_name(enum topo_manager manager);

/* Reads the allocation into hosts, which becomes a new list. Without an
 * allocation the list is empty and *manager is TOPO_MANAGER_NONE. O(hosts).
 * Returns 0; OV_EINVAL for an environment or a file that makes no sense;
 * OV_ENOENT or OV_ESYS for a file that cannot be read; OV_EFULL; OV_ENOMEM;
 * with a sentence in `why` (TOPO_WHY_MAX bytes) that names the variable. After
 * an error `hosts` is empty. */
int topo_allocation_read(topo_getenv_fn get, void *arg,
                         struct topo_hosts *hosts, enum topo_manager *manager,
                         char *why);

/* Reduces an allocation to the hosts in `wanted`, in the order of `wanted`. A
 * host keeps its slots from the allocation unless `wanted` names a number.
 * Returns 0; OV_EINVAL for hosts that are not in the allocation, or more slots
 * than a host of it has, with a sentence in why; OV_EFULL; OV_ENOMEM. hosts is
 * as before on failure. O(hosts). */
int topo_allocation_choose(struct topo_hosts *hosts,
                           const struct topo_hosts *wanted,
                           enum topo_manager manager, char *why);

#endif
