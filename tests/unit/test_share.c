/* UP where equal lines are folded, as one node sees it: how long lines wait,
 * and what ends the waiting. Records without bytes are equal lines here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/lab.h"

static struct lab lab;

/* Node 1 of five, with its children 3 and 4 on links 1 and 2. */
static void open_node(struct ov_cfg cfg)
{
    cfg.folds = true;
    lab_open(&lab, cfg, 1);
    seen(&lab, 0, START);
    seen(&lab, 0, DIALLED(0, 0));
    heard(&lab, 0, 0, "welcome:#1 path:0");
    heard(&lab, 0, 0, "limit:100");
    seen(&lab, 0, SENT(0, 1));
    for (unsigned child = 3; child <= 4; child++) {
        uint16_t link = (uint16_t)(child - 2);
        char words[32];

        snprintf(words, sizeof(words), "hello:%u#1", child);
        seen(&lab, 0, CALLED(link, child));
        heard(&lab, 0, link, words);
        snprintf(words, sizeof(words), "answer:%u#1", child);
        heard(&lab, 0, 0, words);
        seen(&lab, 0, SENT(0, 1));
        seen(&lab, 0, SENT(link, 2));
    }
}

static const char *wrote_line(uint64_t ms)
{
    seen(&lab, ms, READY(1));
    return wrote_flags(&lab, ms, 1, 0, OV_INPUT_IDLE, OV_RECORD_EOF);
}

static const char *said_word(uint64_t ms)
{
    struct ov_event ev = {.kind = OV_EV_READ, .input = 0};

    seen(&lab, ms, READY(0));
    ev.read.channel = OV_CHANNEL_STATE;
    ev.read.flags = OV_RECORD_EOF;
    return seen(&lab, ms, ev);
}

/* A line of this node, and those of its children, which have waited there. */
static void lines_of_all_depths_meet(void **state)
{
    (void)state;
    open_node(lab_cfg(5, 2));
    assert_string_equal(wrote_line(1), "");
    assert_int_equal(lab_wake(&lab, 1), 20);
    assert_string_equal(heard(&lab, 11, 1, "up:3.1(0)eof,3.2(0)eof"), "");
    assert_string_equal(heard(&lab, 12, 2, "up:4.1(0)eof,4.2(0)eof"), "");
    assert_int_equal(lab_wake(&lab, 12), 9);
    assert_string_equal(seen(&lab, 20, TICK), "");
    assert_string_equal(
        seen(&lab, 21, TICK),
        "send:L0[shared:1.1(0)eof,3.1(0)eof,3.2(0)eof,4.1(0)eof,4.2(0)eof]");
    lab_close(&lab);
}

/* A line of a child has waited half of the time there. */
static void no_line_waits_longer_than_told(void **state)
{
    (void)state;
    open_node(lab_cfg(5, 2));
    assert_string_equal(heard(&lab, 1, 1, "up:3.1(0)eof"), "");
    assert_int_equal(lab_wake(&lab, 1), 10);
    assert_string_equal(wrote_line(10), "");
    assert_string_equal(seen(&lab, 11, TICK),
                        "send:L0[up:3.1(0)eof,1.1(0)eof]");
    assert_string_equal(wrote_line(12), "");
    assert_int_equal(lab_wake(&lab, 12), 20);
    assert_string_equal(seen(&lab, 32, TICK), "send:L0[up:1.2(0)eof]");
    lab_close(&lab);
}

/* A busy link is no reason to be woken again and again. */
static void what_has_waited_goes_when_the_link_can(void **state)
{
    (void)state;
    open_node(lab_cfg(5, 2));
    for (unsigned i = 0; i < lab.cfg.data_slots; i++)
        said_word(1);
    assert_string_equal(seen(&lab, 1, READY(1)), "");
    assert_string_equal(heard(&lab, 1, 1, "up:3.1(0)eof"), "");
    assert_string_equal(seen(&lab, 30, SENT(0, 1)), "read:I1<4032");
    assert_string_equal(wrote_flags(&lab, 30, 1, 0, OV_INPUT_IDLE, 1), "");
    assert_int_equal(lab_wake(&lab, 30), 10);
    lab_close(&lab);
}

static void words_do_not_wait_unless_behind_lines(void **state)
{
    (void)state;
    open_node(lab_cfg(5, 2));
    assert_string_equal(said_word(1), "send:L0[up:1.1(0)eof]");
    assert_string_equal(wrote_line(2), "");
    assert_string_equal(said_word(3), "");
    assert_string_equal(seen(&lab, 22, TICK),
                        "send:L0[up:1.2(0)eof,1.3(0)eof]");
    lab_close(&lab);
}

/* A child that may send no more would stand still. */
static void a_child_is_not_held_up(void **state)
{
    struct ov_cfg cfg = lab_cfg(5, 2);

    (void)state;
    cfg.up_frames = 2;
    open_node(cfg);
    assert_string_equal(heard(&lab, 1, 1, "up:3.1(0)eof"), "");
    assert_string_equal(heard(&lab, 1, 1, "up:3.2(0)eof"),
                        "send:L0[up:3.1(0)eof,3.2(0)eof] send:L1[limit:4]");
    lab_close(&lab);
}

/* With lines that are all different frames are full, and those that do not fit
 * go in the next one, in order. */
static void what_does_not_fit_goes_in_the_next_frame(void **state)
{
    (void)state;
    open_node(lab_cfg(5, 2));
    assert_string_equal(heard(&lab, 1, 1, "up:3.1(2000)"), "");
    assert_string_equal(heard(&lab, 1, 1, "up:3.2(2500)"), "");
    assert_string_equal(heard(&lab, 1, 1, "up:3.3(10)"), "");
    assert_string_equal(heard(&lab, 1, 2, "up:4.1(1500)"), "");
    assert_string_equal(seen(&lab, 11, TICK),
                        "send:L0[up:3.1(2000),4.1(1500)] "
                        "send:L0[up:3.2(2500),3.3(10)] send:L1[limit:6]");
    lab_close(&lab);
}

/* What was in the batch of a lost link is there once. */
static void own_lines_are_sent_again_once(void **state)
{
    (void)state;
    open_node(lab_cfg(5, 2));
    wrote_line(1);
    heard(&lab, 1, 1, "up:3.1(0)eof");
    assert_string_equal(heard(&lab, 2, 0, "path:0"), "send:L1[path:1,0] "
                                                     "send:L2[path:1,0]");
    assert_string_equal(seen(&lab, 11, TICK),
                        "send:L0[up:3.1(0)eof,1.1(0)eof]");
    assert_string_equal(heard(&lab, 12, 0, "path:0"), "send:L1[path:1,0] "
                                                      "send:L2[path:1,0]");
    assert_string_equal(seen(&lab, 32, TICK), "send:L0[up:1.1(0)eof]");
    lab_close(&lab);
}

/* Each line is a record, as far as the window has room. */
static void lines_are_records(void **state)
{
    struct ov_event ev = {.kind = OV_EV_READ, .input = 1};

    (void)state;
    open_node(lab_cfg(5, 2));
    assert_string_equal(seen(&lab, 1, READY(1)), "read:I1<4032");
    ev.read.buf = lab_buf(&lab);
    ev.read.channel = OV_CHANNEL_STDOUT;
    ev.read.len_bytes = 8;
    ev.read.records_max = 3;
    memcpy(ev.read.buf->mem, "a\na\nb\nc\n", 8);
    assert_string_equal(seen(&lab, 1, ev), "");
    assert_string_equal(seen(&lab, 21, TICK),
                        "send:L0[up:1.1(2)?,1.2(2)?,1.3(4)?]");
    assert_int_equal(ov_node_look(lab.node, 0).kept_bytes, 8 + 3 * 24);
    assert_string_equal(heard(&lab, 22, 0, "ack:1=2/2"), "");
    assert_int_equal(ov_node_look(lab.node, 0).kept_bytes, 8 + 3 * 24);
    assert_string_equal(heard(&lab, 22, 0, "ack:1=3/3"), "");
    assert_int_equal(ov_node_look(lab.node, 0).kept_bytes, 0);
    lab_close(&lab);
}

/* Lines of their own between equal ones are stretches of memory each, more than
 * a frame may have: they go as they are. */
static void what_folding_makes_no_smaller_goes_as_it_is(void **state)
{
    enum { READS = 50, LINES = 7, LINE_BYTES = 4 };
    struct ov_cfg cfg = lab_cfg(5, 2);
    const char *sent;

    (void)state;
    cfg.frame_bytes = 16384;
    cfg.up_window_bytes = 65536;
    cfg.kept_max = 1024;
    open_node(cfg);
    for (unsigned read = 0; read < READS; read++) {
        struct ov_event ev = {.kind = OV_EV_READ, .input = 1};

        seen(&lab, 1, READY(1));
        ev.read.buf = lab_buf(&lab);
        ev.read.channel = OV_CHANNEL_STDOUT;
        ev.read.records_max = LINES;
        for (unsigned line = 0; line < LINES; line++) {
            char *at = (char *)ev.read.buf->mem + line * LINE_BYTES;

            /* the even ones are like no other */
            snprintf(at, LINE_BYTES + 1, "%03x\n",
                     line % 2 == 0 ? 1 + read * LINES + line : 0);
        }
        ev.read.len_bytes = LINES * LINE_BYTES;
        sent = seen(&lab, 1, ev);
        assert_null(strstr(sent, "close"));
    }
    sent = seen(&lab, 30, TICK);
    assert_non_null(strstr(sent, "send:L0[up:1.1(4)?,"));
    lab_close(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_all_depths_meet),
        cmocka_unit_test(no_line_waits_longer_than_told),
        cmocka_unit_test(what_has_waited_goes_when_the_link_can),
        cmocka_unit_test(words_do_not_wait_unless_behind_lines),
        cmocka_unit_test(a_child_is_not_held_up),
        cmocka_unit_test(what_does_not_fit_goes_in_the_next_frame),
        cmocka_unit_test(own_lines_are_sent_again_once),
        cmocka_unit_test(what_folding_makes_no_smaller_goes_as_it_is),
        cmocka_unit_test(lines_are_records),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
