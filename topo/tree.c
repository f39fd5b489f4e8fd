/* Trees as arithmetic or as a table. Everything else asks the functions here
 * for parents and for the level below. */
#include "topo/tree.h"

#include <stddef.h>

#include "overlay/base/err.h"

int topo_tree_init(struct topo_tree *tree, const uint32_t *parents,
                   uint32_t nodes)
{
    uint32_t most = 1, children = 0;

    if (nodes < 1)
        return OV_EINVAL;
    /* It is enough to check that the numbers of parents never decrease: then
     * all nodes of a level come before those of the next level, and the
     * children of a node are next to each other. */
    for (uint32_t node = 1; node < nodes; node++) {
        uint32_t before = node == 1 ? 0 : parents[node - 1];

        if (parents[node] >= node || parents[node] < before)
            return OV_EINVAL;
        children = parents[node] == before ? children + 1 : 1;
        most = children > most ? children : most;
    }
    if (most > TOPO_ARITY_MAX)
        return OV_EINVAL;
    *tree = (struct topo_tree){nodes, most, parents};
    return 0;
}

uint32_t topo_tree_parent(const struct topo_tree *tree, uint32_t node)
{
    if (node == 0)
        return TOPO_NONE;
    return tree->parents != NULL ? tree->parents[node]
                                 : (node - 1) / tree->arity;
}

/* The first node whose parent has this number or a higher one, found by
 * bisection; `nodes` when there is no such node. */
static uint32_t first_below(const struct topo_tree *tree, uint32_t parent)
{
    uint32_t low = 1, high = tree->nodes;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (tree->parents[middle] < parent)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct topo_range topo_tree_below(const struct topo_tree *tree,
                                  struct topo_range range)
{
    uint64_t first, last;

    if (range.last >= tree->nodes)
        range.last = tree->nodes - 1;
    if (range.first > range.last)
        return (struct topo_range){1, 0};
    if (tree->parents != NULL) {
        first = first_below(tree, range.first);
        last = first_below(tree, range.last + 1) - UINT64_C(1);
    } else {
        first = (uint64_t)range.first * tree->arity + 1;
        last = ((uint64_t)range.last + 1) * tree->arity;
    }
    if (first >= tree->nodes || first > last)
        return (struct topo_range){1, 0};
    if (last >= tree->nodes)
        last = tree->nodes - 1;
    return (struct topo_range){(uint32_t)first, (uint32_t)last};
}

struct topo_range topo_tree_children(const struct topo_tree *tree,
                                     uint32_t node)
{
    return topo_tree_below(tree, (struct topo_range){node, node});
}

uint32_t topo_tree_depth(const struct topo_tree *tree, uint32_t node)
{
    uint32_t depth = 0;

    for (; node != 0; node = topo_tree_parent(tree, node))
        depth++;
    return depth;
}

uint32_t topo_tree_height(const struct topo_tree *tree)
{
    return topo_tree_depth(tree, tree->nodes - 1);
}

uint32_t topo_tree_size(const struct topo_tree *tree, uint32_t node)
{
    struct topo_range level = {node, node};
    uint32_t size = 0;

    while (level.first <= level.last) {
        size += level.last - level.first + 1;
        level = topo_tree_below(tree, level);
    }
    return size;
}

bool topo_tree_contains(const struct topo_tree *tree, uint32_t top,
                        uint32_t node)
{
    while (node > top)
        node = topo_tree_parent(tree, node);
    return node == top;
}

bool topo_tree_touches(const struct topo_tree *tree, uint32_t top,
                       struct topo_range range)
{
    struct topo_range level = {top, top};

    while (level.first <= level.last) {
        if (level.first <= range.last && range.first <= level.last &&
            range.first <= range.last)
            return true;
        level = topo_tree_below(tree, level);
    }
    return false;
}
