/* Reads the provider's queues and makes the callbacks. */
#include "endpoints/ofi/poll.h"

#include <errno.h>
#include <string.h>

#include "endpoints/ofi/conn.h"
#include "endpoints/ofi/cq.h"
#include "endpoints/ofi/error.h"
#include "endpoints/ofi/frames.h"
#include "endpoints/ofi/listen.h"
#include "endpoints/ofi/sockets.h"
#include "endpoints/ofi/state.h"
#include "endpoints/ofi/stray.h"
#include "endpoints/ofi/wake.h"
#include "endpoints/sys/clock.h"

enum {
    /* After this many rounds other events of the loop get their turn. */
    PASS_ROUNDS = 4,
    CQ_ENTRIES = 32,   /* entries read by one call */
    ROUND_FRAMES = 64, /* most frames from one queue in one round */
    EQ_READS = 64,     /* most events read in one round */
    /* most rounds at the end, for peers that have just connected */
    DRAIN_ROUNDS = 100,
    CM_ARRIVE_BYTES = 512 /* room for private data, which fabrics pad */
};

static void on_eq_ready(evutil_socket_t fd, short what, void *arg)
{
    struct ep_transport *t = arg;

    (void)fd;
    (void)what;
    t->eq.is_armed = false;
    t->wake.is_pushed = false;
    t->eq.has_news = false;
    ep_poll_pass(t);
    ep_stray_later(t, t->eq.has_news);
}

static void on_soon(evutil_socket_t fd, short what, void *arg)
{
    struct ep_transport *t = arg;

    (void)fd;
    t->wake.is_pushed = what != EV_TIMEOUT;
    if (t->eq.is_paused) {
        t->eq.is_paused = false;
        t->eq.is_armed = false;
        event_add(t->eq.ready, NULL);
    }
    ep_poll_pass(t);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    struct ep_transport *t = arg;

    (void)fd;
    (void)what;
    t->wake.tick_ms = 0;
    ep_poll_sweep(t);
    ep_poll_pass(t);
}

int ep_poll_open(struct ep_transport *t)
{
    t->pass = ep_poll_pass;
    t->wake.soon = evtimer_new(t->cfg.base, on_soon, t);
    t->wake.tick = evtimer_new(t->cfg.base, on_tick, t);
    if (t->wake.soon == NULL || t->wake.tick == NULL)
        return OV_ENOMEM;
    t->eq.ready = ep_wake_on(t, &t->eq.fid->fid, on_eq_ready, t);
    if (t->eq.ready == NULL)
        return OV_EFABRIC;
    ep_wake_disarm_eq(t);
    return 0;
}

void ep_poll_close(struct ep_transport *t)
{
    ep_cq_close_all(t);
    if (t->eq.ready)
        event_free(t->eq.ready);
    if (t->wake.soon)
        event_free(t->wake.soon);
    if (t->wake.tick)
        event_free(t->wake.tick);
}

static void on_eq_error(struct ep_transport *t)
{
    uint8_t room[CM_ARRIVE_BYTES] = {0};
    struct fi_eq_err_entry entry = {.err_data = room,
                                    .err_data_size = sizeof(room)};

    if (fi_eq_readerr(t->eq.fid, &entry, 0) < 0 || entry.fid == NULL ||
        entry.fid == &t->pep->fid)
        return;
    if (ep_down_from_fi(entry.err) != EP_DOWN_NOBODY)
        ep_conn_lose(entry.fid->context, ep_down_from_fi(entry.err));
    else if (entry.err_data == NULL || entry.err_data_size > sizeof(room))
        ep_conn_refused(entry.fid->context, NULL, 0);
    else
        ep_conn_refused(entry.fid->context, entry.err_data,
                        entry.err_data_size);
}

static void on_eq_event(struct ep_transport *t, uint32_t event,
                        const struct fi_eq_cm_entry *entry, size_t len_bytes)
{
    size_t cm_bytes =
        len_bytes > sizeof(*entry) ? len_bytes - sizeof(*entry) : 0;

    switch (event) {
    case FI_CONNREQ:
        ep_listen_on_request(t, entry->info, entry->data, cm_bytes);
        return;
    case FI_CONNECTED:
        ep_conn_on_up(entry->fid->context, entry->data, cm_bytes);
        return;
    case FI_SHUTDOWN:
        ep_conn_lose(entry->fid->context, EP_DOWN_CLOSED);
        return;
    default: /* a number with a meaning for the provider only */
        return;
    }
}

/* Reads the event queue. errno is cleared because tcp of 1.17 takes an old
 * EAGAIN there for the result of a read that found the peer closed, and keeps
 * the socket. */
static void read_eq(struct ep_transport *t)
{
    union {
        struct fi_eq_cm_entry entry;
        uint8_t room[sizeof(struct fi_eq_cm_entry) + CM_ARRIVE_BYTES];
    } buf;

    t->eq.is_empty = false;
    for (int i = 0; i < EQ_READS && !t->eq.is_empty; i++) {
        bool is_asked = ep_sock_is_asked(t);
        int fd = is_asked ? ep_sock_next_free(t) : -1;
        uint32_t event = 0;
        ssize_t rc;

        memset(&buf.entry, 0, sizeof(buf.entry));
        errno = 0;
        rc = fi_eq_read(t->eq.fid, &event, &buf, sizeof(buf), 0);
        if (is_asked)
            ep_stray_on_accept(t, fd);
        if (rc == -FI_EAVAIL)
            on_eq_error(t);
        else if (rc > 0)
            on_eq_event(t, event, &buf.entry, (size_t)rc);
        else
            t->eq.is_empty = true;
        t->eq.has_news = t->eq.has_news || is_asked || !t->eq.is_empty;
    }
}

static bool on_cq_error(struct ep_cq *cq)
{
    struct fi_cq_err_entry entry = {0};

    if (fi_cq_readerr(cq->fid, &entry, 0) <= 0)
        return false;
    if (entry.op_context)
        ep_frames_on_error(entry.op_context, entry.err);
    return true;
}

/* Reads some entries of a completion queue. */
static void read_cq(struct ep_cq *cq)
{
    struct fi_cq_msg_entry entries[CQ_ENTRIES];
    struct ep_transport *t = cq->t;
    struct ep_conn *conn;

    cq->is_empty = false;
    for (int left = ROUND_FRAMES; left > 0 && !cq->is_empty;) {
        ssize_t n = fi_cq_read(cq->fid, entries, CQ_ENTRIES);

        if (n == -FI_EAVAIL && on_cq_error(cq)) {
            left--;
            continue;
        }
        for (ssize_t i = 0; i < n; i++)
            ep_frames_on_done(entries[i].op_context, entries[i].len);
        /* After a short read the queue is empty; trywait() checks that. While
         * links end, only a read without entries shows that it is empty. */
        cq->is_empty = n <= 0 || (n < CQ_ENTRIES && t->has_short_reads &&
                                  t->lost == 0 && TAILQ_EMPTY(&cq->closed));
        left -= n > 0 ? (int)n : 0;
    }
    while (cq->is_empty && (conn = TAILQ_FIRST(&cq->closed)) != NULL)
        ep_conn_free(conn);
}

/* Calls on_down for lost links, after all their frames were given to the
 * owner. */
static void report_lost(struct ep_transport *t)
{
    struct ep_conn *conn, *next;

    if (t->lost == 0)
        return;
    for (conn = TAILQ_FIRST(&t->conns); conn; conn = next) {
        next = TAILQ_NEXT(conn, link);
        if (conn->state == EP_CONN_LOST && conn->cq->is_empty) {
            ep_conn_report_down(conn);
            /* the callee may drop any link, so begin again */
            next = TAILQ_FIRST(&t->conns);
        }
    }
}

static void close_dead(struct ep_transport *t)
{
    struct ep_conn *conn;

    while ((conn = TAILQ_FIRST(&t->dead)) != NULL)
        ep_conn_close(conn);
}

/* Reports completed sends and posts waiting operations. */
static void serve(struct ep_transport *t, struct ep_conn *conn)
{
    unsigned sent = conn->sent;

    conn->sent = 0;
    if (!ep_frames_push(conn)) {
        t->is_starved = true;
        ep_conn_touch(conn);
    }
    if (conn->state == EP_CONN_FLUSHING && ep_conn_is_flushed(conn))
        ep_conn_kill(conn);
    if (sent > 0 && conn->state == EP_CONN_UP && !t->is_closing) {
        t->reported++;
        t->cfg.events->on_sent(t->cfg.arg, conn, sent);
    }
}

static void serve_touched(struct ep_transport *t)
{
    struct ep_conns now = TAILQ_HEAD_INITIALIZER(now);
    struct ep_conn *conn;

    TAILQ_CONCAT(&now, &t->touched, touched);
    t->is_starved = false;
    while ((conn = TAILQ_FIRST(&now)) != NULL) {
        TAILQ_REMOVE(&now, conn, touched);
        conn->is_touched = false;
        serve(t, conn);
    }
}

static void round_run(struct ep_transport *t)
{
    struct ep_cq *cq;

    t->reported = 0;
    if (!t->eq.is_armed)
        read_eq(t);
    TAILQ_FOREACH (cq, &t->cqs, link) {
        if (!cq->is_armed)
            read_cq(cq);
    }
    report_lost(t);
    serve_touched(t);
    if (t->reported > 0 && t->cfg.events->on_idle && !t->is_closing)
        t->cfg.events->on_idle(t->cfg.arg);
    close_dead(t);
}

static bool arm(struct ep_transport *t, struct fid *fid)
{
    return fi_trywait(t->fabric, &fid, 1) == FI_SUCCESS;
}

/* Arms all queues. True when the loop may sleep. */
static bool arm_all(struct ep_transport *t)
{
    struct ep_cq *cq;
    bool is_all = true;

    if (!t->eq.is_armed && t->eq.is_empty)
        t->eq.is_armed = arm(t, &t->eq.fid->fid);
    TAILQ_FOREACH (cq, &t->cqs, link) {
        if (!cq->is_armed && cq->is_empty && TAILQ_EMPTY(&cq->closed))
            cq->is_armed = arm(t, &cq->fid->fid);
        is_all = is_all && cq->is_armed;
    }
    return is_all && t->eq.is_armed && t->lost == 0 && TAILQ_EMPTY(&t->dead) &&
           (TAILQ_EMPTY(&t->touched) || t->is_starved);
}

void ep_poll_pass(struct ep_transport *t)
{
    bool is_done = false;

    OV_ASSERT(!t->is_in_pass);
    t->is_in_pass = true;
    for (int i = 0; i < PASS_ROUNDS && !is_done; i++) {
        round_run(t);
        is_done = arm_all(t);
    }
    ep_cq_close_idle(t);
    t->is_in_pass = false;
    ep_wake_plan(t, is_done);
}

void ep_poll_sweep(struct ep_transport *t)
{
    int64_t now_ms = ep_clock_ms();
    bool is_more = ep_conn_sweep(t, now_ms);

    is_more = ep_listen_sweep(t, now_ms) || is_more;
    ep_stray_sweep(t, now_ms);
    if (is_more)
        ep_wake_sweep_in(t, ep_wake_period_ms(t));
}

void ep_poll_drain(struct ep_transport *t)
{
    bool is_left = true;

    t->is_closing = true;
    if (t->listen_fd >= 0)
        (void)shutdown(t->listen_fd, SHUT_RDWR);
    t->is_in_pass = true;
    for (int i = 0; i < DRAIN_ROUNDS && is_left; i++) {
        is_left = ep_stray_shut_all(t);
        read_eq(t);
    }
    t->is_in_pass = false;
}
