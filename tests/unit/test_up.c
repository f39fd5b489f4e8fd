/* UP as one node sees it: reading, batching, windows, acknowledgements. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/lab.h"

static struct lab lab;

/* Opens node 1 of the tree, welcomed by the root with `limit` frames. */
static void open_node(struct ov_cfg cfg, const char *limit)
{
    lab_open(&lab, cfg, 1);
    seen(&lab, 0, START);
    seen(&lab, 0, DIALLED(0, 0));
    heard(&lab, 0, 0, "welcome:#1 path:0");
    heard(&lab, 0, 0, limit);
    seen(&lab, 0, SENT(0, 1));
}

/* Adds child `child`, welcomed on link `link`. */
static void add_child(uint16_t link, uint32_t child)
{
    char words[32];

    snprintf(words, sizeof(words), "hello:%u#1", (unsigned)child);
    seen(&lab, 0, CALLED(link, child));
    heard(&lab, 0, link, words);
    snprintf(words, sizeof(words), "answer:%u#1", (unsigned)child);
    heard(&lab, 0, 0, words);
    seen(&lab, 0, SENT(0, 1));
    seen(&lab, 0, SENT(link, 2));
}

/* --- an idle uplink */

/* A line that is ready is read at once and sent at once, in one record. */
static void a_line_on_an_idle_uplink_is_sent_at_once(void **state)
{
    (void)state;
    open_node(lab_cfg(3, 2), "limit:4");
    assert_string_equal(seen(&lab, 1, READY(1)), "read:I1<4064");
    assert_string_equal(wrote(&lab, 1, 1, 10, OV_INPUT_IDLE),
                        "send:L0[up:1.1(10)]");
    assert_string_equal(seen(&lab, 1, READY(2)), "read:I2<4064");
    assert_string_equal(wrote(&lab, 1, 2, 20, OV_INPUT_IDLE),
                        "send:L0[up:1.2(20)]");
    lab_close(&lab);
}

/* Events that are marked as followed by others are answered together. */
static void what_is_followed_is_answered_once(void **state)
{
    struct ov_event first = CALLED(2, 4), second = CALLED(1, 3);

    (void)state;
    open_node(lab_cfg(7, 2), "limit:4");
    first.follows = true;
    assert_string_equal(seen(&lab, 0, first), "");
    assert_string_equal(seen(&lab, 0, second), "");
    first = READY(1);
    first.follows = true;
    assert_string_equal(seen(&lab, 1, first), "");
    assert_string_equal(seen(&lab, 1, READY(2)), "read:I1<4064");
    first = (struct ov_event){.kind = OV_EV_READ, .input = 1, .follows = true};
    assert_string_equal(seen(&lab, 1, first), "");
    assert_string_equal(seen(&lab, 1, TICK), "read:I2<4064");
    assert_string_equal(wrote(&lab, 1, 2, 5, OV_INPUT_IDLE),
                        "send:L0[up:1.1(5)]");
    lab_close(&lab);
}

/* Nothing is read before the node is welcome and was granted frames: unread
 * output stays in the pipes. */
static void nothing_is_read_before_it_can_be_sent(void **state)
{
    (void)state;
    lab_open(&lab, lab_cfg(3, 2), 1);
    seen(&lab, 0, START);
    assert_string_equal(seen(&lab, 0, READY(1)), "");
    assert_string_equal(seen(&lab, 0, DIALLED(0, 0)),
                        "send:L0[hello:1#1~0=0/0]");
    assert_string_equal(heard(&lab, 0, 0, "welcome:#1 path:0"), "adopted:0");
    assert_string_equal(heard(&lab, 0, 0, "limit:4"), "read:I1<4064");
    assert_string_equal(wrote(&lab, 0, 1, 10, OV_INPUT_IDLE),
                        "send:L0[up:1.1(10)]");
    lab_close(&lab);
}

/* A limit granted before the welcome belongs to no link of ours. */
static void a_limit_before_the_welcome_does_not_count(void **state)
{
    (void)state;
    lab_open(&lab, lab_cfg(3, 2), 1);
    seen(&lab, 0, START);
    seen(&lab, 0, READY(1));
    seen(&lab, 0, DIALLED(0, 0));
    assert_string_equal(heard(&lab, 0, 0, "limit:4 welcome:#1 path:0"),
                        "adopted:0");
    lab_close(&lab);
}

/* An input that ends, or has nothing after all, sends no record; one with a
 * flag does, without bytes. */
static void records_without_bytes_need_a_flag(void **state)
{
    (void)state;
    open_node(lab_cfg(3, 2), "limit:4");
    seen(&lab, 1, READY(1));
    assert_string_equal(wrote(&lab, 1, 1, 0, OV_INPUT_IDLE), "");
    seen(&lab, 1, READY(1));
    assert_string_equal(wrote_flags(&lab, 1, 1, 0, OV_INPUT_END, OV_RECORD_EOF),
                        "send:L0[up:1.1(0)eof]");
    seen(&lab, 1, READY(0));
    assert_string_equal(wrote_flags(&lab, 1, 0, 5, OV_INPUT_END, OV_RECORD_EOF),
                        "send:L0[up:1.2(5)eof]");
    lab_close(&lab);
}

/* --- a busy uplink */

/* While the transport has no room nothing is read; then several inputs and the
 * queue of a child share one frame. */
static void small_records_share_a_frame_when_the_uplink_was_busy(void **state)
{
    (void)state;
    open_node(lab_cfg(5, 2), "limit:100");
    add_child(1, 3);
    for (unsigned i = 0; i < lab.cfg.data_slots; i++) {
        seen(&lab, 1, READY(1));
        wrote(&lab, 1, 1, 10, OV_INPUT_IDLE);
    }
    assert_string_equal(seen(&lab, 2, READY(1)), "");
    assert_string_equal(seen(&lab, 2, READY(2)), "");
    assert_string_equal(heard(&lab, 2, 1, "up:3.1(7),3.2(8)"), "");
    assert_string_equal(seen(&lab, 3, SENT(0, 1)), "read:I1<4064");
    assert_string_equal(wrote(&lab, 3, 1, 11, OV_INPUT_IDLE), "read:I2<4029");
    assert_string_equal(wrote(&lab, 3, 2, 12, OV_INPUT_IDLE),
                        "send:L0[up:1.5(11),1.6(12),3.1(7),3.2(8)]");
    lab_close(&lab);
}

/* With batch_pieces 1 the same records are sent one by one. */
static void nothing_shares_a_frame_when_told_so(void **state)
{
    struct ov_cfg cfg = lab_cfg(5, 2);

    (void)state;
    cfg.batch_pieces = 1;
    open_node(cfg, "limit:100");
    add_child(1, 3);
    for (unsigned i = 0; i < lab.cfg.data_slots; i++) {
        seen(&lab, 1, READY(1));
        wrote(&lab, 1, 1, 10, OV_INPUT_IDLE);
    }
    seen(&lab, 2, READY(1));
    heard(&lab, 2, 1, "up:3.1(7),3.2(8)");
    assert_string_equal(seen(&lab, 3, SENT(0, 4)), "read:I1<4064");
    assert_string_equal(wrote(&lab, 3, 1, 11, OV_INPUT_IDLE),
                        "send:L0[up:1.5(11)] send:L0[up:3.1(7),3.2(8)]");
    lab_close(&lab);
}

/* A frame of half the size or more is passed on unchanged, never merged. */
static void large_frames_pass_as_they_are(void **state)
{
    (void)state;
    open_node(lab_cfg(5, 2), "limit:100");
    add_child(1, 3);
    assert_string_equal(heard(&lab, 1, 1, "up:3.1(3000)"),
                        "send:L0[up:3.1(3000)]");
    lab_close(&lab);
}

/* A frame that does not fit into the batch is sent after it. */
static void what_does_not_fit_goes_in_the_next_frame(void **state)
{
    (void)state;
    open_node(lab_cfg(5, 2), "limit:100");
    add_child(1, 3);
    for (unsigned i = 0; i < lab.cfg.data_slots; i++) {
        seen(&lab, 1, READY(1));
        wrote(&lab, 1, 1, 10, OV_INPUT_IDLE);
    }
    heard(&lab, 1, 1, "up:3.1(1500)");
    heard(&lab, 1, 1, "up:3.2(1500)");
    heard(&lab, 1, 1, "up:3.3(1500)");
    assert_string_equal(seen(&lab, 2, SENT(0, 4)),
                        "send:L0[up:3.1(1500),3.2(1500)] "
                        "send:L0[up:3.3(1500)] send:L1[limit:6]");
    lab_close(&lab);
}

/* The parent's limit is a count of frames from the start of the link. */
static void frames_end_at_the_limit(void **state)
{
    (void)state;
    open_node(lab_cfg(3, 2), "limit:1");
    seen(&lab, 1, READY(1));
    assert_string_equal(wrote(&lab, 1, 1, 10, OV_INPUT_IDLE),
                        "send:L0[up:1.1(10)]");
    assert_string_equal(seen(&lab, 1, READY(1)), "");
    assert_string_equal(seen(&lab, 1, SENT(0, 1)), "");
    assert_string_equal(heard(&lab, 1, 0, "limit:1"), "");
    assert_string_equal(heard(&lab, 1, 0, "limit:3"), "read:I1<4064");
    assert_string_equal(heard(&lab, 1, 0, "limit:2"), "close:L0 orphan:0");
    lab_close(&lab);
}

/* --- the window of own records */

/* The node keeps at most the window less the reserve; once acknowledged, kept
 * bytes are freed and reading goes on. */
static void reading_stops_at_the_window(void **state)
{
    (void)state;
    open_node(lab_cfg(3, 2), "limit:100");
    seen(&lab, 1, READY(1));
    assert_string_equal(wrote(&lab, 1, 1, 4064, OV_INPUT_MORE),
                        "send:L0[up:1.1(4064)] read:I1<4064");
    assert_string_equal(wrote(&lab, 1, 1, 4064, OV_INPUT_MORE),
                        "send:L0[up:1.2(4064)] read:I1<4064");
    /* 16384 - 4096 - 3 * 4088 = 24 bytes are left: too few to read. */
    assert_string_equal(wrote(&lab, 1, 1, 4064, OV_INPUT_MORE),
                        "send:L0[up:1.3(4064)]");
    assert_string_equal(seen(&lab, 1, SENT(0, 3)), "");
    assert_int_equal(ov_node_look(lab.node, 0).kept_bytes, 3 * 4088);
    assert_int_equal(lab.bufs_live, 3);
    assert_string_equal(heard(&lab, 2, 0, "ack:1=2/0"), "");
    assert_string_equal(heard(&lab, 2, 0, "ack:1=3/1"), "read:I1<4064");
    assert_int_equal(ov_node_look(lab.node, 0).kept_bytes, 2 * 4088);
    assert_int_equal(lab.bufs_live, 2);
    lab_close(&lab);
}

/* A read never takes more than what is left of the window. */
static void a_read_is_cut_to_the_window(void **state)
{
    struct ov_cfg cfg = lab_cfg(3, 2);

    (void)state;
    cfg.up_window_bytes = cfg.frame_bytes + OV_RESERVE_BYTES;
    open_node(cfg, "limit:100");
    seen(&lab, 1, READY(1));
    wrote(&lab, 1, 1, 1000, OV_INPUT_IDLE);
    /* 8192 - 4096 - 1024 - 24 bytes, and then less than half a frame. */
    assert_string_equal(seen(&lab, 1, READY(1)), "read:I1<3048");
    wrote(&lab, 1, 1, 1000, OV_INPUT_IDLE);
    assert_string_equal(seen(&lab, 1, READY(1)), "");
    assert_string_equal(heard(&lab, 1, 0, "ack:1=2/2"), "read:I1<4064");
    lab_close(&lab);
}

/* Exits get through a full window: the reserve is for input 0 alone. */
static void the_reserve_is_for_the_nodes_own_words(void **state)
{
    (void)state;
    open_node(lab_cfg(3, 2), "limit:100");
    seen(&lab, 1, READY(1));
    for (unsigned i = 0; i < 3; i++)
        wrote(&lab, 1, 1, 4064, OV_INPUT_MORE);
    seen(&lab, 1, SENT(0, 3));
    assert_string_equal(seen(&lab, 2, READY(2)), "");
    assert_string_equal(seen(&lab, 2, READY(0)), "read:I0<4064");
    assert_string_equal(wrote(&lab, 2, 0, 100, OV_INPUT_IDLE),
                        "send:L0[up:1.4(100)]");
    assert_string_equal(heard(&lab, 3, 0, "ack:1=4/4"), "read:I1<4064");
    lab_close(&lab);
}

/* Many small records: their number ends the reading, too, with a few kept for
 * input 0. */
static void the_number_of_records_is_bounded(void **state)
{
    struct ov_cfg cfg = lab_cfg(3, 2);
    unsigned count = 0;

    (void)state;
    cfg.kept_max = 10;
    open_node(cfg, "limit:100");
    while (seen(&lab, 1, READY(1))[0] != '\0') {
        assert_memory_equal(lab.text, "read:I1<", 8);
        wrote(&lab, 1, 1, 1, OV_INPUT_IDLE);
        seen(&lab, 1, SENT(0, 1));
        count++;
    }
    assert_int_equal(count, 10 - OV_KEPT_RESERVE);
    for (unsigned i = 0; i < OV_KEPT_RESERVE; i++) {
        assert_memory_equal(seen(&lab, 1, READY(0)), "read:I0<", 8);
        wrote(&lab, 1, 0, 1, OV_INPUT_IDLE);
        seen(&lab, 1, SENT(0, 1));
    }
    assert_string_equal(seen(&lab, 1, READY(0)), "");
    assert_memory_equal(heard(&lab, 2, 0, "ack:1=10/1"), "read:I0<", 8);
    lab_close(&lab);
}

/* --- acknowledgements */

/* Acknowledgements of records that were never sent are invalid; records that
 * wait to be sent are not affected. */
static void records_not_sent_cannot_be_acknowledged(void **state)
{
    (void)state;
    open_node(lab_cfg(3, 2), "limit:100");
    assert_string_equal(heard(&lab, 1, 0, "ack:1=0/0"), "");
    seen(&lab, 1, READY(1));
    wrote(&lab, 1, 1, 10, OV_INPUT_IDLE);
    seen(&lab, 1, READY(1));
    seen(&lab, 1, READY(2));
    /* Record 2 is in the batch while input 2 is read. */
    assert_string_equal(wrote(&lab, 1, 1, 10, OV_INPUT_IDLE), "read:I2<4030");
    assert_string_equal(heard(&lab, 1, 0, "ack:1=2/2"), "close:L0 orphan:0");
    assert_string_equal(wrote(&lab, 1, 2, 10, OV_INPUT_IDLE), "");
    assert_int_equal(ov_node_look(lab.node, 0).kept_bytes, 3 * 34);
    lab_close(&lab);
}

/* A record that is sent again may be acknowledged while it is in the frame that
 * is being put together: it is freed when that frame is sent. */
static void a_record_in_the_batch_outlives_its_acknowledgement(void **state)
{
    (void)state;
    open_node(lab_cfg(3, 2), "limit:100");
    for (unsigned i = 0; i < lab.cfg.data_slots; i++) {
        seen(&lab, 1, READY(1));
        wrote(&lab, 1, 1, 10, OV_INPUT_IDLE);
    }
    assert_string_equal(heard(&lab, 2, 0, "ack:1=2/1"), "");
    assert_string_equal(seen(&lab, 2, READY(1)), "");
    assert_string_equal(heard(&lab, 2, 0, "path:0"), "");
    assert_string_equal(seen(&lab, 3, SENT(0, 4)), "read:I1<3996");
    assert_string_equal(heard(&lab, 3, 0, "ack:1=4/4"), "");
    assert_int_equal(ov_node_look(lab.node, 0).kept_bytes, 2 * 34);
    assert_string_equal(wrote(&lab, 3, 1, 11, OV_INPUT_IDLE),
                        "send:L0[up:1.3(10),1.4(10),1.5(11)]");
    assert_int_equal(ov_node_look(lab.node, 0).kept_bytes, 35);
    assert_string_equal(heard(&lab, 4, 0, "ack:1=5/5"), "");
    assert_int_equal(ov_node_look(lab.node, 0).kept_bytes, 0);
    lab_close(&lab);
}

/* A record that then leaves the batch makes room for an input that waits for
 * nothing else. */
static void a_record_that_leaves_the_batch_makes_room(void **state)
{
    struct ov_cfg cfg = lab_cfg(3, 2);

    (void)state;
    cfg.kept_max = OV_KEPT_RESERVE + 2;
    open_node(cfg, "limit:100");
    for (unsigned i = 0; i < 2; i++) {
        seen(&lab, 1, READY(1));
        wrote(&lab, 1, 1, 10, OV_INPUT_IDLE);
    }
    assert_string_equal(seen(&lab, 1, READY(1)), "");
    for (unsigned i = 2; i < lab.cfg.data_slots; i++)
        ov_link_on_send(&lab.node->links[0], true, 0);
    seen(&lab, 2, READY(0));
    assert_string_equal(heard(&lab, 2, 0, "path:0"), "");
    assert_string_equal(seen(&lab, 3, SENT(0, 4)), "read:I0<3996");
    assert_string_equal(heard(&lab, 3, 0, "ack:1=2/2"), "");
    assert_string_equal(wrote(&lab, 3, 0, 5, OV_INPUT_IDLE),
                        "send:L0[up:1.1(10),1.2(10),1.3(5)] read:I1<4064");
    lab_close(&lab);
}

/* A node that is told of a new path while it puts a frame together frees the
 * records of that frame. */
static void a_record_that_need_not_go_again_makes_room(void **state)
{
    struct ov_cfg cfg = lab_cfg(3, 2);

    (void)state;
    cfg.kept_max = OV_KEPT_RESERVE + 2;
    open_node(cfg, "limit:100");
    for (unsigned i = 0; i < 2; i++) {
        seen(&lab, 1, READY(1));
        wrote(&lab, 1, 1, 10, OV_INPUT_IDLE);
    }
    assert_string_equal(seen(&lab, 1, READY(1)), "");
    for (unsigned i = 2; i < lab.cfg.data_slots; i++)
        ov_link_on_send(&lab.node->links[0], true, 0);
    seen(&lab, 2, READY(0));
    heard(&lab, 2, 0, "path:0");
    assert_string_equal(seen(&lab, 3, SENT(0, 4)), "read:I0<3996");
    heard(&lab, 3, 0, "ack:1=2/2");
    assert_string_equal(heard(&lab, 3, 0, "path:0"), "");
    assert_string_equal(wrote(&lab, 3, 0, 0, OV_INPUT_IDLE), "read:I1<4064");
    assert_int_equal(ov_node_look(lab.node, 0).kept_bytes, 0);
    lab_close(&lab);
}

/* Records in the batch when the parent is lost go to the next parent, each
 * once: those of a leaf, and those of other nodes, too. */
static void a_batch_survives_the_parent(void **state)
{
    (void)state;
    open_node(lab_cfg(3, 2), "limit:100");
    seen(&lab, 1, READY(1));
    wrote(&lab, 1, 1, 10, OV_INPUT_IDLE);
    seen(&lab, 1, READY(1));
    seen(&lab, 1, READY(2));
    assert_string_equal(wrote(&lab, 1, 1, 20, OV_INPUT_IDLE), "read:I2<4020");
    assert_string_equal(seen(&lab, 2, ENDED(0)), "orphan:0");
    assert_string_equal(wrote(&lab, 2, 2, 30, OV_INPUT_IDLE), "");
    assert_string_equal(seen(&lab, 2 + 40, TICK), "dial:0#2");
    seen(&lab, 42, DIALLED(0, 0));
    heard(&lab, 42, 0, "welcome:#2 path:0");
    assert_string_equal(heard(&lab, 42, 0, "ack:1=1/1"), "");
    assert_string_equal(heard(&lab, 42, 0, "limit:9"),
                        "send:L0[up:1.2(20),1.3(30)]");
    heard(&lab, 43, 0, "ack:1=3/3");
    assert_int_equal(ov_node_look(lab.node, 0).kept_bytes, 0);
    lab_close(&lab);
}

/* The batch goes to the next parent also when it has a frame of a child, which
 * was taken from the child's queue. */
static void a_mixed_batch_survives_the_parent(void **state)
{
    (void)state;
    open_node(lab_cfg(5, 2), "limit:100");
    add_child(1, 3);
    for (unsigned i = 0; i < lab.cfg.data_slots; i++) {
        seen(&lab, 1, READY(1));
        wrote(&lab, 1, 1, 10, OV_INPUT_IDLE);
    }
    heard(&lab, 1, 0, "ack:1=3/3");
    seen(&lab, 1, READY(1));
    heard(&lab, 1, 1, "up:3.1(7),3.2(8)");
    seen(&lab, 1, READY(2));
    assert_string_equal(seen(&lab, 1, SENT(0, 1)), "read:I1<4064");
    assert_string_equal(wrote(&lab, 1, 1, 11, OV_INPUT_IDLE), "read:I2<3966");
    assert_string_equal(seen(&lab, 2, ENDED(0)), "orphan:0");
    assert_string_equal(wrote(&lab, 2, 2, 12, OV_INPUT_IDLE), "");
    assert_string_equal(seen(&lab, 2 + 40, TICK), "dial:0#2");
    seen(&lab, 42, DIALLED(0, 0));
    heard(&lab, 42, 0, "welcome:#2 path:0");
    assert_string_equal(heard(&lab, 42, 0, "limit:9"),
                        "send:L0[up:3.1(7),3.2(8),1.4(10),1.5(11),1.6(12)]");
    lab_close(&lab);
}

/* An acknowledgement that is older than what is known changes nothing. */
static void old_acknowledgements_are_harmless(void **state)
{
    (void)state;
    open_node(lab_cfg(3, 2), "limit:100");
    for (unsigned i = 0; i < 3; i++) {
        seen(&lab, 1, READY(1));
        wrote(&lab, 1, 1, 10, OV_INPUT_IDLE);
    }
    heard(&lab, 1, 0, "ack:1=3/2");
    assert_int_equal(ov_node_look(lab.node, 0).kept_bytes, 34);
    heard(&lab, 1, 0, "ack:1=1/1");
    assert_int_equal(ov_node_look(lab.node, 0).kept_bytes, 34);
    heard(&lab, 1, 0, "ack:1=3/3");
    assert_int_equal(ov_node_look(lab.node, 0).kept_bytes, 0);
    lab_close(&lab);
}

/* Acknowledgements for nodes beneath go down, reduced to the newest while they
 * wait. */
static void acknowledgements_for_others_are_passed_on(void **state)
{
    (void)state;
    open_node(lab_cfg(7, 2), "limit:100");
    add_child(1, 3);
    add_child(2, 4);
    assert_string_equal(heard(&lab, 1, 0, "ack:4=2/1 ack:3=5/5"),
                        "send:L2[ack:4=2/1] send:L1[ack:3=5/5]");
    for (unsigned i = 1; i < lab.cfg.send_slots; i++)
        ov_link_on_send(&lab.node->links[1], false, 0);
    assert_string_equal(heard(&lab, 1, 0, "ack:3=6/5 ack:9=1/1"), "");
    assert_string_equal(heard(&lab, 1, 0, "ack:3=7/6"), "");
    assert_string_equal(seen(&lab, 2, SENT(1, 8)), "send:L1[ack:3=7/6]");
    lab_close(&lab);
}

/* --- frames of children */

/* A child is granted more frames when half of its frames were passed on. */
static void a_child_is_granted_frames_as_they_leave(void **state)
{
    (void)state;
    open_node(lab_cfg(5, 2), "limit:1");
    add_child(1, 3);
    assert_string_equal(heard(&lab, 1, 1, "up:3.1(10)"), "send:L0[up:3.1(10)]");
    for (unsigned i = 2; i <= 4; i++)
        assert_string_equal(heard(&lab, 1, 1, "up:3.2(10)"), "");
    assert_string_equal(heard(&lab, 2, 0, "limit:2"),
                        "send:L0[up:3.2(10),3.2(10),3.2(10)] "
                        "send:L1[limit:8]");
    lab_close(&lab);
}

/* Frames in a batch that waits for its link are not passed on yet. */
static void frames_in_the_batch_are_not_passed_on(void **state)
{
    (void)state;
    open_node(lab_cfg(5, 2), "limit:100");
    add_child(1, 3);
    for (unsigned i = 0; i < lab.cfg.data_slots; i++)
        ov_link_on_send(&lab.node->links[0], true, 0);
    heard(&lab, 1, 1, "up:3.1(10)");
    heard(&lab, 1, 1, "up:3.2(10)");
    seen(&lab, 1, READY(1));
    assert_string_equal(seen(&lab, 2, SENT(0, 1)), "read:I1<3996");
    ov_link_on_send(&lab.node->links[0], true, 0);
    assert_string_equal(wrote(&lab, 2, 1, 5, OV_INPUT_IDLE), "");
    assert_string_equal(seen(&lab, 3, SENT(0, 1)),
                        "send:L0[up:3.1(10),3.2(10),1.1(5)] "
                        "send:L1[limit:6]");
    lab_close(&lab);
}

static void a_child_that_sends_more_than_granted_is_cut(void **state)
{
    (void)state;
    open_node(lab_cfg(5, 2), "limit:0");
    add_child(1, 3);
    for (unsigned i = 1; i <= 4; i++)
        assert_string_equal(heard(&lab, 1, 1, "up:3.1(10)"), "");
    assert_string_equal(heard(&lab, 1, 1, "up:3.5(10)"), "close:L1 probe:3");
    /* Frames that the child had sent before are passed on all the same. */
    assert_string_equal(heard(&lab, 1, 0, "limit:9"),
                        "send:L0[up:3.1(10),3.1(10),3.1(10),3.1(10)]");
    /* The child's place is held until another node answers for it. */
    assert_int_equal(lab.node->tree.places[0].kind, OV_PLACE_HOLD_UNCLEAR);
    assert_string_equal(heard(&lab, 1, 0, "left:3"), "");
    assert_int_equal(lab.node->tree.places[0].kind, OV_PLACE_FREE);
    lab_close(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_on_an_idle_uplink_is_sent_at_once),
        cmocka_unit_test(what_is_followed_is_answered_once),
        cmocka_unit_test(nothing_is_read_before_it_can_be_sent),
        cmocka_unit_test(a_limit_before_the_welcome_does_not_count),
        cmocka_unit_test(records_without_bytes_need_a_flag),
        cmocka_unit_test(small_records_share_a_frame_when_the_uplink_was_busy),
        cmocka_unit_test(nothing_shares_a_frame_when_told_so),
        cmocka_unit_test(large_frames_pass_as_they_are),
        cmocka_unit_test(what_does_not_fit_goes_in_the_next_frame),
        cmocka_unit_test(frames_end_at_the_limit),
        cmocka_unit_test(reading_stops_at_the_window),
        cmocka_unit_test(a_read_is_cut_to_the_window),
        cmocka_unit_test(the_reserve_is_for_the_nodes_own_words),
        cmocka_unit_test(the_number_of_records_is_bounded),
        cmocka_unit_test(records_not_sent_cannot_be_acknowledged),
        cmocka_unit_test(a_record_in_the_batch_outlives_its_acknowledgement),
        cmocka_unit_test(a_record_that_leaves_the_batch_makes_room),
        cmocka_unit_test(a_record_that_need_not_go_again_makes_room),
        cmocka_unit_test(a_batch_survives_the_parent),
        cmocka_unit_test(a_mixed_batch_survives_the_parent),
        cmocka_unit_test(old_acknowledgements_are_harmless),
        cmocka_unit_test(acknowledgements_for_others_are_passed_on),
        cmocka_unit_test(a_child_is_granted_frames_as_they_leave),
        cmocka_unit_test(frames_in_the_batch_are_not_passed_on),
        cmocka_unit_test(a_child_that_sends_more_than_granted_is_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
