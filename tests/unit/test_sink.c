/* The root's end of UP: each record is accepted once, handed on, and
 * acknowledged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/lab.h"

static struct lab lab;

/* Opens the root of a tree of 7, with children 1 on L0 and 2 on L1, and 3
 * beneath 1; the others have not joined. Half of a source's window is 8192
 * bytes. */
static void open_root(struct ov_cfg cfg)
{
    cfg.send_slots = OV_SEND_SLOTS_MAX; /* The transport always has room. */
    cfg.data_slots = OV_SEND_SLOTS_MAX - 1;
    lab_open(&lab, cfg, 0);
    seen(&lab, 0, START);
    seen(&lab, 0, CALLED(0, 1));
    heard(&lab, 0, 0, "hello:1#1");
    seen(&lab, 0, CALLED(1, 2));
    heard(&lab, 0, 1, "hello:2#1");
    heard(&lab, 0, 0, "ask:3#1<1");
}

/* --- accepting */

/* Only the next record of a source is accepted: records ahead of it come again
 * by the path on which the ones between are. */
static void only_the_next_record_is_accepted(void **state)
{
    (void)state;
    open_root(lab_cfg(7, 2));
    assert_string_equal(heard(&lab, 0, 0, "up:1.1(10),1.2(20)"),
                        "record:1.1(10)#0 record:1.2(20)#1");
    assert_string_equal(heard(&lab, 0, 0, "up:1.4(5),1.3(6)"),
                        "record:1.3(6)#2");
    assert_string_equal(heard(&lab, 0, 0, "up:1.5(5)"), "");
    assert_string_equal(heard(&lab, 0, 0, "up:1.4(7),1.5(8)"),
                        "record:1.4(7)#3 record:1.5(8)#4");
    lab_close(&lab);
}

/* A repeated record is answered with an acknowledgement of what is known by
 * then. */
static void a_repeat_is_dropped_and_answered(void **state)
{
    (void)state;
    open_root(lab_cfg(7, 2));
    heard(&lab, 0, 0, "up:1.1(10),1.2(20)");
    assert_string_equal(heard(&lab, 0, 0, "up:1.1(10)"), "send:L0[ack:1=2/0]");
    seen(&lab, 0, TAKEN(0));
    assert_string_equal(heard(&lab, 0, 0, "up:1.2(20),1.3(1)"),
                        "record:1.3(1)#0 send:L0[ack:1=3/1]");
    lab_close(&lab);
}

/* Each source counts separately, whatever link its records come on; a node that
 * has not joined is no source. */
static void each_source_counts_for_itself(void **state)
{
    (void)state;
    open_root(lab_cfg(7, 2));
    assert_string_equal(heard(&lab, 0, 0, "up:3.1(1),1.1(2),3.2(3)"),
                        "record:3.1(1)#0 record:1.1(2)#1 record:3.2(3)#2");
    assert_string_equal(heard(&lab, 0, 1, "up:3.3(4),2.1(5),3.2(3)"),
                        "record:3.3(4)#3 record:2.1(5)#4 "
                        "send:L0[ack:3=3/0]");
    assert_string_equal(heard(&lab, 0, 0, "up:4.1(1)"), "");
    assert_string_equal(heard(&lab, 0, 0, "up:7.1(1)"), "send:L0[limit:6]");
    heard(&lab, 0, 0, "ask:4#1<1");
    assert_string_equal(heard(&lab, 0, 0, "up:4.1(1)"), "record:4.1(1)#5");
    lab_close(&lab);
}

/* The head of a record reaches the sink unchanged. */
static void records_keep_their_heads(void **state)
{
    (void)state;
    open_root(lab_cfg(7, 2));
    assert_string_equal(heard(&lab, 0, 0, "up:1.1(0)eof"), "record:1.1(0)#0");
    assert_int_equal(lab.out->acts[0].rec.flags, OV_RECORD_EOF);
    assert_int_equal(lab.out->acts[0].rec.channel, OV_CHANNEL_STDOUT);
    lab_close(&lab);
}

/* --- limits */

/* The sinks hold a limited number of records; the others wait, in their
 * order. */
static void records_wait_for_the_sinks(void **state)
{
    struct ov_cfg cfg = lab_cfg(7, 2);

    (void)state;
    cfg.records_max = 2;
    open_root(cfg);
    assert_string_equal(heard(&lab, 0, 0, "up:1.1(1),1.2(2),1.3(3),1.4(4)"),
                        "record:1.1(1)#0 record:1.2(2)#1");
    assert_string_equal(heard(&lab, 0, 1, "up:2.1(9)"), "");
    assert_string_equal(seen(&lab, 0, TAKEN(0)), "record:1.3(3)#0");
    assert_string_equal(seen(&lab, 0, TAKEN(1)), "record:1.4(4)#1");
    assert_string_equal(seen(&lab, 0, TAKEN(0)), "record:2.1(9)#0");
    lab_close(&lab);
}

/* Children take turns, a frame each. */
static void children_take_turns(void **state)
{
    struct ov_cfg cfg = lab_cfg(7, 2);

    (void)state;
    cfg.records_max = 1;
    open_root(cfg);
    assert_string_equal(heard(&lab, 0, 0, "up:1.1(1)"), "record:1.1(1)#0");
    heard(&lab, 0, 0, "up:1.2(1),1.3(1)");
    heard(&lab, 0, 0, "up:1.4(1)");
    heard(&lab, 0, 1, "up:2.1(1)");
    heard(&lab, 0, 1, "up:2.2(1)");
    assert_string_equal(seen(&lab, 0, TAKEN(0)), "record:1.2(1)#0");
    assert_string_equal(seen(&lab, 0, TAKEN(0)), "record:1.3(1)#0");
    assert_memory_equal(seen(&lab, 0, TAKEN(0)), "record:2.1(1)#0", 15);
    assert_memory_equal(seen(&lab, 0, TAKEN(0)), "record:1.4(1)#0", 15);
    assert_memory_equal(seen(&lab, 0, TAKEN(0)), "record:2.2(1)#0", 15);
    lab_close(&lab);
}

/* A frame keeps its buffer, and counts towards the granted frames, until the
 * last of its records is taken. */
static void a_frame_counts_until_its_records_are_taken(void **state)
{
    (void)state;
    open_root(lab_cfg(7, 2));
    heard(&lab, 0, 0, "up:1.1(1),1.2(2)");
    heard(&lab, 0, 0, "up:1.3(1)");
    heard(&lab, 0, 0, "up:1.4(1)");
    heard(&lab, 0, 0, "up:1.5(1)");
    assert_int_equal(lab.node->tree.places[0].limit, 4);
    assert_string_equal(seen(&lab, 0, TAKEN(1)), "");
    assert_string_equal(seen(&lab, 0, TAKEN(0)), "send:L0[limit:5 ack:1=5/2]");
    assert_string_equal(heard(&lab, 0, 0, "up:1.6(1)"), "record:1.6(1)#1");
    assert_string_equal(seen(&lab, 0, TAKEN(3)), "send:L0[limit:6 ack:1=6/2]");
    lab_close(&lab);
}

/* A frame has more records than one step has room for: the rest follows. */
static void a_long_frame_takes_several_steps(void **state)
{
    char words[4096] = "up:";
    unsigned records = 0, steps = 0;

    (void)state;
    open_root(lab_cfg(7, 2));
    for (unsigned seq = 1; seq <= 150; seq++)
        snprintf(words + strlen(words), sizeof(words) - strlen(words),
                 "%s1.%u(1)", seq > 1 ? "," : "", seq);
    heard(&lab, 0, 0, words);
    for (;; seen(&lab, 0, TICK)) {
        char want[32];

        for (const char *at = lab.text; (at = strstr(at, "record:")); at++) {
            snprintf(want, sizeof(want), "record:1.%u(1)#", ++records);
            assert_memory_equal(at, want, strlen(want));
        }
        if (!lab.out->more)
            break;
        assert_int_equal(lab_wake(&lab, 0), 0);
        assert_true(++steps < 10);
    }
    assert_int_equal(records, 150);
    assert_true(steps > 0);
    lab_close(&lab);
}

/* --- acknowledging */

/* An acknowledgement goes 20 ms after the first record that waits for one, and
 * includes all records that have come since. */
static void an_acknowledgement_waits_a_little(void **state)
{
    (void)state;
    open_root(lab_cfg(7, 2));
    heard(&lab, 100, 0, "up:1.1(10),3.1(20),1.2(30)");
    heard(&lab, 100, 1, "up:2.1(10)");
    assert_string_equal(seen(&lab, 100, TAKEN(0)), "");
    assert_int_equal(lab_wake(&lab, 100), 20);
    assert_string_equal(seen(&lab, 110, TAKEN(1)), "");
    assert_string_equal(seen(&lab, 110, TAKEN(3)), "");
    assert_int_equal(lab_wake(&lab, 110), 10);
    assert_string_equal(seen(&lab, 119, TICK), "");
    assert_string_equal(seen(&lab, 120, TICK),
                        "send:L0[ack:1=2/1 ack:3=1/1] send:L1[ack:2=1/1]");
    assert_string_equal(seen(&lab, 200, TICK), "");
    assert_string_equal(seen(&lab, 200, TAKEN(2)), "");
    assert_int_equal(lab_wake(&lab, 200), 20);
    assert_string_equal(seen(&lab, 220, TICK), "send:L0[ack:1=2/2]");
    lab_close(&lab);
}

/* Three records of a source, which together have `bytes`, are taken in this
 * order of cookies. Returns what is sent then. */
static const char *take_three(const unsigned *order, uint32_t bytes)
{
    struct ov_cfg cfg = lab_cfg(7, 2);
    char words[32];

    cfg.up_frames = 16; /* no limit is sent */
    open_root(cfg);
    heard(&lab, 0, 0, "up:1.1(4048)");
    heard(&lab, 0, 0, "up:1.2(4048)");
    snprintf(words, sizeof(words), "up:1.3(%u)",
             (unsigned)(bytes - 2 * 4048 - 3 * OV_RECORD_HEAD_BYTES));
    heard(&lab, 0, 0, words);
    assert_string_equal(seen(&lab, 0, TAKEN(order[0])), "");
    assert_string_equal(seen(&lab, 0, TAKEN(order[1])), "");
    return seen(&lab, 0, TAKEN(order[2]));
}

/* Half of the window is acknowledged at once, where heads count, too. Records
 * that come later wait again. */
static void half_of_the_window_is_acknowledged_at_once(void **state)
{
    static const unsigned order[] = {0, 1, 2};

    (void)state;
    assert_string_equal(take_three(order, 8191), "");
    assert_int_equal(lab_wake(&lab, 0), 20);
    lab_close(&lab);
    assert_string_equal(take_three(order, 8192), "send:L0[ack:1=3/3]");
    heard(&lab, 1, 0, "up:1.4(10)");
    assert_string_equal(seen(&lab, 1, TAKEN(2)), "");
    assert_in_range(lab_wake(&lab, 1), 1, 20);
    lab_close(&lab);
}

/* Acknowledgements are cumulative: a record that a sink took out of order is
 * acknowledged when those before it are taken, too. */
static void records_are_acknowledged_in_order(void **state)
{
    static const unsigned order[] = {2, 1, 0};

    (void)state;
    assert_string_equal(take_three(order, 8192), "send:L0[ack:1=3/3]");
    lab_close(&lab);
}

/* Records that a lost child had sent are still taken, without an
 * acknowledgement. */
static void what_a_lost_child_had_sent_is_taken(void **state)
{
    struct ov_cfg cfg = lab_cfg(7, 2);

    (void)state;
    cfg.records_max = 1;
    open_root(cfg);
    heard(&lab, 0, 0, "up:1.1(1000),3.1(10)");
    heard(&lab, 0, 0, "up:1.2(3500),3.2(10)");
    assert_string_equal(seen(&lab, 0, ENDED(0)), "probe:1");
    assert_string_equal(seen(&lab, 0, TAKEN(0)), "record:3.1(10)#0");
    assert_string_equal(seen(&lab, 0, TAKEN(0)), "record:1.2(3500)#0");
    assert_string_equal(seen(&lab, 0, TAKEN(0)), "record:3.2(10)#0");
    assert_string_equal(seen(&lab, 0, TAKEN(0)), "");
    assert_string_equal(seen(&lab, 20, TICK), "");
    assert_int_equal(lab.bufs_live, 0);
    lab_close(&lab);
}

/* An acknowledgement may be lost with its link, or have no link to go on: a
 * child that comes back gets it again, with those for all nodes beneath it. A
 * source of which nothing was accepted gets none. */
static void what_was_taken_is_told_again_on_a_new_link(void **state)
{
    (void)state;
    open_root(lab_cfg(7, 2));
    heard(&lab, 0, 0, "up:3.1(10),3.2(20)");
    seen(&lab, 0, TAKEN(0));
    assert_string_equal(seen(&lab, 20, TICK), "send:L0[ack:3=2/1]");
    assert_string_equal(seen(&lab, 30, ENDED(0)), "probe:1");
    assert_string_equal(seen(&lab, 30, TAKEN(1)), "");
    assert_string_equal(seen(&lab, 60, TICK), "");
    seen(&lab, 70, CALLED(0, 1));
    assert_string_equal(heard(&lab, 70, 0, "hello:1#2+3#1<1"),
                        "send:L0[welcome:#2 path:0 limit:4 ack:3=2/2]");
    lab_close(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_next_record_is_accepted),
        cmocka_unit_test(a_repeat_is_dropped_and_answered),
        cmocka_unit_test(each_source_counts_for_itself),
        cmocka_unit_test(records_keep_their_heads),
        cmocka_unit_test(records_wait_for_the_sinks),
        cmocka_unit_test(children_take_turns),
        cmocka_unit_test(a_frame_counts_until_its_records_are_taken),
        cmocka_unit_test(a_long_frame_takes_several_steps),
        cmocka_unit_test(an_acknowledgement_waits_a_little),
        cmocka_unit_test(half_of_the_window_is_acknowledged_at_once),
        cmocka_unit_test(records_are_acknowledged_in_order),
        cmocka_unit_test(what_a_lost_child_had_sent_is_taken),
        cmocka_unit_test(what_was_taken_is_told_again_on_a_new_link),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
