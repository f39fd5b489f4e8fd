/* Order and groups of hosts, guessed from their names and addresses, and trees
 * that keep neighbours together. */
#include "topo/guess.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/chance.h"
#include "topo/shape.h"
#include "topo/spread.h"

enum { HOSTS_MAX = 4000, TEXT_MAX = 4096 };

static struct topo_hosts hosts;
static struct topo_guess guess;

static void open_guess(const char *list, const char *launcher,
                       const char *addresses)
{
    char why[TOPO_WHY_MAX] = "";

    if (topo_hosts_parse(&hosts, list, why) != 0)
        fail_msg("%s: %s", list, why);
    assert_int_equal(
        topo_guess_init(&guess, &hosts, hosts.count, launcher, addresses), 0);
}

static void close_guess(void)
{
    topo_guess_fini(&guess);
    topo_hosts_fini(&hosts);
}

/* Returns the hosts in their order, each with its group if it has one. */
static const char *say(void)
{
    static char text[TEXT_MAX];
    size_t at = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < hosts.count; i++) {
        const char *name = topo_hosts_name(&hosts, guess.order[i]);
        uint32_t s = guess.by != TOPO_GUESS_ORDER
                         ? topo_fabric_leaf(&guess.fabric, name)
                         : TOPO_NONE;

        at += (size_t)snprintf(
            text + at, sizeof(text) - at, "%s%s%s%s", i > 0 ? " " : "", name,
            s != TOPO_NONE ? ":" : "",
            s != TOPO_NONE ? topo_hosts_name(&guess.fabric.switches, s) : "");
    }
    return text;
}

static void check_guess(const char *list, enum topo_guess_by by,
                        const char *want)
{
    open_guess(list, "login", NULL);
    assert_string_equal(say(), want);
    assert_int_equal(guess.by, by);
    close_guess();
}

static void test_names_have_a_natural_order(void **state)
{
    static const char *const ascending[] = {
        "a",       "a1",       "a01",       "a2",       "a10",       "a10-b2",
        "a10-b10", "rack1-n2", "rack1-n10", "rack2-n1", "rack10-n1", "rack10a",
    };
    size_t count = sizeof(ascending) / sizeof(ascending[0]);

    (void)state;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            int sign = topo_guess_compare(ascending[i], ascending[j]);

            if (i == 1 && j == 2) /* both texts are the same number, written in
                                   * different ways */
                assert_true(sign != 0);
            else if (i != 2 || j != 1)
                assert_int_equal((sign > 0) - (sign < 0), (i > j) - (i < j));
        }
    }
}

static void test_numbers_tell_the_order_where_there_is_one_group(void **state)
{
    (void)state;
    check_guess("n10,n2,n1", TOPO_GUESS_ORDER, "n1 n2 n10");
    check_guess("b,a", TOPO_GUESS_ORDER, "a b");
    check_guess("one", TOPO_GUESS_ORDER, "one");
    check_guess("a1,b1,c1", TOPO_GUESS_ORDER, "a1 b1 c1");
    check_guess("n2.x.org,n1.x.org", TOPO_GUESS_ORDER, "n1.x.org n2.x.org");
    check_guess("n2-ib0,n1-ib0,n10-ib0", TOPO_GUESS_ORDER,
                "n1-ib0 n2-ib0 n10-ib0");
}

static void test_all_but_the_last_number_is_a_group(void **state)
{
    (void)state;
    check_guess("rack2-n1,rack1-n10,rack1-n2", TOPO_GUESS_NAMES,
                "rack1-n2:rack1 rack1-n10:rack1 rack2-n1:rack2");
    check_guess("gpu1,cpu[1-2]", TOPO_GUESS_NAMES,
                "cpu1:cpu cpu2:cpu gpu1:gpu");
    check_guess("r[1-2]n[1-2]-ib0", TOPO_GUESS_NAMES,
                "r1n1-ib0:r1 r1n2-ib0:r1 r2n1-ib0:r2 r2n2-ib0:r2");
    check_guess("n[1-2].rack7.site,n3.rack8.site", TOPO_GUESS_NAMES,
                "n1.rack7.site:site.rack7 n2.rack7.site:site.rack7 "
                "n3.rack8.site:site.rack8");
    check_guess("10.1.1.[1-2],10.1.0.10,10.1.0.9", TOPO_GUESS_NAMES,
                "10.1.0.9:10.1.0 10.1.0.10:10.1.0 10.1.1.1:10.1.1 "
                "10.1.1.2:10.1.1");
    check_guess("me@r1n[1-2],r2n1", TOPO_GUESS_NAMES,
                "me@r1n1:r1 me@r1n2:r1 r2n1:r2");
    check_guess("n[1-2],login,k1", TOPO_GUESS_NAMES, "k1:k login n1:n n2:n");
}

/* Groups are put under a larger group when their names share a part. */
static void test_groups_of_groups(void **state)
{
    const struct topo_fabric *f = &guess.fabric;
    uint32_t near, far;

    (void)state;
    open_guess("row1-r1-n[1-2],row1-r2-n[1-2],row2-r1-n[1-2]", "row1-r2-n9",
               NULL);
    assert_int_equal(guess.by, TOPO_GUESS_NAMES);
    near = topo_fabric_leaf(f, "row1-r1-n1");
    far = topo_fabric_leaf(f, "row2-r1-n1");
    assert_string_equal(topo_hosts_name(&f->switches, f->above[near]), "row1");
    assert_string_equal(topo_hosts_name(&f->switches, f->above[far]), "row2");
    assert_int_equal(topo_fabric_leaf(f, "row1-r2-n9"),
                     topo_fabric_leaf(f, "row1-r2-n1"));
    close_guess();
    open_guess("r1n[1-2],r2n[1-2]", "r3n1", NULL);
    assert_int_equal(topo_fabric_leaf(f, "r3n1"), TOPO_NONE);
    close_guess();
}

static void test_addresses_tell_where_names_do_not(void **state)
{
    static const char text[] = "127.0.0.1 localhost\n"
                               "::1 localhost b\n"
                               "10.1.2.3 a alpha # the first\n"
                               "\n10.1.2.9\tc.site c\nnonsense d\n"
                               "10.1.9.1 b\n10.1.2.4 d\n10.1.9.9 a\n";
    char path[] = "/tmp/test_guess.XXXXXX";
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (int)strlen(text));
    close(fd);
    open_guess("b,c,d,a", "login", path);
    assert_int_equal(guess.by, TOPO_GUESS_ADDRESSES);
    assert_string_equal(say(), "a:10.1.2 d:10.1.2 c:10.1.2 b:10.1.9");
    close_guess();
    /* names are tried before addresses */
    open_guess("r1n[1-2],r2n1", "login", path);
    assert_int_equal(guess.by, TOPO_GUESS_NAMES);
    close_guess();
    open_guess("y,x", "login", path); /* the file has neither host */
    assert_int_equal(guess.by, TOPO_GUESS_ORDER);
    assert_string_equal(say(), "x y");
    close_guess();
    unlink(path);
    open_guess("b,a", "login", path);
    assert_int_equal(guess.by, TOPO_GUESS_ORDER);
    close_guess();
}

/* Draws a name of a few letters that are treated specially. */
static void draw_name(struct chance *chance, char *name)
{
    static const char letters[] = "aab01279-._@";
    uint32_t len = chance_in(chance, 1, 12);

    for (uint32_t i = 0; i < len; i++)
        name[i] = letters[chance_in(chance, 0, 11)];
    if (name[0] == '-')
        name[0] = 'a';
    name[len] = '\0';
}

/* The natural order is consistent: three names can always be sorted. */
static void test_any_names_have_an_order(void **state)
{
    struct chance chance = chance_start(3);

    (void)state;
    for (uint32_t round = 0; round < 100000; round++) {
        char a[16], b[16], c[16];
        int ab, bc;

        draw_name(&chance, a);
        draw_name(&chance, b);
        draw_name(&chance, c);
        ab = topo_guess_compare(a, b);
        bc = topo_guess_compare(b, c);
        assert_int_equal(ab > 0, topo_guess_compare(b, a) < 0);
        assert_int_equal(ab == 0, strcmp(a, b) == 0);
        if (ab <= 0 && bc <= 0)
            assert_true(topo_guess_compare(a, c) <= 0);
    }
}

/* Hosts may have any names: each host is in the order once, and in one group or
 * in none, and following the groups upward ends. */
static void test_any_names_are_guessed_at(void **state)
{
    struct chance chance = chance_start(4);

    (void)state;
    for (uint32_t round = 0; round < 3000; round++) {
        const struct topo_fabric *f = &guess.fabric;
        bool is_there[64] = {false};
        char name[16];

        topo_hosts_init(&hosts);
        for (uint32_t i = chance_in(&chance, 1, 60); i > 0; i--) {
            draw_name(&chance, name);
            assert_int_equal(topo_hosts_add(&hosts, name, strlen(name), 0), 0);
        }
        draw_name(&chance, name);
        assert_int_equal(
            topo_guess_init(&guess, &hosts, hosts.count, name, NULL), 0);
        for (uint32_t i = 0; i < hosts.count; i++) {
            assert_true(guess.order[i] < hosts.count);
            assert_false(is_there[guess.order[i]]);
            is_there[guess.order[i]] = true;
        }
        for (uint32_t i = 0; i < f->hosts.count; i++)
            assert_true(f->leaf[i] < f->switches.count);
        for (uint32_t s = 0; s < f->switches.count; s++)
            assert_true(f->above[s] == TOPO_NONE || f->above[s] < s);
        assert_int_equal(f->hosts.count > 0, guess.by != TOPO_GUESS_ORDER);
        close_guess();
    }
}

/* --- trees
 * */

static uint32_t order[HOSTS_MAX], under[HOSTS_MAX], host[HOSTS_MAX + 1];
static bool seen[HOSTS_MAX];

/* Draws racks of any sizes, one after the other in the order. */
static uint32_t draw_racks(struct chance *chance, uint32_t count)
{
    uint32_t most = chance_in(chance, 2, 100), s = 0, at = 0;
    bool is_even = chance_is(chance, 50);

    while (at < count) {
        uint32_t size = is_even ? most : chance_in(chance, 1, most);

        for (; size > 0 && at < count; size--)
            under[order[at++]] = s;
        s++;
    }
    return s;
}

static void shuffle(struct chance *chance, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    for (uint32_t i = count - 1; i > 0; i--) {
        uint32_t other = chance_in(chance, 0, i), swap = order[i];

        order[i] = order[other];
        order[other] = swap;
    }
}

/* Checks that the hosts of each subtree are neighbours in the order. */
static void check_neighbours(const struct topo_tree *tree)
{
    static uint32_t place[HOSTS_MAX], low[HOSTS_MAX + 1], high[HOSTS_MAX + 1];

    for (uint32_t i = 0; i + 1 < tree->nodes; i++)
        place[order[i]] = i;
    memset(seen, 0, sizeof(seen));
    for (uint32_t n = 1; n < tree->nodes; n++) {
        assert_true(host[n] < tree->nodes - 1);
        assert_false(seen[host[n]]);
        seen[host[n]] = true;
        low[n] = high[n] = place[host[n]];
    }
    for (uint32_t n = tree->nodes - 1; n > 0; n--) {
        uint32_t parent = topo_tree_parent(tree, n);

        assert_int_equal(high[n] - low[n] + 1, topo_tree_size(tree, n));
        if (parent == 0)
            continue;
        low[parent] = low[n] < low[parent] ? low[n] : low[parent];
        high[parent] = high[n] > high[parent] ? high[n] : high[parent];
    }
}

/* No switch is known: the tree is as deep as otherwise, its subtrees are
 * neighbours, and its links cross the unknown racks no more often than those of
 * a tree by the list, even when the list is in the same order. */
static void test_neighbours_share_subtrees(void **state)
{
    struct chance chance = chance_start(1);
    uint64_t with = 0, without = 0;

    (void)state;
    for (uint32_t round = 0; round < 400; round++) {
        struct topo_tree tree = {
            .nodes =
                chance_in(&chance, 2, chance_is(&chance, 20) ? HOSTS_MAX : 300),
            .arity = chance_in(&chance, 1, 40)};
        struct topo_spread_ask ask = {
            .tree = &tree, .order = order, .switches = 1};
        uint32_t crossings, plain;

        shuffle(&chance, tree.nodes - 1);
        draw_racks(&chance, tree.nodes - 1);
        for (uint32_t n = 1; n < tree.nodes; n++)
            host[n] = order[n - 1];
        plain = topo_spread_crossings(&tree, host, under, TOPO_NONE);
        assert_int_equal(topo_spread(&ask, host), 0);
        check_neighbours(&tree);
        crossings = topo_spread_crossings(&tree, host, under, TOPO_NONE);
        assert_true(crossings <= plain);
        with += crossings;
        without += plain;
    }
    printf("crossings: %llu, by the list %llu\n", (unsigned long long)with,
           (unsigned long long)without);
}

/* When groups are known, the shape leaves each node's switch and the number of
 * crossings as they were. */
static void test_groups_stay_what_they_are(void **state)
{
    struct chance chance = chance_start(2);

    (void)state;
    for (uint32_t round = 0; round < 200; round++) {
        uint32_t count = chance_in(&chance, 1, 600);
        struct topo_shape_ask ask = {
            .hosts = count, .arity = chance_in(&chance, 1, 20), .under = under};
        struct topo_spread_ask spread = {.order = order, .under = under};
        struct topo_shape shape;
        uint32_t was[600 + 1];

        shuffle(&chance, count);
        ask.switches = spread.switches = draw_racks(&chance, count);
        ask.launcher = chance_is(&chance, 50) ? TOPO_NONE : 0;
        assert_int_equal(topo_shape_init(&shape, &ask), 0);
        spread.tree = &shape.tree;
        memcpy(was, shape.host, (count + 1) * sizeof(*was));
        assert_int_equal(topo_spread(&spread, shape.host), 0);
        memset(seen, 0, sizeof(seen));
        for (uint32_t n = 1; n <= count; n++) {
            assert_int_equal(under[was[n]], under[shape.host[n]]);
            assert_false(seen[shape.host[n]]);
            seen[shape.host[n]] = true;
        }
        assert_int_equal(shape.crossings,
                         topo_spread_crossings(&shape.tree, shape.host, under,
                                               ask.launcher));
        topo_shape_fini(&shape);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_have_a_natural_order),
        cmocka_unit_test(test_numbers_tell_the_order_where_there_is_one_group),
        cmocka_unit_test(test_all_but_the_last_number_is_a_group),
        cmocka_unit_test(test_groups_of_groups),
        cmocka_unit_test(test_addresses_tell_where_names_do_not),
        cmocka_unit_test(test_any_names_have_an_order),
        cmocka_unit_test(test_any_names_are_guessed_at),
        cmocka_unit_test(test_neighbours_share_subtrees),
        cmocka_unit_test(test_groups_stay_what_they_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
