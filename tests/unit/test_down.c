/* DOWN as one node sees it: windows, reports, sets of nodes, goodbye. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/lab.h"

static struct lab lab;

/* Windows of 16 frames, and of 8 for stream 0: a report is due for every 2
 * frames, and for each frame of stream 0. The transport delays nothing, and no
 * node falls silent. */
static struct ov_cfg down_cfg(uint32_t nodes)
{
    struct ov_cfg cfg = lab_cfg(nodes, 2);

    cfg.down_frames = 16;
    cfg.control_frames = 8;
    cfg.send_slots = OV_SEND_SLOTS_MAX;
    cfg.data_slots = OV_SEND_SLOTS_MAX - 1;
    ov_times_set(&cfg.times, UINT64_C(1000000000000));
    return cfg;
}

static void add_child(uint16_t link, uint32_t child)
{
    char words[32];

    snprintf(words, sizeof(words), "hello:%u#1", (unsigned)child);
    seen(&lab, 0, CALLED(link, child));
    heard(&lab, 0, link, words);
    if (lab.node->tree.self == 0)
        return;
    snprintf(words, sizeof(words), "answer:%u#1", (unsigned)child);
    heard(&lab, 0, 0, words);
}

/* Opens node 1 of a tree of 15, with children 3 on L1 and 4 on L2. */
static void open_node(struct ov_cfg cfg)
{
    lab_open(&lab, cfg, 1);
    seen(&lab, 0, START);
    seen(&lab, 0, DIALLED(0, 0));
    heard(&lab, 0, 0, "welcome:#1 path:0 limit:4");
    seen(&lab, 0, SENT(0, 1));
    add_child(1, 3);
    add_child(2, 4);
    seen(&lab, 0, SENT(0, 2));
}

/* Opens the root of a tree of 3, with children 1 on L0 and 2 on L1. */
static void open_root(struct ov_cfg cfg)
{
    lab_open(&lab, cfg, 0);
    seen(&lab, 0, START);
    add_child(0, 1);
    add_child(1, 2);
}

/* Frames 0 to count-1 of stream 1 arrive, ten bytes each. */
static void hear_frames(unsigned count)
{
    char words[32];

    for (unsigned i = 0; i < count; i++) {
        snprintf(words, sizeof(words), "down:1.%u(10)", i);
        heard(&lab, 0, 0, words);
    }
}

/* --- forwarding */

/* A frame that arrives is consumed here and sent to each child, in one buffer,
 * which is given back when all have consumed it. */
static void a_frame_is_forwarded_in_its_buffer(void **state)
{
    (void)state;
    open_node(down_cfg(15));
    assert_string_equal(heard(&lab, 0, 0, "open:1w16:1-14"),
                        "consume:0.0(20) send:L1[open:1w16:1-14] "
                        "send:L2[open:1w16:1-14]");
    assert_int_equal(lab.bufs_live, 1);
    assert_string_equal(heard(&lab, 0, 0, "down:1.0(99)"),
                        "consume:1.0(99) send:L1[down:1.0(99)] "
                        "send:L2[down:1.0(99)]");
    assert_int_equal(lab.bufs_live, 2);
    seen(&lab, 0, CONSUMED(1, 1, 0));
    heard(&lab, 0, 1, "base:1=1");
    assert_int_equal(lab.bufs_live, 2);
    heard(&lab, 0, 2, "base:1=1");
    assert_int_equal(lab.bufs_live, 1);
    lab_close(&lab);
}

/* A busy link gets stream 0 first: the message that opened a stream comes
 * before the stream. */
static void control_comes_before_all_else(void **state)
{
    struct ov_cfg cfg = down_cfg(15);

    (void)state;
    cfg.data_slots = 1;
    open_node(cfg);
    heard(&lab, 0, 0, "app");
    assert_string_equal(heard(&lab, 0, 0, "open:1w16:1-14"), "consume:0.1(20)");
    assert_string_equal(heard(&lab, 0, 0, "down:1.0(9)"), "consume:1.0(9)");
    assert_string_equal(heard(&lab, 0, 0, "app"), "consume:0.2(4)");
    seen(&lab, 1, SENT(2, 2)); /* the messages ASKED and WELCOME */
    assert_string_equal(seen(&lab, 1, SENT(2, 1)), "send:L2[open:1w16:1-14]");
    assert_string_equal(seen(&lab, 1, SENT(2, 1)), "send:L2[app]");
    assert_string_equal(seen(&lab, 1, SENT(2, 1)), "send:L2[down:1.0(9)]");
    lab_close(&lab);
}

/* Frames go only to the nodes of the set, and no other node is waited for. */
static void a_stream_goes_to_its_node_set(void **state)
{
    static const struct {
        const char *open, *frame;
        bool waits; /* the frame for child 3 */
    } cases[] = {
        /* the set is beneath child 3 */
        {"open:1w16:7-7", "send:L1[down:1.0(10)]", true},
        {"open:1w16:3-3", "send:L1[down:1.0(10)]", true},
        /* the set is beneath child 4 */
        {"open:1w16:9-10", "send:L2[down:1.0(10)]", false},
        {"open:1w16:1-1", "consume:1.0(10)", false},
        {"open:1w16:1-3", "consume:1.0(10) send:L1[down:1.0(10)]", true},
        {"open:1w16:8-9", "send:L1[down:1.0(10)] send:L2[down:1.0(10)]", true},
        {"open:1w16:2-2", "", false}, /* no target beneath this node: consumed
                                       * at once */
        {"open:1w16:0-0", "", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        open_node(down_cfg(15));
        heard(&lab, 0, 0, cases[i].open);
        assert_string_equal(heard(&lab, 0, 0, "down:1.0(10)"), cases[i].frame);
        assert_string_equal(heard(&lab, 0, 0, "app"),
                            "consume:0.1(4) send:L1[app] send:L2[app]");
        if (strstr(cases[i].frame, "consume") != NULL)
            seen(&lab, 0, CONSUMED(1, 1, 0));
        if (strstr(cases[i].frame, "L2") != NULL)
            heard(&lab, 0, 2, "base:1=1");
        assert_string_equal(seen(&lab, 5, TICK),
                            cases[i].waits ? "" : "send:L0[base:1=1]");
        if (cases[i].waits)
            heard(&lab, 5, 1, "base:1=1");
        assert_int_equal(ov_node_look(lab.node, 1).down_base, 1);
        lab_close(&lab);
    }
}

/* For a set of several ranges, a frame goes wherever one of the ranges needs
 * it. */
static void the_ranges_of_a_set_add_up(void **state)
{
    static const struct topo_range range[] = {{7, 7}, {10, 10}, {13, 14}};
    struct ov_open open = {.stream = 1, .window = 16, .ranges = 3};
    struct ov_wr head, wr;
    struct ov_buf *buf;

    (void)state;
    open_node(down_cfg(15));
    buf = lab_buf(&lab);
    head = ov_wr_init(buf->mem, OV_DOWN_HEAD_BYTES);
    wr = ov_wr_init(buf->mem + OV_DOWN_HEAD_BYTES, 64);
    ov_open_encode(&wr, &open, range);
    buf->len_bytes = (uint32_t)(wr.at - buf->mem);
    ov_down_encode(&head, 0, &(struct ov_down){.stream = 0},
                   buf->len_bytes - OV_DOWN_HEAD_BYTES);
    heard_buf(&lab, 0, 0, buf);
    assert_string_equal(heard(&lab, 0, 0, "down:1.0(10)"),
                        "send:L1[down:1.0(10)] send:L2[down:1.0(10)]");
    lab_close(&lab);
}

/* The end is sent with its frame and reported as soon as it is consumed. */
static void the_end_is_passed_on_and_reported_at_once(void **state)
{
    (void)state;
    open_node(down_cfg(15));
    heard(&lab, 0, 0, "open:1w16:1-3");
    assert_string_equal(heard(&lab, 0, 0, "down:1.0(5)end"),
                        "consume:1.0(5)end send:L1[down:1.0(5)end]");
    seen(&lab, 0, CONSUMED(1, 1, 0));
    assert_string_equal(heard(&lab, 0, 1, "base:1=1"), "send:L0[base:1=1]");
    assert_string_equal(heard(&lab, 0, 0, "down:1.1(5)"), "close:L0 orphan:0");
    lab_close(&lab);
}

/* --- frames that a parent must not send */

static void frames_that_do_not_follow_end_the_link(void **state)
{
    static const char *const wrong[] = {
        "down:1.2(4)",    /* frame 1 is missing */
        "down:1.0(4)",    /* frame 0 came before */
        "down:2.0(4)",    /* this stream is not open */
        "open:1w16:1-14", /* this stream is open already */
        "open:2w17:1-14", /* the window is larger than the node's memory for it
                           */
        "open:2w0:1-14",  /* a window of 0 */
        "open:0w8:1-14",  /* stream 0 is always open */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        open_node(down_cfg(15));
        heard(&lab, 0, 0, "open:1w16:3-3");
        hear_frames(1);
        if (strncmp(heard(&lab, 0, 0, wrong[i]), "close:L0 orphan:0", 17) != 0)
            fail_msg("%s gives: %s", wrong[i], lab.text);
        lab_close(&lab);
    }
}

/* The frame exceeds the window by one, as the first frame was not consumed
 * here. */
static void a_frame_beyond_the_window_ends_the_link(void **state)
{
    (void)state;
    open_node(down_cfg(15));
    heard(&lab, 0, 0, "open:1w4:3-3");
    hear_frames(4);
    assert_string_equal(heard(&lab, 0, 1, "base:1=1@3.2"),
                        "send:L0[base:1=1@3.2]");
    assert_string_equal(heard(&lab, 0, 0, "down:1.4(10)"),
                        "send:L1[down:1.4(10)]");
    assert_string_equal(heard(&lab, 0, 0, "down:1.5(10)"), "close:L0 orphan:0");
    assert_int_equal(lab.bufs_live, 1 + 4);
    lab_close(&lab);
}

/* A child cannot have consumed a frame that it was not sent. */
static void a_base_beyond_what_was_sent_ends_the_link(void **state)
{
    (void)state;
    open_node(down_cfg(15));
    heard(&lab, 0, 0, "open:1w16:1-3");
    hear_frames(3);
    assert_string_equal(heard(&lab, 0, 1, "base:1=4"), "close:L1 probe:3");
    assert_string_equal(heard(&lab, 0, 2, "base:1=1"), "close:L2 probe:4");
    lab_close(&lab);
}

static void there_is_room_for_so_many_streams(void **state)
{
    (void)state;
    open_node(down_cfg(15));
    heard(&lab, 0, 0, "open:1w4:2-2");
    heard(&lab, 0, 0, "open:2w4:2-2");
    assert_string_equal(heard(&lab, 0, 0, "open:9w4:2-2"),
                        "consume:0.2(20) send:L1[open:9w4:2-2] "
                        "send:L2[open:9w4:2-2]");
    assert_string_equal(heard(&lab, 0, 0, "open:3w4:2-2"), "close:L0 orphan:0");
    lab_close(&lab);
}

/* --- reports */

/* The base is the lowest one of this node and its children, reported with the
 * node that is last. A report goes at every eighth of the window, otherwise
 * after 5 ms. */
static void the_lowest_base_is_reported(void **state)
{
    (void)state;
    open_node(down_cfg(15));
    heard(&lab, 0, 0, "open:1w16:1-14");
    hear_frames(6);
    assert_string_equal(seen(&lab, 10, CONSUMED(1, 4, 0)), "");
    assert_string_equal(heard(&lab, 10, 1, "base:1=3@8.5"), "");
    assert_string_equal(heard(&lab, 10, 2, "base:1=1@10.7"), "");
    assert_int_equal(lab_wake(&lab, 10), 5);
    assert_string_equal(seen(&lab, 14, TICK), "");
    assert_string_equal(seen(&lab, 15, TICK), "send:L0[base:1=1@10.7]");
    assert_string_equal(heard(&lab, 15, 2, "base:1=2@9.6"),
                        "send:L0[base:1=2@9.6]");
    assert_string_equal(heard(&lab, 15, 2, "base:1=5@9.6"), "");
    assert_int_equal(lab_wake(&lab, 15), 5); /* frame 3, of child 3 */
    assert_string_equal(heard(&lab, 16, 1, "base:1=6"),
                        "send:L0[base:1=4@1.0]");
    assert_string_equal(seen(&lab, 17, CONSUMED(1, 6, 0)), "");
    assert_string_equal(heard(&lab, 18, 2, "base:1=6"), "send:L0[base:1=6]");
    assert_string_equal(seen(&lab, 100, TICK), "");
    lab_close(&lab);
}

/* However much changes within the 5 ms, only one report goes. */
static void reports_that_wait_become_one(void **state)
{
    struct ov_cfg cfg = down_cfg(15);
    char words[32];

    (void)state;
    cfg.down_frames = 128;
    open_node(cfg);
    heard(&lab, 0, 0, "open:1w128:3-3");
    hear_frames(10);
    for (unsigned i = 1; i < 10; i++) {
        snprintf(words, sizeof(words), "base:1=%u@7.2", i);
        assert_string_equal(heard(&lab, 10 + i / 3, 1, words), "");
    }
    assert_string_equal(seen(&lab, 14, TICK), "");
    assert_string_equal(seen(&lab, 15, TICK), "send:L0[base:1=9@7.2]");
    assert_string_equal(seen(&lab, 50, TICK), "");
    lab_close(&lab);
}

/* With a full window it matters which node holds it up, so a change of that
 * node is reported, too. For a child that has reported nothing yet only its
 * number is known. */
static void a_full_window_tells_who_holds_it(void **state)
{
    (void)state;
    open_node(down_cfg(15));
    heard(&lab, 0, 0, "open:1w4:3-14");
    hear_frames(4);
    assert_int_equal(lab_wake(&lab, 0), 5);
    assert_string_equal(seen(&lab, 5, TICK), "send:L0[base:1=0@3]");
    assert_string_equal(heard(&lab, 6, 1, "base:1=0@7.2"), "");
    assert_string_equal(seen(&lab, 11, TICK), "send:L0[base:1=0@7.2]");
    assert_string_equal(heard(&lab, 12, 1, "base:1=0@7.2"), "");
    assert_string_equal(heard(&lab, 12, 1, "base:1=4"), "");
    assert_string_equal(seen(&lab, 17, TICK), "send:L0[base:1=0@4]");
    assert_string_equal(seen(&lab, 30, TICK), "");
    lab_close(&lab);
}

/* A stream without frames to wait for causes no report and no timer. */
static void an_idle_stream_says_nothing(void **state)
{
    (void)state;
    open_node(down_cfg(15));
    heard(&lab, 0, 0, "open:1w16:1-14");
    assert_string_equal(heard(&lab, 0, 1, "base:1=0"), "");
    assert_string_equal(seen(&lab, 0, CONSUMED(1, 0, 0)), "");
    assert_true(lab_wake(&lab, 0) > 1000);
    lab_close(&lab);
}

/* --- the root */

/* Each frame gets a number. */
static void frames_of_the_root_are_counted(void **state)
{
    static const uint32_t lens[] = {5, 0, 100, 7};

    (void)state;
    open_root(down_cfg(3));
    told(&lab, 0, "open:1w16:1-2");
    for (uint32_t i = 0; i < 4; i++) {
        const struct ov_buf *buf;
        struct ov_frame_head head;
        struct ov_down down;

        fed(&lab, 0, 1, lens[i], i == 3 ? OV_DOWN_END : 0);
        buf = lab.node->streams[1].ring[i];
        assert_int_equal(ov_frame_head_decode(buf->mem, buf->len_bytes, &head),
                         0);
        assert_int_equal(ov_down_decode(buf->mem, &head, &down), 0);
        assert_int_equal(down.seq, i);
        assert_int_equal(down.flags, i == 3 ? OV_DOWN_END : 0);
    }
    lab_close(&lab);
}

/* The driver may feed as many frames as the window has room for, and none after
 * the end. */
static void the_root_has_room_for_a_window(void **state)
{
    (void)state;
    open_root(down_cfg(3));
    assert_int_equal(ov_node_down_room(lab.node, 0), 8);
    assert_int_equal(ov_node_down_room(lab.node, 1), 0);
    assert_string_equal(told(&lab, 0, "open:1w4:1-2"),
                        "consume:0.0(20) send:L0[open:1w4:1-2] "
                        "send:L1[open:1w4:1-2]");
    assert_int_equal(ov_node_down_room(lab.node, 0), 7);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(ov_node_down_room(lab.node, 1), 4 - i);
        fed(&lab, 0, 1, 10, 0);
    }
    assert_int_equal(ov_node_down_room(lab.node, 1), 0);
    heard(&lab, 0, 0, "base:1=4");
    heard(&lab, 0, 1, "base:1=2");
    assert_int_equal(ov_node_down_room(lab.node, 1), 2);
    fed(&lab, 0, 1, 0, OV_DOWN_END);
    assert_int_equal(ov_node_down_room(lab.node, 1), 0);
    lab_close(&lab);
}

/* A window that is full and does not move for 10 s is reported, once: with the
 * process that came with the base, or with the child that has named none. */
static void a_stall_is_told_once(void **state)
{
    (void)state;
    open_root(down_cfg(3));
    told(&lab, 0, "open:1w2:1-2");
    fed(&lab, 0, 1, 10, 0);
    seen(&lab, 1000, TICK);
    assert_true(lab_wake(&lab, 1000) > 100000);
    fed(&lab, 1000, 1, 10, 0);
    assert_int_equal(lab_wake(&lab, 1000), 10000);
    heard(&lab, 2000, 0, "base:1=1");
    heard(&lab, 9000, 1, "base:1=1@2.6"); /* the base moves */
    assert_true(lab_wake(&lab, 9000) > 100000);
    fed(&lab, 10000, 1, 10, 0);
    heard(&lab, 12000, 0, "base:1=3");
    assert_string_equal(seen(&lab, 19999, TICK), "");
    assert_string_equal(seen(&lab, 20000, TICK), "stall:1@2.6");
    assert_string_equal(seen(&lab, 40000, TICK), "");
    heard(&lab, 41000, 1, "base:1=3");
    fed(&lab, 42000, 1, 10, 0);
    fed(&lab, 42000, 1, 10, 0);
    assert_string_equal(seen(&lab, 60000, TICK), "");
    lab_close(&lab);
}

static void a_silent_child_is_told_without_a_rank(void **state)
{
    (void)state;
    open_root(down_cfg(3));
    told(&lab, 0, "open:1w2:2-2");
    fed(&lab, 0, 1, 10, 0);
    fed(&lab, 0, 1, 10, 0);
    assert_string_equal(seen(&lab, 10000, TICK), "stall:1@2.4294967295");
    lab_close(&lab);
}

/* --- goodbye */

/* A node leaves when all nodes beneath it have consumed the goodbye and its own
 * report is on its way. */
static void goodbye_is_said_from_the_leaves_up(void **state)
{
    struct ov_cfg cfg = down_cfg(15);

    (void)state;
    cfg.control_frames =
        32; /* one frame is less than an eighth of the window */
    open_node(cfg);
    assert_string_equal(heard(&lab, 0, 0, "goodbye"),
                        "consume:0.0(4) send:L1[goodbye] send:L2[goodbye]");
    assert_string_equal(seen(&lab, 0, CONSUMED(0, 1, 0)), "");
    assert_string_equal(heard(&lab, 0, 1, "base:0=1"), "");
    /* now the node may leave */
    assert_string_equal(seen(&lab, 0, ENDED(1)), "");
    assert_string_equal(heard(&lab, 0, 2, "base:0=1"), "send:L0[base:0=1]");
    assert_string_equal(seen(&lab, 0, TICK), "");
    assert_string_equal(seen(&lab, 0, SENT(0, 1)), "leave");
    assert_string_equal(seen(&lab, 0, ENDED(0)), "");
    assert_string_equal(seen(&lab, 100, TICK), "");
    lab_close(&lab);
}

/* A node that leaves before it has reported this is missed all the same; and a
 * node whose parent leaves first looks for another parent. */
static void who_goes_without_goodbye_is_missed(void **state)
{
    (void)state;
    open_node(down_cfg(15));
    heard(&lab, 0, 0, "app");
    heard(&lab, 0, 0, "goodbye");
    heard(&lab, 0, 1, "base:0=1");
    assert_string_equal(seen(&lab, 0, ENDED(1)), "probe:3");
    assert_string_equal(seen(&lab, 0, CONSUMED(0, 2, 0)), "");
    assert_string_equal(seen(&lab, 0, ENDED(0)), "orphan:0");
    lab_close(&lab);
}

/* A node does not leave on a goodbye that its report cannot have confirmed. */
static void a_goodbye_that_was_not_sent_does_not_count(void **state)
{
    (void)state;
    open_node(down_cfg(15));
    heard(&lab, 0, 0, "goodbye");
    heard(&lab, 0, 1, "base:0=1");
    heard(&lab, 0, 2, "base:0=1");
    while (ov_link_can_send(&lab.node->links[0], &lab.cfg, false))
        ov_link_on_send(&lab.node->links[0], false, 0);
    assert_string_equal(seen(&lab, 0, CONSUMED(0, 1, 0)), "");
    assert_string_equal(seen(&lab, 0, ENDED(0)), "orphan:0");
    lab_close(&lab);
}

/* The root has no node to which it reports. */
static void the_root_leaves_last(void **state)
{
    (void)state;
    open_root(down_cfg(3));
    told(&lab, 0, "goodbye");
    assert_string_equal(seen(&lab, 0, CONSUMED(0, 1, 0)), "");
    assert_string_equal(heard(&lab, 0, 0, "base:0=1"), "");
    assert_string_equal(heard(&lab, 0, 1, "base:0=1"), "leave");
    lab_close(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_is_forwarded_in_its_buffer),
        cmocka_unit_test(control_comes_before_all_else),
        cmocka_unit_test(a_stream_goes_to_its_node_set),
        cmocka_unit_test(the_ranges_of_a_set_add_up),
        cmocka_unit_test(the_end_is_passed_on_and_reported_at_once),
        cmocka_unit_test(frames_that_do_not_follow_end_the_link),
        cmocka_unit_test(a_frame_beyond_the_window_ends_the_link),
        cmocka_unit_test(a_base_beyond_what_was_sent_ends_the_link),
        cmocka_unit_test(there_is_room_for_so_many_streams),
        cmocka_unit_test(the_lowest_base_is_reported),
        cmocka_unit_test(reports_that_wait_become_one),
        cmocka_unit_test(a_full_window_tells_who_holds_it),
        cmocka_unit_test(an_idle_stream_says_nothing),
        cmocka_unit_test(frames_of_the_root_are_counted),
        cmocka_unit_test(the_root_has_room_for_a_window),
        cmocka_unit_test(a_stall_is_told_once),
        cmocka_unit_test(a_silent_child_is_told_without_a_rank),
        cmocka_unit_test(goodbye_is_said_from_the_leaves_up),
        cmocka_unit_test(who_goes_without_goodbye_is_missed),
        cmocka_unit_test(a_goodbye_that_was_not_sent_does_not_count),
        cmocka_unit_test(the_root_leaves_last),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
