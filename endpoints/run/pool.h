/* The nodes that a program of a further job may run on.
 *
 * They are the nodes of the run that live, in the order of its list. A host
 * file or a list of hosts selects among them, and gives its own order and,
 * where it names some, its own slots. A host that is lost is passed over.
 */
#ifndef ENDPOINTS_RUN_POOL_H
#define ENDPOINTS_RUN_POOL_H

#include <stdint.h>

#include "endpoints/client/requests.h"
#include "topo/hosts.h"

struct run_nodes;
struct run_plan;

/* The longest host file that a client may name. */
enum { RUN_HOSTFILE_BYTES_MAX = 16 << 20 };

struct run_pool {
    /* With their slots, 0 where none are given; only items (owned) and count
     * are used. */
    struct topo_hosts hosts;
    uint32_t *nodes; /* owned: the node of the tree for each host */
};

/* Makes the pool of a program; without hosts: all nodes that live. Waits for
 * the file, which is on the launcher's machine. Returns 0, with at least one
 * node; else an OV_E... code with *refusal and a sentence in why
 * (EP_CLIENT_WHY_MAX bytes), and the pool is empty. O(nodes + hosts that are
 * named). */
int ep_run_pool_open(const struct run_plan *plan, const struct run_nodes *nodes,
                     const struct job_wish *app, struct run_pool *pool,
                     enum ep_client_refusal *refusal, char *why);
void ep_run_pool_close(struct run_pool *pool);

/* Sorts it into the tree's own order, for programs whose lists differ. Returns
 * 0 or OV_ENOMEM. O(nodes). */
int ep_run_pool_sort(const struct run_plan *plan, struct run_pool *pool);
/* Sorts it so that nodes with the fewest processes of further jobs come first;
 * equal ones keep their order. Returns 0 or OV_ENOMEM. O(nodes log nodes). */
int ep_run_pool_level(const struct run_nodes *nodes, struct run_pool *pool);

/* Keeps the nodes that have room for at least this many processes, and lowers
 * their slots to their room. Returns 0, or OV_EFULL when none is left.
 * O(nodes). */
int ep_run_pool_tighten(const struct run_nodes *nodes, struct run_pool *pool,
                        uint32_t least);

#endif
