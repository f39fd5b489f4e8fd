/* Allocations: which hosts a resource manager has given this job, and how many
 * slots on each, as its environment tells.
 *
 *   Slurm   SLURM_JOB_NODELIST, with SLURM_TASKS_PER_NODE, or else
 *           SLURM_JOB_CPUS_PER_NODE and SLURM_CPUS_PER_TASK
 *   LSF     LSB_DJOB_HOSTFILE, LSB_MCPU_HOSTS or LSB_HOSTS
 *   PBS     PBS_NODEFILE, one line a slot; PBS_NUM_PPN where it names each host
 *           once
 *   SGE     PE_HOSTFILE
 *
 * The first of these that is there counts. In LSF's and SGE's lists the slots
 * are the processors that were given; a host with none is left out.
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

/* The value of a variable, or NULL; getenv is one. */
typedef const char *(*topo_getenv_fn)(void *arg, const char *name);

/* "Slurm", ... and "none". */
const char *topo_manager_name(enum topo_manager manager);

/* Reads the allocation into hosts, which becomes a new list; empty with
 * TOPO_MANAGER_NONE when there is none. O(hosts). Returns 0; OV_EINVAL for an
 * environment or a file that makes no sense; OV_ENOENT or OV_ESYS for a file
 * that cannot be read; OV_EFULL; OV_ENOMEM; with a sentence in why
 * (TOPO_WHY_MAX bytes) that names the variable. hosts is then empty. */
int topo_allocation_read(topo_getenv_fn get, void *arg,
                         struct topo_hosts *hosts, enum topo_manager *manager,
                         char *why);

/* Leaves of an allocation what the user has chosen: `wanted` in its order, with
 * its slots where it names some, else with those of the allocation. Returns 0;
 * OV_EINVAL for hosts that the allocation has not, or more slots than it has on
 * one, with a sentence in why; OV_EFULL; OV_ENOMEM. hosts is as before on
 * failure. O(hosts). */
int topo_allocation_choose(struct topo_hosts *hosts,
                           const struct topo_hosts *wanted,
                           enum topo_manager manager, char *why);

/* Takes the hosts of `list` away from hosts, which keep their order and slots.
 * Returns 0; OV_EINVAL with a sentence in why for a host that is not there, or
 * when none is left; OV_EFULL; OV_ENOMEM. hosts is as before on failure. */
int topo_hosts_exclude(struct topo_hosts *hosts, const struct topo_hosts *list,
                       char *why);

#endif
