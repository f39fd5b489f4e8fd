/* Subtrees that look alike, so that a large tree can be drawn in few lines. */
#ifndef COMMANDS_TREE_FOLD_H
#define COMMANDS_TREE_FOLD_H

#include <stdint.h>

#include "endpoints/run/layout.h"

/* Of each node a number: two nodes with the same one have subtrees of the same
 * shape, crossing switches at the same places, the links to their parents
 * included. */
struct tree_fold {
    uint32_t *kind; /* owned [nodes] */
    uint32_t kinds;
};

/* Does the link of node > 0 to its parent go from one switch to another? */
bool tree_crosses(const struct ep_layout *layout, uint32_t node);

/* 0, or -1 when memory is out. O(nodes log nodes). */
int tree_fold_init(struct tree_fold *fold, const struct ep_layout *layout);
void tree_fold_fini(struct tree_fold *fold);

#endif
