/* The life of a link. */
#include "endpoints/ofi/conn.h"

#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "endpoints/ofi/address.h"
#include "endpoints/ofi/cm.h"
#include "endpoints/ofi/cq.h"
#include "endpoints/ofi/error.h"
#include "endpoints/ofi/frames.h"
#include "endpoints/ofi/sockets.h"
#include "endpoints/ofi/state.h"
#include "endpoints/ofi/wake.h"
#include "endpoints/sys/clock.h"

enum {
    FLUSH_MS = 5000, /* time for sending the last frames of a dropped link */
    FLUSH_POLL_MS = 2,
    SURPLUS_RECEIVES = 2
};

static int endpoint_open(struct ep_conn *conn, struct fi_info *info,
                         bool *has_ep)
{
    struct ep_transport *t = conn->t;
    int rc;

    *has_ep = false;
    rc = ep_cq_find(t, &conn->cq);
    if (rc)
        return rc;
    rc = fi_endpoint(t->domain, info, &conn->ep, conn);
    if (rc) {
        conn->ep = NULL;
        return ep_err_from_fi(rc);
    }
    *has_ep = true;
    rc = fi_ep_bind(conn->ep, &t->eq.fid->fid, 0);
    if (rc == 0)
        rc = fi_ep_bind(conn->ep, &conn->cq->fid->fid, FI_TRANSMIT | FI_RECV);
    if (rc == 0)
        rc = fi_enable(conn->ep);
    if (rc)
        fi_close(&conn->ep->fid);
    return ep_err_from_fi(rc);
}

int ep_conn_new(struct ep_transport *t, struct fi_info *info,
                enum ep_conn_state state, void *user, struct ep_conn **out,
                bool *has_ep)
{
    bool is_surplus = state == EP_CONN_ACCEPTING && t->cfg.accepted_full > 0 &&
                      t->full >= t->cfg.accepted_full;
    uint16_t recvs = is_surplus ? SURPLUS_RECEIVES : t->cfg.posted_receives;
    size_t ops = (size_t)recvs + t->cfg.send_slots;
    struct ep_conn *conn =
        calloc(1, sizeof(*conn) + ops * sizeof(conn->ops[0]));
    int rc;

    *has_ep = false;
    if (conn == NULL)
        return OV_ENOMEM;
    conn->t = t;
    conn->user = user;
    conn->state = (uint8_t)state;
    conn->recvs = recvs;
    conn->is_surplus = is_surplus;
    conn->since_ms = ep_clock_ms();
    conn->flush_fd = -2;
    conn->guess_fd = state == EP_CONN_DIALING ? ep_sock_next_free(t) : -1;
    rc = endpoint_open(conn, info, has_ep);
    if (rc) {
        free(conn);
        return rc;
    }
    conn->cq->links++;
    TAILQ_INSERT_TAIL(&t->conns, conn, link);
    ep_frames_init(conn);
    if (!ep_frames_push(conn))
        ep_conn_touch(conn);
    ep_cq_disarm(conn->cq);
    *out = conn;
    return 0;
}

/* Returns the description of an endpoint that connects to dest. */
static struct fi_info *dial_info(const struct ep_transport *t,
                                 union ep_sockaddr *dest)
{
    struct fi_info *info = fi_dupinfo(t->info);
    size_t len_bytes = ep_addr_len(dest);

    if (info == NULL)
        return NULL;
    if (dest->sa.sa_family == AF_INET6 && dest->in6.sin6_scope_id == 0 &&
        IN6_IS_ADDR_LINKLOCAL(&dest->in6.sin6_addr))
        dest->in6.sin6_scope_id = t->addr.in6.sin6_scope_id;
    free(info->dest_addr);
    info->dest_addr = malloc(len_bytes);
    if (info->dest_addr == NULL) {
        fi_freeinfo(info);
        return NULL;
    }
    memcpy(info->dest_addr, dest, len_bytes);
    info->dest_addrlen = len_bytes;
    return info;
}

int ep_conn_dial(struct ep_transport *t, const char *address, const uint8_t *cm,
                 size_t len_bytes, void *user, struct ep_conn **out)
{
    uint8_t wire[EP_CM_WIRE_MAX];
    union ep_sockaddr dest;
    struct fi_info *info;
    struct ep_conn *conn;
    bool has_ep;
    int rc;

    if (len_bytes > EP_CM_MAX || ep_addr_parse(address, &dest) ||
        dest.sa.sa_family != t->addr.sa.sa_family)
        return OV_EINVAL;
    info = dial_info(t, &dest);
    if (info == NULL)
        return OV_ENOMEM;
    rc = ep_conn_new(t, info, EP_CONN_DIALING, user, &conn, &has_ep);
    fi_freeinfo(info);
    if (rc)
        return rc;
    rc = fi_connect(conn->ep, &dest, wire, ep_cm_encode(wire, cm, len_bytes));
    if (rc)
        ep_conn_lose(conn, ep_down_from_fi(-rc));
    ep_wake_disarm_eq(t);
    *out = conn;
    return 0;
}

void ep_conn_on_up(struct ep_conn *conn, const uint8_t *wire, size_t len_bytes)
{
    struct ep_transport *t = conn->t;
    const uint8_t *cm = NULL;
    size_t cm_bytes = 0;

    conn->is_up = true;
    if (conn->state == EP_CONN_FLUSHING) {
        ep_conn_touch(conn);
        return;
    }
    if (conn->state != EP_CONN_DIALING && conn->state != EP_CONN_ACCEPTING)
        return;
    if (!conn->is_accepted && !ep_cm_decode(wire, len_bytes, &cm, &cm_bytes)) {
        ep_conn_lose(conn, EP_DOWN_ERROR);
        return;
    }
    ep_conn_move(conn, EP_CONN_UP);
    ep_conn_touch(conn);
    t->reported++;
    t->cfg.events->on_up(t->cfg.arg, conn, cm, cm_bytes);
    ep_frames_deliver_held(conn);
}

void ep_conn_refused(struct ep_conn *conn, const uint8_t *wire,
                     size_t len_bytes)
{
    const uint8_t *cm;
    size_t cm_bytes;

    if (len_bytes == 0) {
        ep_conn_lose(conn, EP_DOWN_NOBODY);
        return;
    }
    if (conn->state == EP_CONN_DIALING &&
        ep_cm_decode(wire, len_bytes, &cm, &cm_bytes)) {
        memcpy(conn->refusal, cm, cm_bytes);
        conn->refusal_bytes = (uint8_t)cm_bytes;
    }
    ep_conn_lose(conn, EP_DOWN_REFUSED);
}

void ep_conn_drop(struct ep_conn *conn, bool flush)
{
    bool has_frames = conn->sends > 0 || !STAILQ_EMPTY(&conn->sends_waiting);
    bool can_flush = conn->state == EP_CONN_UP ||
                     (conn->state == EP_CONN_ACCEPTING && has_frames);

    if (!flush || !can_flush) {
        ep_conn_kill(conn);
        return;
    }
    ep_conn_move(conn, EP_CONN_FLUSHING);
    ep_conn_touch(conn);
    ep_wake_kick(conn->t);
    ep_wake_sweep_in(conn->t, FLUSH_MS);
}

/* A send completes when the system has taken the bytes, and a socket that is
 * closed with unread bytes throws away what it has not sent yet. So the system
 * is asked whether all bytes have been sent. */
bool ep_conn_is_flushed(struct ep_conn *conn)
{
    union ep_sockaddr local = {0}, peer = {0};
    size_t local_bytes = sizeof(local), peer_bytes = sizeof(peer);
    int left = 0;

    if (conn->sends > 0)
        return false;
    if (conn->flush_fd == -2 &&
        fi_getname(&conn->ep->fid, &local, &local_bytes) == 0 &&
        fi_getpeer(conn->ep, &peer, &peer_bytes) == 0)
        conn->flush_fd = ep_sock_find(conn->t, conn->guess_fd, &local, &peer);
    if (conn->flush_fd >= 0 && ioctl(conn->flush_fd, SIOCOUTQ, &left) == 0 &&
        left > 0) {
        ep_wake_sweep_in(conn->t, FLUSH_POLL_MS);
        return false;
    }
    return true;
}

void ep_conn_report_down(struct ep_conn *conn)
{
    struct ep_transport *t = conn->t;

    if (!t->is_closing) {
        t->reported++;
        if (conn->refusal_bytes > 0 && t->cfg.events->on_refused)
            t->cfg.events->on_refused(t->cfg.arg, conn, conn->refusal,
                                      conn->refusal_bytes);
        t->cfg.events->on_down(t->cfg.arg, conn, (enum ep_down_why)conn->why);
    }
    if (conn->state == EP_CONN_LOST)
        ep_conn_kill(conn);
}

void ep_conn_close(struct ep_conn *conn)
{
    struct ep_transport *t = conn->t;

    TAILQ_REMOVE(&t->dead, conn, link);
    ep_conn_move(conn, EP_CONN_CLOSED);
    (void)fi_shutdown(conn->ep, 0);
    (void)fi_close(&conn->ep->fid);
    conn->ep = NULL;
    conn->cq->links--;
    TAILQ_INSERT_TAIL(&conn->cq->closed, conn, link);
    ep_cq_disarm(conn->cq);
}

void ep_conn_free(struct ep_conn *conn)
{
    TAILQ_REMOVE(&conn->cq->closed, conn, link);
    conn->t->full -= conn->is_accepted && !conn->is_surplus;
    if (conn->is_touched)
        TAILQ_REMOVE(&conn->t->touched, conn, touched);
    ep_frames_fini(conn);
    free(conn);
}

/* Ends one link if it is too long in its state; true when the link must be
 * checked again. */
static bool end_if_late(struct ep_conn *conn, int64_t now_ms)
{
    int64_t age_ms = now_ms - conn->since_ms;

    switch ((enum ep_conn_state)conn->state) {
    case EP_CONN_ACCEPTING:
        if (age_ms >= conn->t->cfg.unproved_ms)
            ep_conn_lose(conn, EP_DOWN_ERROR);
        return true;
    case EP_CONN_FAILING:
        if (age_ms >= EP_LOSS_WAIT_MS)
            ep_conn_lose(conn, EP_DOWN_ERROR);
        return true;
    case EP_CONN_FLUSHING:
        if (age_ms >= FLUSH_MS)
            ep_conn_kill(conn);
        else
            ep_conn_touch(conn);
        return true;
    case EP_CONN_DIALING:
    case EP_CONN_UP:
    case EP_CONN_LOST:
    case EP_CONN_DEAD:
    case EP_CONN_CLOSED:
    case EP_CONN_STATES:
        break;
    }
    return false;
}

bool ep_conn_sweep(struct ep_transport *t, int64_t now_ms)
{
    struct ep_conn *conn, *next;
    bool is_more = false;

    for (conn = TAILQ_FIRST(&t->conns); conn; conn = next) {
        next = TAILQ_NEXT(conn, link);
        is_more = end_if_late(conn, now_ms) || is_more;
    }
    return is_more;
}
