/* Joining, as one node sees it: dials, hellos, asks, answers, welcomes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/lab.h"

static struct lab lab;

/* Opens node `self` of a tree, started and, unless it is the root, welcomed. */
static void join_as(struct ov_cfg cfg, uint32_t self)
{
    lab_open(&lab, cfg, self);
    seen(&lab, 0, START);
    if (self == 0)
        return;
    seen(&lab, 0, DIALLED(0, topo_tree_parent(&cfg.plan, self)));
    heard(&lab, 0, 0, "welcome:#1 path:0 limit:4");
    seen(&lab, 0, SENT(0, 1));
}

static void a_root_alone_has_joined_at_once(void **state)
{
    (void)state;
    lab_open(&lab, lab_cfg(1, 2), 0);
    assert_string_equal(seen(&lab, 0, START), "joined");
    assert_string_equal(seen(&lab, 0, TICK), "");
    lab_close(&lab);
}

/* The whole exchange as the child sees it, from the dial to the welcome. */
static void a_child_dials_says_hello_and_is_welcomed(void **state)
{
    (void)state;
    lab_open(&lab, lab_cfg(7, 2), 3);
    assert_string_equal(seen(&lab, 0, START), "dial:1#1");
    assert_string_equal(seen(&lab, 1, DIALLED(0, 1)),
                        "send:L0[hello:3#1~0=0/0]");
    assert_string_equal(heard(&lab, 2, 0, "asked:#1"), "");
    assert_false(ov_node_look(lab.node, 0).is_attached);
    assert_string_equal(heard(&lab, 3, 0, "welcome:#1 path:1,0 limit:4"),
                        "adopted:1");
    assert_true(ov_node_look(lab.node, 0).is_attached);
    assert_int_equal(lab.node->tree.ancestors_count, 2);
    assert_int_equal(lab.node->tree.ancestors[0], 1);
    assert_int_equal(lab.node->tree.ancestors[1], 0);
    lab_close(&lab);
}

/* The parents' side: nothing is answered before the root has decided, and the
 * answer goes back the way of the ask. */
static void a_hello_becomes_an_ask_and_the_answer_a_welcome(void **state)
{
    (void)state;
    join_as(lab_cfg(7, 2), 1);
    seen(&lab, 1, CALLED(1, 3));
    assert_string_equal(heard(&lab, 1, 1, "hello:3#5"),
                        "send:L1[asked:#5] send:L0[ask:3#5<1~0=0/0]");
    assert_string_equal(heard(&lab, 2, 0, "answer:3#5"),
                        "send:L1[welcome:#5 path:1,0 limit:4]");
    lab_close(&lab);
}

/* An inner node passes on the asks of nodes beneath it, and the answers. */
static void asks_climb_and_answers_come_back(void **state)
{
    (void)state;
    join_as(lab_cfg(15, 2), 1);
    seen(&lab, 1, CALLED(1, 3));
    heard(&lab, 1, 1, "hello:3#1");
    heard(&lab, 1, 0, "answer:3#1");
    assert_string_equal(heard(&lab, 2, 1, "ask:8#2<3 ask:7#1<3"),
                        "send:L0[ask:8#2<3~0=0/0 ask:7#1<3~0=0/0]");
    assert_string_equal(heard(&lab, 3, 0, "answer:7#1 answer:8#2"),
                        "send:L1[answer:7#1 answer:8#2]");
    lab_close(&lab);
}

/* Asks that come before the node itself was welcomed wait until then. */
static void asks_wait_for_the_own_welcome(void **state)
{
    (void)state;
    lab_open(&lab, lab_cfg(7, 2), 1);
    seen(&lab, 0, START);
    seen(&lab, 0, CALLED(1, 3));
    assert_string_equal(heard(&lab, 0, 1, "hello:3#1"), "send:L1[asked:#1]");
    assert_string_equal(seen(&lab, 1, DIALLED(0, 0)),
                        "send:L0[hello:1#1~0=0/0]");
    assert_string_equal(heard(&lab, 1, 0, "welcome:#1 path:0"),
                        "adopted:0 send:L0[ask:3#1<1~0=0/0]");
    lab_close(&lab);
}

/* The root answers at once, and reports once that all nodes are there. */
static void the_root_welcomes_and_tells_when_all_have_joined(void **state)
{
    (void)state;
    lab_open(&lab, lab_cfg(4, 2), 0);
    assert_string_equal(seen(&lab, 0, START), "");
    seen(&lab, 0, CALLED(0, 1));
    assert_string_equal(heard(&lab, 0, 0, "hello:1#1"),
                        "send:L0[welcome:#1 path:0 limit:4]");
    seen(&lab, 0, CALLED(1, 2));
    assert_string_equal(heard(&lab, 1, 1, "hello:2#3"),
                        "send:L1[welcome:#3 path:0 limit:4]");
    assert_int_equal(ov_node_look(lab.node, 0).joined, 2);
    assert_true(ov_node_has_joined(lab.node, 2));
    assert_false(ov_node_has_joined(lab.node, 3));
    assert_int_equal(ov_node_down_room(lab.node, 0), 0);
    assert_string_equal(heard(&lab, 2, 0, "ask:3#1<1"),
                        "joined send:L0[answer:3#1]");
    assert_string_equal(heard(&lab, 2, 0, "ask:3#1<1"),
                        "send:L0[answer:3#1!6]");
    assert_int_equal(ov_node_look(lab.node, 0).joined, 3);
    assert_true(ov_node_has_joined(lab.node, 3));
    assert_int_equal(ov_node_look(lab.node, 0).children, 2);
    lab_close(&lab);
}

/* --- refusals */

/* A wrong hello is refused with the reason, and the link ends. */
static void hellos_that_cannot_be_granted_are_refused(void **state)
{
    static const struct {
        uint32_t peer;
        const char *hello, *answer;
    } cases[] = {
        {1, "hello:1#1", "send:L1[refuse:#1!5] close:L1"}, /* the node itself */
        {0, "hello:0#1", "send:L1[refuse:#1!5] close:L1"}, /* an ancestor */
        /* a child of another node */
        {5, "hello:5#1", "send:L1[refuse:#1!5] close:L1"},
        /* That link belongs to no node of this test. */
        {7, "hello:7#1", "send:L1[refuse:#1!5] close:L1"},
        {UINT32_MAX, "hello:4294967295#0", "send:L1[refuse:#0!5] close:L1"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        join_as(lab_cfg(7, 2), 1);
        seen(&lab, 1, CALLED(1, cases[i].peer));
        assert_string_equal(heard(&lab, 1, 1, cases[i].hello), cases[i].answer);
        assert_int_equal(ov_node_look(lab.node, 0).children, 0);
        lab_close(&lab);
    }
}

/* A repeated number is a recorded dial; a higher number replaces the earlier
 * link. */
static void a_stale_attach_number_is_refused(void **state)
{
    (void)state;
    join_as(lab_cfg(7, 2), 1);
    seen(&lab, 1, CALLED(1, 3));
    heard(&lab, 1, 1, "hello:3#5");
    seen(&lab, 2, CALLED(2, 3));
    assert_string_equal(heard(&lab, 2, 2, "hello:3#5"),
                        "send:L2[refuse:#5!6] close:L2");
    seen(&lab, 3, CALLED(2, 3));
    assert_string_equal(heard(&lab, 3, 2, "hello:3#6"),
                        "close:L1 send:L2[asked:#6] "
                        "send:L0[ask:3#6<1~0=0/0]");
    assert_string_equal(heard(&lab, 4, 0, "answer:3#5"), "");
    assert_string_equal(heard(&lab, 4, 0, "answer:3#6"),
                        "send:L2[welcome:#6 path:1,0 limit:4]");
    lab_close(&lab);
}

/* When frames have passed that are no longer kept, a node that begins anew
 * cannot get them: it is refused. */
static void a_child_that_comes_too_late_is_refused(void **state)
{
    (void)state;
    join_as(lab_cfg(2, 2), 0);
    seen(&lab, 0, CALLED(0, 1));
    heard(&lab, 0, 0, "hello:1#1");
    seen(&lab, 0, SENT(0, 1));
    told(&lab, 1, "app");
    seen(&lab, 1, CONSUMED(0, 1, 0));
    seen(&lab, 1, SENT(0, 1));
    heard(&lab, 2, 0, "base:0=1");
    seen(&lab, 3, CALLED(1, 1));
    assert_string_equal(heard(&lab, 3, 1, "hello:1#2"),
                        "send:L1[refuse:#2!3] close:L1");
    lab_close(&lab);
}

/* A child that is told of a refusal dials again after a while, with the next
 * number. */
static void a_refused_child_dials_again(void **state)
{
    (void)state;
    lab_open(&lab, lab_cfg(7, 2), 3);
    seen(&lab, 0, START);
    seen(&lab, 0, DIALLED(0, 1));
    assert_string_equal(heard(&lab, 1, 0, "refuse:#1!2"), "close:L0");
    assert_in_range(lab_wake(&lab, 1), 1, 2500);
    assert_string_equal(seen(&lab, 2501, TICK), "dial:1#2");
    lab_close(&lab);
}

/* --- trying again */

/* Pauses grow, stay below one attempt, and end with the give-up time. For half
 * the adoption time only the planned parent is tried, then each ancestor. */
static void dials_are_repeated_until_the_give_up_time(void **state)
{
    uint64_t ms = 0, giveup_ms, attempt_ms, patience_ms;
    unsigned dials = 1, at = 0;

    (void)state;
    lab_open(&lab, lab_cfg(7, 2), 3);
    giveup_ms = lab.cfg.times.giveup_ns / LAB_MS_NS;
    attempt_ms = lab.cfg.times.attempt_ns / LAB_MS_NS;
    patience_ms = lab.cfg.times.adoption_ns / LAB_MS_NS / 2;
    assert_string_equal(seen(&lab, 0, START), "dial:1#1");
    for (;;) {
        uint64_t wait_ms;
        char dial[32];

        assert_string_equal(seen(&lab, ms, DIAL_FAILED), "");
        wait_ms = lab.node->tree.redial_ns / LAB_MS_NS - ms;
        assert_in_range(wait_ms, 1, attempt_ms);
        assert_in_range(lab_wake(&lab, ms), 1, wait_ms);
        /* reported twice */
        assert_string_equal(seen(&lab, ms, DIAL_FAILED), "");
        assert_string_equal(seen(&lab, ms + wait_ms - 1, TICK), "");
        at = ms < patience_ms ? 0 : 1 - at;
        ms += wait_ms + 1;
        if (strcmp(seen(&lab, ms, TICK), "end:1") == 0)
            break;
        dials++;
        snprintf(dial, sizeof(dial), "dial:%u#%u", 1 - at, dials);
        assert_string_equal(lab.text, dial);
    }
    assert_in_range(ms, giveup_ms, giveup_ms + attempt_ms);
    assert_in_range(dials, giveup_ms / attempt_ms, 1000);
    assert_int_equal(lab.node->tree.attach, dials);
    assert_int_equal(lab_wake(&lab, ms), -1);
    lab_close(&lab);
}

/* A parent accepts the dial but sends nothing: after the attempt time the link
 * is ended, and the node wakes up to dial again although it has no other
 * link. */
static void a_silent_parent_is_dialled_again(void **state)
{
    uint64_t ms = 2501;

    (void)state;
    lab_open(&lab, lab_cfg(7, 2), 3);
    seen(&lab, 0, START);
    seen(&lab, 1, DIALLED(0, 1));
    assert_int_equal(lab_wake(&lab, 1), 2500);
    assert_string_equal(seen(&lab, ms - 1, TICK), "");
    assert_string_equal(seen(&lab, ms, TICK), "close:L0");
    assert_int_equal(lab.node->links[0].state, OV_LINK_FREE);
    assert_in_range(lab_wake(&lab, ms), 1, 2500);
    ms += (uint64_t)lab_wake(&lab, ms) + 1;
    assert_string_equal(seen(&lab, ms, TICK), "dial:1#2");
    lab_close(&lab);
}

/* A parent that asks for the node is given time: only its silence ends the
 * link. */
static void a_parent_that_asks_for_us_is_waited_for(void **state)
{
    (void)state;
    lab_open(&lab, lab_cfg(7, 2), 3);
    seen(&lab, 0, START);
    seen(&lab, 0, DIALLED(0, 1));
    seen(&lab, 0, SENT(0, 1));
    assert_string_equal(heard(&lab, 1000, 0, "asked:#1"), "");
    assert_string_equal(seen(&lab, 3000, TICK), "");
    assert_string_equal(seen(&lab, 5000, TICK), "send:L0[beat]");
    seen(&lab, 5000, SENT(0, 1));
    assert_string_equal(seen(&lab, 10000, TICK), "send:L0[beat]");
    seen(&lab, 10000, SENT(0, 1));
    assert_string_equal(seen(&lab, 10999, TICK), "");
    assert_string_equal(seen(&lab, 11000, TICK), "close:L0");
    lab_close(&lab);
}

/* --- a link that ends before its time */

/* Node 3 was asked for when its link ended. The answer is not sent to 4, whose
 * link came later, and does not count for 4. */
static void an_answer_for_a_lost_link_goes_to_nobody_else(void **state)
{
    (void)state;
    join_as(lab_cfg(15, 2), 1);
    seen(&lab, 1, CALLED(1, 3));
    assert_string_equal(heard(&lab, 1, 1, "hello:3#1"),
                        "send:L1[asked:#1] send:L0[ask:3#1<1~0=0/0]");
    assert_string_equal(seen(&lab, 2, ENDED(1)), "");
    seen(&lab, 3, CALLED(1, 4));
    assert_string_equal(heard(&lab, 3, 1, "hello:4#1"),
                        "send:L1[asked:#1] send:L0[ask:4#1<1~0=0/0]");
    assert_string_equal(heard(&lab, 4, 0, "answer:3#1"), "");
    assert_string_equal(heard(&lab, 4, 0, "answer:4#1"),
                        "send:L1[welcome:#1 path:1,0 limit:4]");
    lab_close(&lab);
}

/* Nodes beneath a lost child do not get messages for others, and 4 gets none of
 * the messages for them. */
static void words_for_those_beneath_a_lost_child_go_to_nobody_else(void **state)
{
    (void)state;
    join_as(lab_cfg(15, 2), 1);
    seen(&lab, 1, CALLED(1, 3));
    heard(&lab, 1, 1, "hello:3#1");
    heard(&lab, 1, 0, "answer:3#1");
    heard(&lab, 2, 1, "ask:7#1<3 ask:8#1<3");
    heard(&lab, 2, 0, "answer:7#1");
    assert_string_equal(seen(&lab, 3, ENDED(1)), "probe:3");
    seen(&lab, 4, CALLED(1, 4));
    heard(&lab, 4, 1, "hello:4#1");
    assert_string_equal(heard(&lab, 5, 0, "answer:8#1 ack:7=2/1 ack:3=1/1"),
                        "");
    assert_string_equal(heard(&lab, 5, 0, "answer:4#1"),
                        "send:L1[welcome:#1 path:1,0 limit:4]");
    lab_close(&lab);
}

/* Fills all slots of the transport on a link. */
static void fill(uint16_t link)
{
    while (ov_link_can_send(&lab.node->links[link], &lab.cfg, false))
        ov_link_on_send(&lab.node->links[link], false, 0);
}

/* Messages that had no room on the lost link: a child that comes back later
 * gets the messages meant for it. */
static void words_of_a_lost_link_do_not_block_later_ones(void **state)
{
    (void)state;
    join_as(lab_cfg(15, 2), 1);
    seen(&lab, 1, CALLED(1, 3));
    heard(&lab, 1, 1, "hello:3#1");
    heard(&lab, 1, 0, "answer:3#1");
    fill(1);
    assert_string_equal(heard(&lab, 2, 0, "ack:3=1/1"), "");
    seen(&lab, 3, ENDED(1));
    seen(&lab, 4, CALLED(1, 3));
    heard(&lab, 4, 1, "hello:3#2");
    heard(&lab, 4, 0, "answer:3#2");
    assert_string_equal(heard(&lab, 5, 0, "ack:3=2/1"), "send:L1[ack:3=2/1]");
    lab_close(&lab);
}

/* A node that is waiting to be asked for is asked for even when its link is
 * lost, in the order in which the asks came. */
static void an_ask_that_waits_outlives_the_link_it_came_on(void **state)
{
    (void)state;
    join_as(lab_cfg(15, 2), 1);
    seen(&lab, 1, CALLED(1, 3));
    heard(&lab, 1, 1, "hello:3#1");
    heard(&lab, 1, 0, "answer:3#1");
    seen(&lab, 1, CALLED(2, 4));
    fill(0);
    heard(&lab, 2, 1, "ask:7#1<3 ask:8#1<3");
    heard(&lab, 2, 2, "hello:4#1");
    assert_string_equal(seen(&lab, 3, ENDED(1)), "probe:3");
    assert_string_equal(seen(&lab, 4, SENT(0, 8)),
                        "send:L0[ask:7#1<3~0=0/0 ask:8#1<3~0=0/0 "
                        "ask:4#1<1~0=0/0]");
    lab_close(&lab);
}

/* A child that comes back before its first welcome gets every frame that has
 * passed: its parent answers for it from the ask on. */
static void a_child_that_was_asked_for_misses_nothing(void **state)
{
    struct ov_cfg cfg = lab_cfg(3, 1);

    (void)state;
    cfg.control_frames = 4;
    join_as(cfg, 1);
    seen(&lab, 1, CALLED(1, 2));
    heard(&lab, 1, 1, "hello:2#1");
    seen(&lab, 1, SENT(0, 1));
    seen(&lab, 2, ENDED(1));
    assert_string_equal(heard(&lab, 3, 0, "answer:2#1"), "");
    assert_string_equal(heard(&lab, 3, 0, "app"), "consume:0.0(4)");
    assert_string_equal(seen(&lab, 3, CONSUMED(0, 1, 0)), "");
    assert_string_equal(heard(&lab, 3, 0, "open:1w4:1-2"), "consume:0.1(20)");
    assert_string_equal(seen(&lab, 3, CONSUMED(0, 2, 0)), "");
    assert_string_equal(heard(&lab, 3, 0, "down:1.0(9)"), "consume:1.0(9)");
    assert_string_equal(seen(&lab, 3, CONSUMED(1, 1, 0)), "");
    assert_string_equal(seen(&lab, 100, TICK), ""); /* no base is reported */
    seen(&lab, 101, CALLED(1, 2));
    assert_string_equal(heard(&lab, 101, 1, "hello:2#2"),
                        "send:L1[asked:#2] send:L0[ask:2#2<1~0=0/2~1=0/1]");
    assert_string_equal(heard(&lab, 102, 0, "answer:2#2"),
                        "send:L1[welcome:#2 path:1,0 limit:4] send:L1[app] "
                        "send:L1[open:1w4:1-2] send:L1[down:1.0(9)]");
    lab_close(&lab);
}

/* The child misses nothing when it is back before the end of the old link is
 * known. */
static void a_child_that_dials_again_misses_nothing(void **state)
{
    (void)state;
    join_as(lab_cfg(3, 1), 1);
    seen(&lab, 1, CALLED(1, 2));
    heard(&lab, 1, 1, "hello:2#1");
    heard(&lab, 3, 0, "open:1w4:1-2");
    seen(&lab, 3, CONSUMED(0, 1, 0));
    seen(&lab, 4, CALLED(2, 2));
    assert_string_equal(heard(&lab, 4, 2, "hello:2#2"),
                        "close:L1 send:L2[asked:#2] "
                        "send:L0[ask:2#2<1~0=0/1~1=0/0]");
    assert_string_equal(heard(&lab, 5, 0, "answer:2#2"),
                        "send:L2[welcome:#2 path:1,0 limit:4] "
                        "send:L2[open:1w4:1-2]");
    lab_close(&lab);
}

/* --- messages in the wrong place */

/* Messages that are not allowed where they come. */
static const struct {
    bool is_welcome; /* the message comes from the parent of a node that is
                      * welcome */
    bool is_child;   /* the message comes from a child that was welcomed */
    const char *words;
} out_of_place[] = {
    {false, false, "welcome:#2"},       /* the number of another dial */
    {false, false, "asked:#2"},         /* the number of another dial */
    {false, false, "refuse:#2!2"},      /* the number of another dial */
    {false, false, "path:0"},           /* before the welcome */
    {false, false, "down:0.0(4)"},      /* before the welcome */
    {false, false, "up:1.1(4)"},        /* parents send no records */
    {false, false, "hello:0#1"},        /* parents send no hellos */
    {true, false, "welcome:#1"},        /* a second welcome */
    {true, false, "refuse:#1!2"},       /* too late for a refusal */
    {true, false, "path:0,0"},          /* more nodes than there are above */
    {true, false, "ask:3#1<1"},         /* asks go up */
    {true, false, "base:0=0"},          /* bases go up */
    {true, false, "missing:3#1"},       /* questions go up */
    {true, false, "address:3=here"},    /* addresses go up */
    {true, false, "answer:3#1!7"},      /* an unknown reason */
    {true, false, "asked:#1"},          /* an answer that is too late */
    {true, false, "left:1"},            /* names this node itself */
    {true, false, "left:2"},            /* the node is not beneath this one */
    {true, false, "left:15"},           /* the plan has no such node */
    {true, false, "limit:3"},           /* a limit never falls */
    {true, true, "hello:3#2"},          /* a second hello */
    {true, true, "ask:3#2<1"},          /* the child asks for itself */
    {true, true, "ask:8#1<4"},          /* the node hangs on another parent */
    {true, true, "ask:9#1<4"},          /* the node is another node's child */
    {true, true, "ask:15#1<7"},         /* the plan has no such node */
    {true, true, "ask:4294967295#1<0"}, /* not a valid node number */
    {true, true, "ask:0#1<0"},          /* no node may ask for the root */
    {true, true, "answer:7#1"},         /* answers go down */
    {true, true, "welcome:#1"},         /* welcomes go down */
    {true, true, "path:0"},             /* paths go down */
    {true, true, "refuse:#1!2"},        /* refusals go down */
    {true, true, "limit:9"},            /* limits go down */
    {true, true, "ack:3=0/0"},          /* acknowledgements go down */
    {true, true, "down:0.0(4)"},        /* streams go down */
    {true, true, "base:7=0"},           /* this stream does not exist */
    {true, true, "base:0=1"},           /* more frames than were sent */
    {true, true, "base:0=0@15.1"},      /* the plan has no such node */
    {true, true, "left:7"},             /* LEFT goes down */
    {true, true, "asked:#1"},           /* ASKED goes down */
    {true, true, "address:1=here"},     /* the address of this node */
    {true, true, "address:4=here"},     /* the address of a node that is not
                                         * beneath the child */
    {true, true, "address:15=here"},    /* the plan has no such node */
    {true, true, "up:3.0(4)"},          /* records are numbered from 1 */
};

/* Each of these ends the link on which it comes: to a child that waits, to one
 * that is welcome, or to a parent. */
static void words_out_of_place_end_the_link(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(out_of_place) / sizeof(out_of_place[0]);
         i++) {
        uint16_t link = out_of_place[i].is_child ? 1 : 0;
        const char *text;

        lab_open(&lab, lab_cfg(15, 2), 1);
        seen(&lab, 0, START);
        seen(&lab, 0, DIALLED(0, 0));
        if (out_of_place[i].is_welcome)
            heard(&lab, 0, 0, "welcome:#1 path:0 limit:4");
        if (out_of_place[i].is_child) {
            seen(&lab, 0, CALLED(1, 3));
            heard(&lab, 0, 1, "hello:3#1");
            heard(&lab, 0, 0, "answer:3#1");
        }
        text = heard(&lab, 1, link, out_of_place[i].words);
        if (strncmp(text, link == 1 ? "close:L1" : "close:L0", 8) != 0)
            fail_msg("%s gives: %s", out_of_place[i].words, text);
        assert_int_equal(lab.node->links[link].state, OV_LINK_FREE);
        lab_close(&lab);
    }
}

/* A path leads up to the root, over ancestors in the plan. Any other path ends
 * the link, and the node tries the path of the plan. */
static void a_path_that_does_not_lead_up_ends_the_link(void **state)
{
    static const char *const wrong[] = {
        "path:0,0",    "path:1,3,0", "path:3,3,0",
        "path:3,1",    "path:7,3,0", /* through the node itself */
        "path:3,2,0",                /* through another branch */
        "path:15,3,0",               /* through a node beneath */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        join_as(lab_cfg(31, 2), 7);
        if (strcmp(heard(&lab, 1, 0, wrong[i]), "close:L0 orphan:3") != 0)
            fail_msg("%s gives: %s", wrong[i], lab.text);
        assert_int_equal(lab.node->tree.ancestors_count, 3);
        assert_int_equal(lab.node->tree.ancestors[0], 3);
        assert_int_equal(lab.node->tree.ancestors[1], 1);
        assert_int_equal(lab.node->tree.ancestors[2], 0);
        lab_close(&lab);
    }
    join_as(lab_cfg(31, 2), 7);
    assert_string_equal(heard(&lab, 1, 0, "path:1,0"), "");
    assert_int_equal(lab.node->tree.ancestors_count, 2);
    lab_close(&lab);
}

/* A wrong node, with a number of the plan, takes no room from the right
 * ones. */
static void a_bad_ask_costs_the_others_nothing(void **state)
{
    (void)state;
    join_as(lab_cfg(5, 2), 0);
    seen(&lab, 0, CALLED(0, 1));
    heard(&lab, 0, 0, "hello:1#1");
    seen(&lab, 0, CALLED(1, 2));
    heard(&lab, 1, 0, "ask:3#1<1");
    assert_string_equal(heard(&lab, 1, 0, "ask:7#1<3"), "close:L0 probe:1");
    assert_string_equal(heard(&lab, 1, 1, "hello:2#1"),
                        "send:L1[welcome:#1 path:0 limit:4]");
    assert_int_equal(ov_node_look(lab.node, 0).joined, 3);
    lab_close(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_root_alone_has_joined_at_once),
        cmocka_unit_test(a_child_dials_says_hello_and_is_welcomed),
        cmocka_unit_test(a_hello_becomes_an_ask_and_the_answer_a_welcome),
        cmocka_unit_test(asks_climb_and_answers_come_back),
        cmocka_unit_test(asks_wait_for_the_own_welcome),
        cmocka_unit_test(the_root_welcomes_and_tells_when_all_have_joined),
        cmocka_unit_test(hellos_that_cannot_be_granted_are_refused),
        cmocka_unit_test(a_stale_attach_number_is_refused),
        cmocka_unit_test(a_child_that_comes_too_late_is_refused),
        cmocka_unit_test(a_refused_child_dials_again),
        cmocka_unit_test(dials_are_repeated_until_the_give_up_time),
        cmocka_unit_test(a_silent_parent_is_dialled_again),
        cmocka_unit_test(a_parent_that_asks_for_us_is_waited_for),
        cmocka_unit_test(an_answer_for_a_lost_link_goes_to_nobody_else),
        cmocka_unit_test(
            words_for_those_beneath_a_lost_child_go_to_nobody_else),
        cmocka_unit_test(words_of_a_lost_link_do_not_block_later_ones),
        cmocka_unit_test(an_ask_that_waits_outlives_the_link_it_came_on),
        cmocka_unit_test(a_child_that_was_asked_for_misses_nothing),
        cmocka_unit_test(a_child_that_dials_again_misses_nothing),
        cmocka_unit_test(words_out_of_place_end_the_link),
        cmocka_unit_test(a_path_that_does_not_lead_up_ends_the_link),
        cmocka_unit_test(a_bad_ask_costs_the_others_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
