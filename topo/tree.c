/* Arithmetic of the complete k-ary tree in level order. */
#include "topo/tree.h"

#include <stddef.h>

uint32_t topo_tree_parent(const struct topo_tree *tree, uint32_t node)
{
    return node == 0 ? TOPO_NONE : (node - 1) / tree->arity;
}

struct topo_range topo_tree_below(const struct topo_tree *tree,
                                  struct topo_range range)
{
    uint64_t first = (uint64_t)range.first * tree->arity + 1;
    uint64_t last = ((uint64_t)range.last + 1) * tree->arity;

    if (range.first > range.last || first >= tree->nodes)
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

uint32_t topo_tree_towards(const struct topo_tree *tree, uint32_t top,
                           uint32_t node)
{
    while (node > top) {
        uint32_t parent = topo_tree_parent(tree, node);

        if (parent == top)
            return node;
        node = parent;
    }
    return TOPO_NONE;
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
