/* Trees over fabrics of switches: rules for every tree, checked on all small
 * fabrics and on random larger ones. */
#include "topo/shape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/base/err.h"
#include "tests/unit/chance.h"

enum { HOSTS_MAX = 12000, MEDIUM_MAX = 3000, SMALL_MAX = 18 };

/* A fabric, and the counts of a tree over it. */
static uint32_t under[HOSTS_MAX], above[HOSTS_MAX], children[HOSTS_MAX + 1];
static uint32_t entries[HOSTS_MAX];
static bool seen[HOSTS_MAX];

static void print_ask(const struct topo_shape_ask *ask)
{
    printf("hosts %u arity %u switches %u launcher %d:", ask->hosts, ask->arity,
           ask->switches, (int)ask->launcher);
    for (uint32_t h = 0; h < ask->hosts && h < 100; h++)
        printf(" %u", ask->under[h]);
    printf("\n");
}

/* Checks that each host is there once, that no node has more children than the
 * arity, and that numbers go level by level. */
static void check_tree(const struct topo_shape *shape,
                       const struct topo_shape_ask *ask)
{
    struct topo_tree again;

    assert_int_equal(topo_tree_init(&again, shape->parents, ask->hosts + 1), 0);
    assert_true(again.arity <= ask->arity);
    assert_int_equal(shape->tree.nodes, ask->hosts + 1);
    assert_int_equal(shape->host[0], TOPO_NONE);
    memset(children, 0, (ask->hosts + 1) * sizeof(children[0]));
    memset(seen, 0, ask->hosts);
    for (uint32_t n = 1; n <= ask->hosts; n++) {
        assert_true(shape->parents[n] < n);
        assert_true(++children[shape->parents[n]] <= ask->arity);
        assert_true(shape->host[n] < ask->hosts);
        assert_false(seen[shape->host[n]]);
        seen[shape->host[n]] = true;
    }
}

/* Checks that only one link enters a switch; several may only when the launcher
 * is under no switch. */
static void check_crossings(const struct topo_shape *shape,
                            const struct topo_shape_ask *ask)
{
    uint32_t crossings = 0, used = 0;

    memset(entries, 0, ask->switches * sizeof(entries[0]));
    memset(seen, 0, ask->switches);
    for (uint32_t n = 1; n <= ask->hosts; n++) {
        uint32_t own = ask->under[shape->host[n]], p = shape->parents[n];
        uint32_t from = p == 0 ? ask->launcher : ask->under[shape->host[p]];

        used += !seen[own];
        seen[own] = true;
        if (from == own)
            continue;
        entries[own] += p != 0 || ask->launcher != TOPO_NONE;
        crossings += from != TOPO_NONE;
        assert_true(entries[own] <= 1);
    }
    if (ask->launcher != TOPO_NONE)
        used += !seen[ask->launcher];
    assert_int_equal(crossings, shape->crossings);
    assert_true(crossings <= used - 1);
}

/* Checks the tree, and returns how many levels more it has than a complete
 * tree. */
static uint32_t check(const struct topo_shape_ask *ask)
{
    const struct topo_tree plain = {.nodes = ask->hosts + 1,
                                    .arity = ask->arity};
    struct topo_shape shape;
    uint32_t more;

    assert_int_equal(topo_shape_init(&shape, ask), 0);
    check_tree(&shape, ask);
    check_crossings(&shape, ask);
    more = topo_tree_height(&shape.tree) - topo_tree_height(&plain);
    if (more > 1)
        print_ask(ask);
    assert_true(more <= 1);
    topo_shape_fini(&shape);
    return more;
}

/* Tries all ways to put this many hosts under switches, by size, with the
 * launcher outside, under each of them, and under a switch of its own. */
static uint32_t all_asks(uint32_t hosts, uint32_t switches, uint32_t arity)
{
    struct topo_shape_ask ask = {.hosts = hosts,
                                 .arity = arity,
                                 .switches = switches + 1,
                                 .under = under,
                                 .launcher = TOPO_NONE};
    uint32_t more = check(&ask);

    for (uint32_t s = 0; s <= switches; s++) {
        ask.launcher = s;
        more += check(&ask);
    }
    return more;
}

static uint32_t all_parts(uint32_t left, uint32_t most, uint32_t at,
                          uint32_t switches, uint32_t arity)
{
    uint32_t more = 0;

    if (left == 0)
        return all_asks(at, switches, arity);
    for (uint32_t size = left < most ? left : most; size > 0; size--) {
        for (uint32_t i = 0; i < size; i++)
            under[at + i] = switches;
        more += all_parts(left - size, size, at + size, switches + 1, arity);
    }
    return more;
}

static void test_all_small_fabrics_cost_one_level_at_most(void **state)
{
    uint32_t more = 0;

    (void)state;
    for (uint32_t arity = 1; arity <= 5; arity++) {
        for (uint32_t hosts = 1; hosts <= SMALL_MAX; hosts++)
            more += all_parts(hosts, hosts, 0, 0, arity);
    }
    printf("%u trees with one level more\n", more);
}

/* Draws the sizes of a fabric's switches by one rule: all alike, small ones
 * beside large ones, or any. */
static void draw(struct chance *chance, struct topo_shape_ask *ask)
{
    uint32_t law = chance_in(chance, 0, 3), at = 0, s = 0;
    uint32_t most = chance_in(chance, 1, 64);

    ask->hosts = chance_in(chance, 1, chance_is(chance, 20) ? MEDIUM_MAX : 200);
    ask->arity = chance_in(chance, 1, chance_is(chance, 50) ? 4 : 40);
    while (at < ask->hosts) {
        uint32_t size = law == 0   ? most
                        : law == 1 ? chance_in(chance, 1, most)
                        : law == 2 ? (s == 0 ? ask->hosts / 2 + 1 : 1)
                                   : (chance_is(chance, 10) ? most : 2);

        for (; size > 0 && at < ask->hosts; size--)
            under[at++] = s;
        s++;
    }
    ask->switches = s;
    for (uint32_t h = ask->hosts - 1; h > 0 && chance_is(chance, 99); h--) {
        uint32_t other = chance_in(chance, 0, h), swap = under[h];

        under[h] = under[other];
        under[other] = swap;
    }
    for (uint32_t i = 0; i < s; i++)
        above[i] = i / 7;
    ask->above = chance_is(chance, 50) ? above : NULL;
    ask->launcher =
        chance_is(chance, 50) ? TOPO_NONE : chance_in(chance, 0, s - 1);
}

static void test_random_fabrics_are_crossed_as_rarely_as_can_be(void **state)
{
    struct chance chance = chance_start(1);
    uint32_t more = 0, rounds = 5000;

    (void)state;
    for (uint32_t i = 0; i < rounds; i++) {
        struct topo_shape_ask ask = {.under = under};

        draw(&chance, &ask);
        more += check(&ask);
    }
    printf("%u of %u with one level more\n", more, rounds);
}

/* Thousands of hosts are under switches of the usual sizes and of any size,
 * some of which have few hosts left, as in an allocation. */
static void test_large_fabrics_are_crossed_as_rarely_as_can_be(void **state)
{
    struct chance chance = chance_start(2);
    uint32_t more = 0, rounds = 60;

    (void)state;
    for (uint32_t i = 0; i < rounds; i++) {
        struct topo_shape_ask ask = {
            .hosts = chance_in(&chance, MEDIUM_MAX, HOSTS_MAX),
            .arity = chance_in(&chance, 2, chance_is(&chance, 50) ? 16 : 256),
            .under = under,
            .launcher = TOPO_NONE};
        uint32_t usual = 16u << chance_in(&chance, 0, 4), at = 0;
        bool is_uneven = chance_is(&chance, 50);

        for (; at < ask.hosts; ask.switches++) {
            uint32_t size = is_uneven ? chance_in(&chance, 1, 2 * usual)
                            : chance_is(&chance, 5)
                                ? chance_in(&chance, 1, usual)
                                : usual;

            for (; size > 0 && at < ask.hosts; size--)
                under[at++] = ask.switches;
        }
        if (chance_is(&chance, 50))
            ask.launcher = chance_in(&chance, 0, ask.switches - 1);
        more += check(&ask);
    }
    printf("%u of %u with one level more\n", more, rounds);
}

/* Without switches between the hosts, levels are as full as those of a complete
 * tree. */
static void test_one_switch_makes_the_depth_of_a_complete_tree(void **state)
{
    (void)state;
    memset(under, 0, sizeof(under));
    for (uint32_t arity = 1; arity < 20; arity++) {
        for (uint32_t hosts = 1; hosts < 300; hosts++) {
            struct topo_shape_ask ask = {.hosts = hosts,
                                         .arity = arity,
                                         .switches = 1,
                                         .under = under,
                                         .launcher = TOPO_NONE};

            assert_int_equal(check(&ask), 0);
            ask.launcher = 0;
            assert_int_equal(check(&ask), 0);
        }
    }
}

static void test_wrong_numbers_are_refused(void **state)
{
    const uint32_t two[] = {0, 1, 2};
    struct topo_shape shape;
    struct topo_shape_ask good = {.hosts = 3,
                                  .arity = 2,
                                  .switches = 3,
                                  .under = two,
                                  .launcher = TOPO_NONE};
    struct topo_shape_ask ask = good;

    (void)state;
    ask.switches = 2;
    assert_int_equal(topo_shape_init(&shape, &ask), OV_EINVAL);
    assert_null(shape.parents);
    ask = good;
    ask.launcher = 3;
    assert_int_equal(topo_shape_init(&shape, &ask), OV_EINVAL);
    ask = good;
    ask.hosts = 0;
    assert_int_equal(topo_shape_init(&shape, &ask), OV_EINVAL);
    ask = good;
    ask.arity = 0;
    assert_int_equal(topo_shape_init(&shape, &ask), OV_EINVAL);
    ask.arity = TOPO_ARITY_MAX + 1;
    assert_int_equal(topo_shape_init(&shape, &ask), OV_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_small_fabrics_cost_one_level_at_most),
        cmocka_unit_test(test_random_fabrics_are_crossed_as_rarely_as_can_be),
        cmocka_unit_test(test_large_fabrics_are_crossed_as_rarely_as_can_be),
        cmocka_unit_test(test_one_switch_makes_the_depth_of_a_complete_tree),
        cmocka_unit_test(test_wrong_numbers_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
