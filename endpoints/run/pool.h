/* The nodes that a program of a further job may run on.
 *
 * Without hosts, these are all living nodes of the run, in the order of its
 * list of hosts. When the program names a host file or a list of hosts, they
 * are the nodes of these hosts, in the order given there, with the slots that
 * are given there, if any. Lost hosts are left out.
 */
#ifndef ENDPOINTS_RUN_POOL_H
#define ENDPOINTS_RUN_POOL_H

#include <stdint.h>

#include "endpoints/client/requests.h"
#include "topo/hosts.h"

struct run_nodes;
struct run_plan;

/* The size of the longest host file that a client may name. */
enum { RUN_HOSTFILE_BYTES_MAX = 16 << 20 };

struct run_pool {
    /* The hosts with their slots, which are 0 where none are given. Only
     * `items` (owned) and `count` are used. */
    struct topo_hosts hosts;
    uint32_t *nodes; /* owned: the number in the tree of each host */
};

/* Makes the pool of a program; without hosts, it has all nodes that live.
 * Blocks while it reads the host file, which is on the launcher's machine.
 * Returns 0, with at least one node; else an OV_E... code with the kind of
 * error in *refusal and a sentence in why (EP_CLIENT_WHY_MAX bytes), and the
 * pool is empty. O(nodes + hosts that are named). */
int ep_run_pool_open(const struct run_plan *plan, const struct run_nodes *nodes,
                     const struct job_wish *app, struct run_pool *pool,
                     enum ep_client_refusal *refusal, char *why);
void ep_run_pool_close(struct run_pool *pool);

/* Sorts the pool into the tree's own order, which is used for programs whose
 * lists of hosts differ. Returns 0 or OV_ENOMEM. O(nodes). */
int ep_run_pool_sort(const struct run_plan *plan, struct run_pool *pool);
/* Sorts the pool so that nodes with the fewest processes of further jobs come
 * first; nodes with as many keep their order. Returns 0 or OV_ENOMEM. O(nodes
 * log nodes). */
int ep_run_pool_level(const struct run_nodes *nodes, struct run_pool *pool);

/* Removes the nodes that have no room for `least` processes, and lowers the
 * slots of the others to the processes for which they have room. Returns 0, or
 * OV_EFULL when no node is left. O(nodes). */
int ep_run_pool_tighten(const struct run_nodes *nodes, struct run_pool *pool,
                        uint32_t least);

#endif
