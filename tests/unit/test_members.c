/* The table of members and its lists, against a table without cleverness. */
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

/* A power of two with room for half as many again, so that probing ends. */
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

/* Adding twice finds; a full table says no and keeps what it has. */
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

/* The mark of an empty entry is nobody's number. */
static void no_number_is_never_a_member(void **state)
{
    (void)state;
    open_members(2);
    assert_null(ov_members_find(&members, TOPO_NONE));
    assert_null(ov_members_add(&members, TOPO_NONE));
    assert_int_equal(members.count, 0);
    close_members();
}

/* One thing due after another: asks and the words for children are lists of
 * their own, in the order in which they became due, each member once. */
static void due_lists_keep_order_and_count_once(void **state)
{
    struct ov_member_list asks = {OV_NO_MEMBER, OV_NO_MEMBER}, due = asks;
    struct ov_member *a, *b, *c;

    (void)state;
    open_members(3);
    a = ov_members_add(&members, 1);
    b = ov_members_add(&members, 2);
    c = ov_members_add(&members, 3);
    ov_members_due(&members, &asks, b, OV_DUE_ASK);
    ov_members_due(&members, &due, c, OV_DUE_ACK);
    ov_members_due(&members, &asks, a, OV_DUE_ASK);
    ov_members_due(&members, &due, b, OV_DUE_ANSWER);
    ov_members_due(&members, &due, c, OV_DUE_ANSWER);
    ov_members_due(&members, &asks, b, OV_DUE_ASK);
    assert_ptr_equal(ov_members_pop(&members, &asks, true), b);
    assert_ptr_equal(ov_members_pop(&members, &asks, true), a);
    assert_null(ov_members_pop(&members, &asks, true));
    assert_ptr_equal(ov_members_pop(&members, &due, false), c);
    assert_int_equal(c->due, OV_DUE_ACK | OV_DUE_ANSWER);
    assert_ptr_equal(ov_members_pop(&members, &due, false), b);
    assert_int_equal(b->due, OV_DUE_ASK | OV_DUE_ANSWER);
    assert_null(ov_members_pop(&members, &due, false));
    close_members();
}

/* --- against the oracle */

enum { NODES = 400, ROOM = 250, LISTS = 3, STEPS = 200000 };

struct oracle {
    bool is_in[NODES];
    uint32_t count;
    uint8_t due[NODES];
    uint16_t place[NODES];           /* which list of words the node is in */
    uint32_t line[LISTS + 1][NODES]; /* the last one: asks */
    uint32_t len[LISTS + 1];
};

static struct oracle oracle;
static struct ov_member_list lists[LISTS + 1];
static const uint8_t down_kinds = OV_DUE_ANSWER | OV_DUE_ACK;

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

static void step_due(uint32_t node, enum ov_member_due due)
{
    struct ov_member *member = ov_members_find(&members, node);
    bool is_ask = due == OV_DUE_ASK;
    uint16_t list = is_ask ? LISTS : oracle.place[node];
    uint8_t kinds = is_ask ? OV_DUE_ASK : down_kinds;

    if (member == NULL)
        return;
    if ((oracle.due[node] & kinds) == 0)
        oracle.line[list][oracle.len[list]++] = node;
    oracle.due[node] = (uint8_t)(oracle.due[node] | due);
    ov_members_due(&members, &lists[list], member, due);
}

static void step_pop(uint16_t list)
{
    bool is_asks = list == LISTS;
    struct ov_member *member = ov_members_pop(&members, &lists[list], is_asks);
    uint8_t kinds = is_asks ? OV_DUE_ASK : down_kinds;
    uint32_t node = oracle.line[list][0];

    if (oracle.len[list] == 0) {
        assert_null(member);
        return;
    }
    assert_non_null(member);
    assert_int_equal(member->node, node);
    assert_int_equal(member->due, oracle.due[node]);
    member->due = (uint8_t)(member->due & ~kinds);
    oracle.due[node] = (uint8_t)(oracle.due[node] & ~kinds);
    oracle.len[list]--;
    memmove(oracle.line[list], oracle.line[list] + 1,
            oracle.len[list] * sizeof(node));
}

/* Every find, every count and every pop agrees, over a long random run. */
static void random_runs_agree_with_the_oracle(void **state)
{
    struct chance chance = chance_start(3);

    (void)state;
    open_members(ROOM);
    for (unsigned i = 0; i <= LISTS; i++)
        lists[i] = (struct ov_member_list){OV_NO_MEMBER, OV_NO_MEMBER};
    for (uint32_t node = 0; node < NODES; node++)
        oracle.place[node] = (uint16_t)chance_in(&chance, 0, LISTS - 1);
    for (unsigned i = 0; i < STEPS; i++) {
        uint32_t node = chance_in(&chance, 0, NODES - 1);
        struct ov_member *member = ov_members_find(&members, node);

        assert_int_equal(member != NULL, oracle.is_in[node]);
        assert_true(member == NULL || member->node == node);
        switch (chance_in(&chance, 0, 5)) {
        case 0:
            step_add(node);
            break;
        case 1:
            step_due(node, OV_DUE_ASK);
            break;
        case 2:
            step_due(node, OV_DUE_ANSWER);
            break;
        case 3:
            step_due(node, OV_DUE_ACK);
            break;
        default:
            step_pop((uint16_t)chance_in(&chance, 0, LISTS));
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
