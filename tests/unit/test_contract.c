/* The duties of a driver towards the core: a driver that breaks a rule is
 * stopped at once, before anything is changed. Events that are merely late
 * break no rule. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "overlay/base/panic.h"
#include "tests/unit/lab.h"

static struct lab lab;
static uint8_t mem[8192];
static struct ov_buf buf;

static _Noreturn void on_panic(const char *file, int line, const char *what)
{
    mock_assert(0, what, file, line);
    abort();
}

static void open_node(uint32_t nodes, uint32_t self)
{
    lab_open(&lab, lab_cfg(nodes, 2), self);
    ov_panic_set(on_panic);
    buf = (struct ov_buf){.mem = mem, .cap_bytes = sizeof(mem), .refs = 1};
}

/* Opens node 1 of 7, with a parent on L0 and no child. */
static void open_child(void)
{
    open_node(7, 1);
    seen(&lab, 0, START);
    seen(&lab, 0, DIALLED(0, 0));
    heard(&lab, 0, 0, "welcome:#1 path:0 limit:4");
    seen(&lab, 0, SENT(0, 1));
}

/* Opens the root of 2 nodes, with its child on L0. */
static void open_root(void)
{
    open_node(2, 0);
    seen(&lab, 0, START);
    seen(&lab, 0, CALLED(0, 1));
    heard(&lab, 0, 0, "hello:1#1");
}

static void breaks(struct ov_event ev)
{
    expect_assert_failure(seen(&lab, 0, ev));
}

/* --- inputs */

static struct ov_event read_event(struct ov_read read)
{
    return (struct ov_event){.kind = OV_EV_READ, .input = 1, .read = read};
}

/* A record that fits into no frame would never be sent; a record that a parent
 * refuses would end the link to each parent. */
static void a_record_is_as_the_nodes_above_take_it(void **state)
{
    uint32_t most = 4096 - OV_FRAME_HEAD_BYTES - OV_RECORD_HEAD_BYTES;

    (void)state;
    open_child();
    assert_string_equal(seen(&lab, 0, READY(1)), "read:I1<4064");
    assert_int_equal(most, 4064);
    breaks(read_event((struct ov_read){.buf = &buf, .len_bytes = most + 1}));
    breaks(read_event((struct ov_read){.len_bytes = 1}));
    breaks(read_event(
        (struct ov_read){.buf = &buf, .len_bytes = 1, .channel = OV_CHANNELS}));
    breaks(read_event((struct ov_read){
        .buf = &buf, .len_bytes = 1, .flags = OV_RECORD_FLAGS + 1}));
    lab_close(&lab);
}

/* Only a READ that the node has asked for may be answered. */
static void an_input_is_read_when_the_node_says_so(void **state)
{
    (void)state;
    open_child();
    breaks(READY(3)); /* the node has three inputs */
    breaks(read_event((struct ov_read){.state = OV_INPUT_IDLE}));
    seen(&lab, 0, READY(2));
    breaks(read_event((struct ov_read){.state = OV_INPUT_IDLE}));
    lab_close(&lab);
}

/* --- streams */

static struct ov_event down_event(uint32_t len_bytes, uint32_t flags)
{
    return (struct ov_event){.kind = OV_EV_DOWN,
                             .buf = &buf,
                             .len_bytes = len_bytes,
                             .flags = flags};
}

/* A frame that is too long for the receives of other nodes, or that they would
 * refuse, must not be sent to the first of them. */
static void a_frame_is_as_the_nodes_below_take_it(void **state)
{
    (void)state;
    open_root();
    breaks(down_event(4096 - OV_DOWN_HEAD_BYTES + 1, 0));
    breaks(down_event(8, OV_DOWN_FLAGS + 1));
    told(&lab, 0, "app");
    told(&lab, 0, "app");
    breaks(down_event(8, 0)); /* the window is full */
    lab_close(&lab);
}

/* What was consumed stays consumed: its frames are freed. */
static void consumed_is_never_taken_back(void **state)
{
    (void)state;
    open_root();
    told(&lab, 0, "app");
    breaks(CONSUMED(0, 2, 0));
    breaks(CONSUMED(1, 0, 0)); /* the stream does not exist */
    seen(&lab, 0, CONSUMED(0, 1, 0));
    breaks(CONSUMED(0, 0, 0));
    lab_close(&lab);
}

/* --- records */

static void a_record_is_taken_once(void **state)
{
    (void)state;
    open_root();
    assert_string_equal(heard(&lab, 0, 0, "up:1.1(10)"), "record:1.1(10)#0");
    breaks(TAKEN(1));
    breaks(TAKEN(lab.cfg.records_max));
    seen(&lab, 0, TAKEN(0));
    breaks(TAKEN(0));
    lab_close(&lab);
    open_child();
    breaks(TAKEN(0)); /* this node has no sinks */
    breaks(down_event(8, 0));
    lab_close(&lab);
}

/* --- links */

static void a_link_has_a_slot_of_the_node(void **state)
{
    uint16_t beyond;

    (void)state;
    open_child();
    beyond = ov_node_links(lab.node);
    breaks(CALLED(beyond, 3));
    breaks(ENDED(beyond));
    breaks(SENT(beyond, 1));
    breaks(SENT(0, 1)); /* no frame is on its way */
    breaks((struct ov_event){.kind = OV_EV_FRAME, .link = beyond, .buf = &buf});
    breaks(PROBED_FOR(beyond, 3, 1, true));
    lab_close(&lab);
}

/* A driver may have queued more events for a link that the node has ended. */
static void what_comes_late_for_a_link_is_harmless(void **state)
{
    (void)state;
    open_child();
    seen(&lab, 0, CALLED(1, 3));
    assert_string_equal(heard(&lab, 0, 1, "hello:3#1"),
                        "send:L1[asked:#1] send:L0[ask:3#1<1~0=0/0]");
    assert_string_equal(heard(&lab, 0, 1, "ack:3=1/1"), "close:L1");
    assert_string_equal(heard(&lab, 0, 1, "want:"), "");
    assert_string_equal(heard(&lab, 0, 1, "up:3.1(10)"), "");
    assert_string_equal(seen(&lab, 0, SENT(1, 1)), "");
    assert_string_equal(seen(&lab, 0, ENDED(1)), "");
    assert_string_equal(seen(&lab, 0, DIAL_FAILED), "");
    assert_string_equal(seen(&lab, 0, TICK), "");
    assert_string_equal(seen(&lab, 0, TICK), "");
    lab_close(&lab);
}

/* --- the beginning */

static void an_address_fits_in_its_item(void **state)
{
    (void)state;
    open_node(7, 1);
    buf.len_bytes = OV_ADDRESS_MAX + 1;
    breaks((struct ov_event){.kind = OV_EV_START, .buf = &buf});
    lab_close(&lab);
}

static void a_node_is_one_of_a_plan_that_was_checked(void **state)
{
    struct ov_cfg cfg = lab_cfg(7, 2);

    (void)state;
    open_node(7, 0);
    expect_assert_failure(ov_node_init(lab.mem, &cfg, &lab.pool, 7, 3, 1));
    expect_assert_failure(ov_node_init(NULL, &cfg, &lab.pool, 0, 3, 1));
    cfg.up_frames = 0;
    expect_assert_failure(ov_node_init(lab.mem, &cfg, &lab.pool, 0, 3, 1));
    lab_close(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_is_as_the_nodes_above_take_it),
        cmocka_unit_test(an_input_is_read_when_the_node_says_so),
        cmocka_unit_test(a_frame_is_as_the_nodes_below_take_it),
        cmocka_unit_test(consumed_is_never_taken_back),
        cmocka_unit_test(a_record_is_taken_once),
        cmocka_unit_test(a_link_has_a_slot_of_the_node),
        cmocka_unit_test(what_comes_late_for_a_link_is_harmless),
        cmocka_unit_test(an_address_fits_in_its_item),
        cmocka_unit_test(a_node_is_one_of_a_plan_that_was_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
