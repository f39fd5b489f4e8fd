/* Placement of several programs: the result of each combination of options,
 * what is impossible, and random jobs in which every requested process is
 * placed once. */
#include "topo/programs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/base/err.h"

enum { TEXT_MAX = 1024, ROUNDS = 5000, PROGRAMS_MAX = 4 };

/* Programs with -n and --ppn; the end is a program with neither and no name. */
struct wish {
    const char *hosts; /* NULL: no list of hosts */
    uint32_t nodes;
    struct topo_program programs[PROGRAMS_MAX];
};

#define EACH(ppn)                                                              \
    {                                                                          \
        "p", 0, ppn, NULL                                                      \
    }
#define FILL(n)                                                                \
    {                                                                          \
        "p", n, 0, NULL                                                        \
    }
#define FILL_BY(n, by)                                                         \
    {                                                                          \
        "p", n, by, NULL                                                       \
    }

static int place(const struct wish *wish, struct topo_programs *out, char *why)
{
    struct topo_programs_ask ask = {.nodes = wish->nodes,
                                    .programs = wish->programs};
    struct topo_hosts hosts;
    int rc;

    topo_hosts_init(&hosts);
    if (wish->hosts != NULL) {
        assert_int_equal(topo_hosts_parse(&hosts, wish->hosts, NULL), 0);
        ask.hosts = &hosts;
    }
    while (ask.count < PROGRAMS_MAX && wish->programs[ask.count].name != NULL)
        ask.count++;
    rc = topo_programs_place(out, &ask, why);
    topo_hosts_fini(&hosts);
    return rc;
}

/* Returns the result, as "0: 2 2; 0-1: 1": for each program its processes on
 * each block of nodes; or the error. Checks that ranks follow each other. */
static const char *placed(struct wish wish)
{
    static char out[TEXT_MAX];
    struct topo_programs got;
    uint32_t ranks = 0;
    int rc = place(&wish, &got, out);
    int len = 0;

    if (rc != 0) {
        assert_int_equal(rc, OV_EINVAL);
        assert_null(got.blocks);
        return out;
    }
    for (uint32_t i = 0; i < got.count; i++) {
        const struct topo_block *b = &got.blocks[i];

        assert_int_equal(b->first_rank, ranks);
        ranks += b->each * (b->nodes.last - b->nodes.first + 1);
        len += sprintf(out + len, "%s",
                       i == 0                                    ? ""
                       : b->program == got.blocks[i - 1].program ? " "
                                                                 : "; ");
        len += b->nodes.first == b->nodes.last
                   ? sprintf(out + len, "%u:%u", b->nodes.first, b->each)
                   : sprintf(out + len, "%u-%u:%u", b->nodes.first,
                             b->nodes.last, b->each);
    }
    assert_int_equal(got.procs, ranks);
    topo_programs_fini(&got);
    return out;
}

/* Nodes are filled up to their slots, whichever program fills them. */
static void the_second_goes_on_where_the_first_stops(void **state)
{
    (void)state;
    assert_string_equal(placed((struct wish){"a:4,b:4", 0, {FILL(2), FILL(4)}}),
                        "0:2; 0-1:2");
    assert_string_equal(
        placed((struct wish){"a:4,b:4,c", 0, {FILL(4), FILL(5)}}),
        "0:4; 1:4 2:1");
    assert_string_equal(placed((struct wish){"a,b,c", 0, {FILL(2), FILL(4)}}),
                        "0:2; 1-2:2");
    assert_string_equal(placed((struct wish){"a,b,c,d", 3, {FILL(2), FILL(5)}}),
                        "0:2; 0:1 1-2:2");
    assert_string_equal(placed((struct wish){NULL, 0, {FILL(2), FILL(4)}}),
                        "0:2; 0:4");
    assert_string_equal(placed((struct wish){NULL, 2, {FILL(1), FILL(3)}}),
                        "0:1; 0:1 1:2");
    assert_string_equal(
        placed((struct wish){"a:9", 0, {FILL(1), FILL(2), FILL(3)}}),
        "0:1; 0:2; 0:3");
}

static void programs_without_procs_are_on_each_node(void **state)
{
    (void)state;
    assert_string_equal(placed((struct wish){"a,b,c", 0, {EACH(0), EACH(3)}}),
                        "0-2:1; 0-2:3");
    assert_string_equal(placed((struct wish){NULL, 4, {EACH(1), EACH(3)}}),
                        "0-3:1; 0-3:3");
    assert_string_equal(placed((struct wish){NULL, 0, {EACH(0), EACH(0)}}),
                        "0:1; 0:1");
    /* Programs with a number of processes per node take no slots. */
    assert_string_equal(
        placed((struct wish){"a:4,b:4", 0, {EACH(1), FILL(8), EACH(0)}}),
        "0-1:1; 0-1:4; 0-1:1");
    assert_string_equal(
        placed((struct wish){NULL, 0, {EACH(0), FILL_BY(6, 2)}}),
        "0-2:1; 0-2:2");
}

static void ppn_bounds_a_program_of_its_own(void **state)
{
    (void)state;
    assert_string_equal(
        placed((struct wish){"n[0-3]", 0, {FILL_BY(2, 1), FILL_BY(4, 2)}}),
        "0-1:1; 2-3:2");
    assert_string_equal(
        placed((struct wish){"a:4,b:4", 0, {FILL(1), FILL_BY(8, 4)}}),
        "0:1; 0-1:4");
    assert_string_equal(
        placed((struct wish){NULL, 0, {FILL_BY(4, 2), FILL(2)}}), "0-1:2; 2:2");
    assert_string_equal(
        placed((struct wish){NULL, 4, {FILL_BY(2, 1), FILL_BY(4, 2)}}),
        "0-1:1; 2-3:2");
}

/* Too few nodes are left in this case. */
/* Hosts have 2, 3 and 1 of the objects that --ppn counts. */
static void ppn_may_be_another_on_each_host(void **state)
{
    static const uint32_t of[] = {2, 3, 1}, alike[] = {2, 2, 2};

    (void)state;
    assert_string_equal(placed((struct wish){"a,b,c", 0, {{"p", 0, 3, of}}}),
                        "0:2 1:3 2:1");
    assert_string_equal(
        placed((struct wish){"a,b,c", 2, {{"p", 0, 3, of}, EACH(1)}}),
        "0:2 1:3; 0-1:1");
    assert_string_equal(
        placed((struct wish){"a:9,b:9,c", 0, {{"p", 4, 3, of}, FILL(8)}}),
        "0-1:2; 1:7 2:1");
    assert_string_equal(placed((struct wish){"a,b,c", 3, {{"p", 5, 3, of}}}),
                        "0-1:2 2:1");
    assert_string_equal(
        placed((struct wish){"a,b,c", 0, {{"p", 2, 3, of}, {"p", 3, 3, of}}}),
        "0:2; 1:3");
    assert_string_equal(placed((struct wish){"a,b,c", 0, {{"p", 5, 2, alike}}}),
                        placed((struct wish){"a,b,c", 0, {FILL_BY(5, 2)}}));
    assert_non_null(
        strstr(placed((struct wish){"a,b,c", 0, {{"p", 7, 3, of}}}),
               "asked for 7 processes, but the hosts have room for 6 (--ppn)"));
    assert_non_null(
        strstr(placed((struct wish){"a,b,c", 2, {{"p", 6, 3, of}}}),
               "asked for 6 processes, but the hosts have room for 5 (--ppn)"));
}

/* Each host has a number of cores, and --ppn is a number for each core. */
static void ppn_of_objects_is_what_each_host_has(void **state)
{
    uint32_t unlike[] = {2, 3, 1}, alike[] = {4, 4}, many[] = {1, 1u << 20};
    struct topo_program program = {"p", 9, 7, unlike};

    (void)state;
    topo_program_count(&program, 2, unlike, 3);
    assert_int_equal(program.procs, 9);
    assert_int_equal(program.ppn, 6);
    assert_ptr_equal(program.ppn_of, unlike);
    assert_int_equal(unlike[0], 4);
    assert_int_equal(unlike[1], 6);
    assert_int_equal(unlike[2], 2);
    topo_program_count(&program, 3, alike, 2);
    assert_int_equal(program.ppn, 12);
    assert_null(program.ppn_of);
    topo_program_count(&program, UINT32_MAX, many, 2);
    assert_int_equal(program.ppn, TOPO_NUMBER_MAX);
    assert_int_equal(many[0], TOPO_NUMBER_MAX);
    assert_int_equal(many[1], TOPO_NUMBER_MAX);
}

static void a_program_begins_again_at_the_first_node(void **state)
{
    (void)state;
    assert_string_equal(
        placed((struct wish){"a,b", 0, {FILL(2), FILL_BY(4, 2)}}),
        "0-1:1; 0-1:2");
    assert_string_equal(
        placed((struct wish){"a:4,b:4", 0, {FILL_BY(4, 2), FILL(3)}}),
        "0-1:2; 0:2 1:1");
    /* A node that another program has filled stays full. */
    assert_string_equal(
        placed((struct wish){"a:1,b:2,c:4", 0, {FILL_BY(3, 1), FILL(3)}}),
        "0-2:1; 1:1 2:2");
}

static void impossible_wishes_name_the_program(void **state)
{
    static const struct {
        struct wish wish;
        const char *says;
    } cases[] = {
        {{"a:2,b:2", 0, {{"one", 2, 0, NULL}, {"two", 3, 0, NULL}}},
         "programs 1 to 2 ('one' to 'two'): asked for 5 processes, but the "
         "hosts have 4 slots: give more hosts"},
        {{"a:2,b:2", 0, {{"one", 4, 2, NULL}, {"two", 3, 0, NULL}}},
         "program 2 ('two'): no slot is left: give more hosts, more slots"},
        {{"a,b", 0, {{"one", 1, 0, NULL}, {"two", 9, 2, NULL}}},
         "program 2 ('two'): asked for 9 processes, but 2 nodes with 2 each "
         "(--ppn) have room for 4"},
        {{"a,b", 3, {FILL(1), FILL(1)}},
         "asked for 3 nodes, but there are 2 hosts"},
        {{NULL, 1000000, {EACH(4000), EACH(4000)}},
         "more processes than there are numbers for"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *said = placed(cases[i].wish);

        if (strstr(said, cases[i].says) == NULL)
            fail_msg("case %zu: %s", i, said);
    }
}

/* Checks that every program has its processes, and no node has more than its
 * limits. */
static void check_job(const struct wish *wish, const struct topo_programs *got)
{
    uint32_t procs[PROGRAMS_MAX] = {0};

    assert_int_equal(got->blocks[0].first_rank, 0);
    for (uint32_t i = 0; i < got->count; i++) {
        const struct topo_block *b = &got->blocks[i];
        const struct topo_program *p = &wish->programs[b->program];

        assert_true(b->each > 0 && b->nodes.first <= b->nodes.last);
        assert_true(b->nodes.last < got->nodes);
        if (p->ppn > 0)
            assert_true(b->each <= p->ppn);
        if (i > 0 && b->program == b[-1].program)
            assert_true(b->nodes.first > b[-1].nodes.last);
        procs[b->program] += b->each * (b->nodes.last - b->nodes.first + 1);
    }
    for (uint32_t i = 0; i < PROGRAMS_MAX && wish->programs[i].name; i++) {
        const struct topo_program *p = &wish->programs[i];
        uint32_t each = p->ppn > 0 ? p->ppn : 1;

        assert_int_equal(procs[i], p->procs > 0 ? p->procs : each * got->nodes);
    }
}

/* Checks the slots: only programs without --ppn have taken any. */
static void check_slots(const struct wish *wish,
                        const struct topo_programs *got, const uint32_t *slots)
{
    for (uint32_t node = 0; node < got->nodes; node++) {
        uint32_t used = 0;

        for (uint32_t i = 0; i < got->count; i++) {
            const struct topo_block *b = &got->blocks[i];

            if (wish->programs[b->program].procs > 0 &&
                node >= b->nodes.first && node <= b->nodes.last)
                used += b->each;
        }
        assert_true(used <= slots[node]);
    }
}

static void random_jobs_have_what_they_ask_for(void **state)
{
    char why[TOPO_WHY_MAX];
    uint32_t done = 0;

    (void)state;
    srand(1);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t slots[5] = {0};
        bool has_ppn = false;
        char hosts[64];
        struct wish wish = {.hosts = hosts};
        struct topo_programs got;
        int len = 0;

        for (uint32_t i = 0; i < 5; i++) {
            slots[i] = 1 + (uint32_t)rand() % 4;
            len += sprintf(hosts + len, "%sh%u:%u", i ? "," : "", i, slots[i]);
        }
        for (int i = 2 + rand() % (PROGRAMS_MAX - 1); i > 0; i--) {
            struct topo_program *p = &wish.programs[i - 1];

            *p = (struct topo_program){"p", (uint32_t)rand() % 5,
                                       (uint32_t)rand() % 3, NULL};
            has_ppn = has_ppn || p->ppn > 0;
        }
        if (place(&wish, &got, why) != 0)
            continue;
        done++;
        check_job(&wish, &got);
        if (!has_ppn)
            check_slots(&wish, &got, slots);
        topo_programs_fini(&got);
    }
    assert_true(done > ROUNDS / 2);
}

static void the_most_on_a_node_counts_all_programs(void **state)
{
    struct wish wish = {"a:1,b:5", 0, {EACH(2), FILL(5), EACH(1)}};
    struct topo_programs got;

    (void)state;
    assert_int_equal(place(&wish, &got, NULL), 0);
    assert_int_equal(got.nodes, 2);
    assert_int_equal(topo_programs_most(&got), 7);
    topo_programs_fini(&got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_second_goes_on_where_the_first_stops),
        cmocka_unit_test(programs_without_procs_are_on_each_node),
        cmocka_unit_test(ppn_bounds_a_program_of_its_own),
        cmocka_unit_test(ppn_may_be_another_on_each_host),
        cmocka_unit_test(ppn_of_objects_is_what_each_host_has),
        cmocka_unit_test(a_program_begins_again_at_the_first_node),
        cmocka_unit_test(impossible_wishes_name_the_program),
        cmocka_unit_test(random_jobs_have_what_they_ask_for),
        cmocka_unit_test(the_most_on_a_node_counts_all_programs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
