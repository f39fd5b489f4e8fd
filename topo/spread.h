/* Which host is which node of a tree, so that neighbours in an order are under
 * one subtree.
 *
 * The nodes are visited from the root down, each with all that is beneath it
 * before the next one, and take the hosts in order. So each subtree has hosts
 * that are neighbours, and wherever the order is cut into switches few links
 * go from one to another, though nobody knows where that is.
 */
#ifndef TOPO_SPREAD_H
#define TOPO_SPREAD_H

#include <stdint.h>

#include "topo/tree.h"

/* Hosts and their switches, as in topo/shape.h. */
struct topo_spread_ask {
    const struct topo_tree *tree; /* its nodes > 0 are the hosts */
    const uint32_t *order;        /* [hosts] borrowed: each host once */
    const uint32_t *under;        /* [hosts] borrowed: of each its switch; NULL:
                                     all under one */
    uint32_t switches;            /* at least 1 */
};

/* host[node] is that of a shape, or anything where all are under one switch; a
 * node keeps its switch and gets the next host of it. Cost: O(nodes) time and
 * 24 bytes a node for the time of the call. Returns 0 or OV_ENOMEM; host is
 * then as it was. */
int topo_spread(const struct topo_spread_ask *ask, uint32_t *host);

/* Links between two switches: of the hosts that are nodes, with the launcher
 * under a switch or under none (TOPO_NONE). O(nodes). */
uint32_t topo_spread_crossings(const struct topo_tree *tree,
                               const uint32_t *host, const uint32_t *under,
                               uint32_t launcher);

#endif
