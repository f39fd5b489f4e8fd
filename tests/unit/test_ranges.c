/* Sets of ranges, compared with a simple table of members. */
#include "topo/ranges.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/base/err.h"

enum { ITEMS_MAX = 64, ORACLE_MAX = 96, ROUNDS = 20000, TEXT_MAX = 512 };

/* A set with its memory. */
struct box {
    struct topo_ranges set;
    struct topo_range items[ITEMS_MAX];
};

static bool has_number(const struct topo_ranges *set, uint32_t number)
{
    return topo_ranges_touches(set, (struct topo_range){number, number});
}

static void box_init(struct box *box, uint32_t max)
{
    topo_ranges_init(&box->set, box->items, max);
}

static int box_parse(struct box *box, const char *text,
                     struct topo_fault *fault)
{
    box_init(box, ITEMS_MAX);
    return topo_ranges_parse(&box->set, text, strlen(text), fault);
}

/* Returns the set of `text` in its short form, in a static buffer. */
static const char *folded(const char *text)
{
    static char out[TEXT_MAX];
    struct topo_fault fault;
    struct box box;

    assert_int_equal(box_parse(&box, text, &fault), 0);
    assert_true(topo_ranges_format(&box.set, out, sizeof(out)) < sizeof(out));
    return out;
}

static void lists_fold_to_their_short_form(void **state)
{
    (void)state;
    assert_string_equal(folded("0"), "0");
    assert_string_equal(folded("0,4-7,10"), "0,4-7,10");
    assert_string_equal(folded("7,3,2,1,0"), "0-3,7");
    assert_string_equal(folded("5-9,0-4"), "0-9");
    assert_string_equal(folded("1,1,1"), "1");
    assert_string_equal(folded("1,3,5,2-4"), "1-5");
    assert_string_equal(folded("0-9,3-4"), "0-9");
    assert_string_equal(folded("007"), "7");
    assert_string_equal(folded("4294967294"), "4294967294");
    assert_string_equal(folded("0-4294967294"), "0-4294967294");
}

/* Each invalid list, and the position of its error. */
static void faults_name_their_position(void **state)
{
    static const struct {
        const char *text;
        size_t at_bytes;
        const char *what; /* a part of the error message */
    } cases[] = {
        {"", 0, "number is missing"},
        {",1", 0, "number is missing"},
        {"1,", 2, "number is missing"},
        {"1,,2", 2, "number is missing"},
        {"0,4-,10", 4, "no end"},
        {"4-", 2, "no end"},
        {"-4", 0, "number is missing"},
        {"1,9-3", 2, "backwards"},
        {"1-2-3", 3, "not part of a list"},
        {"1 2", 1, "not part of a list"},
        {"all", 0, "number is missing"},
        {"3x", 1, "not part of a list"},
        {"1,4294967295", 2, "too large"},
        {"1,99999999999999999999999999", 2, "too large"},
        {"1-4294967295", 2, "too large"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct topo_fault fault = {0};
        struct box box;

        assert_int_equal(box_parse(&box, cases[i].text, &fault), OV_EINVAL);
        assert_int_equal(fault.at_bytes, cases[i].at_bytes);
        assert_non_null(strstr(fault.what, cases[i].what));
        assert_int_equal(box.set.count, 0);
    }
}

static void a_nul_inside_a_list_is_a_fault(void **state)
{
    struct topo_fault fault = {0};
    struct box box;

    (void)state;
    box_init(&box, ITEMS_MAX);
    assert_int_equal(topo_ranges_parse(&box.set, "1\0,2", 4, &fault),
                     OV_EINVAL);
    assert_int_equal(fault.at_bytes, 1);
}

static void terms_bound_the_memory_a_list_needs(void **state)
{
    struct topo_fault fault;
    struct box box;

    (void)state;
    assert_int_equal(topo_ranges_terms("1", 1), 1);
    assert_int_equal(topo_ranges_terms("1,3,5-6", 7), 3);
    box_init(&box, 3);
    assert_int_equal(topo_ranges_parse(&box.set, "5,3,1", 5, &fault), 0);
    box_init(&box, 2);
    assert_int_equal(topo_ranges_parse(&box.set, "5,3,1", 5, &fault), OV_EFULL);
    assert_int_equal(box.set.count, 0);
    /* Terms that join need fewer ranges. */
    assert_int_equal(topo_ranges_parse(&box.set, "5,4,3,2", 7, &fault), 0);
}

static void a_full_set_still_takes_what_joins(void **state)
{
    struct box box;

    (void)state;
    box_init(&box, 2);
    assert_int_equal(topo_ranges_add(&box.set, (struct topo_range){1, 2}), 0);
    assert_int_equal(topo_ranges_add(&box.set, (struct topo_range){6, 7}), 0);
    assert_int_equal(topo_ranges_add(&box.set, (struct topo_range){4, 4}),
                     OV_EFULL);
    assert_int_equal(box.set.count, 2);
    assert_int_equal(topo_ranges_add(&box.set, (struct topo_range){3, 3}), 0);
    assert_int_equal(topo_ranges_add(&box.set, (struct topo_range){4, 5}), 0);
    assert_int_equal(box.set.count, 1);
    assert_int_equal(topo_ranges_add(&box.set, (struct topo_range){9, 8}),
                     OV_EINVAL);
    assert_int_equal(
        topo_ranges_add(&box.set, (struct topo_range){9, TOPO_NONE}),
        OV_EINVAL);
    assert_int_equal(topo_ranges_size(&box.set), 7);
}

static void string_is_cut_where_the_buffer_ends(void **state)
{
    struct topo_fault fault;
    char text[TEXT_MAX];
    struct box box;
    const char *whole = "10-12,45";

    (void)state;
    assert_int_equal(box_parse(&box, whole, &fault), 0);
    for (size_t size = 0; size <= strlen(whole) + 2; size++) {
        memset(text, '#', sizeof(text));
        assert_int_equal(topo_ranges_format(&box.set, text, size),
                         strlen(whole));
        assert_int_equal(text[size], '#');
        if (size > 0) {
            size_t part = size - 1 < strlen(whole) ? size - 1 : strlen(whole);

            assert_int_equal(strlen(text), part);
            assert_memory_equal(text, whole, part);
        }
    }
    box_init(&box, ITEMS_MAX);
    assert_int_equal(topo_ranges_format(&box.set, text, sizeof(text)), 0);
    assert_string_equal(text, "");
}

/* Checks that the set is sorted, its ranges do not touch, and its members are
 * those of the table. */
static void check_same(const struct topo_ranges *set, const bool *members)
{
    uint32_t nth = 0;

    for (uint32_t i = 0; i < set->count; i++) {
        assert_true(set->items[i].first <= set->items[i].last);
        if (i > 0)
            assert_true(set->items[i - 1].last + 1 < set->items[i].first);
    }
    for (uint32_t n = 0; n < ORACLE_MAX; n++) {
        assert_int_equal(has_number(set, n), members[n]);
        if (members[n]) {
            assert_int_equal(topo_ranges_nth(set, nth), n);
            nth++;
        }
    }
    assert_int_equal(topo_ranges_size(set), nth);
    assert_int_equal(topo_ranges_nth(set, nth), TOPO_NONE);
    assert_false(has_number(set, TOPO_NONE));
}

static struct topo_range random_range(void)
{
    uint32_t first = (uint32_t)rand() % ORACLE_MAX;
    uint32_t last = first + (uint32_t)rand() % 5;

    return (struct topo_range){first,
                               last < ORACLE_MAX ? last : ORACLE_MAX - 1};
}

static void random_fill(struct topo_ranges *set, bool *members)
{
    int adds = rand() % 24;

    memset(members, 0, ORACLE_MAX * sizeof(members[0]));
    for (int i = 0; i < adds; i++) {
        struct topo_range range = random_range();

        assert_int_equal(topo_ranges_add(set, range), 0);
        for (uint32_t n = range.first; n <= range.last; n++)
            members[n] = true;
    }
}

static void check_touches(const struct topo_ranges *set, const bool *members)
{
    struct topo_range range = random_range();
    bool touches = false;

    for (uint32_t n = range.first; n <= range.last; n++)
        touches = touches || members[n];
    assert_int_equal(topo_ranges_touches(set, range), touches);
    if (range.first > 0) {
        range.last = range.first - 1;
        assert_false(topo_ranges_touches(set, range));
    }
}

/* A set that is written as text and read again is the same. */
static void check_round_trip(const struct topo_ranges *set)
{
    struct topo_fault fault;
    char text[TEXT_MAX];
    struct box back;

    if (set->count == 0)
        return;
    assert_true(topo_ranges_format(set, text, sizeof(text)) < sizeof(text));
    assert_int_equal(box_parse(&back, text, &fault), 0);
    assert_int_equal(back.set.count, set->count);
    assert_memory_equal(back.set.items, set->items,
                        set->count * sizeof(set->items[0]));
}

static void random_sets_equal_a_table(void **state)
{
    unsigned seed = *(unsigned *)*state;

    srand(seed);
    for (int round = 0; round < ROUNDS; round++) {
        bool members[ORACLE_MAX];
        struct box box;

        box_init(&box, ITEMS_MAX);
        random_fill(&box.set, members);
        check_same(&box.set, members);
        check_touches(&box.set, members);
        check_round_trip(&box.set);
    }
}

/* A coarse set holds all members, has as many ranges as allowed, and is the
 * smallest possible: the gaps that are left are the widest of all. */
static void coarse_sets_are_the_smallest_supersets(void **state)
{
    unsigned seed = *(unsigned *)*state;

    srand(seed);
    for (int round = 0; round < ROUNDS; round++) {
        bool members[ORACLE_MAX];
        struct box fine;
        struct box coarse;
        uint32_t ranges = 1 + (uint32_t)rand() % 12;
        uint32_t gaps[ITEMS_MAX];
        uint32_t added = 0;

        box_init(&fine, ITEMS_MAX);
        random_fill(&fine.set, members);
        coarse = fine;
        coarse.set.items = coarse.items;
        topo_ranges_coarsen(&coarse.set, ranges);
        if (fine.set.count <= ranges) {
            check_same(&coarse.set, members);
            continue;
        }
        assert_int_equal(coarse.set.count, ranges);
        for (uint32_t n = 0; n < ORACLE_MAX; n++) {
            if (members[n])
                assert_true(has_number(&coarse.set, n));
        }
        /* The best choice, found by sorting: the narrowest gaps are closed. */
        for (uint32_t i = 0; i + 1 < fine.set.count; i++) {
            uint32_t gap = fine.items[i + 1].first - fine.items[i].last - 1;
            uint32_t at = i;

            for (; at > 0 && gaps[at - 1] > gap; at--)
                gaps[at] = gaps[at - 1];
            gaps[at] = gap;
        }
        for (uint32_t i = 0; i < fine.set.count - ranges; i++)
            added += gaps[i];
        assert_int_equal(topo_ranges_size(&coarse.set),
                         topo_ranges_size(&fine.set) + added);
    }
}

static void coarsening_at_the_far_end_does_not_overflow(void **state)
{
    struct topo_fault fault;
    char text[TEXT_MAX];
    struct box box;

    (void)state;
    assert_int_equal(box_parse(&box, "0,2,4294967294", &fault), 0);
    topo_ranges_coarsen(&box.set, 2);
    topo_ranges_format(&box.set, text, sizeof(text));
    assert_string_equal(text, "0-2,4294967294");
    topo_ranges_coarsen(&box.set, 1);
    topo_ranges_format(&box.set, text, sizeof(text));
    assert_string_equal(text, "0-4294967294");
    assert_int_equal(topo_ranges_size(&box.set), TOPO_NONE);
    assert_int_equal(topo_ranges_nth(&box.set, TOPO_NUMBER_MAX),
                     TOPO_NUMBER_MAX);
}

static unsigned seed_used;

static int setup(void **state)
{
    const char *given = getenv("XYLEM_TEST_SEED");

    seed_used = given != NULL ? (unsigned)strtoul(given, NULL, 10) : 20240611;
    print_message("seed %u (XYLEM_TEST_SEED chooses another)\n", seed_used);
    *state = &seed_used;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_fold_to_their_short_form),
        cmocka_unit_test(faults_name_their_position),
        cmocka_unit_test(a_nul_inside_a_list_is_a_fault),
        cmocka_unit_test(terms_bound_the_memory_a_list_needs),
        cmocka_unit_test(a_full_set_still_takes_what_joins),
        cmocka_unit_test(string_is_cut_where_the_buffer_ends),
        cmocka_unit_test(random_sets_equal_a_table),
        cmocka_unit_test(coarse_sets_are_the_smallest_supersets),
        cmocka_unit_test(coarsening_at_the_far_end_does_not_overflow),
    };

    return cmocka_run_group_tests(tests, setup, NULL);
}
