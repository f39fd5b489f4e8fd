/* Links of the transport: how they come up, and their frames. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/base/err.h"
#include "tests/unit/fabric_rig.h"

/* Private data in both directions, of all sizes from none to the most. */
static void a_link_comes_up_with_private_data_both_ways(void **state)
{
    struct rig *rig = *state;
    struct rig_side *a = &rig->sides[0], *b = &rig->sides[1];
    uint8_t hello[EP_CM_MAX];
    struct ep_conn *conn;

    rig_open_pair(rig);
    for (size_t i = 0; i < EP_CM_MAX; i++) {
        hello[i] = (uint8_t)(i * 7 + 1);
        b->cm[i] = (uint8_t)(i * 5 + 2);
    }
    for (unsigned len = 0; len <= EP_CM_MAX; len++) {
        b->cm_bytes = EP_CM_MAX - len;
        a->got_bytes = 0;
        assert_int_equal(
            rig->ops->dial(a->t, rig->ops->address(b->t), hello, len, a, &conn),
            0);
        assert_ptr_equal(rig->ops->user(conn), a);
        rig_wait(rig, &a->ups, len + 1);
        rig_wait(rig, &b->ups, len + 1);
        assert_int_equal(b->got_bytes, len);
        assert_memory_equal(b->got, hello, len);
        assert_int_equal(a->got_bytes, b->cm_bytes);
        assert_memory_equal(a->got, b->cm, b->cm_bytes);
    }
}

static void private_data_over_the_limit_is_refused(void **state)
{
    struct rig *rig = *state;
    struct rig_side *a = &rig->sides[0], *b = &rig->sides[1];
    uint8_t cm[EP_CM_MAX + 1] = {0};
    struct ep_conn *conn;

    rig_open_pair(rig);
    assert_int_equal(
        rig->ops->dial(a->t, rig->ops->address(b->t), cm, sizeof(cm), a, &conn),
        OV_EINVAL);
    b->answer = RIG_HOLD;
    assert_int_equal(
        rig->ops->dial(a->t, rig->ops->address(b->t), cm, EP_CM_MAX, a, &conn),
        0);
    rig_wait(rig, &b->held_count, 1);
    assert_int_equal(rig->ops->accept(b->held[0], cm, sizeof(cm), b, &conn),
                     OV_EINVAL);
    rig->ops->reject(b->held[0], cm, sizeof(cm));
    rig_wait(rig, &a->downs, 1);
}

static void a_bad_address_is_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "localhost:80",
        "127.0.0.1",
        "127.0.0.1:",
        "127.0.0.1:0",
        "127.0.0.1:65536",
        "127.0.0.1:8x",
        "[127.0.0.1]:80",
        "[::1]:80",
        ":80",
        "127.0.0.1:-1",
    };
    struct rig *rig = *state;
    struct ep_conn *conn;

    rig_open_pair(rig);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (rig->ops->dial(rig->sides[0].t, bad[i], NULL, 0, NULL, &conn) !=
            OV_EINVAL)
            fail_msg("\"%s\" was taken", bad[i]);
}

static void a_rejected_dial_is_refused(void **state)
{
    struct rig *rig = *state;
    struct rig_side *a = &rig->sides[0], *b = &rig->sides[1];
    struct ep_transport_stats stats;
    struct ep_conn *conn;

    rig_open_pair(rig);
    b->answer = RIG_REJECT;
    for (size_t i = 0; i < EP_CM_MAX; i++)
        b->cm[i] = (uint8_t)(i * 5 + 2);
    for (unsigned i = 0; i < 3; i++) { /* with the most private data, some, and
                                        * none */
        b->cm_bytes = EP_CM_MAX - 24 * i;
        assert_int_equal(
            rig->ops->dial(a->t, rig->ops->address(b->t), NULL, 0, a, &conn),
            0);
        rig_wait(rig, &a->downs, i + 1);
        assert_int_equal(a->why, EP_DOWN_REFUSED);
        assert_int_equal(a->refusals, i < 2 ? i + 1 : 2);
        if (i < 2) {
            assert_int_equal(a->got_bytes, b->cm_bytes);
            assert_memory_equal(a->got, b->cm, b->cm_bytes);
        }
    }
    assert_int_equal(a->ups, 0);
    rig->ops->stats(b->t, &stats);
    assert_int_equal(stats.rejected, 3);
}

/* The port is free: it belonged to a transport that has been closed. The error
 * differs from a refusal by a listener, also one without private data. */
static void a_dial_to_nobody_is_refused(void **state)
{
    struct rig *rig = *state;
    struct rig_side *a = &rig->sides[0], *b = &rig->sides[1];
    char address[EP_ADDR_MAX];
    struct ep_conn *conn;

    rig_open_pair(rig);
    snprintf(address, sizeof(address), "%s", rig->ops->address(b->t));
    rig->ops->close(b->t);
    b->t = NULL;
    assert_int_equal(rig->ops->dial(a->t, address, NULL, 0, a, &conn), 0);
    assert_int_equal(a->downs, 0); /* never from within a call */
    rig_wait(rig, &a->downs, 1);
    assert_int_equal(a->why, EP_DOWN_NOBODY);
    assert_int_equal(a->refusals, 0);
}

/* Sends frames 0 to count - 1 as the slots allow. */
static void send_all(struct rig *rig, struct rig_side *from,
                     struct ep_conn *conn, unsigned count,
                     uint32_t (*len)(unsigned number))
{
    unsigned start = from->sent;

    for (unsigned i = 0; i < count; i++) {
        int rc = rig_send(from, conn, i, len(i));

        while (rc == OV_EFULL) {
            rig_wait(rig, &from->sent, from->sent + 1);
            rc = rig_send(from, conn, i, len(i));
        }
        assert_int_equal(rc, 0);
    }
    rig_wait(rig, &from->sent, start + count);
}

static void frames_of_all_sizes_arrive_in_order(void **state)
{
    struct rig *rig = *state;
    struct rig_side *a = &rig->sides[0], *b = &rig->sides[1];
    struct rig_order order = {.len = rig_len_counting};
    struct ep_conn *conn;

    rig_open_pair(rig);
    conn = rig_link(rig);
    b->on_frame = rig_on_ordered;
    b->arg = &order;
    send_all(rig, a, conn, 4096, rig_len_counting);
    rig_wait(rig, &b->frames, 4096);
    rig_settle(rig);
}

static uint32_t len_large(unsigned number)
{
    return 65536 - number * 613 % 65536;
}

/* The accepting side sends as well as the dialling one. */
static void large_frames_arrive_in_order(void **state)
{
    struct rig *rig = *state;
    struct rig_side *a = &rig->sides[0], *b = &rig->sides[1];
    struct ep_transport_cfg cfgs[2] = {rig_cfg(rig, 0), rig_cfg(rig, 1)};
    struct rig_order order = {.len = len_large};

    cfgs[0].frame_bytes = cfgs[1].frame_bytes = 65536;
    rig_open(rig, cfgs, 2);
    (void)rig_link(rig);
    a->on_frame = rig_on_ordered;
    a->arg = &order;
    send_all(rig, b, b->conns[0], 1000, len_large);
    rig_wait(rig, &a->frames, 1000);
    rig_settle(rig);
}

static void slices_are_gathered_without_being_copied(void **state)
{
    struct rig *rig = *state;
    struct rig_side *a = &rig->sides[0], *b = &rig->sides[1];
    struct ov_buf *one = NULL, *two = NULL;
    struct ep_conn *conn;

    rig_open_pair(rig);
    conn = rig_link(rig);
    one = rig->ops->buf_get(a->t);
    two = rig->ops->buf_get(a->t);
    memcpy(one->mem, "..head", 6);
    memcpy(two->mem, "body.tail", 9);
    for (unsigned i = 0; i < 2; i++) {
        struct ep_slice slices[3] = {
            {.buf = one, .off_bytes = 2, .len_bytes = 4},
            {.buf = two, .off_bytes = 5, .len_bytes = i ? 0 : 4},
            {.buf = two, .off_bytes = 0, .len_bytes = 4},
        };

        assert_int_equal(rig->ops->send(conn, slices, 3), 0);
    }
    assert_int_equal(one->refs, 3);
    rig_wait(rig, &b->frames, 2);
    rig_wait(rig, &a->sent, 2);
    assert_int_equal(b->bytes, 20);
    assert_int_equal(one->refs, 1);
    assert_int_equal(two->refs, 1);
    rig_put(a, one);
    rig_put(a, two);
    rig_settle(rig);
}

static void a_frame_that_cannot_be_is_refused(void **state)
{
    struct rig *rig = *state;
    struct rig_side *a = &rig->sides[0];
    struct ep_conn *conn;
    struct ov_buf *buf;

    rig_open_pair(rig);
    conn = rig_link(rig);
    buf = rig->ops->buf_get(a->t);
    struct ep_slice slices[4] = {
        {buf, 0, 1}, {buf, 0, 1}, {buf, 0, 1}, {buf, 0, 1}};
    assert_int_equal(rig->ops->send(conn, slices, 0), OV_EINVAL);
    assert_int_equal(rig->ops->send(conn, slices, 4), OV_EINVAL);
    slices[0].len_bytes = 0;
    assert_int_equal(rig->ops->send(conn, slices, 1), OV_EINVAL);
    slices[0].len_bytes = 4097;
    assert_int_equal(rig->ops->send(conn, slices, 1), OV_EINVAL);
    slices[0].len_bytes = 4096; /* together with the next slice this is more
                                 * than a frame */
    assert_int_equal(rig->ops->send(conn, slices, 2), OV_EINVAL);
    slices[0].off_bytes = UINT32_MAX;
    assert_int_equal(rig->ops->send(conn, slices, 1), OV_EINVAL);
    assert_int_equal(buf->refs, 1);
    rig_put(a, buf);
}

static void slots_end_at(struct rig *rig, uint32_t len_bytes)
{
    struct rig_side *a = &rig->sides[0], *b = &rig->sides[1];
    struct ep_conn *conn;

    rig_open_pair(rig);
    conn = rig_link(rig);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(rig_send(a, conn, i, len_bytes), 0);
    assert_int_equal(rig_send(a, conn, 8, len_bytes), OV_EFULL);
    rig_wait(rig, &a->sent, 8);
    assert_int_equal(rig_send(a, conn, 8, len_bytes), 0);
    rig_wait(rig, &b->frames, 9);
    rig_wait(rig, &a->sent, 9);
}

/* Slots become free in the loop only, so the count is exact. */
static void sends_beyond_the_slots_are_refused(void **state)
{
    slots_end_at(*state, 4096);
}

/* Sends beyond the slots are refused also when the provider needs no completion
 * to be done with a frame. */
static void small_sends_take_slots_too(void **state)
{
    slots_end_at(*state, 8);
}

static void a_send_before_the_link_is_up_is_kept(void **state)
{
    struct rig *rig = *state;
    struct rig_side *a = &rig->sides[0], *b = &rig->sides[1];
    struct ep_conn *conn;

    rig_open_pair(rig);
    b->on_up = rig_send_three;
    assert_int_equal(
        rig->ops->dial(a->t, rig->ops->address(b->t), NULL, 0, a, &conn), 0);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(rig_send(a, conn, i, 200), 0);
    assert_int_equal(rig_send(a, conn, 8, 200), OV_EFULL);
    rig_wait(rig, &b->frames, 8);
    rig_wait(rig, &a->frames, 3);
}

static void a_transport_dials_itself(void **state)
{
    struct rig *rig = *state;
    struct ep_transport_cfg cfg = rig_cfg(rig, 0);
    struct rig_side *a = &rig->sides[0];
    struct ep_conn *conn;

    rig_open(rig, &cfg, 1);
    for (unsigned i = 0; i < 20; i++)
        assert_int_equal(
            rig->ops->dial(a->t, rig->ops->address(a->t), NULL, 0, a, &conn),
            0);
    rig_wait(rig, &a->ups, 40);
    for (unsigned i = 0; i < 40; i++)
        rig_send_three(a, a->conns[i]);
    rig_wait(rig, &a->frames, 120);
    rig_settle(rig);
}

static void two_hundred_links_carry_frames(void **state)
{
    struct rig *rig = *state;
    struct rig_side *a = &rig->sides[0], *b = &rig->sides[1];
    struct ep_transport_stats stats;
    struct ep_conn *conn;

    rig_open_pair(rig);
    for (unsigned i = 0; i < 200; i++)
        assert_int_equal(
            rig->ops->dial(a->t, rig->ops->address(b->t), NULL, 0, a, &conn),
            0);
    rig_wait(rig, &a->ups, 200);
    rig_wait(rig, &b->ups, 200);
    for (unsigned i = 0; i < 200; i++) {
        rig_send_three(a, a->conns[i]);
        rig_send_three(b, b->conns[i]);
    }
    rig_wait(rig, &a->frames, 600);
    rig_wait(rig, &b->frames, 600);
    rig_settle(rig);
    rig->ops->stats(a->t, &stats);
    assert_int_equal(stats.buffers_live, 800);
    while (a->conns_count > 0)
        rig->ops->drop(a->conns[--a->conns_count], false);
    rig_wait(rig, &b->downs, 200);
    rig_settle(rig);
}

static void buffers_are_used_again(void **state)
{
    struct rig *rig = *state;
    struct rig_side *a = &rig->sides[0], *b = &rig->sides[1];
    struct ep_transport_stats before, after;
    struct ep_conn *conn;

    rig_open_pair(rig);
    conn = rig_link(rig);
    send_all(rig, a, conn, 100, rig_len_counting);
    rig_wait(rig, &b->frames, 100);
    rig->ops->stats(b->t, &before);
    send_all(rig, a, conn, 4000, rig_len_counting);
    rig_wait(rig, &b->frames, 4100);
    rig->ops->stats(b->t, &after);
    assert_int_equal(after.buffers_made, before.buffers_made);
    assert_int_equal(after.received_frames, 4100);
    rig_settle(rig);
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, rig_set_up, rig_tear_down)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(a_link_comes_up_with_private_data_both_ways),
        TEST(private_data_over_the_limit_is_refused),
        TEST(a_bad_address_is_refused),
        TEST(a_rejected_dial_is_refused),
        TEST(a_dial_to_nobody_is_refused),
        TEST(frames_of_all_sizes_arrive_in_order),
        TEST(large_frames_arrive_in_order),
        TEST(slices_are_gathered_without_being_copied),
        TEST(a_frame_that_cannot_be_is_refused),
        TEST(sends_beyond_the_slots_are_refused),
        TEST(small_sends_take_slots_too),
        TEST(a_send_before_the_link_is_up_is_kept),
        TEST(a_transport_dials_itself),
        TEST(two_hundred_links_carry_frames),
        TEST(buffers_are_used_again),
    };

    if (argc == 2)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
