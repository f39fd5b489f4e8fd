/* Transports in one process on one event base, for tests. */
#include "tests/unit/fabric_rig.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LIVE_LIMIT_S = 20 };

static void on_request(void *arg, struct ep_request *req, const uint8_t *cm,
                       size_t len_bytes)
{
    struct rig_side *side = arg;
    struct ep_conn *conn;

    side->requests++;
    side->got_bytes = len_bytes;
    memcpy(side->got, cm, len_bytes);
    switch (side->answer) {
    case RIG_ACCEPT:
        assert_int_equal(
            side->rig->ops->accept(req, side->cm, side->cm_bytes, side, &conn),
            0);
        return;
    case RIG_REJECT:
        side->rig->ops->reject(req, side->cm, side->cm_bytes);
        return;
    case RIG_HOLD:
        assert_true(side->held_count < RIG_HELD);
        side->held[side->held_count++] = req;
        return;
    }
}

static void on_up(void *arg, struct ep_conn *conn, const uint8_t *cm,
                  size_t len_bytes)
{
    struct rig_side *side = arg;

    side->ups++;
    if (len_bytes > 0) {
        side->got_bytes = len_bytes;
        memcpy(side->got, cm, len_bytes);
    }
    assert_true(side->conns_count < RIG_CONNS);
    side->conns[side->conns_count++] = conn;
    if (side->on_up)
        side->on_up(side, conn);
}

static void on_refused(void *arg, struct ep_conn *conn, const uint8_t *cm,
                       size_t len_bytes)
{
    struct rig_side *side = arg;

    (void)conn;
    side->refusals++;
    side->got_bytes = len_bytes;
    memcpy(side->got, cm, len_bytes);
}

static void on_down(void *arg, struct ep_conn *conn, enum ep_down_why why)
{
    struct rig_side *side = arg;

    side->downs++;
    side->why = why;
    for (unsigned i = 0; i < side->conns_count; i++)
        if (side->conns[i] == conn) {
            side->conns[i] = side->conns[--side->conns_count];
            return;
        }
}

static void on_frame(void *arg, struct ep_conn *conn, struct ov_buf *buf)
{
    struct rig_side *side = arg;

    side->frames++;
    side->bytes += buf->len_bytes;
    if (side->on_frame)
        side->on_frame(side, conn, buf);
    else
        rig_put(side, buf);
}

static void on_sent(void *arg, struct ep_conn *conn, unsigned frames)
{
    struct rig_side *side = arg;

    side->sent += frames;
    if (side->on_sent)
        side->on_sent(side, conn);
}

static void on_idle(void *arg)
{
    struct rig_side *side = arg;

    side->idles++;
    if (side->on_idle)
        side->on_idle(side);
}

static const struct ep_transport_events events = {
    .on_request = on_request,
    .on_up = on_up,
    .on_refused = on_refused,
    .on_down = on_down,
    .on_frame = on_frame,
    .on_sent = on_sent,
    .on_idle = on_idle,
};

const struct ep_transport_ops *rig_load(void)
{
    const struct ep_transport_ops *ops;
    char why[EP_WHY_MAX];

    if (ep_transport_load(NULL, &ops, why))
        fail_msg("%s", why);
    return ops;
}

struct ep_transport_cfg rig_cfg(struct rig *rig, unsigned side)
{
    const char *provider = getenv("XYLEM_TEST_PROVIDER");

    if (rig->base == NULL)
        rig->base = event_base_new();
    assert_non_null(rig->base);
    rig->ops = rig_load();
    rig->sides[side].rig = rig;
    return (struct ep_transport_cfg){
        .base = rig->base,
        .provider = provider ? provider : "tcp",
        .is_local = true,
        .frame_bytes = 4096,
        .posted_receives = 4,
        .send_slots = 8,
        .unproved_ms = 5000,
        .events = &events,
        .arg = &rig->sides[side],
    };
}

void rig_open(struct rig *rig, const struct ep_transport_cfg *cfgs,
              unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (rig->ops->open(&cfgs[i], &rig->sides[i].t, rig->why))
            fail_msg("%s", rig->why);
}

void rig_open_pair(struct rig *rig)
{
    struct ep_transport_cfg cfgs[RIG_SIDES] = {rig_cfg(rig, 0),
                                               rig_cfg(rig, 1)};

    rig_open(rig, cfgs, RIG_SIDES);
}

void rig_close(struct rig *rig)
{
    for (unsigned i = 0; i < RIG_SIDES; i++)
        if (rig->sides[i].t)
            rig->ops->close(rig->sides[i].t);
    if (rig->base)
        event_base_free(rig->base);
    *rig = (struct rig){0};
}

int rig_set_up(void **state)
{
    *state = calloc(1, sizeof(struct rig));
    return *state == NULL;
}

int rig_tear_down(void **state)
{
    rig_close(*state);
    free(*state);
    return 0;
}

static void on_limit(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    *(bool *)arg = true;
}

void rig_until(struct rig *rig, bool (*is_done)(struct rig *rig))
{
    struct timeval limit = {.tv_sec = LIVE_LIMIT_S};
    bool is_late = false;
    struct event *timer = evtimer_new(rig->base, on_limit, &is_late);

    assert_non_null(timer);
    evtimer_add(timer, &limit);
    while (!is_done(rig) && !is_late)
        event_base_loop(rig->base, EVLOOP_ONCE);
    event_free(timer);
    if (is_late)
        fail_msg("nothing happened for %d s: sides have %u/%u ups, %u/%u "
                 "downs, %u/%u frames, %u/%u sent",
                 LIVE_LIMIT_S, rig->sides[0].ups, rig->sides[1].ups,
                 rig->sides[0].downs, rig->sides[1].downs, rig->sides[0].frames,
                 rig->sides[1].frames, rig->sides[0].sent, rig->sides[1].sent);
}

static const unsigned *wait_counter;
static unsigned wait_least;

static bool is_counted(struct rig *rig)
{
    (void)rig;
    return *wait_counter >= wait_least;
}

void rig_wait(struct rig *rig, const unsigned *counter, unsigned least)
{
    wait_counter = counter;
    wait_least = least;
    rig_until(rig, is_counted);
}

static bool is_settled(struct rig *rig)
{
    for (unsigned i = 0; i < RIG_SIDES; i++) {
        struct rig_side *side = &rig->sides[i];
        struct ep_transport_stats stats;

        if (side->t == NULL)
            continue;
        rig->ops->stats(side->t, &stats);
        if (stats.buffers_live != 4u * side->conns_count)
            return false;
    }
    return true;
}

void rig_settle(struct rig *rig)
{
    rig_until(rig, is_settled);
}

struct ep_conn *rig_link(struct rig *rig)
{
    struct rig_side *from = &rig->sides[0], *to = &rig->sides[1];
    unsigned here = from->ups, there = to->ups;
    struct ep_conn *conn;

    assert_int_equal(
        rig->ops->dial(from->t, rig->ops->address(to->t), NULL, 0, from, &conn),
        0);
    rig_wait(rig, &from->ups, here + 1);
    rig_wait(rig, &to->ups, there + 1);
    return conn;
}

static uint8_t pattern(uint32_t number, uint32_t at)
{
    return (uint8_t)((number * 2654435761u + at * 40503u) >> 13);
}

int rig_send(struct rig_side *side, struct ep_conn *conn, uint32_t number,
             uint32_t len_bytes)
{
    struct ov_buf *buf = side->rig->ops->buf_get(side->t);
    struct ep_slice slice = {.buf = buf, .len_bytes = len_bytes};
    int rc;

    assert_non_null(buf);
    for (uint32_t i = 0; i < len_bytes; i++)
        buf->mem[i] = pattern(number, i);
    rc = side->rig->ops->send(conn, &slice, 1);
    rig_put(side, buf);
    return rc;
}

void rig_check(const struct ov_buf *buf, uint32_t number, uint32_t len_bytes)
{
    assert_int_equal(buf->len_bytes, len_bytes);
    for (uint32_t i = 0; i < len_bytes; i++)
        if (buf->mem[i] != pattern(number, i))
            fail_msg("frame %u differs at byte %u", number, i);
}

void rig_put(struct rig_side *side, struct ov_buf *buf)
{
    if (ov_buf_unref(buf))
        side->rig->ops->buf_put(side->t, buf);
}

void rig_on_ordered(struct rig_side *side, struct ep_conn *conn,
                    struct ov_buf *buf)
{
    struct rig_order *order = side->arg;

    (void)conn;
    rig_check(buf, order->seen, order->len(order->seen));
    order->seen++;
    rig_put(side, buf);
}

uint32_t rig_len_counting(unsigned number)
{
    return number + 1;
}

void rig_send_three(struct rig_side *side, struct ep_conn *conn)
{
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(rig_send(side, conn, i, 100), 0);
}

unsigned rig_fds(void)
{
    DIR *dir = opendir("/proc/self/fd");
    unsigned count = 0;

    assert_non_null(dir);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}
