/* The shape of a tree over a fabric of switches.
 *
 * Hosts under one switch stay together: one link of the tree leads to a first
 * host under a switch, and all other hosts of the switch are below this host.
 * So with S switches only S - 1 links go from one switch to another, which is
 * the least possible. The price is at most one level more than a complete tree
 * of the same arity has, and often none.
 *
 * All links of a launcher that is under no switch lead to hosts under switches.
 * These links are not counted, and several of them may lead to the same switch.
 *
 * Nodes of the tree are numbered level by level, and hosts in the order of the
 * list; `host` has the host of each node.
 */
#ifndef TOPO_SHAPE_H
#define TOPO_SHAPE_H

#include <stdint.h>

#include "topo/tree.h"

struct topo_shape_ask {
    uint32_t hosts;        /* at least 1 */
    uint32_t arity;        /* 1 to TOPO_ARITY_MAX */
    uint32_t switches;     /* at least 1 */
    const uint32_t *under; /* [hosts] borrowed: the switch of each host */
    const uint32_t *above; /* [switches] borrowed: a number below `switches` for
                              each switch, equal for switches that are under the
                              same higher switch. NULL: all are equal. Where
                              there is room, the link to a switch comes from a
                              host under a switch with the same number */
    uint32_t launcher;     /* the launcher's switch; TOPO_NONE: the launcher is
                              under no switch */
};

struct topo_shape {
    struct topo_tree tree; /* uses `parents` as its table */
    uint32_t *parents;     /* owned */
    uint32_t *host;        /* owned [nodes]: the number of each node's host,
                              from 0; [0] is TOPO_NONE */
    uint32_t crossings;    /* links between hosts under different switches */
};

/* Cost: O(hosts log hosts) for each level. Returns 0, OV_EINVAL for numbers
 * out of range, or OV_ENOMEM; out is then empty. */
int topo_shape_init(struct topo_shape *out, const struct topo_shape_ask *ask);
void topo_shape_fini(struct topo_shape *shape);

#endif
