/* The shape of a tree over a fabric of switches.
 *
 * Hosts under one switch stay together: the tree enters each switch once, by
 * one link, and its other hosts are beneath the host where it was entered. So
 * with S switches only S - 1 links go from one switch to another, which is the
 * least possible. The price is at most one level more than a complete tree of
 * the same arity has, and often none.
 *
 * A launcher that is under none of the switches cannot avoid links into the
 * fabric. These links are not counted, and a switch may be entered by several
 * of them.
 *
 * Nodes of the tree are numbered level by level, hosts in the order of the
 * list; `host` translates the one into the other.
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
    const uint32_t *above; /* [switches] borrowed: for each switch a number
                              below `switches`, equal for switches that are
                              under the same further switch. NULL: all are
                              equal. Switches are entered from such a
                              neighbour where there is room */
    uint32_t launcher;     /* the launcher's switch, or TOPO_NONE */
};

struct topo_shape {
    struct topo_tree tree; /* uses `parents` as its table */
    uint32_t *parents;     /* owned */
    uint32_t *host;        /* owned [nodes]: the number of each node's host,
                              from 0; [0] is TOPO_NONE */
    uint32_t crossings;    /* links between two switches */
};

/* Cost: O(hosts log hosts) for each level. Returns 0, OV_EINVAL for numbers
 * out of range, or OV_ENOMEM; out is then empty. */
int topo_shape_init(struct topo_shape *out, const struct topo_shape_ask *ask);
void topo_shape_fini(struct topo_shape *shape);

#endif
