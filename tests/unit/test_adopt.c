/* A parent that adopts orphans: which ones it refuses and why, for which ones
 * it asks the root, and what moves when the root answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/lab.h"

static struct lab lab;

static struct ov_cfg adopt_cfg(uint32_t nodes)
{
    struct ov_cfg cfg = lab_cfg(nodes, 2);

    cfg.control_frames = 4;
    cfg.send_slots = OV_SEND_SLOTS_MAX; /* The transport always has room. */
    cfg.data_slots = OV_SEND_SLOTS_MAX - 1;
    return cfg;
}

/* Adds a child whose hello and welcome have these words. */
static void add_child(uint16_t link, uint32_t child, const char *hello,
                      const char *answer)
{
    seen(&lab, 0, CALLED(link, child));
    heard(&lab, 0, link, hello);
    if (answer != NULL)
        heard(&lab, 0, 0, answer);
}

/* Opens node 1 of a tree of 31, welcomed by the root. */
static void open_node(struct ov_cfg cfg)
{
    lab_open(&lab, cfg, 1);
    seen(&lab, 0, START);
    seen(&lab, 0, DIALLED(0, 0));
    heard(&lab, 0, 0, "welcome:#1 path:0 limit:4");
}

/* Opens the same node with 3 on L1 and 4 on L2, and 7 and 8 beneath 3. */
static void open_parent(struct ov_cfg cfg)
{
    open_node(cfg);
    add_child(1, 3, "hello:3#1", "answer:3#1");
    add_child(2, 4, "hello:4#1", "answer:4#1");
    heard(&lab, 0, 1, "ask:7#1<3 ask:8#1<3");
    assert_string_equal(heard(&lab, 0, 0, "answer:7#1 answer:8#1"),
                        "send:L1[answer:7#1 answer:8#1]");
}

/* Opens the root of a tree of 31, with 1 on L0, 2 on L1, and 3 and 7 beneath
 * 1. */
static void open_root(void)
{
    lab_open(&lab, adopt_cfg(31), 0);
    seen(&lab, 0, START);
    add_child(0, 1, "hello:1#1", NULL);
    add_child(1, 2, "hello:2#1", NULL);
    assert_string_equal(heard(&lab, 0, 0, "ask:3#1<1 ask:7#1<3"),
                        "send:L0[answer:3#1 answer:7#1]");
}

static const struct ov_member *member(uint32_t node)
{
    return ov_members_find(&lab.node->tree.members, node);
}

static const struct ov_place *place_of(uint32_t node)
{
    uint16_t place = member(node)->place;

    return place == OV_NO_PLACE ? NULL : &lab.node->tree.places[place];
}

/* --- refusals */

/* A node that was declared lost stays lost for ever, at every parent that knows
 * the loss. */
static void a_lost_node_is_refused(void **state)
{
    (void)state;
    open_parent(adopt_cfg(31));
    assert_string_equal(heard(&lab, 1, 0, "left:7!"), "send:L1[left:7!]");
    seen(&lab, 2, CALLED(3, 7));
    assert_string_equal(heard(&lab, 2, 3, "hello:7#2"),
                        "send:L3[refuse:#2!1] close:L3");
    assert_string_equal(heard(&lab, 2, 2, "ask:9#1<4"),
                        "send:L0[ask:9#1<4~0=0/0]");
    /* An ASK that comes by a child gets the same answer. */
    assert_string_equal(heard(&lab, 3, 0, "left:8!"), "send:L1[left:8!]");
    assert_string_equal(heard(&lab, 3, 1, "ask:8#2<3"),
                        "send:L1[answer:8#2!1]");
    lab_close(&lab);
}

/* A node without a parent accepts no orphan and no ASK. A node that has not
 * joined yet does, because it will have a parent. */
static void an_orphan_refuses(void **state)
{
    (void)state;
    open_parent(adopt_cfg(31));
    assert_string_equal(heard(&lab, 1, 2, "ask:9#1<4"),
                        "send:L0[ask:9#1<4~0=0/0]");
    assert_string_equal(seen(&lab, 1, ENDED(0)),
                        "orphan:0 send:L2[answer:9#1!2]");
    assert_string_equal(heard(&lab, 1, 2, "ask:10#1<4"),
                        "send:L2[answer:10#1!2]");
    seen(&lab, 1, CALLED(3, 7));
    assert_string_equal(heard(&lab, 1, 3, "hello:7#2"),
                        "send:L3[refuse:#2!2] close:L3");
    lab_close(&lab);
}

/* Frames that all nodes have consumed are no longer stored, here or above. An
 * orphan that has not received them goes to a node that has them; an orphan
 * that has received them is adopted. */
static void one_that_cannot_be_served_is_refused(void **state)
{
    (void)state;
    open_node(adopt_cfg(31));
    heard(&lab, 0, 0, "open:1w4:1-14");
    heard(&lab, 0, 0, "down:1.0(9)");
    heard(&lab, 0, 0, "down:1.1(9)");
    seen(&lab, 0, CONSUMED(0, 1, 0));
    assert_string_equal(seen(&lab, 0, CONSUMED(1, 2, 0)), "send:L0[base:1=2]");
    seen(&lab, 1, CALLED(1, 7));
    assert_string_equal(heard(&lab, 1, 1, "hello:7#2~0=0/0~1=0/2"),
                        "send:L1[refuse:#2!3] close:L1");
    seen(&lab, 1, CALLED(1, 7));
    assert_string_equal(heard(&lab, 1, 1, "hello:7#3~0=1/1~1=0/1"),
                        "send:L1[refuse:#3!3] close:L1");
    seen(&lab, 1, CALLED(1, 7));
    assert_string_equal(heard(&lab, 1, 1, "hello:7#4"),
                        "send:L1[refuse:#4!3] close:L1");
    /* The orphan knows a stream that this node does not know yet. */
    seen(&lab, 1, CALLED(1, 7));
    assert_string_equal(heard(&lab, 1, 1, "hello:7#5~0=1/2~1=2/2~2=0/1"),
                        "send:L1[refuse:#5!3] close:L1");
    seen(&lab, 1, CALLED(1, 7));
    assert_string_equal(heard(&lab, 1, 1, "hello:7#6~0=1/1~1=1/2"),
                        "send:L1[asked:#6] send:L0[ask:7#6<1~0=1/1~1=1/2]");
    lab_close(&lab);
}

/* A stream without targets beneath the orphan does not matter to the orphan. */
static void what_it_does_not_need_is_not_asked_for(void **state)
{
    (void)state;
    open_node(adopt_cfg(31));
    heard(&lab, 0, 0, "open:1w4:1-3");
    heard(&lab, 0, 0, "down:1.0(9)");
    seen(&lab, 0, CONSUMED(0, 1, 0));
    seen(&lab, 0, CONSUMED(1, 1, 0));
    seen(&lab, 1, CALLED(1, 7));
    assert_string_equal(heard(&lab, 1, 1, "hello:7#2~0=1/1~1=0/0"),
                        "send:L1[asked:#2] send:L0[ask:7#2<1~0=1/1~1=1/1]");
    lab_close(&lab);
}

/* A node accepts at most twice the arity of children; the root accepts all. */
static void a_full_parent_refuses(void **state)
{
    char words[32];

    (void)state;
    open_node(adopt_cfg(63));
    for (unsigned i = 0; i < 4; i++) {
        snprintf(words, sizeof(words), "hello:%u#2", 7 + i);
        add_child((uint16_t)(1 + i), 7 + i, words, NULL);
        assert_memory_equal(lab.text, "send:L", 6);
        assert_null(strstr(lab.text, "refuse"));
    }
    seen(&lab, 0, CALLED(5, 3));
    assert_string_equal(heard(&lab, 0, 5, "hello:3#2"),
                        "send:L5[refuse:#2!4] close:L5");
    /* A known child that dials again does not count twice. */
    seen(&lab, 0, CALLED(5, 8));
    assert_string_equal(heard(&lab, 0, 5, "hello:8#3"),
                        "close:L2 send:L5[asked:#3] "
                        "send:L0[ask:8#3<1~0=0/0]");
    lab_close(&lab);
    lab_open(&lab, adopt_cfg(63), 0);
    seen(&lab, 0, START);
    for (unsigned i = 0; i < 30; i++) {
        snprintf(words, sizeof(words), "hello:%u#2", 1 + i);
        seen(&lab, 0, CALLED((uint16_t)i, 1 + i));
        assert_non_null(strstr(heard(&lab, 0, (uint16_t)i, words), "welcome"));
    }
    lab_close(&lab);
}

/* The root knows the latest attachment number of each node: it refuses an older
 * claim, whichever way the claim comes. */
static void the_root_refuses_what_is_stale(void **state)
{
    (void)state;
    open_root();
    assert_string_equal(heard(&lab, 1, 0, "ask:3#5<1"), "send:L0[answer:3#5]");
    assert_string_equal(heard(&lab, 1, 0, "ask:3#5<1 ask:3#4<1 ask:3#6<1"),
                        "send:L0[answer:3#5!6 answer:3#4!6 answer:3#6]");
    seen(&lab, 2, CALLED(2, 3));
    assert_string_equal(heard(&lab, 2, 2, "hello:3#6"),
                        "send:L2[refuse:#6!6] close:L2");
    seen(&lab, 2, CALLED(2, 3));
    assert_string_equal(heard(&lab, 2, 2, "hello:3#7"),
                        "send:L2[welcome:#7 path:0 limit:4] send:L0[left:3]");
    lab_close(&lab);
}

/* --- what moves */

/* An orphan claims the nodes beneath it: the root strips from the claim nodes
 * that have moved meanwhile, and nodes beneath those. All others are beneath
 * the orphan, and nowhere else. */
static void the_root_strips_who_has_moved(void **state)
{
    (void)state;
    open_root();
    heard(&lab, 0, 0, "ask:8#1<3 ask:15#1<7 ask:16#1<7 ask:17#1<8");
    /* Node 8 has moved to 1, with its next attachment number; 17 has moved with
     * it. */
    assert_string_equal(heard(&lab, 1, 0, "ask:8#2<1+17#1<8"),
                        "send:L0[answer:8#2]");
    seen(&lab, 2, CALLED(2, 3));
    assert_string_equal(
        heard(&lab, 2, 2, "hello:3#2+7#1<3+8#1<3+15#1<7+16#2<7+17#1<8"),
        "send:L2[welcome:#2-8-16-17 path:0 limit:4] "
        "send:L0[left:3 left:7 left:15]");
    assert_int_equal(place_of(3)->child, 3);
    assert_int_equal(place_of(7)->child, 3);
    assert_int_equal(place_of(15)->child, 3);
    assert_int_equal(place_of(8)->child, 1);
    assert_int_equal(place_of(16)->child, 1);
    assert_int_equal(place_of(17)->child, 1);
    assert_int_equal(place_of(3)->members, 3);
    assert_int_equal(place_of(1)->members, 4);
    lab_close(&lab);
}

/* On its way down the answer moves the granted nodes at each node: a LEFT goes
 * to where they were. Nodes that are stripped stay where they are. */
static void an_answer_moves_whom_it_grants(void **state)
{
    (void)state;
    open_parent(adopt_cfg(31));
    heard(&lab, 0, 1, "ask:15#1<7");
    heard(&lab, 0, 0, "answer:15#1");
    seen(&lab, 1, CALLED(3, 7));
    assert_string_equal(heard(&lab, 1, 3, "hello:7#2+15#1<7"),
                        "send:L3[asked:#2] send:L0[ask:7#2<1+15#1<7~0=0/0]");
    assert_int_equal(place_of(7)->child, 3); /* no node has moved yet */
    assert_string_equal(heard(&lab, 2, 0, "answer:7#2-15"),
                        "send:L1[left:7] "
                        "send:L3[welcome:#2-15 path:1,0 limit:4]");
    assert_int_equal(place_of(7)->child, 7);
    assert_int_equal(place_of(15)->child, 3);
    lab_close(&lab);
}

/* A LEFT that names the child of a link ends the link; the other nodes beneath
 * it become a hold. */
static void left_of_the_child_itself_ends_its_link(void **state)
{
    (void)state;
    open_parent(adopt_cfg(31));
    assert_string_equal(heard(&lab, 1, 0, "left:3"), "close:L1");
    assert_null(place_of(3));
    assert_int_equal(place_of(7)->kind, OV_PLACE_HOLD_UNCLEAR);
    assert_int_equal(place_of(8)->members, 2);
    assert_string_equal(heard(&lab, 1, 0, "left:7,8"), "");
    assert_null(place_of(7));
    lab_close(&lab);
}

/* A child that is declared lost is told so before its link ends. */
static void a_child_that_is_declared_lost_is_told(void **state)
{
    (void)state;
    open_parent(adopt_cfg(31));
    assert_string_equal(heard(&lab, 1, 0, "left:3!"),
                        "send:L1[refuse:#1!1] close:L1");
    assert_int_equal(member(3)->state, OV_MEMBER_LOST);
    assert_int_equal(place_of(7)->kind, OV_PLACE_HOLD_UNCLEAR);
    lab_close(&lab);
}

/* --- addresses */

/* Each parent is told where the child listens, once the child is welcome, and
 * so is each new parent. */
static void a_parent_hears_where_those_beneath_its_children_listen(void **state)
{
    struct ov_event start = START;

    (void)state;
    lab_open(&lab, adopt_cfg(31), 1);
    start.buf = lab_buf(&lab);
    memcpy(start.buf->mem, "me", start.buf->len_bytes = 2);
    seen(&lab, 0, start);
    assert_string_equal(seen(&lab, 0, DIALLED(0, 0)),
                        "send:L0[hello:1#1~0=0/0 address:1=me]");
    heard(&lab, 0, 0, "welcome:#1 path:0 limit:4");
    seen(&lab, 0, CALLED(1, 3));
    assert_string_equal(heard(&lab, 0, 1, "hello:3#1 address:3=it"),
                        "address:3(it) send:L1[asked:#1] "
                        "send:L0[ask:3#1<1~0=0/0]");
    assert_string_equal(heard(&lab, 0, 0, "answer:3#1"),
                        "send:L1[welcome:#1 path:1,0 limit:4] "
                        "send:L0[address:3=it]");
    assert_string_equal(heard(&lab, 0, 1, "ask:7#1<3 address:7=more"),
                        "address:7(more) send:L0[ask:7#1<3~0=0/0]");
    seen(&lab, 1, ENDED(0));
    seen(&lab, 1000, TICK);
    seen(&lab, 1000, DIALLED(0, 0));
    assert_string_equal(heard(&lab, 1000, 0, "welcome:#2 path:0"),
                        "adopted:0 send:L0[address:3=it] "
                        "send:L1[path:1,0]");
    lab_close(&lab);
}

/* --- claims that are undone, and claims that are kept */

/* A refusal leaves everything as it was; the base, which had fallen for the
 * orphan, rises again. */
static void a_refused_claim_leaves_no_trace(void **state)
{
    (void)state;
    open_parent(adopt_cfg(31));
    heard(&lab, 0, 0, "app");
    seen(&lab, 0, CONSUMED(0, 1, 0));
    heard(&lab, 0, 1, "base:0=1");
    seen(&lab, 1, CALLED(3, 7));
    assert_string_equal(heard(&lab, 1, 3, "hello:7#2~0=0/1"),
                        "send:L3[asked:#2] send:L0[ask:7#2<1~0=0/1]");
    assert_string_equal(heard(&lab, 1, 2, "base:0=1"), "");
    assert_int_equal(ov_node_look(lab.node, 0).down_base, 0);
    assert_string_equal(heard(&lab, 2, 0, "answer:7#2!6"),
                        "send:L3[refuse:#2!6] close:L3 send:L0[base:0=1]");
    assert_int_equal(place_of(7)->child, 3);
    assert_int_equal(lab.node->tree.claims->asks[0].state, OV_ASK_FREE);
    lab_close(&lab);
}

/* The orphan's link ends before the answer comes: the nodes that it claimed are
 * held, and the answer confirms them there. */
static void a_hold_is_confirmed_by_a_later_answer(void **state)
{
    (void)state;
    open_parent(adopt_cfg(31));
    seen(&lab, 1, CALLED(3, 7));
    heard(&lab, 1, 3, "hello:7#2+15#1<7");
    assert_string_equal(seen(&lab, 2, ENDED(3)), "");
    assert_string_equal(heard(&lab, 3, 0, "answer:7#2"), "send:L1[left:7]");
    assert_int_equal(place_of(7)->kind, OV_PLACE_HOLD_UNCLEAR);
    assert_int_equal(place_of(7)->child, 7);
    assert_ptr_equal(place_of(15), place_of(7));
    assert_int_equal(place_of(7)->members, 2);
    assert_int_equal(place_of(7)->asks, 0);
    lab_close(&lab);
}

/* One node higher, the asks that came by a lost child stay with the hold of
 * that child. A refusal frees the hold when nothing else is in it. */
static void asks_of_a_lost_child_stay_with_its_hold(void **state)
{
    (void)state;
    open_parent(adopt_cfg(31));
    heard(&lab, 1, 2, "ask:9#1<4 ask:10#1<4");
    assert_string_equal(seen(&lab, 2, ENDED(2)), "probe:4");
    assert_string_equal(heard(&lab, 3, 0, "answer:9#1 answer:10#1!2"), "");
    assert_int_equal(place_of(9)->kind, OV_PLACE_HOLD_UNCLEAR);
    assert_int_equal(place_of(9)->members, 2); /* the members are 4 and 9 */
    assert_int_equal(place_of(9)->asks, 0);
    assert_null(place_of(10));
    assert_string_equal(heard(&lab, 4, 0, "left:4,9"), "");
    for (unsigned i = 0; i < lab.node->tree.places_used; i++)
        assert_true(lab.node->tree.places[i].kind <= OV_PLACE_LINK);
    lab_close(&lab);
}

/* Nodes move between two asks for the same node: each answer is matched with
 * its own ask. */
static void two_asks_of_one_node_are_told_apart(void **state)
{
    (void)state;
    open_parent(adopt_cfg(31));
    seen(&lab, 1, CALLED(3, 9));
    assert_string_equal(heard(&lab, 1, 3, "hello:9#1"),
                        "send:L3[asked:#1] send:L0[ask:9#1<1~0=0/0]");
    assert_string_equal(heard(&lab, 1, 2, "ask:9#2<4"),
                        "send:L0[ask:9#2<4~0=0/0]");
    assert_string_equal(heard(&lab, 2, 0, "answer:9#2"), "send:L2[answer:9#2]");
    assert_int_equal(place_of(9)->child, 4);
    assert_string_equal(heard(&lab, 2, 0, "answer:9#1!6"),
                        "send:L3[refuse:#1!6] close:L3");
    assert_int_equal(place_of(9)->child, 4);
    lab_close(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lost_node_is_refused),
        cmocka_unit_test(an_orphan_refuses),
        cmocka_unit_test(one_that_cannot_be_served_is_refused),
        cmocka_unit_test(what_it_does_not_need_is_not_asked_for),
        cmocka_unit_test(a_full_parent_refuses),
        cmocka_unit_test(the_root_refuses_what_is_stale),
        cmocka_unit_test(the_root_strips_who_has_moved),
        cmocka_unit_test(an_answer_moves_whom_it_grants),
        cmocka_unit_test(left_of_the_child_itself_ends_its_link),
        cmocka_unit_test(a_child_that_is_declared_lost_is_told),
        cmocka_unit_test(
            a_parent_hears_where_those_beneath_its_children_listen),
        cmocka_unit_test(a_refused_claim_leaves_no_trace),
        cmocka_unit_test(a_hold_is_confirmed_by_a_later_answer),
        cmocka_unit_test(asks_of_a_lost_child_stay_with_its_hold),
        cmocka_unit_test(two_asks_of_one_node_are_told_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
