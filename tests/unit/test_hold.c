/* Holds: a node beneath a lost child is asked about, found elsewhere, or given
 * up; only the root gives nodes up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/lab.h"

static struct lab lab;

/* No node falls silent: only the times of holds matter, which are those for a
 * heartbeat of 10 s. */
static struct ov_cfg hold_cfg(void)
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

/* Opens node 1 with 3 on L1, 4 on L2, and 7 and 8 beneath 3. */
static void open_node(void)
{
    lab_open(&lab, hold_cfg(), 1);
    seen(&lab, 0, START);
    seen(&lab, 0, DIALLED(0, 0));
    heard(&lab, 0, 0, "welcome:#1 path:0 limit:4");
    add_child(1, "hello:3#1", 3, "answer:3#1");
    add_child(2, "hello:4#1", 4, "answer:4#1");
    heard(&lab, 0, 1, "ask:7#5<3 ask:8#6<3");
    heard(&lab, 0, 0, "answer:7#5 answer:8#6");
}

/* Opens the root with 1 on L0, 2 on L1, and all others beneath these. */
static void open_root(void)
{
    char words[64];

    lab_open(&lab, hold_cfg(), 0);
    seen(&lab, 0, START);
    add_child(0, "hello:1#1", 1, NULL);
    add_child(1, "hello:2#1", 2, NULL);
    for (unsigned n = 3; n < 15; n++) {
        unsigned top = n;

        while (top > 2)
            top = (top - 1) / 2;
        snprintf(words, sizeof(words), "ask:%u#1<%u", n, (n - 1) / 2);
        heard(&lab, 0, (uint16_t)(top - 1), words);
    }
    assert_string_equal(lab.text, "joined send:L1[answer:14#1]");
}

/* Lets time pass up to `until_ms`. Frames come from all neighbours now and
 * then, so that none is silent. Returns the actions except beats, in one
 * line. */
static const char *pass(uint64_t *ms, uint64_t until_ms)
{
    static char seen_words[LAB_TEXT_BYTES];

    seen_words[0] = '\0';
    while (*ms < until_ms) {
        *ms = until_ms - *ms > 250 ? *ms + 250 : until_ms;
        for (uint16_t link = 0; link < ov_node_links(lab.node); link++) {
            if (lab.node->links[link].state == OV_LINK_FREE)
                continue;
            lab.node->links[link].heard_ns = *ms * LAB_MS_NS;
            lab.node->links[link].spoke_ns = *ms * LAB_MS_NS;
        }
        if (seen(&lab, *ms, TICK)[0] == '\0')
            continue;
        if (seen_words[0] != '\0')
            strcat(seen_words, " ");
        strcat(seen_words, lab.text);
    }
    return seen_words;
}

static const struct ov_member *member(uint32_t node)
{
    return ov_members_find(&lab.node->tree.members, node);
}

static bool has_holds(void)
{
    for (unsigned i = 0; i < lab.node->tree.places_used; i++) {
        if (lab.node->tree.places[i].kind > OV_PLACE_LINK)
            return true;
    }
    return false;
}

/* --- when questions are asked */

/* Nothing listens at the child's address: the node asks about the child after
 * half a second, and again after twice that time, and about nodes beneath it
 * after the adoption time of 35 s. */
static void a_refused_child_is_asked_about_soon(void **state)
{
    uint64_t ms = 1000;

    (void)state;
    open_node();
    pass(&(uint64_t){0}, 1000);
    assert_string_equal(seen(&lab, ms, ENDED(1)), "probe:3");
    assert_string_equal(seen(&lab, ms, PROBED(3, true)), "");
    assert_string_equal(pass(&ms, 1499), "");
    assert_string_equal(pass(&ms, 1500), "send:L0[missing:3#1]");
    assert_string_equal(pass(&ms, 2499), "");
    assert_string_equal(pass(&ms, 2500), "send:L0[missing:3#1]");
    assert_string_equal(heard(&lab, ms, 0, "left:3!"), "");
    assert_string_equal(pass(&ms, 35999), "");
    assert_string_equal(pass(&ms, 36000), "send:L0[missing:8#6,7#5]");
    assert_string_equal(pass(&ms, 45999), "");
    assert_string_equal(pass(&ms, 46000), "send:L0[missing:8#6,7#5]");
    assert_string_equal(heard(&lab, ms, 0, "left:7 left:8!"), "");
    assert_false(has_holds());
    lab_close(&lab);
}

/* A node beneath a dead child that has not turned up when the child is asked
 * about is dialled at its address. If that dial is refused, the node is asked
 * about half a second later, long before the adoption time, even when the child
 * has gone. */
static void those_beneath_a_dead_child_are_dialled(void **state)
{
    uint64_t ms = 1000;

    (void)state;
    open_node();
    assert_string_equal(heard(&lab, 0, 1, "address:7=there"),
                        "address:7(there)");
    pass(&(uint64_t){0}, 1000);
    seen(&lab, ms, ENDED(1));
    assert_string_equal(seen(&lab, ms, PROBED(3, true)), "");
    assert_string_equal(pass(&ms, 1499), "");
    assert_string_equal(pass(&ms, 1500), "probe:7 send:L0[missing:3#1]");
    assert_string_equal(heard(&lab, ms, 0, "left:3!"), "");
    assert_string_equal(seen(&lab, ms, PROBED(7, true)), "");
    assert_string_equal(pass(&ms, 1999), "");
    assert_string_equal(pass(&ms, 2000), "send:L0[missing:7#5]");
    assert_string_equal(pass(&ms, 3000), "send:L0[missing:7#5]");
    assert_string_equal(heard(&lab, ms, 0, "left:7!"), "");
    assert_string_equal(pass(&ms, 35999), "");
    assert_string_equal(pass(&ms, 36000), "send:L0[missing:8#6]");
    lab_close(&lab);
}

/* A node that answers is dialled again after each attempt time, and asked about
 * together with all others. While its child may be alive, no node beneath it is
 * dialled. */
static void those_who_answer_are_waited_for(void **state)
{
    uint64_t ms = 0;

    (void)state;
    open_node();
    heard(&lab, 0, 1, "address:7=there");
    seen(&lab, ms, ENDED(1));
    assert_string_equal(pass(&ms, 2999), "probe:3");
    assert_string_equal(pass(&ms, 3000), "probe:3");
    seen(&lab, ms, PROBED(3, true));
    assert_string_equal(pass(&ms, 3500), "probe:7 send:L0[missing:3#1]");
    seen(&lab, ms, PROBED(7, false));
    assert_string_equal(heard(&lab, ms, 0, "left:3!"), "");
    assert_string_equal(pass(&ms, 4500), "probe:7");
    assert_string_equal(pass(&ms, 6999), "");
    assert_string_equal(pass(&ms, 7000), "probe:7");
    seen(&lab, ms, CALLED(1, 7));
    heard(&lab, ms, 1, "hello:7#6");
    heard(&lab, ms, 0, "answer:7#6");
    assert_string_equal(seen(&lab, ms, PROBED(7, true)), "");
    assert_string_equal(pass(&ms, 34999), "");
    assert_string_equal(pass(&ms, 35000), "send:L0[missing:8#6]");
    lab_close(&lab);
}

/* When a dial is accepted, or gets no answer at all, no node is asked about
 * before the adoption time; the address is probed again and again. */
static void an_unclear_child_is_probed(void **state)
{
    uint64_t ms = 0;

    (void)state;
    open_node();
    assert_string_equal(seen(&lab, ms, ENDED(1)), "probe:3");
    seen(&lab, ms, PROBED(3, false));
    assert_string_equal(pass(&ms, 499), "");
    assert_string_equal(pass(&ms, 500), "probe:3");
    assert_string_equal(pass(&ms, 2999), "");
    assert_string_equal(pass(&ms, 3000), "probe:3");
    assert_string_equal(pass(&ms, 3100), "");
    seen(&lab, ms, PROBED(3, true)); /* the child no longer listens */
    assert_string_equal(pass(&ms, 3599), "");
    assert_string_equal(pass(&ms, 3600), "send:L0[missing:3#1]");
    lab_close(&lab);
}

/* A node that came back in time is in no hold. */
static void nobody_asks_about_who_came_back(void **state)
{
    uint64_t ms = 0;

    (void)state;
    open_node();
    seen(&lab, ms, ENDED(1));
    seen(&lab, ms, CALLED(1, 3));
    heard(&lab, ms, 1, "hello:3#2+7#5<3+8#6<3");
    assert_memory_equal(heard(&lab, ms, 0, "answer:3#2"), "send:L1[welc", 12);
    assert_false(has_holds());
    assert_string_equal(pass(&ms, 50000), "");
    lab_close(&lab);
}

/* --- questions of other nodes */

/* A question about a node that is elsewhere, or nowhere, is answered at once. A
 * question about a node in the branch from which the question comes is passed
 * upward. The number in it must be the known one. */
static void a_question_is_answered_or_passed_on(void **state)
{
    (void)state;
    open_node();
    heard(&lab, 0, 2, "ask:9#1<4");
    heard(&lab, 0, 0, "answer:9#1");
    assert_string_equal(heard(&lab, 1, 1, "missing:9#1,7#5,10#1"),
                        "send:L1[left:9 left:10] send:L0[missing:7#5]");
    assert_string_equal(heard(&lab, 1, 1, "missing:7#4,8#7"), "");
    assert_string_equal(heard(&lab, 1, 0, "left:7"), "send:L1[left:7]");
    assert_string_equal(heard(&lab, 1, 1, "missing:7#5"), "send:L1[left:7]");
    lab_close(&lab);
}

/* While an ask for a node is pending, questions about it wait, our own and
 * those of others: the answer to the ask may answer them. */
static void a_question_waits_for_a_pending_ask(void **state)
{
    uint64_t ms = 0;

    (void)state;
    open_node();
    seen(&lab, ms, CALLED(3, 7));
    heard(&lab, ms, 3, "hello:7#6");
    assert_string_equal(heard(&lab, ms, 1, "missing:7#5"), "");
    heard(&lab, ms, 2, "ask:9#1<4");
    assert_string_equal(heard(&lab, ms, 1, "missing:9#1"), "");
    heard(&lab, ms, 0, "answer:9#1");
    assert_string_equal(heard(&lab, ms, 1, "missing:9#1"), "send:L1[left:9]");
    seen(&lab, ms, ENDED(1));
    seen(&lab, ms, PROBED(3, true));
    heard(&lab, ms, 0, "left:3");
    assert_string_equal(pass(&ms, 34999), "");
    assert_string_equal(pass(&ms, 35000), "send:L0[missing:8#6]");
    assert_string_equal(heard(&lab, ms, 0, "answer:7#6!2"),
                        "send:L3[refuse:#6!2] close:L3");
    pass(&ms, 44999);
    assert_string_equal(pass(&ms, 45000), "send:L0[missing:8#6,7#5]");
    lab_close(&lab);
}

/* --- decisions of the root */

/* The root gives up nodes that it holds itself: the child first if nothing
 * listens at its address, the others when their time has passed. Each is
 * reported to the job once. */
static void the_root_gives_up_whom_it_holds(void **state)
{
    uint64_t ms = 0;

    (void)state;
    open_root();
    assert_string_equal(seen(&lab, ms, ENDED(0)), "probe:1");
    seen(&lab, ms, PROBED(1, true));
    assert_string_equal(pass(&ms, 499), "");
    assert_string_equal(pass(&ms, 500), "lost:1");
    seen(&lab, ms, CALLED(0, 3)); /* node 3 comes with 7, but without 8 */
    assert_string_equal(heard(&lab, ms, 0, "hello:3#2+7#1<3"),
                        "send:L0[welcome:#2 path:0 limit:4]");
    assert_string_equal(pass(&ms, 34999), "");
    assert_string_equal(pass(&ms, 35000), "lost:8 lost:9 lost:10 lost:4");
    assert_false(has_holds());
    assert_string_equal(pass(&ms, 100000), "");
    lab_close(&lab);
}

/* The root also gives up nodes that others ask about, at once. The decision is
 * final, and goes down to where the question came from. A node whose own ask
 * has come first, or which has another number by now, is not given up. */
static void the_root_judges_a_question(void **state)
{
    (void)state;
    open_root();
    assert_string_equal(heard(&lab, 1, 0, "missing:7#1"),
                        "lost:7 send:L0[left:7!]");
    assert_string_equal(heard(&lab, 1, 0, "missing:7#1"), "send:L0[left:7]");
    seen(&lab, 1, CALLED(2, 8));
    assert_string_equal(heard(&lab, 1, 2, "hello:8#2"),
                        "send:L2[welcome:#2 path:0 limit:4] send:L0[left:8]");
    assert_string_equal(heard(&lab, 1, 0, "missing:8#1"), "send:L0[left:8]");
    heard(&lab, 1, 0, "ask:4#2<1");
    assert_string_equal(heard(&lab, 1, 0, "missing:4#1"), "");
    assert_string_equal(heard(&lab, 2, 0, "ask:7#2<3"),
                        "send:L0[answer:7#2!1]");
    lab_close(&lab);
}

/* A node that never came is given up after the give-up time plus the adoption
 * time; then the job begins without it. */
static void who_never_came_is_given_up(void **state)
{
    uint64_t ms = 0, end_ms;

    (void)state;
    lab_open(&lab, hold_cfg(), 0);
    end_ms = (lab.cfg.times.giveup_ns + lab.cfg.times.adoption_ns) / LAB_MS_NS;
    seen(&lab, 0, START);
    add_child(0, "hello:1#1", 1, NULL);
    add_child(1, "hello:2#1", 2, NULL);
    heard(&lab, 0, 0, "ask:3#1<1 ask:4#1<1 ask:7#1<3 ask:8#1<3 ask:9#1<4");
    heard(&lab, 0, 1, "ask:5#1<2 ask:6#1<2 ask:11#1<5 ask:12#1<5 ask:13#1<6");
    assert_string_equal(pass(&ms, end_ms - 1), "");
    assert_int_equal(ov_node_down_room(lab.node, 0), 0);
    assert_string_equal(pass(&ms, end_ms), "lost:10 lost:14 joined");
    assert_int_equal(ov_node_down_room(lab.node, 0), 4);
    assert_string_equal(heard(&lab, ms, 1, "ask:14#1<6"),
                        "send:L1[answer:14#1!1]");
    lab_close(&lab);
}

/* --- room */

/* 7, 8, 9 and 10 come to node 1 and leave; one of them has not consumed the
 * only frame. */
static uint64_t hold_four(uint32_t behind)
{
    struct ov_cfg cfg = hold_cfg();
    uint64_t ms = 0;

    cfg.children_max = 2;
    lab_open(&lab, cfg, 1);
    seen(&lab, 0, START);
    seen(&lab, 0, DIALLED(0, 0));
    heard(&lab, 0, 0, "welcome:#1 path:0 limit:4");
    heard(&lab, 0, 0, "app");
    assert_int_equal(lab.node->tree.places_max, 2 + 2);
    for (unsigned n = 7; n <= 10; n++) {
        char hello[32], answer[32];

        snprintf(hello, sizeof(hello), "hello:%u#1", n);
        snprintf(answer, sizeof(answer), "answer:%u#1", n);
        add_child(1, hello, n, answer);
        if (n != behind)
            heard(&lab, ms, 1, "base:0=1");
        seen(&lab, ms, ENDED(1));
        pass(&ms, ms + 1000);
    }
    seen(&lab, ms, CONSUMED(0, 1, 0));
    return ms;
}

/* A child needs a place and all places are taken: two holds become one, which
 * keeps the lower base of the two, whichever that was. */
static void two_holds_become_one_where_room_is_needed(void **state)
{
    (void)state;
    for (uint32_t behind = 7; behind <= 8; behind++) {
        uint64_t ms = hold_four(behind);

        seen(&lab, ms, CALLED(1, 3));
        assert_string_equal(heard(&lab, ms, 1, "hello:3#1~0=1/1"),
                            "send:L1[asked:#1] send:L0[ask:3#1<1~0=0/1]");
        assert_int_equal(member(7)->place, member(8)->place);
        assert_int_equal(lab.node->tree.places[member(7)->place].members, 2);
        assert_string_equal(
            heard(&lab, ms, 0, behind == 7 ? "left:8" : "left:7"), "");
        assert_int_equal(ov_node_look(lab.node, 0).down_base, 0);
        assert_string_equal(
            heard(&lab, ms, 0, behind == 7 ? "left:7" : "left:8"),
            "send:L0[base:0=1]");
        lab_close(&lab);
    }
}

/* A node that was found to be dead, before or after that, is asked about as
 * early as if each node had a hold of its own. */
static void the_dead_in_one_hold_are_asked_about_soon(void **state)
{
    uint64_t ms = hold_four(7);

    (void)state;
    assert_string_equal(seen(&lab, ms, PROBED(7, true)), "");
    seen(&lab, ms, CALLED(1, 3));
    heard(&lab, ms, 1, "hello:3#1~0=1/1");
    assert_int_equal(member(7)->place, member(8)->place);
    assert_string_equal(seen(&lab, ms, PROBED(8, true)), "");
    assert_string_equal(pass(&ms, ms + 499), "");
    assert_string_equal(pass(&ms, ms + 1), "send:L0[missing:7#1,8#1]");
    assert_string_equal(heard(&lab, ms, 0, "left:7! left:8!"),
                        "send:L0[base:0=1]");
    lab_close(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refused_child_is_asked_about_soon),
        cmocka_unit_test(those_beneath_a_dead_child_are_dialled),
        cmocka_unit_test(those_who_answer_are_waited_for),
        cmocka_unit_test(an_unclear_child_is_probed),
        cmocka_unit_test(nobody_asks_about_who_came_back),
        cmocka_unit_test(a_question_is_answered_or_passed_on),
        cmocka_unit_test(a_question_waits_for_a_pending_ask),
        cmocka_unit_test(the_root_gives_up_whom_it_holds),
        cmocka_unit_test(the_root_judges_a_question),
        cmocka_unit_test(who_never_came_is_given_up),
        cmocka_unit_test(two_holds_become_one_where_room_is_needed),
        cmocka_unit_test(the_dead_in_one_hold_are_asked_about_soon),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
