/* The shape of a tree over a fabric of switches.
 *
 * Hosts under one switch stay together: the tree enters each switch once, by
 * one link, and all others of its hosts hang beneath the one where it was
 * entered. So of S switches at most S - 1 links cross from one to another,
 * and none can do with less. The price is one level more than a complete tree
 * of the same arity has, at most; often none.
 *
 * A launcher that is under none of the switches has links into the fabric
 * whatever is done. They are not counted, and it may enter a switch by
 * several.
 *
 * Nodes of the tree are numbered level by level, hosts as the list has them:
 * `host` leads from one to the other.
 */
#ifndef TOPO_SHAPE_H
#define TOPO_SHAPE_H

#include <stdint.h>

#include "topo/tree.h"

struct topo_shape_ask {
    uint32_t hosts;        /* at least 1 */
    uint32_t arity;        /* 1 to TOPO_ARITY_MAX */
    uint32_t switches;     /* at least 1 */
    const uint32_t *under; /* [hosts] borrowed: of each host its switch */
    const uint32_t *above; /* [switches] borrowed: of each switch a number
                              below `switches` that is the same for those
                              under one further switch. NULL: all the same.
                              Switches are entered from such a neighbour
                              where there is room */
    uint32_t launcher;     /* its switch, or TOPO_NONE */
};

struct topo_shape {
    struct topo_tree tree; /* its table is `parents` */
    uint32_t *parents;     /* owned */
    uint32_t *host;        /* owned [nodes]: of a node the number of its host
                              from 0; [0] is TOPO_NONE */
    uint32_t crossings;    /* links between two switches */
};

/* Cost: O(hosts log hosts) for each level. Returns 0, OV_EINVAL for numbers
 * out of range, or OV_ENOMEM; out is then empty. */
int topo_shape_init(struct topo_shape *out, const struct topo_shape_ask *ask);
void topo_shape_fini(struct topo_shape *shape);

#endif
