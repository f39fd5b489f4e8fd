/* How links end: by their owner, by their peer, by a timeout. */
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "overlay/base/err.h"
#include "tests/unit/fabric_rig.h"

extern char **environ;

/* Echoes a number of frames, then waits until it is killed. */
static int peer_main(const char *address, unsigned frames)
{
    struct rig rig = {0};
    struct ep_transport_cfg cfg = rig_cfg(&rig, 0);
    struct rig_side *side = &rig.sides[0];
    struct ep_conn *conn;

    prctl(PR_SET_PDEATHSIG, SIGKILL); /* kills this child when the test fails */
    rig_open(&rig, &cfg, 1);
    if (rig.ops->dial(side->t, address, NULL, 0, side, &conn))
        return 1;
    rig_wait(&rig, &side->ups, 1);
    for (uint32_t i = 0; i < frames; i++) {
        while (rig_send(side, conn, i, i + 1) == OV_EFULL)
            rig_wait(&rig, &side->sent, side->sent + 1);
    }
    rig_wait(&rig, &side->downs, 1);
    rig_close(&rig);
    return 0;
}

/* Every frame that the peer has sent arrives, then the report of its death. */
static void a_killed_peer_is_reported_after_its_frames(void **state)
{
    struct rig *rig = *state;
    struct rig_side *a = &rig->sides[0];
    struct ep_transport_cfg cfg = rig_cfg(rig, 0);
    struct rig_order order = {.len = rig_len_counting};
    char address[EP_ADDR_MAX], self[4096] = "";
    char *argv[] = {self, address, (char *)"100", NULL};
    int status;
    pid_t pid;

    rig_open(rig, &cfg, 1);
    snprintf(address, sizeof(address), "%s", rig->ops->address(a->t));
    assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
    assert_int_equal(posix_spawn(&pid, self, NULL, NULL, argv, environ), 0);
    a->on_frame = rig_on_ordered;
    a->arg = &order;
    rig_wait(rig, &a->frames, 100);
    kill(pid, SIGKILL);
    rig_wait(rig, &a->downs, 1);
    assert_int_equal(a->why, EP_DOWN_CLOSED);
    waitpid(pid, &status, 0);
    rig_settle(rig);
}

static void keep_sending(struct rig_side *side, struct ep_conn *conn)
{
    while (rig_send(side, conn, 1, 4096) == 0)
        continue;
}

/* The frames are more than the peer's system takes without its program, and the
 * peer sends all the while, so that something is left unread here when the
 * socket is closed: a plain close would then drop the rest. */
static void a_flushed_link_delivers_its_last_frames(void **state)
{
    struct rig *rig = *state;
    struct rig_side *a = &rig->sides[0], *b = &rig->sides[1];
    struct ep_transport_cfg cfgs[2] = {rig_cfg(rig, 0), rig_cfg(rig, 1)};
    struct ep_conn *conn;

    cfgs[0].frame_bytes = cfgs[1].frame_bytes = 65536;
    cfgs[0].send_slots = 32;
    rig_open(rig, cfgs, 2);
    for (unsigned i = 1; i <= 20; i++) {
        conn = rig_link(rig);
        b->on_sent = keep_sending;
        keep_sending(b, b->conns[0]);
        for (uint32_t j = 0; j < 32; j++)
            assert_int_equal(rig_send(a, conn, j, 65536), 0);
        rig->ops->drop(conn, true);
        a->conns_count = 0;
        rig_wait(rig, &b->downs, i);
        assert_int_equal(b->frames, 32 * i);
        b->on_sent = NULL;
    }
    rig_settle(rig);
}

static void closing_lets_flushed_frames_go(void **state)
{
    struct rig *rig = *state;
    struct rig_side *a = &rig->sides[0], *b = &rig->sides[1];
    struct ep_conn *conn;

    rig_open_pair(rig);
    conn = rig_link(rig);
    for (uint32_t j = 0; j < 8; j++)
        assert_int_equal(rig_send(a, conn, j, 4096), 0);
    rig->ops->drop(conn, true);
    rig->ops->close(a->t);
    a->t = NULL;
    rig_wait(rig, &b->downs, 1);
    assert_int_equal(b->frames, 8);
}

static void drop_now(struct rig_side *side, struct ep_conn *conn)
{
    side->conns_count = 0;
    side->rig->ops->drop(conn, false);
}

static void drop_on_frame(struct rig_side *side, struct ep_conn *conn,
                          struct ov_buf *buf)
{
    rig_put(side, buf);
    drop_now(side, conn);
}

/* The link is dropped from within each callback, with frames on their way in
 * both directions. */
static void a_link_can_be_dropped_in_any_callback(void **state)
{
    struct rig *rig = *state;
    struct rig_side *a = &rig->sides[0], *b = &rig->sides[1];
    struct ep_conn *conn;

    rig_open_pair(rig);
    b->on_up = drop_now;
    (void)rig_link(rig);
    rig_wait(rig, &a->downs, 1);
    b->on_up = NULL;
    conn = rig_link(rig);
    b->on_frame = drop_on_frame;
    rig_send_three(a, conn);
    rig_send_three(b, b->conns[0]);
    rig_wait(rig, &a->downs, 2);
    assert_int_equal(b->frames, 1);
    b->on_frame = NULL;
    conn = rig_link(rig);
    a->on_sent = drop_now;
    rig_send_three(a, conn);
    rig_wait(rig, &b->downs, 1);
    assert_int_equal(a->downs, 2); /* no report for a link that the owner itself
                                    * dropped */
    rig_settle(rig);
}

static void drop_flushed(struct rig_side *side)
{
    if (side->conns_count > 0 && side->sent == 3)
        side->rig->ops->drop(side->conns[--side->conns_count], true);
}

/* The link is dropped from on_idle, when no other event could drive it. */
static void a_flushed_link_without_frames_ends_at_once(void **state)
{
    struct rig *rig = *state;
    struct rig_side *a = &rig->sides[0], *b = &rig->sides[1];
    struct ep_transport_cfg cfgs[2] = {rig_cfg(rig, 0), rig_cfg(rig, 1)};
    struct timespec start, end;

    /* no other timer fires */
    cfgs[0].unproved_ms = cfgs[1].unproved_ms = 600000;
    rig_open(rig, cfgs, 2);
    rig_send_three(a, rig_link(rig));
    a->on_idle = drop_flushed;
    clock_gettime(CLOCK_MONOTONIC, &start);
    rig_wait(rig, &b->downs, 1);
    clock_gettime(CLOCK_MONOTONIC, &end);
    assert_int_equal(b->frames, 3);
    assert_true(end.tv_sec - start.tv_sec <
                4); /* the end is noticed before the time limit */
}

/* rig_tear_down() closes the transports; sanitizers and valgrind report
 * errors. */
static void closing_in_the_middle_of_traffic_is_clean(void **state)
{
    struct rig *rig = *state;
    struct rig_side *a = &rig->sides[0], *b = &rig->sides[1];
    struct ep_conn *conn;

    rig_open_pair(rig);
    for (unsigned i = 0; i < 20; i++)
        (void)rig_link(rig);
    for (unsigned i = 0; i < 20; i++) {
        keep_sending(a, a->conns[i]);
        keep_sending(b, b->conns[i]);
    }
    a->on_sent = b->on_sent = keep_sending;
    rig_wait(rig, &b->frames, 500);
    for (unsigned i = 0; i < 20; i++) /* links end in the middle of dials */
        assert_int_equal(
            rig->ops->dial(a->t, rig->ops->address(b->t), NULL, 0, a, &conn),
            0);
}

static void an_unanswered_request_is_refused_in_time(void **state)
{
    struct rig *rig = *state;
    struct rig_side *a = &rig->sides[0], *b = &rig->sides[1];
    struct ep_transport_cfg cfgs[2] = {rig_cfg(rig, 0), rig_cfg(rig, 1)};
    struct ep_conn *conn;

    cfgs[1].unproved_ms = 20;
    rig_open(rig, cfgs, 2);
    b->answer = RIG_HOLD;
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(
            rig->ops->dial(a->t, rig->ops->address(b->t), NULL, 0, a, &conn),
            0);
    rig_wait(rig, &a->downs, 2);
    assert_int_equal(a->why, EP_DOWN_REFUSED);
    assert_int_equal(rig->ops->accept(b->held[0], NULL, 0, b, &conn),
                     OV_ECLOSED);
    rig->ops->reject(b->held[1], NULL, 0);
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, rig_set_up, rig_tear_down)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(a_killed_peer_is_reported_after_its_frames),
        TEST(a_flushed_link_delivers_its_last_frames),
        TEST(closing_lets_flushed_frames_go),
        TEST(a_link_can_be_dropped_in_any_callback),
        TEST(a_flushed_link_without_frames_ends_at_once),
        TEST(closing_in_the_middle_of_traffic_is_clean),
        TEST(an_unanswered_request_is_refused_in_time),
    };

    if (argc == 2)
        cmocka_set_test_filter(argv[1]);
    if (argc == 3)
        return peer_main(argv[1], (unsigned)atoi(argv[2]));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
