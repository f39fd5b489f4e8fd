/* Trees, by arithmetic and by table, compared with trees built from arrays. */
#include "topo/tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/base/err.h"
#include "tests/unit/chance.h"

enum { ORACLE_NODES_MAX = 150, NODES_HUGE = 1000000 };

/* Builds the same tree step by step, for comparison. */
struct oracle {
    uint32_t nodes;
    uint32_t parent[ORACLE_NODES_MAX];
    uint32_t children[ORACLE_NODES_MAX];
    uint32_t first_child[ORACLE_NODES_MAX];
    bool above[ORACLE_NODES_MAX][ORACLE_NODES_MAX]; /* [top][node] */
};

static void oracle_begin(struct oracle *o, uint32_t nodes)
{
    memset(o, 0, sizeof(*o));
    o->nodes = nodes;
    o->parent[0] = TOPO_NONE;
    o->above[0][0] = true;
}

static void oracle_add(struct oracle *o, uint32_t node, uint32_t parent)
{
    if (o->children[parent]++ == 0)
        o->first_child[parent] = node;
    o->parent[node] = parent;
    for (uint32_t top = 0; top < node; top++)
        o->above[top][node] = o->above[top][parent];
    o->above[node][node] = true;
}

/* Builds a complete tree: nodes are dealt out in order, each to the first node
 * that has room for one more child. */
static void oracle_build(struct oracle *o, uint32_t nodes, uint32_t arity)
{
    uint32_t open = 0;

    oracle_begin(o, nodes);
    for (uint32_t node = 1; node < nodes; node++) {
        if (o->children[open] == arity)
            open++;
        oracle_add(o, node, open);
    }
}

/* Compares the simple tree with the arithmetic for one node. */
static void check_node(const struct oracle *o, const struct topo_tree *tree,
                       uint32_t node)
{
    struct topo_range kids = topo_tree_children(tree, node);
    uint32_t depth = 0;
    uint32_t size = 0;

    assert_int_equal(topo_tree_parent(tree, node), o->parent[node]);
    if (o->children[node] == 0) {
        assert_true(kids.first > kids.last);
    } else {
        assert_int_equal(kids.first, o->first_child[node]);
        assert_int_equal(kids.last - kids.first + 1, o->children[node]);
    }
    for (uint32_t up = node; up != 0; up = o->parent[up])
        depth++;
    assert_int_equal(topo_tree_depth(tree, node), depth);
    for (uint32_t other = 0; other < o->nodes; other++) {
        size += o->above[node][other];
        assert_int_equal(topo_tree_contains(tree, node, other),
                         o->above[node][other]);
    }
    assert_int_equal(topo_tree_size(tree, node), size);
}

static void check_touches(const struct oracle *o, const struct topo_tree *tree,
                          uint32_t top)
{
    for (uint32_t first = 0; first <= o->nodes; first++) {
        bool seen = false;

        /* An empty range contains no node. */
        if (first > 0)
            assert_false(topo_tree_touches(
                tree, top, (struct topo_range){first, first - 1}));
        /* Ranges may end beyond the last node. */
        for (uint32_t last = first; last <= o->nodes + 1; last++) {
            if (last < o->nodes)
                seen = seen || o->above[top][last];
            assert_int_equal(
                topo_tree_touches(tree, top, (struct topo_range){first, last}),
                seen);
        }
    }
}

/* Compares every function for every argument. */
static void check_tree(const struct oracle *o, const struct topo_tree *tree)
{
    uint32_t height = 0;

    for (uint32_t node = 0; node < o->nodes; node++) {
        uint32_t depth = topo_tree_depth(tree, node);

        check_node(o, tree, node);
        if (o->nodes < 48)
            check_touches(o, tree, node);
        height = depth > height ? depth : height;
    }
    assert_int_equal(topo_tree_height(tree), height);
}

/* All trees that are small enough for brute force; among them chains, stars,
 * full levels, and levels that lack one node or have one more. */
static void arithmetic_equals_a_built_tree(void **state)
{
    static const uint32_t arities[] = {1, 2, 3, 4, 5, 7, 16, 64, 1024};
    struct oracle *o = malloc(sizeof(*o));

    (void)state;
    assert_non_null(o);
    for (size_t i = 0; i < sizeof(arities) / sizeof(arities[0]); i++) {
        for (uint32_t nodes = 1; nodes <= ORACLE_NODES_MAX;
             nodes += nodes < 48 ? 1 : 17) {
            struct topo_tree tree = {.nodes = nodes, .arity = arities[i]};
            struct topo_tree table;

            oracle_build(o, nodes, arities[i]);
            check_tree(o, &tree);
            assert_int_equal(topo_tree_init(&table, o->parent, nodes), 0);
            check_tree(o, &table);
        }
    }
    free(o);
}

/* Numbers any tree level by level, each level in the order of its parents: the
 * rule by which a tree gets its table. */
static void number(const uint32_t *parents, uint32_t nodes, struct oracle *o)
{
    uint32_t order[ORACLE_NODES_MAX] = {0};
    uint32_t end = 1;

    oracle_begin(o, nodes);
    for (uint32_t at = 0; at < nodes; at++) {
        assert_true(at < end);
        for (uint32_t node = 1; node < nodes; node++) {
            if (parents[node] != order[at])
                continue;
            oracle_add(o, end, at);
            order[end++] = node;
        }
    }
}

/* Trees of every kind between a chain and a star, numbered level by level. */
static void a_table_equals_a_built_tree(void **state)
{
    struct chance chance = chance_start(1);
    struct oracle *o = malloc(sizeof(*o));

    (void)state;
    assert_non_null(o);
    for (unsigned round = 0; round < 300; round++) {
        uint32_t nodes = chance_in(&chance, 1, round % 10 == 0 ? 150 : 40);
        uint32_t reach = chance_in(&chance, 1, nodes);
        uint32_t parents[ORACLE_NODES_MAX] = {0};
        struct topo_tree tree;
        uint32_t most = 1;

        for (uint32_t node = 1; node < nodes; node++)
            parents[node] =
                chance_in(&chance, node > reach ? node - reach : 0, node - 1);
        number(parents, nodes, o);
        assert_int_equal(topo_tree_init(&tree, o->parent, nodes), 0);
        check_tree(o, &tree);
        for (uint32_t node = 0; node < nodes; node++)
            most = o->children[node] > most ? o->children[node] : most;
        assert_int_equal(tree.arity, most);
    }
    free(o);
}

static void a_table_out_of_order_is_refused(void **state)
{
    static const uint32_t own[] = {0, 0, 2}, later[] = {0, 0, 3, 0},
                          falls[] = {0, 0, 1, 0}, root[] = {0, 1};
    struct topo_tree tree = {.nodes = 7, .arity = 2};
    uint32_t *wide = calloc(TOPO_ARITY_MAX + 2, sizeof(*wide));

    (void)state;
    assert_non_null(wide);
    assert_int_equal(topo_tree_init(&tree, own, 3), OV_EINVAL);
    assert_int_equal(topo_tree_init(&tree, later, 4), OV_EINVAL);
    assert_int_equal(topo_tree_init(&tree, falls, 4), OV_EINVAL);
    assert_int_equal(topo_tree_init(&tree, root, 2), OV_EINVAL);
    assert_int_equal(topo_tree_init(&tree, root, 0), OV_EINVAL);
    assert_int_equal(topo_tree_init(&tree, wide, TOPO_ARITY_MAX + 2),
                     OV_EINVAL);
    assert_int_equal(tree.nodes, 7);
    assert_null(tree.parents);
    assert_int_equal(topo_tree_init(&tree, wide, TOPO_ARITY_MAX + 1), 0);
    assert_int_equal(tree.arity, TOPO_ARITY_MAX);
    free(wide);
}

/* Checks rules that hold for each node of a large tree, whatever its
 * neighbours. */
static void check_consistent(const struct topo_tree *tree, uint32_t node)
{
    struct topo_range kids = topo_tree_children(tree, node);
    uint32_t parent = topo_tree_parent(tree, node);
    uint64_t size = 1;

    if (kids.first <= kids.last) {
        assert_true(kids.first > node && kids.last < tree->nodes);
        assert_true(kids.last - kids.first < tree->arity);
        assert_int_equal(topo_tree_parent(tree, kids.first), node);
        assert_int_equal(topo_tree_parent(tree, kids.last), node);
        for (uint32_t kid = kids.first; kid <= kids.last; kid++)
            size += topo_tree_size(tree, kid);
    }
    assert_int_equal(topo_tree_size(tree, node), size);
    if (node > 0) {
        struct topo_range siblings = topo_tree_children(tree, parent);

        assert_true(siblings.first <= node && node <= siblings.last);
        assert_int_equal(topo_tree_depth(tree, node),
                         topo_tree_depth(tree, parent) + 1);
    }
    assert_true(topo_tree_contains(tree, 0, node));
    assert_true(topo_tree_touches(tree, node, (struct topo_range){node, node}));
}

static void a_million_nodes_agree_with_each_other(void **state)
{
    static const uint32_t arities[] = {2, 16, 33, 1024};

    (void)state;
    for (size_t i = 0; i < sizeof(arities) / sizeof(arities[0]); i++) {
        struct topo_tree tree = {.nodes = NODES_HUGE, .arity = arities[i]};
        uint64_t total = 0;

        for (uint32_t node = 0; node < tree.nodes; node += 1 + node / 64)
            check_consistent(&tree, node);
        check_consistent(&tree, tree.nodes - 1);
        for (uint32_t node = 0; node < tree.nodes; node++) {
            struct topo_range kids = topo_tree_children(&tree, node);

            total += (uint64_t)kids.last + 1 - kids.first;
        }
        /* Every node but the root is the child of one node. */
        assert_int_equal(total, NODES_HUGE - 1);
    }
}

/* The products of node and arity exceed 32 bits here. */
static void four_billion_nodes_do_not_overflow(void **state)
{
    static const uint32_t arities[] = {2, 3, 16, 1023, 1024};

    (void)state;
    for (size_t i = 0; i < sizeof(arities) / sizeof(arities[0]); i++) {
        struct topo_tree tree = {.nodes = TOPO_NONE, .arity = arities[i]};
        uint32_t last = tree.nodes - 1;
        uint32_t inner = topo_tree_parent(&tree, last);

        check_consistent(&tree, 0);
        check_consistent(&tree, inner);
        check_consistent(&tree, inner + 1);
        check_consistent(&tree, last / 2);
        check_consistent(&tree, last);
        assert_int_equal(topo_tree_size(&tree, 0), tree.nodes);
        assert_int_equal(topo_tree_children(&tree, inner).last, last);
        assert_true(topo_tree_children(&tree, inner + 1).first >
                    topo_tree_children(&tree, inner + 1).last);
        assert_true(topo_tree_touches(&tree, inner,
                                      (struct topo_range){last, TOPO_NONE}));
        assert_false(topo_tree_touches(&tree, inner + 1,
                                       (struct topo_range){last, last}));
    }
    /* A chain: only functions that cost O(1) are called. */
    struct topo_tree chain = {.nodes = TOPO_NONE, .arity = 1};
    struct topo_range kids = topo_tree_children(&chain, chain.nodes - 2);

    assert_int_equal(kids.first, chain.nodes - 1);
    assert_int_equal(kids.last, chain.nodes - 1);
    kids = topo_tree_children(&chain, chain.nodes - 1);
    assert_true(kids.first > kids.last);
    assert_int_equal(topo_tree_parent(&chain, chain.nodes - 1),
                     chain.nodes - 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_equals_a_built_tree),
        cmocka_unit_test(a_table_equals_a_built_tree),
        cmocka_unit_test(a_table_out_of_order_is_refused),
        cmocka_unit_test(a_million_nodes_agree_with_each_other),
        cmocka_unit_test(four_billion_nodes_do_not_overflow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
