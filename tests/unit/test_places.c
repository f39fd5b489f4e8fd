/* Places of the core (overlay/place.h): how many frames a child is granted,
 * what is kept of the child when its link is gone, and which child finds a
 * place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/place.h"
#include "tests/unit/chance.h"
#include "tests/unit/lab.h"

static struct lab lab;

/* Opens node 1, welcomed by the root, which takes no frame of it yet. */
static void open_node(struct ov_cfg cfg)
{
    cfg.send_slots = OV_SEND_SLOTS_MAX; /* The transport always has room. */
    cfg.data_slots = OV_SEND_SLOTS_MAX - 1;
    lab_open(&lab, cfg, 1);
    seen(&lab, 0, START);
    seen(&lab, 0, DIALLED(0, 0));
    heard(&lab, 0, 0, "welcome:#1 path:0");
}

/* A child dials for the attach-th time, on this link; returns the actions. */
static const char *say_hello(uint16_t link, uint32_t child, unsigned attach)
{
    char words[32];

    snprintf(words, sizeof(words), "hello:%u#%u", (unsigned)child, attach);
    seen(&lab, 0, CALLED(link, child));
    return heard(&lab, 0, link, words);
}

/* The root answers the ask; returns the actions. */
static const char *grant(uint32_t child, unsigned attach)
{
    char words[32];

    snprintf(words, sizeof(words), "answer:%u#%u", (unsigned)child, attach);
    return heard(&lab, 0, 0, words);
}

static void join_child(uint16_t link, uint32_t child)
{
    say_hello(link, child, 1);
    grant(child, 1);
}

/* Child 3 sends frames, each too large to share one with others. */
static void send_frames(uint16_t link, unsigned count)
{
    for (; count > 0; count--)
        assert_string_equal(heard(&lab, 0, link, "up:3.1(3000)"), "");
}

/* The root takes one frame more; returns the other actions beside sending on
 * that frame of child 3. */
static const char *pass_one(void)
{
    static const char frame[] = "send:L0[up:3.1(3000)]";
    char words[32];

    snprintf(words, sizeof(words), "limit:%u",
             (unsigned)lab.node->up.limit + 1);
    heard(&lab, 0, 0, words);
    if (strncmp(lab.text, frame, strlen(frame)) != 0)
        fail_msg("no frame is passed on: %s", lab.text);
    return lab.text + strlen(frame);
}

/* --- frames that a child is granted */

/* A higher limit is sent when half of the frames are free again. */
static void half_of_the_frames_are_worth_a_word(void **state)
{
    struct ov_cfg cfg = lab_cfg(5, 2);

    (void)state;
    cfg.up_frames = 6;
    open_node(cfg);
    say_hello(1, 3, 1);
    assert_string_equal(grant(3, 1), "send:L1[welcome:#1 path:1,0 limit:6]");
    send_frames(1, 5);
    assert_string_equal(pass_one(), "");
    assert_string_equal(pass_one(), "");
    assert_string_equal(pass_one(), " send:L1[limit:9]");
    assert_string_equal(pass_one(), "");
    assert_string_equal(pass_one(), "");
    lab_close(&lab);
}

/* A child that has no frame left is told of each one. */
static void a_child_without_frames_is_told_of_each(void **state)
{
    struct ov_cfg cfg = lab_cfg(5, 2);

    (void)state;
    cfg.up_frames = 6;
    open_node(cfg);
    join_child(1, 3);
    send_frames(1, 6);
    assert_string_equal(pass_one(), " send:L1[limit:7]");
    assert_string_equal(pass_one(), ""); /* the child has that frame already */
    send_frames(1, 1);
    assert_string_equal(pass_one(), " send:L1[limit:9]");
    lab_close(&lab);
}

/* The buffers of a place as a queue: frame i is bufs[i]. */
enum { FRAMES = 5000 };

static void random_child(struct chance *chance, struct ov_buf *bufs)
{
    struct ov_cfg cfg = lab_cfg(5, 2);
    struct ov_place *place;
    uint64_t limit, sent = 0, passed = 0;
    uint32_t haste = chance_in(chance, 5, 95);

    cfg.up_frames = (uint16_t)chance_in(chance, 1, 9);
    lab_open(&lab, cfg, 1);
    place = &lab.node->tree.places[ov_place_take(lab.node, 3, 1)];
    lab.node->links[1].state = OV_LINK_UP;
    ov_place_grant(lab.node, place);
    limit = place->limit;
    assert_int_equal(limit, cfg.up_frames);
    while (passed < FRAMES) {
        bool had_none = sent == limit;

        if (sent < FRAMES && chance_is(chance, haste)) {
            bool is_granted = ov_place_queue(lab.node, place, &bufs[sent]);

            assert_int_equal(is_granted, !had_none);
            sent += is_granted;
            continue;
        }
        if (sent == passed)
            continue;
        assert_ptr_equal(ov_place_pop(lab.node, place), &bufs[passed]);
        ov_place_drained(lab.node, place);
        passed++;
        assert_true(place->limit <= passed + cfg.up_frames);
        assert_true(place->limit == limit || had_none ||
                    2 * (place->limit - limit) >= cfg.up_frames);
        assert_true(place->limit > sent || sent > passed);
        limit = place->limit;
    }
    assert_int_equal(place->queue_len, 0);
    lab_close(&lab);
}

/* Children send fast and slowly: none is granted more frames than were passed
 * on plus the frames of one child, none is left waiting with nothing on its
 * way, and frames leave in their order. */
static void a_child_never_waits_for_nothing(void **state)
{
    static struct ov_buf bufs[FRAMES];
    struct chance chance = chance_start(3);

    (void)state;
    for (unsigned round = 0; round < 50; round++)
        random_child(&chance, bufs);
}

/* Frames that a child's earlier link still holds count for that child when it
 * dials again, and for no other: all its links together never hold more than
 * one link may. */
static void frames_of_an_earlier_link_are_charged(void **state)
{
    (void)state;
    open_node(lab_cfg(5, 2));
    join_child(1, 3);
    send_frames(1, 4);
    assert_string_equal(pass_one(), " send:L1[limit:5]");
    assert_string_equal(say_hello(2, 3, 2), "close:L1 send:L2[asked:#2] "
                                            "send:L0[ask:3#2<1~0=0/0]");
    assert_string_equal(grant(3, 2), "send:L2[welcome:#2 path:1,0 limit:1]");
    say_hello(1, 4, 1);
    assert_string_equal(grant(4, 1), "send:L1[welcome:#1 path:1,0 limit:4]");
    assert_string_equal(pass_one(), "");
    assert_string_equal(pass_one(), " send:L2[limit:3]");
    send_frames(2, 3);
    assert_string_equal(pass_one(), " send:L2[limit:4]");
    assert_int_equal(lab.node->tree.places[0].kind, OV_PLACE_FREE);
    assert_string_equal(pass_one(), "");
    lab_close(&lab);
}

/* A child that has filled its place waits for the first frame that leaves. */
static void a_full_earlier_link_leaves_nothing_to_grant(void **state)
{
    (void)state;
    open_node(lab_cfg(5, 2));
    join_child(1, 3);
    send_frames(1, 4);
    seen(&lab, 0, ENDED(1));
    say_hello(1, 3, 2);
    assert_string_equal(grant(3, 2), "send:L1[welcome:#2 path:1,0]");
    assert_string_equal(pass_one(), " send:L1[limit:1]");
    lab_close(&lab);
}

/* A child that waits for its welcome is sent nothing else before it. */
static void no_limit_is_told_before_the_welcome(void **state)
{
    (void)state;
    open_node(lab_cfg(5, 2));
    join_child(1, 3);
    send_frames(1, 4);
    seen(&lab, 0, ENDED(1));
    say_hello(1, 3, 2);
    assert_string_equal(pass_one(), "");
    assert_string_equal(grant(3, 2), "send:L1[welcome:#2 path:1,0 limit:1]");
    lab_close(&lab);
}

/* Frames that leave while the child is away do not count when it is back. */
static void frames_that_left_meanwhile_are_not_charged(void **state)
{
    (void)state;
    open_node(lab_cfg(5, 2));
    join_child(1, 3);
    send_frames(1, 4);
    seen(&lab, 0, ENDED(1));
    assert_string_equal(pass_one(), "");
    say_hello(1, 3, 2);
    seen(&lab, 0, ENDED(1));
    assert_string_equal(pass_one(), "");
    say_hello(1, 3, 3);
    assert_string_equal(grant(3, 3), "send:L1[welcome:#3 path:1,0 limit:2]");
    lab_close(&lab);
}

/* --- finding a place */

/* Child 2 dials again, over the link that is free, and sends a frame that the
 * root does not take yet. */
static void dial_and_send(unsigned attach)
{
    char words[64];

    say_hello(attach % 2 == 0 ? 2 : 1, 2, attach);
    grant(2, attach);
    snprintf(words, sizeof(words), "up:2.%u(3000)", attach);
    assert_string_equal(heard(&lab, 0, attach % 2 == 0 ? 2 : 1, words), "");
}

/* There are two places more than children: a child that dials again finds room
 * beside what is left of its earlier link. When all places hold frames, a dial
 * is refused until a place is free. */
static void a_dial_without_a_place_is_refused(void **state)
{
    (void)state;
    open_node(lab_cfg(3, 1));
    assert_int_equal(lab.node->tree.places_max, 1 + 2);
    for (unsigned attach = 1; attach <= 3; attach++)
        dial_and_send(attach);
    assert_string_equal(say_hello(2, 2, 4),
                        "close:L1 send:L2[refuse:#4!4] close:L2");
    assert_string_equal(heard(&lab, 0, 0, "limit:1"), "send:L0[up:2.1(3000)]");
    assert_string_equal(say_hello(1, 2, 5),
                        "send:L1[asked:#5] send:L0[ask:2#5<1~0=0/0]");
    assert_string_equal(grant(2, 5), "send:L1[welcome:#5 path:1,0 limit:2]");
    lab_close(&lab);
}

/* A place that belonged to another child begins anew. */
static void a_place_remembers_nothing_of_another_child(void **state)
{
    (void)state;
    open_node(lab_cfg(5, 2));
    join_child(1, 3);
    send_frames(1, 2);
    pass_one();
    heard(&lab, 0, 0, "app");
    seen(&lab, 0, CONSUMED(0, 1, 0));
    heard(&lab, 0, 1, "base:0=1");
    seen(&lab, 0, ENDED(1));
    heard(&lab, 0, 0, "left:3");
    pass_one();
    assert_int_equal(lab.node->tree.places[0].kind, OV_PLACE_FREE);
    assert_int_equal(ov_place_take(lab.node, 4, 1), 0);
    assert_int_equal(lab.node->tree.places[0].received, 0);
    assert_int_equal(lab.node->tree.places[0].limit, 0);
    assert_int_equal(lab.node->tree.places[0].members, 0);
    assert_int_equal(lab.node->tree.places[0].flows[0].base, 0);
    assert_int_equal(lab.node->tree.places[0].flows[0].sent, 0);
    lab_close(&lab);
}

/* --- holds */

/* For a lost child the base stays where it was until another node answers for
 * the child; its frames are kept longer if necessary. */
static void a_lost_child_is_waited_for(void **state)
{
    (void)state;
    open_node(lab_cfg(5, 2));
    join_child(1, 3);
    join_child(2, 4);
    send_frames(1, 1);
    assert_string_equal(heard(&lab, 0, 0, "app"),
                        "consume:0.0(4) send:L1[app] send:L2[app]");
    assert_string_equal(seen(&lab, 0, CONSUMED(0, 1, 0)), "");
    assert_string_equal(heard(&lab, 0, 2, "base:0=1"), "");
    assert_string_equal(seen(&lab, 0, ENDED(1)), "probe:3");
    assert_string_equal(seen(&lab, 100, TICK), "");
    assert_int_equal(ov_node_look(lab.node, 0).down_base, 0);
    assert_string_equal(heard(&lab, 100, 0, "left:3"), "send:L0[base:0=1]");
    assert_int_not_equal(lab.node->tree.places[0].kind, OV_PLACE_FREE);
    assert_string_equal(pass_one(), "");
    assert_int_equal(lab.node->tree.places[0].kind, OV_PLACE_FREE);
    lab_close(&lab);
}

/* --- children that must ask before they send */

/* Opens node 1 with 3, which may send four frames unasked, and 4, 7 and 8,
 * which have one frame together. */
static void open_lender(void)
{
    struct ov_cfg cfg = lab_cfg(15, 2);

    cfg.standing_max = 1;
    cfg.lent_frames = 1;
    open_node(cfg);
    join_child(1, 3);
    say_hello(2, 4, 1);
    assert_string_equal(grant(4, 1), "send:L2[welcome:#1 path:1,0 limit:0!]");
    say_hello(3, 7, 1);
    grant(7, 1);
    say_hello(4, 8, 1);
    assert_string_equal(grant(8, 1), "send:L4[welcome:#1 path:1,0 limit:0!]");
}

/* The children get the frame one after another, however often one of them asks.
 * A frame that is held for a child that is gone is not lent before it has
 * left. */
static void surplus_children_take_turns(void **state)
{
    (void)state;
    open_lender();
    assert_string_equal(heard(&lab, 0, 2, "want:"), "send:L2[limit:1!]");
    assert_string_equal(heard(&lab, 0, 3, "want:"), "");
    send_frames(2, 1);
    assert_string_equal(heard(&lab, 0, 2, "want:"), "");
    assert_string_equal(heard(&lab, 0, 4, "want:"), "");
    assert_string_equal(pass_one(), " send:L3[limit:1!]");
    send_frames(3, 1);
    assert_string_equal(seen(&lab, 0, ENDED(3)), "probe:7");
    assert_string_equal(pass_one(), " send:L4[limit:1!]");
    send_frames(4, 1);
    assert_string_equal(pass_one(), " send:L2[limit:2!]");
    lab_close(&lab);
}

/* A frame that was lent comes back unused, with a frame without records or with
 * the end of the link. */
static void what_is_lent_comes_back(void **state)
{
    (void)state;
    open_lender();
    heard(&lab, 0, 2, "want:");
    heard(&lab, 0, 3, "want:");
    heard(&lab, 0, 4, "want:");
    assert_string_equal(heard(&lab, 0, 2, "up:"), "send:L3[limit:1!]");
    assert_string_equal(seen(&lab, 0, ENDED(3)), "probe:7 send:L4[limit:1!]");
    assert_string_equal(heard(&lab, 0, 2, "up:"), "close:L2 probe:4");
    lab_close(&lab);
}

/* A child that may send unasked must not ask, and no child asks twice. */
static void asking_out_of_turn_ends_the_link(void **state)
{
    (void)state;
    open_lender();
    heard(&lab, 0, 2, "want:");
    heard(&lab, 0, 3, "want:");
    assert_memory_equal(heard(&lab, 0, 3, "want:"), "close:L3", 8);
    assert_memory_equal(heard(&lab, 0, 1, "want:"), "close:L1", 8);
    lab_close(&lab);
}

/* A child without frames of its own asks once it has something to send, and
 * gives back what it no longer needs. */
static void a_surplus_child_asks_for_each_frame(void **state)
{
    (void)state;
    lab_open(&lab, lab_cfg(15, 2), 7);
    seen(&lab, 0, START);
    seen(&lab, 0, DIALLED(0, 3));
    assert_string_equal(heard(&lab, 0, 0, "welcome:#1 path:3,1,0 limit:0!"),
                        "adopted:3");
    assert_string_equal(seen(&lab, 0, READY(1)), "send:L0[want:]");
    assert_string_equal(seen(&lab, 0, READY(2)), "");
    assert_memory_equal(heard(&lab, 0, 0, "limit:1!"), "read:I1<", 8);
    assert_memory_equal(wrote(&lab, 0, 1, 4000, OV_INPUT_IDLE),
                        "send:L0[up:7.1", 14);
    assert_string_equal(heard(&lab, 0, 0, "limit:2!"), "read:I2<4064");
    assert_string_equal(wrote(&lab, 0, 2, 0, OV_INPUT_IDLE), "send:L0[up:]");
    assert_string_equal(seen(&lab, 0, TICK), "");
    lab_close(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_of_the_frames_are_worth_a_word),
        cmocka_unit_test(a_child_without_frames_is_told_of_each),
        cmocka_unit_test(a_child_never_waits_for_nothing),
        cmocka_unit_test(frames_of_an_earlier_link_are_charged),
        cmocka_unit_test(a_full_earlier_link_leaves_nothing_to_grant),
        cmocka_unit_test(no_limit_is_told_before_the_welcome),
        cmocka_unit_test(frames_that_left_meanwhile_are_not_charged),
        cmocka_unit_test(a_dial_without_a_place_is_refused),
        cmocka_unit_test(a_place_remembers_nothing_of_another_child),
        cmocka_unit_test(a_lost_child_is_waited_for),
        cmocka_unit_test(surplus_children_take_turns),
        cmocka_unit_test(what_is_lent_comes_back),
        cmocka_unit_test(asking_out_of_turn_ends_the_link),
        cmocka_unit_test(a_surplus_child_asks_for_each_frame),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
