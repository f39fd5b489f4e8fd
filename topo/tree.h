/* The planned tree: who is whose parent.
 *
 * A complete tree of an arity is arithmetic; any other tree is a table of
 * parents. Either way nodes are numbered level by level, those of a level in
 * the order of their parents. So a planned parent has a lower number than its
 * child, and the members of a subtree on one level form one range.
 *
 * With a table O(1) below is O(log nodes) where children are asked for, and
 * O(depth) is O(depth log nodes).
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

/* A range of nodes, both ends included; empty when first > last. */
struct topo_range {
    uint32_t first;
    uint32_t last;
};

/* The tree in which parents[n] is the parent of node n > 0. The table is
 * borrowed as long as the tree is used. O(nodes).
 *
 * Returns 0, or OV_EINVAL when the numbers do not go level by level (a parent
 * that is not below its child, or below that of the child before) or a node
 * has more than TOPO_ARITY_MAX children; *tree is then as it was.
 */
int topo_tree_init(struct topo_tree *tree, const uint32_t *parents,
                   uint32_t nodes);

/* O(1). TOPO_NONE for the root. */
uint32_t topo_tree_parent(const struct topo_tree *tree, uint32_t node);

/* O(1). The planned children, an empty range for a leaf. */
struct topo_range topo_tree_children(const struct topo_tree *tree,
                                     uint32_t node);

/* O(1). The planned children of nodes of one level; empty when there are
 * none. */
struct topo_range topo_tree_below(const struct topo_tree *tree,
                                  struct topo_range range);

/* O(depth). Levels above node; 0 for the root. */
uint32_t topo_tree_depth(const struct topo_tree *tree, uint32_t node);

/* O(depth). Levels of the whole tree below the root. */
uint32_t topo_tree_height(const struct topo_tree *tree);

/* O(depth). Members of the subtree of node, itself included. */
uint32_t topo_tree_size(const struct topo_tree *tree, uint32_t node);

/* O(depth). Is node in the subtree of top (top itself included)? */
bool topo_tree_contains(const struct topo_tree *tree, uint32_t top,
                        uint32_t node);

/* O(depth). Has the subtree of top a member in range? */
bool topo_tree_touches(const struct topo_tree *tree, uint32_t top,
                       struct topo_range range);

#endif
