/* Assigns hosts to the nodes of a tree so that hosts that are neighbours in a
 * given order are in the same subtree.
 *
 * The nodes get the hosts in this order: first a node, then its whole subtree,
 * then the node's next sibling. So each subtree has neighbouring hosts, and few
 * links go from one switch to another, although it is not known where in the
 * order of hosts a switch begins.
 */
#ifndef TOPO_SPREAD_H
#define TOPO_SPREAD_H

#include <stdint.h>

#include "topo/tree.h"

/* Hosts and their switches, as in topo/shape.h. */
struct topo_spread_ask {
    const struct topo_tree *tree; /* each node but node 0 is a host */
    const uint32_t *order;        /* [hosts] borrowed: the numbers of all hosts,
                                     in the order in which they are assigned */
    const uint32_t *under;        /* [hosts] borrowed: the switch of each host;
                                     NULL: all hosts are under one switch */
    uint32_t switches;            /* at least 1 */
};

/* Assigns the hosts. On entry host[node] is the result of topo_shape_init()
 * (not read when all hosts are under one switch); each node gets a host under
 * the same switch as that host, the next in order. Cost: O(nodes) time, and 24
 * bytes per node during the call. Returns 0 or OV_ENOMEM; host is then as
 * before. */
int topo_spread(const struct topo_spread_ask *ask, uint32_t *host);

/* Counts the links between two switches. The launcher is under a switch, or
 * under none (TOPO_NONE). O(nodes). */
uint32_t topo_spread_crossings(const struct topo_tree *tree,
                               const uint32_t *host, const uint32_t *under,
                               uint32_t launcher);

#endif
