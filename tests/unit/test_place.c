/* Placement of ranks: the result of each combination of options, what is
 * impossible, and random options compared with a model that places processes
 * one by one. */
#include "topo/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/base/err.h"

enum { TEXT_MAX = 1024, NODES_MAX = 12, ROUNDS = 20000 };

/* The options; hosts NULL: no list. */
struct wish {
    const char *hosts;
    uint32_t nodes, procs, ppn, slots_unsaid;
};

static struct topo_range ranks_of(const struct topo_place *place, uint32_t node)
{
    return (struct topo_range){place->first[node], place->first[node + 1] - 1};
}

/* Returns the result: the processes of each node, as "2 2 1", or the error. */
static const char *placed(struct wish wish)
{
    static char out[TEXT_MAX];
    struct topo_hosts hosts;
    struct topo_place place;
    struct topo_place_ask ask = {.nodes = wish.nodes,
                                 .procs = wish.procs,
                                 .ppn = wish.ppn,
                                 .slots_unsaid = wish.slots_unsaid};
    size_t len = 0;
    int rc = 0;

    topo_hosts_init(&hosts);
    if (wish.hosts != NULL && wish.hosts[0] != '\0')
        assert_int_equal(topo_hosts_parse(&hosts, wish.hosts, NULL), 0);
    if (wish.hosts != NULL)
        ask.hosts = &hosts;
    rc = topo_place_init(&place, &ask, out);
    if (rc == 0) {
        for (uint32_t node = 0; node < place.nodes; node++) {
            struct topo_range ranks = ranks_of(&place, node);

            len += (size_t)sprintf(out + len, "%s%u", node > 0 ? " " : "",
                                   ranks.last - ranks.first + 1);
        }
    } else {
        assert_int_equal(rc, OV_EINVAL);
        assert_null(place.first);
    }
    topo_place_fini(&place);
    topo_hosts_fini(&hosts);
    return out;
}

static void without_numbers_each_node_runs_one(void **state)
{
    (void)state;
    assert_string_equal(placed((struct wish){.hosts = "a,b:4,c"}), "1 1 1");
    assert_string_equal(placed((struct wish){"a,b,c", .nodes = 2}), "1 1");
    assert_string_equal(placed((struct wish){.hosts = NULL}), "1");
    assert_string_equal(placed((struct wish){NULL, .nodes = 3}), "1 1 1");
}

static void ppn_counts_on_each_node_whatever_its_slots(void **state)
{
    (void)state;
    assert_string_equal(placed((struct wish){"a,b:4", .ppn = 3}), "3 3");
    assert_string_equal(placed((struct wish){"a,b,c", .nodes = 2, .ppn = 2}),
                        "2 2");
    assert_string_equal(placed((struct wish){NULL, .ppn = 4}), "4");
    assert_string_equal(placed((struct wish){NULL, .nodes = 2, .ppn = 4}),
                        "4 4");
}

static void procs_fill_node_after_node(void **state)
{
    (void)state;
    assert_string_equal(
        placed((struct wish){"a:2,b:4,c:8", .procs = 5, .slots_unsaid = 1}),
        "2 3");
    assert_string_equal(
        placed((struct wish){"a,b:2,c,d", .procs = 4, .slots_unsaid = 1}),
        "1 2 1");
    assert_string_equal(
        placed((struct wish){"a,b:2,c", .procs = 20, .slots_unsaid = 16}),
        "16 2 2");
    assert_string_equal(placed((struct wish){"a:3,b,c", .procs = 5}), "3 1 1");
    assert_string_equal(placed((struct wish){"a,a,b", .procs = 3}), "2 1");
    assert_string_equal(
        placed((struct wish){NULL, .procs = 4, .slots_unsaid = 4}), "4");
    assert_string_equal(placed((struct wish){NULL, .procs = 400}), "400");
    assert_string_equal(
        placed((struct wish){"a:9,b,c,d", .procs = 5, .ppn = 2}), "2 2 1");
    assert_string_equal(placed((struct wish){NULL, .procs = 5, .ppn = 2}),
                        "2 2 1");
}

static void without_slots_the_hosts_share(void **state)
{
    (void)state;
    assert_string_equal(placed((struct wish){"a,b", .procs = 9}), "5 4");
    assert_string_equal(placed((struct wish){"a,b,c", .procs = 2}), "1 1");
}

static void procs_are_shared_by_a_number_of_nodes(void **state)
{
    (void)state;
    assert_string_equal(placed((struct wish){"a,b,c", .nodes = 3, .procs = 8}),
                        "3 3 2");
    assert_string_equal(
        placed((struct wish){"a:4,b:4,c:4", .nodes = 2, .procs = 4}), "2 2");
    assert_string_equal(
        placed((struct wish){"a:1,b:4,c:3", .nodes = 3, .procs = 7}), "1 3 3");
    assert_string_equal(
        placed((struct wish){"a:1,b:4,c:3", .nodes = 3, .procs = 8}), "1 4 3");
    assert_string_equal(placed((struct wish){"a:1,b", .nodes = 2, .procs = 5,
                                             .slots_unsaid = 1}),
                        "1 4");
    assert_string_equal(placed((struct wish){NULL, .nodes = 4, .procs = 4}),
                        "1 1 1 1");
    assert_string_equal(
        placed((struct wish){NULL, .nodes = 4, .procs = 6, .ppn = 4}),
        "2 2 1 1");
    assert_string_equal(
        placed((struct wish){"a:1,b:1", .nodes = 2, .procs = 4, .ppn = 2}),
        "2 2");
}

static void impossible_wishes_say_what_to_do(void **state)
{
    static const struct {
        struct wish wish;
        const char *says;
    } cases[] = {
        {{"n[1-4]:4", .procs = 20},
         "asked for 20 processes, but the hosts have 16 slots: give more "
         "hosts, more slots (HOST:N), or --ppn"},
        {{"a:4", .procs = 20}, "but the host has 4 slots"},
        {{"a", .procs = 2, .slots_unsaid = 1}, "the host has 1 slot:"},
        {{"a:2,b:2", .nodes = 2, .procs = 5}, "the hosts have 4 slots"},
        {{"a:2,b", .procs = 4}, "the hosts have 3 slots"},
        {{NULL, .procs = 8, .slots_unsaid = 2},
         "asked for 8 processes, but this machine has 2 slots: give --ppn 8 to "
         "run them all here, or name hosts (--hosts)"},
        {{"a,b", .procs = 5, .ppn = 2},
         "asked for 5 processes, but 2 nodes with 2 each (--ppn) have room for "
         "4: give more hosts, or a larger --ppn"},
        {{"a,b", .nodes = 1, .procs = 3, .ppn = 2},
         "1 node with 2 each (--ppn) has room for 2: give more nodes (-N), or "
         "a larger --ppn"},
        {{"a,b", .nodes = 3},
         "asked for 3 nodes, but there are 2 hosts: lower -N or name more "
         "hosts"},
        {{"a", .nodes = 3}, "but there is 1 host: lower -N"},
        {{NULL, .nodes = 1000001},
         "asked for 1000001 nodes, but a job can have at most 1000000"},
        {{NULL, .nodes = 4, .procs = 2},
         "2 processes (-n) cannot use 4 nodes (-N): lower -N to 2, or raise "
         "-n"},
        {{"", .procs = 2}, "the list of hosts is empty: name at least one"},
        {{NULL, .procs = UINT32_MAX}, "4294967294 at most"},
        {{NULL, .nodes = 1000000, .ppn = 5000},
         "more processes than there are numbers for"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *said = placed(cases[i].wish);

        if (strstr(said, cases[i].says) == NULL)
            fail_msg("case %zu: %s", i, said);
    }
}

/* Checks that each rank is on one node, in order. */
static void check_ranks(const struct topo_place *place)
{
    uint32_t rank = 0;

    for (uint32_t node = 0; node < place->nodes; node++) {
        struct topo_range ranks = ranks_of(place, node);

        assert_int_equal(ranks.first, rank);
        assert_true(ranks.last >= ranks.first);
        rank = ranks.last + 1;
    }
    assert_int_equal(rank, place->procs);
}

/* Places one process after the other: on the first node that has room (fill),
 * or on the first of those nodes with the fewest processes that have room
 * (share). False when there is no room. */
static bool deal(const uint32_t *limits, uint32_t nodes, uint32_t procs,
                 bool is_shared, uint32_t *counts)
{
    memset(counts, 0, NODES_MAX * sizeof(counts[0]));
    for (uint32_t rank = 0; rank < procs; rank++) {
        uint32_t best = nodes;

        for (uint32_t node = nodes; node-- > 0;) {
            if (counts[node] < limits[node] &&
                (best == nodes || !is_shared || counts[node] <= counts[best]))
                best = node;
        }
        if (best == nodes)
            return false;
        counts[best]++;
    }
    return true;
}

static void check_wish(const struct topo_hosts *hosts, uint32_t nodes,
                       uint32_t procs, uint32_t ppn)
{
    uint32_t unsaid = (uint32_t)rand() % 4;
    struct topo_place_ask ask = {.hosts = hosts,
                                 .nodes = nodes,
                                 .procs = procs,
                                 .ppn = ppn,
                                 .slots_unsaid = unsaid};
    uint32_t limits[NODES_MAX];
    uint32_t counts[NODES_MAX];
    struct topo_place place;
    uint32_t among = nodes != 0 ? nodes : hosts->count;
    bool is_shared = nodes != 0;
    bool fits = true;

    if (nodes == 0 && ppn == 0 && unsaid == 0) {
        unsaid = 1;
        is_shared = true;
        for (uint32_t i = 0; i < hosts->count; i++)
            is_shared = is_shared && hosts->items[i].slots == 0;
    }
    for (uint32_t i = 0; i < hosts->count; i++) {
        limits[i] = hosts->items[i].slots;
        if (limits[i] == 0)
            limits[i] = is_shared ? UINT32_MAX : unsaid;
        if (ppn != 0)
            limits[i] = ppn;
    }
    fits = among <= hosts->count && (nodes == 0 || procs >= nodes) &&
           deal(limits, among, procs, is_shared, counts);
    assert_int_equal(topo_place_init(&place, &ask, NULL), fits ? 0 : OV_EINVAL);
    if (!fits)
        return;
    assert_int_equal(place.procs, procs);
    for (uint32_t i = 0; i < place.nodes; i++) {
        struct topo_range ranks = ranks_of(&place, i);

        assert_int_equal(ranks.last - ranks.first + 1, counts[i]);
    }
    for (uint32_t i = place.nodes; i < among; i++)
        assert_int_equal(counts[i], 0);
    check_ranks(&place);
    topo_place_fini(&place);
}

static void random_wishes_equal_dealing_one_by_one(void **state)
{
    const char *given = getenv("XYLEM_TEST_SEED");
    unsigned seed =
        given != NULL ? (unsigned)strtoul(given, NULL, 10) : 20240614;

    (void)state;
    print_message("seed %u (XYLEM_TEST_SEED chooses another)\n", seed);
    srand(seed);
    for (int round = 0; round < ROUNDS; round++) {
        struct topo_hosts hosts;
        uint32_t count = 1 + (uint32_t)rand() % NODES_MAX;
        uint32_t slots_max = rand() % 4 == 0 ? 0 : 4;

        topo_hosts_init(&hosts);
        for (uint32_t i = 0; i < count; i++) {
            char name[16];
            int len = snprintf(name, sizeof(name), "n%u", i);

            assert_int_equal(topo_hosts_add(&hosts, name, (size_t)len,
                                            (uint32_t)rand() % (slots_max + 1)),
                             0);
        }
        check_wish(&hosts,
                   rand() % 2 == 0 ? 0 : 1 + (uint32_t)rand() % (count + 1),
                   1 + (uint32_t)rand() % 30,
                   rand() % 3 == 0 ? 1 + (uint32_t)rand() % 4 : 0);
        topo_hosts_fini(&hosts);
    }
}

static void a_million_nodes_are_placed(void **state)
{
    struct topo_place_ask ask = {.nodes = 1000000, .procs = 4294967294u};
    struct topo_place place;

    (void)state;
    assert_int_equal(topo_place_init(&place, &ask, NULL), 0);
    assert_int_equal(place.nodes, 1000000);
    assert_int_equal(place.procs, 4294967294u);
    assert_int_equal(ranks_of(&place, 999999).last, 4294967293u);
    assert_int_equal(ranks_of(&place, 0).last, 4294);
    topo_place_fini(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_numbers_each_node_runs_one),
        cmocka_unit_test(ppn_counts_on_each_node_whatever_its_slots),
        cmocka_unit_test(procs_fill_node_after_node),
        cmocka_unit_test(without_slots_the_hosts_share),
        cmocka_unit_test(procs_are_shared_by_a_number_of_nodes),
        cmocka_unit_test(impossible_wishes_say_what_to_do),
        cmocka_unit_test(random_wishes_equal_dealing_one_by_one),
        cmocka_unit_test(a_million_nodes_are_placed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
