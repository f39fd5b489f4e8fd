/* Subtrees that look alike: kinds are given out level by level from below, by
 * what the children of a node are. */
#include "commands/tree_fold.h"

#include <stdlib.h>
#include <string.h>

/* A node of the level in hand and what it looks like: its link, then the kinds
 * of its children, sorted. */
struct look {
    uint32_t node;
    uint32_t count;
    uint32_t *kinds; /* [count] borrowed: sorted kinds of its children */
    bool crosses;
};

bool tree_crosses(const struct ep_layout *layout, uint32_t node)
{
    uint32_t parent = topo_tree_parent(ep_layout_tree(layout), node);
    uint32_t own = ep_layout_switch(layout, node);
    uint32_t above = ep_layout_switch(layout, parent);

    return own != TOPO_NONE && above != TOPO_NONE && own != above;
}

static int compare_numbers(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static int compare_looks(const void *a, const void *b)
{
    const struct look *x = a, *y = b;

    if (x->crosses != y->crosses)
        return x->crosses ? 1 : -1;
    if (x->count != y->count)
        return x->count > y->count ? 1 : -1;
    for (uint32_t i = 0; i < x->count; i++) {
        if (x->kinds[i] != y->kinds[i])
            return x->kinds[i] > y->kinds[i] ? 1 : -1;
    }
    return 0;
}

/* The kinds of the nodes of a level; those of their children are known.
 * `sorted` has room for all nodes. */
static void fold_level(struct tree_fold *fold, const struct ep_layout *layout,
                       struct topo_range level, struct look *looks,
                       uint32_t *sorted)
{
    const struct topo_tree *tree = ep_layout_tree(layout);
    uint32_t count = level.last - level.first + 1;

    for (uint32_t i = 0; i < count; i++) {
        struct topo_range kids = topo_tree_children(tree, level.first + i);
        struct look *look = &looks[i];

        *look = (struct look){.node = level.first + i};
        look->crosses = look->node > 0 && tree_crosses(layout, look->node);
        if (kids.first > kids.last)
            continue;
        look->count = kids.last - kids.first + 1;
        look->kinds = &sorted[kids.first];
        memcpy(look->kinds, &fold->kind[kids.first],
               look->count * sizeof(*sorted));
        qsort(look->kinds, look->count, sizeof(*sorted), compare_numbers);
    }
    qsort(looks, count, sizeof(*looks), compare_looks);
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || compare_looks(&looks[i - 1], &looks[i]) != 0)
            fold->kinds++;
        fold->kind[looks[i].node] = fold->kinds - 1;
    }
}

int tree_fold_init(struct tree_fold *fold, const struct ep_layout *layout)
{
    const struct topo_tree *tree = ep_layout_tree(layout);
    struct look *looks = calloc(tree->nodes, sizeof(*looks));
    uint32_t *sorted = calloc(tree->nodes, sizeof(*sorted));
    uint32_t depth = topo_tree_height(tree);
    int rc = -1;

    *fold = (struct tree_fold){0};
    fold->kind = calloc(tree->nodes, sizeof(*fold->kind));
    for (uint32_t up = 0;
         looks != NULL && sorted != NULL && fold->kind != NULL && up <= depth;
         up++) {
        struct topo_range level = {0, 0};

        for (uint32_t i = up; i < depth; i++)
            level = topo_tree_below(tree, level);
        fold_level(fold, layout, level, looks, sorted);
        rc = 0;
    }
    free(looks);
    free(sorted);
    if (rc != 0)
        tree_fold_fini(fold);
    return rc;
}

void tree_fold_fini(struct tree_fold *fold)
{
    free(fold->kind);
    *fold = (struct tree_fold){0};
}
