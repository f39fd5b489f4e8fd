/* A node that has lost its parent: which nodes it dials, what it sends them,
 * and how it continues where it stopped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/lab.h"

static struct lab lab;

static struct ov_cfg orphan_cfg(void)
{
    struct ov_cfg cfg = lab_cfg(31, 2);

    cfg.control_frames = 4;
    cfg.send_slots = OV_SEND_SLOTS_MAX; /* The transport always has room. */
    cfg.data_slots = OV_SEND_SLOTS_MAX - 1;
    return cfg;
}

static void add_child(uint16_t link, uint32_t child, unsigned attach)
{
    char words[32];

    snprintf(words, sizeof(words), "hello:%u#%u", (unsigned)child, attach);
    seen(&lab, 0, CALLED(link, child));
    heard(&lab, 0, link, words);
    snprintf(words, sizeof(words), "answer:%u#%u", (unsigned)child, attach);
    heard(&lab, 0, 0, words);
}

/* Opens node 7, beneath 3, 1 and 0, with the children 15 on L1 and 16 on L2. */
static void open_node(struct ov_cfg cfg)
{
    lab_open(&lab, cfg, 7);
    seen(&lab, 0, START);
    seen(&lab, 0, DIALLED(0, 3));
    heard(&lab, 0, 0, "welcome:#1 path:3,1,0 limit:4");
    add_child(1, 15, 4);
    add_child(2, 16, 2);
}

/* Lets time pass until the node wakes up; returns its actions. */
static const char *wait_for_it(uint64_t *ms)
{
    assert_true(lab_wake(&lab, *ms) >= 0);
    *ms += (uint64_t)lab_wake(&lab, *ms) + 1;
    return seen(&lab, *ms, TICK);
}

static uint64_t ms_of(uint64_t ns)
{
    return ns / LAB_MS_NS;
}

/* --- dials */

/* The node dials the grandparent, each node above it up to the root, the old
 * parent, and so on in a circle; the first at once, those after a failure
 * within a moment. */
static void ancestors_are_dialled_from_the_grandparent_up(void **state)
{
    static const char *const order[] = {"dial:1#2", "dial:0#3", "dial:3#4",
                                        "dial:1#5", "dial:0#6", "dial:3#7"};
    uint64_t ms = 5, before_ms;

    (void)state;
    open_node(orphan_cfg());
    assert_string_equal(seen(&lab, ms, ENDED(0)), "orphan:3");
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        before_ms = ms;
        assert_string_equal(wait_for_it(&ms), order[i]);
        /* After a round a quarter of the time waited so far is added. */
        assert_true(ms - before_ms <= ms_of(lab.cfg.times.attempt_ns) / 64 + 1 +
                                          (i == 3 ? before_ms / 4 : 0));
        assert_string_equal(seen(&lab, ms, DIAL_FAILED), "");
    }
    lab_close(&lab);
}

/* A refusal counts as a dial that fails; so does silence for the attempt
 * time. */
static void a_refusal_leads_to_the_next(void **state)
{
    uint64_t ms = 5;

    (void)state;
    open_node(orphan_cfg());
    seen(&lab, ms, ENDED(0));
    assert_string_equal(wait_for_it(&ms), "dial:1#2");
    seen(&lab, ms, DIALLED(0, 1));
    assert_string_equal(heard(&lab, ms, 0, "refuse:#2!3"), "close:L0");
    assert_string_equal(wait_for_it(&ms), "dial:0#3");
    seen(&lab, ms, DIALLED(0, 0));
    ms += ms_of(lab.cfg.times.attempt_ns);
    assert_string_equal(seen(&lab, ms - 1, TICK), "");
    assert_string_equal(seen(&lab, ms, TICK), "close:L0");
    assert_string_equal(wait_for_it(&ms), "dial:3#4");
    lab_close(&lab);
}

/* A parent that asks the root for the node is waited for, however long that
 * takes; when that parent loses its own parent the answer is a refusal. */
static void who_asks_for_it_is_waited_for(void **state)
{
    uint64_t ms = 5;

    (void)state;
    open_node(orphan_cfg());
    seen(&lab, ms, ENDED(0));
    wait_for_it(&ms);
    seen(&lab, ms, DIALLED(0, 1));
    assert_string_equal(heard(&lab, ms, 0, "asked:#2"), "");
    ms += 2 * ms_of(lab.cfg.times.attempt_ns) - 100;
    assert_null(strstr(seen(&lab, ms, TICK), "close:L0"));
    assert_string_equal(heard(&lab, ms, 0, "refuse:#2!2"), "close:L0");
    assert_string_equal(wait_for_it(&ms), "dial:0#3");
    lab_close(&lab);
}

/* --- the whole way */

/* Two frames of stream 1 have come, one of which all have consumed. One of
 * three records is accepted. */
static void run_a_little(void)
{
    heard(&lab, 1, 0, "open:1w4:7-16");
    heard(&lab, 1, 0, "down:1.0(9)");
    heard(&lab, 1, 0, "down:1.1(9)");
    seen(&lab, 1, CONSUMED(0, 1, 0));
    heard(&lab, 1, 1, "base:0=1");
    heard(&lab, 1, 2, "base:0=1");
    seen(&lab, 1, CONSUMED(1, 2, 0));
    heard(&lab, 1, 1, "base:1=1@15.14");
    heard(&lab, 1, 2, "base:1=2");
    for (uint32_t len = 10; len <= 30; len += 10) {
        seen(&lab, 1, READY(1));
        wrote(&lab, 1, 1, len, OV_INPUT_IDLE);
    }
    assert_string_equal(lab.text, "send:L0[up:7.3(30)]");
    heard(&lab, 1, 0, "ack:7=1/1");
}

/* The hello says which nodes are beneath and how far the streams are; the
 * welcome says which of them are elsewhere. Records are sent again from the
 * first that was not accepted, as far as the new parent permits; frames come
 * from the head on. */
static void an_orphan_goes_on_where_it_stopped(void **state)
{
    uint64_t ms = 2;

    (void)state;
    open_node(orphan_cfg());
    run_a_little();
    assert_string_equal(seen(&lab, ms, ENDED(0)), "orphan:3");
    assert_string_equal(wait_for_it(&ms), "dial:1#2");
    assert_string_equal(seen(&lab, ms, DIALLED(3, 1)),
                        "send:L3[hello:7#2+16#2<7+15#4<7~0=1/1~1=1/2]");
    assert_string_equal(heard(&lab, ms, 3, "asked:#2"), "");
    /* Changes in the meantime are reported after the welcome, not before. */
    assert_string_equal(heard(&lab, ms, 1, "base:1=2"), "");
    assert_string_equal(seen(&lab, ms, READY(1)), "");
    assert_string_equal(heard(&lab, ms, 1, "up:15.1(5)"), "");
    assert_string_equal(heard(&lab, ms, 3, "welcome:#2-16 path:1,0 limit:2"),
                        "adopted:1 close:L2 send:L3[base:1=2] read:I1<3966 "
                        "send:L1[path:7,1,0]");
    assert_string_equal(wrote(&lab, ms, 1, 40, OV_INPUT_IDLE),
                        "send:L3[up:7.2(20),7.3(30),7.4(40),15.1(5)]");
    assert_string_equal(heard(&lab, ms, 3, "down:1.2(9)"),
                        "consume:1.2(9) send:L1[down:1.2(9)]");
    assert_int_equal(lab.node->tree.ancestors_count, 2);
    lab_close(&lab);
}

/* A node whose way to the root has changed further up sends its records again,
 * and tells the nodes beneath to do the same: records on the broken way are
 * lost. */
static void a_new_path_above_sends_all_again(void **state)
{
    (void)state;
    open_node(orphan_cfg());
    run_a_little();
    assert_string_equal(heard(&lab, 2, 0, "path:3,0"),
                        "send:L0[up:7.2(20),7.3(30)] send:L1[path:7,3,0] "
                        "send:L2[path:7,3,0]");
    lab_close(&lab);
}

/* The node returns to its old parent by a new link: everything begins anew
 * there, too. */
static void the_old_parent_is_as_good(void **state)
{
    uint64_t ms = 2;

    (void)state;
    open_node(orphan_cfg());
    run_a_little();
    seen(&lab, ms, ENDED(0));
    for (unsigned i = 0; i < 2; i++) {
        wait_for_it(&ms);
        seen(&lab, ms, DIAL_FAILED);
    }
    assert_string_equal(wait_for_it(&ms), "dial:3#4");
    assert_string_equal(seen(&lab, ms, DIALLED(0, 3)),
                        "send:L0[hello:7#4+16#2<7+15#4<7~0=1/1~1=1/2]");
    assert_string_equal(heard(&lab, ms, 0, "welcome:#4 path:3,1,0"),
                        "adopted:3 send:L1[path:7,3,1,0] "
                        "send:L2[path:7,3,1,0]");
    assert_string_equal(heard(&lab, ms, 0, "limit:1"),
                        "send:L0[up:7.2(20),7.3(30)]");
    lab_close(&lab);
}

/* --- nodes beneath an orphan */

/* A node whose ask goes through the orphan is refused when the orphan loses its
 * parent, because no answer can come. So are nodes whose ask is on its way up
 * to the orphan, as long as it has no parent. */
static void who_waits_by_an_orphan_is_refused(void **state)
{
    (void)state;
    open_node(orphan_cfg());
    seen(&lab, 5, ENDED(2)); /* node 16 comes back */
    seen(&lab, 5, CALLED(2, 16));
    assert_string_equal(heard(&lab, 5, 2, "hello:16#3"),
                        "send:L2[asked:#3] send:L0[ask:16#3<7~0=0/0]");
    assert_string_equal(seen(&lab, 6, ENDED(0)),
                        "orphan:3 send:L2[refuse:#3!2] close:L2");
    seen(&lab, 6, CALLED(2, 16));
    assert_string_equal(heard(&lab, 6, 2, "hello:16#4"),
                        "send:L2[refuse:#4!2] close:L2");
    lab_close(&lab);
}

/* After the let-go time the node ends the links of its children, so that they
 * find their own way. It still claims those that no other node has taken in the
 * meantime. */
static void children_are_let_go_in_time(void **state)
{
    uint64_t letgo_ms, ms = 5;

    (void)state;
    open_node(orphan_cfg());
    letgo_ms = ms_of(lab.cfg.times.letgo_ns);
    assert_string_equal(seen(&lab, ms, ENDED(0)), "orphan:3");
    wait_for_it(&ms);
    assert_string_equal(seen(&lab, 4950, TICK), "send:L1[beat] send:L2[beat]");
    assert_string_equal(seen(&lab, 5 + letgo_ms - 1, TICK), "");
    assert_int_equal(lab_wake(&lab, 5 + letgo_ms - 1), 1);
    assert_string_equal(seen(&lab, 5 + letgo_ms, TICK), "close:L1 close:L2");
    ms = 5 + letgo_ms;
    assert_string_equal(seen(&lab, ms, DIALLED(0, 1)),
                        "send:L0[hello:7#2+16#2<7+15#4<7~0=0/0]");
    assert_string_equal(heard(&lab, ms, 0, "welcome:#2-15 path:1,0 limit:4"),
                        "adopted:1");
    assert_string_equal(heard(&lab, ms, 0, "left:16"), "");
    for (unsigned i = 0; i < lab.node->tree.places_used; i++)
        assert_int_equal(lab.node->tree.places[i].kind, OV_PLACE_FREE);
    lab_close(&lab);
}

/* --- the end */

/* No node takes it in within the give-up time: the node leaves, and dials no
 * longer. */
static void without_a_parent_it_gives_up(void **state)
{
    uint64_t giveup_ms, ms = 5;

    (void)state;
    open_node(orphan_cfg());
    giveup_ms = ms_of(lab.cfg.times.giveup_ns);
    seen(&lab, ms, ENDED(0));
    while (strcmp(wait_for_it(&ms), "end:1") != 0) {
        assert_true(ms < 5 + giveup_ms + ms_of(lab.cfg.times.attempt_ns));
        if (strncmp(lab.text, "dial:", 5) == 0)
            assert_string_equal(seen(&lab, ms, DIAL_FAILED), "");
    }
    assert_true(ms >= 5 + giveup_ms);
    for (unsigned i = 0; i < 5 && lab_wake(&lab, ms) >= 0; i++)
        assert_null(strstr(wait_for_it(&ms), "dial:"));
    lab_close(&lab);
}

/* The root's verdict is final: whichever neighbour reports it, the node
 * leaves. */
static void one_that_is_declared_lost_goes(void **state)
{
    uint64_t ms = 5;

    (void)state;
    open_node(orphan_cfg());
    assert_string_equal(heard(&lab, ms, 0, "refuse:#1!1"), "end:2");
    assert_string_equal(seen(&lab, ms, ENDED(0)), "");
    assert_string_equal(seen(&lab, ms + 100, TICK), "");
    lab_close(&lab);
    open_node(orphan_cfg());
    seen(&lab, ms, ENDED(0));
    wait_for_it(&ms);
    seen(&lab, ms, DIALLED(0, 1));
    assert_string_equal(heard(&lab, ms, 0, "refuse:#2!1"), "end:2");
    lab_close(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ancestors_are_dialled_from_the_grandparent_up),
        cmocka_unit_test(a_refusal_leads_to_the_next),
        cmocka_unit_test(who_asks_for_it_is_waited_for),
        cmocka_unit_test(an_orphan_goes_on_where_it_stopped),
        cmocka_unit_test(a_new_path_above_sends_all_again),
        cmocka_unit_test(the_old_parent_is_as_good),
        cmocka_unit_test(who_waits_by_an_orphan_is_refused),
        cmocka_unit_test(children_are_let_go_in_time),
        cmocka_unit_test(without_a_parent_it_gives_up),
        cmocka_unit_test(one_that_is_declared_lost_goes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
