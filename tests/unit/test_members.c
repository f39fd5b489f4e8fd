/* The table of members and its lists, compared with a simple table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/members.h"
#include "tests/unit/chance.h"
#include "topo/tree.h"

static struct ov_members members;

static void open_members(uint32_t room)
{
    struct ov_member *table =
        calloc(room > 0 ? ov_members_entries(room) : 1, sizeof(*table));

    assert_non_null(table);
    ov_members_init(&members, table, room);
}

static void close_members(void)
{
    free(members.table);
}

/* The size is a power of two with room for half as many again, so that a search
 * ends. */
static void a_table_has_entries_to_spare(void **state)
{
    (void)state;
    for (uint32_t room = 0; room < 5000; room++) {
        uint32_t entries = ov_members_entries(room);

        assert_int_equal(entries & (entries - 1), 0);
        assert_true(entries > room);
        assert_true(entries <= 4 * room + 1);
    }
}

static void a_table_without_room_holds_nobody(void **state)
{
    (void)state;
    open_members(0);
    assert_null(ov_members_find(&members, 1));
    assert_null(ov_members_add(&members, 1));
    close_members();
}

/* Adding a member twice finds it; a full table refuses and keeps its
 * members. */
static void a_full_table_takes_nobody_more(void **state)
{
    (void)state;
    open_members(3);
    for (uint32_t node = 10; node < 13; node++) {
        struct ov_member *member = ov_members_add(&members, node);

        assert_non_null(member);
        assert_int_equal(member->node, node);
        assert_int_equal(member->state, OV_MEMBER_ABSENT);
        assert_ptr_equal(ov_members_add(&members, node), member);
        assert_ptr_equal(&members.table[ov_members_index(&members, member)],
                         member);
    }
    assert_int_equal(members.count, 3);
    assert_null(ov_members_add(&members, 13));
    assert_null(ov_members_find(&members, 13));
    for (uint32_t node = 10; node < 13; node++)
        assert_non_null(ov_members_find(&members, node));
    close_members();
}

/* The value of an empty entry is not the number of a member. */
static void no_number_is_never_a_member(void **state)
{
    (void)state;
    open_members(2);
    assert_null(ov_members_find(&members, TOPO_NONE));
    assert_null(ov_members_add(&members, TOPO_NONE));
    assert_int_equal(members.count, 0);
    close_members();
}

/* Members with an acknowledgement due are in lists, in the order in which it
 * became due; a member is in one list only, once. */
static void due_lists_keep_order_and_count_once(void **state)
{
    struct ov_member_list one = {OV_NONE, OV_NONE}, two = one;
    struct ov_member *a, *b, *c;

    (void)state;
    open_members(3);
    a = ov_members_add(&members, 1);
    b = ov_members_add(&members, 2);
    c = ov_members_add(&members, 3);
    ov_members_due(&members, &one, b);
    ov_members_due(&members, &two, c);
    ov_members_due(&members, &one, a);
    ov_members_due(&members, &one, b);
    ov_members_due(&members, &two, b); /* the member is in another list */
    assert_true(a->is_ack_due && b->is_ack_due && c->is_ack_due);
    assert_ptr_equal(ov_members_pop(&members, &one), b);
    assert_false(b->is_ack_due);
    ov_members_due(&members, &one, b);
    assert_ptr_equal(ov_members_pop(&members, &one), a);
    assert_ptr_equal(ov_members_pop(&members, &one), b);
    assert_null(ov_members_pop(&members, &one));
    assert_ptr_equal(ov_members_pop(&members, &two), c);
    assert_null(ov_members_pop(&members, &two));
    close_members();
}

/* --- comparison with a simple table */

enum { NODES = 400, ROOM = 250, LISTS = 3, STEPS = 200000 };

struct oracle {
    bool is_in[NODES];
    uint32_t count;
    bool is_due[NODES];
    uint16_t place[NODES]; /* the number of the list with this node */
    uint32_t line[LISTS][NODES];
    uint32_t len[LISTS];
};

static struct oracle oracle;
static struct ov_member_list lists[LISTS];

static void step_add(uint32_t node)
{
    struct ov_member *member = ov_members_add(&members, node);

    if (!oracle.is_in[node] && oracle.count == ROOM) {
        assert_null(member);
        return;
    }
    assert_non_null(member);
    oracle.count += !oracle.is_in[node];
    oracle.is_in[node] = true;
}

static void step_due(uint32_t node)
{
    struct ov_member *member = ov_members_find(&members, node);
    uint16_t list = oracle.place[node];

    if (member == NULL)
        return;
    if (!oracle.is_due[node])
        oracle.line[list][oracle.len[list]++] = node;
    oracle.is_due[node] = true;
    ov_members_due(&members, &lists[list], member);
}

static void step_pop(uint16_t list)
{
    struct ov_member *member = ov_members_pop(&members, &lists[list]);
    uint32_t node = oracle.line[list][0];

    if (oracle.len[list] == 0) {
        assert_null(member);
        return;
    }
    assert_non_null(member);
    assert_int_equal(member->node, node);
    oracle.is_due[node] = false;
    oracle.len[list]--;
    memmove(oracle.line[list], oracle.line[list] + 1,
            oracle.len[list] * sizeof(node));
}

/* Every search, count and pop agrees over a long random run. */
static void random_runs_agree_with_the_oracle(void **state)
{
    struct chance chance = chance_start(3);

    (void)state;
    open_members(ROOM);
    for (unsigned i = 0; i < LISTS; i++)
        lists[i] = (struct ov_member_list){OV_NONE, OV_NONE};
    for (uint32_t node = 0; node < NODES; node++)
        oracle.place[node] = (uint16_t)chance_in(&chance, 0, LISTS - 1);
    for (unsigned i = 0; i < STEPS; i++) {
        uint32_t node = chance_in(&chance, 0, NODES - 1);
        struct ov_member *member = ov_members_find(&members, node);

        assert_int_equal(member != NULL, oracle.is_in[node]);
        assert_true(member == NULL ||
                    (member->node == node &&
                     member->is_ack_due == oracle.is_due[node]));
        switch (chance_in(&chance, 0, 3)) {
        case 0:
            step_add(node);
            break;
        case 1:
        case 2:
            step_due(node);
            break;
        default:
            step_pop((uint16_t)chance_in(&chance, 0, LISTS - 1));
            break;
        }
        assert_int_equal(members.count, oracle.count);
    }
    close_members();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_has_entries_to_spare),
        cmocka_unit_test(a_table_without_room_holds_nobody),
        cmocka_unit_test(a_full_table_takes_nobody_more),
        cmocka_unit_test(no_number_is_never_a_member),
        cmocka_unit_test(due_lists_keep_order_and_count_once),
        cmocka_unit_test(random_runs_agree_with_the_oracle),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
