/* The nodes that a program of a further job may run on.
 *
 * They are those of the run that live, as its list has them; with a host file
 * those of that file, with a list of hosts those of that list among them, each
 * time in the order that is given and with the slots that are given, where some
 * are. A host that is lost is passed over.
 */
#ifndef ENDPOINTS_RUN_POOL_H
#define ENDPOINTS_RUN_POOL_H

#include <stdint.h>

#include "endpoints/client/taps.h"
#include "topo/hosts.h"

struct run_nodes;
struct run_plan;

/* Of a host file that a client names. */
enum { RUN_HOSTFILE_BYTES_MAX = 16 << 20 };

struct run_pool {
    struct topo_hosts hosts; /* their slots, and 0 where nobody says; of its
                                fields only items (owned) and count are there */
    uint32_t *nodes;         /* owned: of each its node of the tree */
};

/* For a program; of one without hosts: all that live. Waits for the file, which
 * is on the launcher's machine. Returns 0, with at least one node; else an
 * OV_E... code with a sentence in why (EP_TAP_WHY_MAX bytes) and *refusal, and
 * the pool is empty. O(nodes + hosts that are named). */
int ep_run_pool_open(const struct run_plan *plan, const struct run_nodes *nodes,
                     const struct job_wish *app, struct run_pool *pool,
                     enum ep_tap_refusal *refusal, char *why);
void ep_run_pool_close(struct run_pool *pool);

/* Gives it the tree's own order, for programs whose lists differ. Returns 0 or
 * OV_ENOMEM. O(nodes). */
int ep_run_pool_sort(const struct run_plan *plan, struct run_pool *pool);
/* First those with the fewest processes of further jobs; where these are equal
 * the order stays. Returns 0 or OV_ENOMEM. O(nodes log nodes). */
int ep_run_pool_level(const struct run_nodes *nodes, struct run_pool *pool);

/* Leaves the nodes that have room for so many, with no more slots than there
 * is room. Returns 0, or OV_EFULL when none is left. O(nodes). */
int ep_run_pool_tighten(const struct run_nodes *nodes, struct run_pool *pool,
                        uint32_t least);

#endif
