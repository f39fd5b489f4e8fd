/* The second witness: a neighbour that refuses connections from a node is given
 * up when another node is refused, too, or when no other could be asked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/lab.h"

static struct lab lab;

static struct ov_cfg witness_cfg(void)
{
    struct ov_cfg cfg = lab_cfg(15, 2);

    cfg.control_frames = 4;
    cfg.send_slots = OV_SEND_SLOTS_MAX; /* The transport always has room. */
    cfg.data_slots = OV_SEND_SLOTS_MAX - 1;
    return cfg;
}

static void add_child(uint16_t link, const char *hello, uint32_t child,
                      const char *answer)
{
    seen(&lab, 0, CALLED(link, child));
    heard(&lab, 0, link, hello);
    if (answer != NULL)
        heard(&lab, 0, 0, answer);
}

/* Opens node 1 with 3 on L1, beneath which is 7, and 4 on L2. */
static void open_node(void)
{
    lab_open(&lab, witness_cfg(), 1);
    seen(&lab, 0, START);
    seen(&lab, 0, DIALLED(0, 0));
    heard(&lab, 0, 0, "welcome:#1 path:0 limit:4");
    add_child(1, "hello:3#1", 3, "answer:3#1");
    add_child(2, "hello:4#1", 4, "answer:4#1");
    heard(&lab, 0, 1, "ask:7#5<3");
    heard(&lab, 0, 0, "answer:7#5");
    heard(&lab, 0, 1, "address:7=there");
}

/* Opens the root with 1 on L0 and 2 on L1. */
static void open_root(void)
{
    lab_open(&lab, witness_cfg(), 0);
    seen(&lab, 0, START);
    add_child(0, "hello:1#1", 1, NULL);
    add_child(1, "hello:2#1", 2, NULL);
}

/* Makes the event that a node refused a dial, with the address where it
 * listened. */
static struct ov_event refused(uint32_t who, const char *address)
{
    struct ov_event ev = PROBED(who, true);

    ev.buf = lab_buf(&lab);
    ev.buf->len_bytes = (uint32_t)strlen(address);
    memcpy(ev.buf->mem, address, ev.buf->len_bytes);
    return ev;
}

/* Returns the words of a step except beats: neighbours are never silent
 * here. */
static const char *at(uint64_t ms)
{
    for (uint16_t link = 0; link < ov_node_links(lab.node); link++) {
        lab.node->links[link].heard_ns = ms * LAB_MS_NS;
        lab.node->links[link].spoke_ns = ms * LAB_MS_NS;
    }
    return seen(&lab, ms, TICK);
}

/* --- nodes that ask */

/* The parent is asked at once; when it is refused, too, the child is treated as
 * one whose death is known. */
static void two_refusals_are_enough(void **state)
{
    (void)state;
    open_node();
    assert_string_equal(seen(&lab, 0, ENDED(1)), "probe:3");
    assert_string_equal(seen(&lab, 1, refused(3, "at3")),
                        "send:L0[look:3#1=at3]");
    assert_string_equal(heard(&lab, 2, 0, "seen:3#1!"), "");
    assert_string_equal(at(499), "");
    assert_string_equal(at(500), "probe:7 send:L0[missing:3#1]");
    lab_close(&lab);
}

/* When the parent is not refused, the child is dialled and the parent asked
 * again and again, until both are refused or the adoption time has passed. */
static void one_refusal_is_a_hint(void **state)
{
    (void)state;
    open_node();
    seen(&lab, 0, ENDED(1));
    seen(&lab, 1, refused(3, "at3"));
    assert_string_equal(heard(&lab, 2, 0, "seen:3#1"), "");
    assert_string_equal(at(500), "probe:3 probe:7");
    seen(&lab, 500, PROBED(7, false));
    assert_string_equal(seen(&lab, 501, refused(3, "at3")),
                        "send:L0[look:3#1=at3]");
    assert_string_equal(at(1500), "probe:3 probe:7");
    seen(&lab, 1500, refused(3, "at3"));
    assert_string_equal(heard(&lab, 1501, 0, "seen:3#1!"), "");
    assert_string_equal(at(2001), "probe:7 send:L0[missing:3#1]");
    lab_close(&lab);

    open_node();
    seen(&lab, 0, ENDED(1));
    seen(&lab, 1, refused(3, "at3"));
    assert_string_equal(at(34999), "probe:3 probe:7");
    assert_string_equal(at(35000), "send:L0[missing:3#1,7#5]");
    lab_close(&lab);
}

/* Second witnesses are asked for nodes beneath the child, too. */
static void those_beneath_have_a_second_witness_too(void **state)
{
    (void)state;
    open_node();
    seen(&lab, 0, ENDED(1));
    seen(&lab, 1, refused(3, "at3"));
    heard(&lab, 2, 0, "seen:3#1!");
    at(500);
    heard(&lab, 500, 0, "left:3!");
    assert_string_equal(seen(&lab, 501, refused(7, "there")),
                        "send:L0[look:7#5=there]");
    assert_string_equal(at(1000), "");
    assert_string_equal(at(1500), "probe:7");
    assert_string_equal(heard(&lab, 1501, 0, "seen:7#5!"), "");
    assert_string_equal(at(2001), "send:L0[missing:7#5]");
    lab_close(&lab);
}

/* An answer about an earlier dial, or one that is not waited for, does not
 * count. */
static void other_answers_count_for_nothing(void **state)
{
    (void)state;
    open_node();
    assert_string_equal(heard(&lab, 0, 0, "seen:4#1!"), "");
    assert_string_equal(heard(&lab, 0, 0, "seen:14#1!"), "");
    seen(&lab, 0, ENDED(1));
    assert_string_equal(heard(&lab, 1, 0, "seen:3#1!"), "");
    seen(&lab, 1, refused(3, "at3"));
    assert_string_equal(heard(&lab, 2, 0, "seen:3#2!"), "");
    assert_string_equal(at(500), "probe:3 probe:7");
    lab_close(&lab);
}

/* Without a parent no neighbour is asked, and none given up: there will be a
 * parent. */
static void an_orphan_asks_later(void **state)
{
    (void)state;
    open_node();
    seen(&lab, 0, ENDED(1));
    seen(&lab, 0, ENDED(0));
    assert_string_equal(seen(&lab, 1, refused(3, "at3")), "");
    assert_false(ov_members_find(&lab.node->tree.members, 3)->is_seconded);
    lab_close(&lab);
}

/* The root asks its children in turn, except the one that refuses; when there
 * is no other child the root decides alone. */
static void the_root_asks_another_child(void **state)
{
    (void)state;
    open_root();
    seen(&lab, 0, ENDED(0));
    assert_string_equal(seen(&lab, 1, refused(1, "at1")),
                        "send:L1[look:1#1=at1]");
    assert_string_equal(heard(&lab, 2, 1, "seen:1#1"), "");
    assert_string_equal(at(500), "probe:1");
    assert_string_equal(seen(&lab, 501, refused(1, "at1")),
                        "send:L1[look:1#1=at1]");
    assert_string_equal(heard(&lab, 502, 1, "seen:1#1!"), "");
    assert_string_equal(at(1002), "lost:1");
    lab_close(&lab);

    open_root();
    seen(&lab, 0, ENDED(0));
    seen(&lab, 0, ENDED(1));
    assert_string_equal(seen(&lab, 1, refused(1, "at1")), "");
    assert_string_equal(at(500), "lost:1 probe:2");
    lab_close(&lab);
}

/* A link that ends takes the question along, and its buffer. */
static void the_question_goes_with_its_link(void **state)
{
    (void)state;
    open_node();
    seen(&lab, 0, ENDED(1));
    while (lab.node->links[0].in_flight < OV_SEND_SLOTS_MAX)
        ov_link_on_send(&lab.node->links[0], false, 0);
    assert_string_equal(seen(&lab, 1, refused(3, "at3")), "");
    assert_string_equal(seen(&lab, 1, refused(3, "at3")), "");
    assert_memory_equal(seen(&lab, 1, ENDED(0)), "orphan:0", 8);
    lab_close(&lab);
}

/* --- nodes that are asked */

/* The driver is told the address to probe, and the answer goes back where the
 * question came from. */
static void a_witness_looks_and_tells(void **state)
{
    (void)state;
    open_node();
    assert_string_equal(heard(&lab, 1, 1, "look:7#5=there"),
                        "address:7(there) probe:7#5(L1)");
    assert_string_equal(seen(&lab, 2, PROBED_FOR(1, 7, 5, true)),
                        "send:L1[seen:7#5!]");
    assert_string_equal(heard(&lab, 3, 0, "look:2#1=at2"),
                        "address:2(at2) probe:2#1(L0)");
    assert_string_equal(seen(&lab, 4, PROBED_FOR(0, 2, 1, false)),
                        "send:L0[seen:2#1]");
    seen(&lab, 5, ENDED(1));
    assert_string_equal(seen(&lab, 6, PROBED_FOR(1, 7, 5, true)), "");
    lab_close(&lab);
}

/* A child may ask about nodes beneath it, a parent about any other node. */
static void a_question_that_is_none_ends_the_link(void **state)
{
    static const struct {
        uint16_t link;
        const char *words;
    } wrong[] = {{1, "look:3#1=at3"},  {1, "look:4#1=at4"}, {1, "look:0#1=at0"},
                 {0, "look:1#1=at1"},  {0, "look:0#1=at0"}, {1, "look:7#0=at"},
                 {0, "look:15#1=at9"}, {1, "look:7#5="}};

    (void)state;
    for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char close[16];

        open_node();
        snprintf(close, sizeof(close), "close:L%u", (unsigned)wrong[i].link);
        assert_memory_equal(heard(&lab, 1, wrong[i].link, wrong[i].words),
                            close, strlen(close));
        lab_close(&lab);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_refusals_are_enough),
        cmocka_unit_test(one_refusal_is_a_hint),
        cmocka_unit_test(those_beneath_have_a_second_witness_too),
        cmocka_unit_test(other_answers_count_for_nothing),
        cmocka_unit_test(an_orphan_asks_later),
        cmocka_unit_test(the_root_asks_another_child),
        cmocka_unit_test(the_question_goes_with_its_link),
        cmocka_unit_test(a_witness_looks_and_tells),
        cmocka_unit_test(a_question_that_is_none_ends_the_link),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
