/* The start-up text of a tree that is not a complete one. */
#include "endpoints/boot/boot.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/base/err.h"
#include "tests/unit/chance.h"

#define KEY "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

enum { NODES_MAX = 400 };

static struct ep_boot_config taken;

static void on_go(void *arg, struct ep_boot_config *config)
{
    (void)arg;
    taken = *config;
    memset(config, 0, sizeof(*config));
}

static void on_peer(void *arg, const struct ep_boot_peer *peer)
{
    (void)arg;
    (void)peer;
}

static const struct ep_boot_down_events events = {.on_go = on_go,
                                                  .on_peer = on_peer};

/* A table is read back complete, and is passed on to the daemons beneath. */
static void a_table_travels_as_counts_of_children(void **state)
{
    static const uint32_t parents[] = {TOPO_NONE, 0, 0, 0, 1, 1, 3, 3, 3, 6};
    struct ep_boot_config config, child;
    struct text_buf text = {0};
    struct ep_boot_reader rd;
    struct topo_tree tree;
    char why[EP_BOOT_WHY_MAX];

    (void)state;
    assert_int_equal(topo_tree_init(&tree, parents, 10), 0);
    config = (struct ep_boot_config){.launcher = EP_LAUNCHER_LOCAL};
    assert_int_equal(ep_auth_init(&config.auth, 1, KEY), 0);
    assert_int_equal(ep_boot_set_tree(&config, &tree), 0);
    assert_int_equal(ep_boot_config_child(&config, 3, &child), 0);
    assert_int_equal(ep_boot_encode(&child, &text, why), 0);
    assert_non_null(strstr(text.at, "tree 10 3\n"
                                    "children 3 1\n"
                                    "children 2 1\n"
                                    "children 0 1\n"
                                    "children 3 1\n"
                                    "children 0 2\n"
                                    "children 1 1\n"
                                    "launcher"));
    ep_boot_reader_init(&rd, &events, NULL, "xylemd");
    assert_int_equal(ep_boot_reader_feed(&rd, text.at, text.len_bytes), 0);
    assert_int_equal(taken.tree.nodes, 10);
    assert_int_equal(taken.tree.arity, 3);
    for (uint32_t node = 1; node < 10; node++)
        assert_int_equal(topo_tree_parent(&taken.tree, node), parents[node]);
    ep_boot_reader_fini(&rd);
    text_buf_fini(&text);
    ep_boot_config_fini(&taken);
    ep_boot_config_fini(&child);
    ep_boot_config_fini(&config);
}

/* Draws the number of children of one node after the other; many nodes have
 * none. */
static uint32_t draw(struct chance *chance, uint32_t *parents)
{
    uint32_t nodes = 1;

    for (uint32_t node = 0; node < nodes && nodes < NODES_MAX; node++) {
        uint32_t kids = chance_is(chance, 40) ? 0 : chance_in(chance, 0, 9);

        for (; kids > 0 && nodes < NODES_MAX; kids--)
            parents[nodes++] = node;
    }
    return nodes;
}

static void random_tables_survive_the_way(void **state)
{
    struct chance chance = chance_start(1);

    (void)state;
    for (unsigned i = 0; i < 300; i++) {
        uint32_t parents[NODES_MAX] = {TOPO_NONE};
        uint32_t nodes = draw(&chance, parents);
        struct ep_boot_config config = {.launcher = EP_LAUNCHER_LOCAL};
        struct ep_boot_reader rd;
        struct text_buf text = {0};
        struct topo_tree tree;
        char why[EP_BOOT_WHY_MAX];

        if (nodes < 2)
            continue;
        assert_int_equal(topo_tree_init(&tree, parents, nodes), 0);
        assert_int_equal(ep_auth_init(&config.auth, 1, KEY), 0);
        assert_int_equal(ep_boot_set_tree(&config, &tree), 0);
        assert_int_equal(ep_boot_add_hosted(&config, (struct topo_range){1, 1}),
                         0);
        assert_int_equal(ep_boot_encode(&config, &text, why), 0);
        ep_boot_reader_init(&rd, &events, NULL, "xylemd");
        assert_int_equal(ep_boot_reader_feed(&rd, text.at, text.len_bytes), 0);
        assert_int_equal(taken.tree.nodes, nodes);
        assert_int_equal(taken.tree.arity, tree.arity);
        assert_memory_equal(taken.tree.parents + 1, parents + 1,
                            (nodes - 1) * sizeof(parents[0]));
        ep_boot_reader_fini(&rd);
        ep_boot_config_fini(&taken);
        text_buf_fini(&text);
        ep_boot_config_fini(&config);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_travels_as_counts_of_children),
        cmocka_unit_test(random_tables_survive_the_way),
    };

    return cmocka_run_group_tests_name("boot tree", tests, NULL, NULL);
}
