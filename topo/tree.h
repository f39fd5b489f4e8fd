/* The planned tree: who is whose parent.
 *
 * A complete tree is computed from its arity; any other tree is a table of
 * parents. Either way nodes are numbered level by level, and within a level in
 * the order of their parents. So a planned parent has a lower number than its
 * child, and the members of a subtree on one level form one range.
 *
 * The costs below are for a complete tree. With a table, functions that look
 * for children cost O(log nodes) instead of O(1), and O(depth log nodes)
 * instead of O(depth).
 */
#ifndef TOPO_TREE_H
#define TOPO_TREE_H

#include <stdbool.h>
#include <stdint.h>

#define TOPO_NONE UINT32_MAX

enum { TOPO_ARITY_MAX = 1024 };

struct topo_tree {
    uint32_t nodes;          /* at least 1; node 0 is the root */
    uint32_t arity;          /* most children of a node; 1 to TOPO_ARITY_MAX */
    const uint32_t *parents; /* borrowed; [0] is not read. NULL: complete */
};

/* A range of nodes, `first` and `last` included; empty when first > last. */
struct topo_range {
    uint32_t first;
    uint32_t last;
};

/* The tree in which parents[n] is the parent of node n > 0. The table is
 * borrowed for as long as the tree is used. O(nodes).
 *
 * Returns 0, or OV_EINVAL when the numbers do not go level by level (a parent's
 * number is not less than its child's, or is less than that of the previous
 * node's parent) or a node has more than TOPO_ARITY_MAX children; *tree is then
 * as before.
 */
int topo_tree_init(struct topo_tree *tree, const uint32_t *parents,
                   uint32_t nodes);

/* O(1). TOPO_NONE for the root. */
uint32_t topo_tree_parent(const struct topo_tree *tree, uint32_t node);

/* O(1). The planned children, an empty range for a leaf. */
struct topo_range topo_tree_children(const struct topo_tree *tree,
                                     uint32_t node);

/* O(1). All planned children of a range of nodes on one level; empty when there
 * are none. */
struct topo_range topo_tree_below(const struct topo_tree *tree,
                                  struct topo_range range);

/* O(depth). The number of levels above node; 0 for the root. */
uint32_t topo_tree_depth(const struct topo_tree *tree, uint32_t node);

/* O(depth). The number of levels below the root. */
uint32_t topo_tree_height(const struct topo_tree *tree);

/* O(depth). The number of nodes in the subtree of node, itself included. */
uint32_t topo_tree_size(const struct topo_tree *tree, uint32_t node);

/* O(depth). True when node is in the subtree of top, top itself included. */
bool topo_tree_contains(const struct topo_tree *tree, uint32_t top,
                        uint32_t node);

/* O(depth). True when the subtree of top has a member in range. */
bool topo_tree_touches(const struct topo_tree *tree, uint32_t top,
                       struct topo_range range);

#endif
