/* Sends and receives of a link.
 *
 * Each operation of a link is a struct in the link's memory. A send for which
 * the provider has no room waits, and later sends wait after it; a receive is
 * posted again before its frame is given to the owner.
 */
#include "endpoints/ofi/frames.h"

#include "endpoints/ofi/cq.h"
#include "endpoints/ofi/error.h"
#include "endpoints/ofi/slab.h"
#include "endpoints/ofi/state.h"
#include "endpoints/ofi/wake.h"

enum { INJECT_BYTES = 16, INJECTS_MAX = 4 };

static void op_release(struct ep_op *op)
{
    /* It is not known how much of a frame had come, so the whole buffer counts
     * as touched. */
    if (op->is_recv && op->state == EP_OP_POSTED && op->bufs_count > 0)
        op->bufs[0]->len_bytes = op->bufs[0]->cap_bytes;
    for (unsigned i = 0; i < op->bufs_count; i++)
        ep_slab_unref(op->conn->t, op->bufs[i]);
    op->bufs_count = 0;
    op->state = EP_OP_FREE;
}

void ep_frames_init(struct ep_conn *conn)
{
    const struct ep_transport_cfg *cfg = &conn->t->cfg;
    unsigned ops = (unsigned)conn->recvs + cfg->send_slots;

    STAILQ_INIT(&conn->sends_free);
    STAILQ_INIT(&conn->sends_waiting);
    STAILQ_INIT(&conn->recvs_waiting);
    STAILQ_INIT(&conn->recvs_held);
    for (unsigned i = 0; i < ops; i++) {
        struct ep_op *op = &conn->ops[i];

        op->conn = conn;
        op->is_recv = i < conn->recvs;
        op->state = op->is_recv ? EP_OP_WAITING : EP_OP_FREE;
        if (op->is_recv)
            STAILQ_INSERT_TAIL(&conn->recvs_waiting, op, link);
        else
            STAILQ_INSERT_TAIL(&conn->sends_free, op, link);
    }
}

void ep_frames_fini(struct ep_conn *conn)
{
    const struct ep_transport_cfg *cfg = &conn->t->cfg;
    unsigned ops = (unsigned)conn->recvs + cfg->send_slots;

    for (unsigned i = 0; i < ops; i++)
        op_release(&conn->ops[i]);
}

static ssize_t post_recv(struct ep_op *op)
{
    struct ep_conn *conn = op->conn;
    struct ov_buf *buf;

    if (op->bufs_count == 0) {
        buf = conn->is_surplus ? ep_slab_get_clean(conn->t)
                               : ep_slab_get(conn->t);
        if (buf == NULL)
            return -FI_EAGAIN;
        op->bufs[0] = buf;
        op->bufs_count = 1;
    }
    buf = op->bufs[0];
    return fi_recv(conn->ep, buf->mem, buf->cap_bytes, ep_slab_desc(buf), 0,
                   &op->ctx);
}

static ssize_t post_send(struct ep_op *op)
{
    struct fid_ep *ep = op->conn->ep;
    struct iovec iov[EP_SEND_SLICES_MAX];
    void *desc[EP_SEND_SLICES_MAX];

    for (unsigned i = 0; i < op->bufs_count; i++) {
        iov[i].iov_base = op->bufs[i]->mem + op->off_bytes[i];
        iov[i].iov_len = op->len_bytes[i];
        desc[i] = ep_slab_desc(op->bufs[i]);
    }
    if (op->bufs_count == 1)
        return fi_send(ep, iov[0].iov_base, iov[0].iov_len, desc[0], 0,
                       &op->ctx);
    return fi_sendv(ep, iov, desc, op->bufs_count, 0, &op->ctx);
}

static void on_sent(struct ep_op *op)
{
    struct ep_conn *conn = op->conn;
    struct ep_transport *t = conn->t;

    t->stats.sent_frames++;
    for (unsigned i = 0; i < op->bufs_count; i++)
        t->stats.sent_bytes += op->len_bytes[i];
    op_release(op);
    if (conn->state == EP_CONN_CLOSED)
        return;
    STAILQ_INSERT_TAIL(&conn->sends_free, op, link);
    conn->sends--;
    conn->sent++;
    ep_conn_touch(conn);
}

/* True when the frame may be sent without a completion. That saves reading the
 * queue for a frame that carries no data, such as a beat. But completions are
 * the only bound on what the provider keeps for a peer that does not read, so
 * only a few frames are sent in this way until something is received. */
static bool can_inject(const struct ep_op *op)
{
    const struct ep_conn *conn = op->conn;

    return !op->is_recv && op->bufs_count == 1 &&
           op->len_bytes[0] <= INJECT_BYTES &&
           op->len_bytes[0] <= conn->t->info->tx_attr->inject_size &&
           conn->injects < INJECTS_MAX;
}

static ssize_t post_op(struct ep_op *op, bool is_inject)
{
    if (is_inject)
        return fi_inject(op->conn->ep, op->bufs[0]->mem + op->off_bytes[0],
                         op->len_bytes[0], 0);
    return op->is_recv ? post_recv(op) : post_send(op);
}

/* Posts from the head of a list. Returns false when the provider takes no
 * more. */
static bool push_list(struct ep_conn *conn, struct ep_ops *waiting)
{
    struct ep_op *op;
    ssize_t rc;

    while ((op = STAILQ_FIRST(waiting)) != NULL) {
        bool is_inject = can_inject(op);

        rc = post_op(op, is_inject);
        if (rc == -FI_EAGAIN)
            return false;
        if (rc) {
            ep_conn_fail(conn);
            /* the operation is never posted: it ends with the link */
            return true;
        }
        STAILQ_REMOVE_HEAD(waiting, link);
        op->state = EP_OP_POSTED;
        if (is_inject) {
            conn->injects++;
            on_sent(op);
        } else if (!op->is_recv) {
            /* The operation may be complete already: read the queue again
             * before it is armed. */
            conn->cq->is_empty = false;
        }
        ep_cq_disarm(conn->cq);
    }
    return true;
}

static bool can_recv(const struct ep_conn *conn)
{
    return conn->state <= EP_CONN_FAILING || conn->state == EP_CONN_FLUSHING;
}

static bool can_send(const struct ep_conn *conn)
{
    return conn->is_up &&
           (conn->state == EP_CONN_UP || conn->state == EP_CONN_FLUSHING);
}

bool ep_frames_push(struct ep_conn *conn)
{
    bool is_done = true;

    if (can_recv(conn))
        is_done = push_list(conn, &conn->recvs_waiting);
    if (can_send(conn))
        is_done = push_list(conn, &conn->sends_waiting) && is_done;
    return is_done;
}

static bool is_slice_ok(const struct ep_slice *slice)
{
    const struct ov_buf *buf = slice->buf;

    return slice->off_bytes <= buf->cap_bytes &&
           slice->len_bytes <= buf->cap_bytes - slice->off_bytes;
}

static int check_send(const struct ep_conn *conn, const struct ep_slice *slices,
                      unsigned count)
{
    uint64_t total = 0;

    /* the owner cannot send on a link that it has dropped */
    OV_ASSERT(conn->state < EP_CONN_FLUSHING);
    if (count == 0 || count > EP_SEND_SLICES_MAX)
        return OV_EINVAL;
    for (unsigned i = 0; i < count; i++) {
        if (!is_slice_ok(&slices[i]))
            return OV_EINVAL;
        total += slices[i].len_bytes;
    }
    if (total == 0 || total > conn->t->cfg.frame_bytes)
        return OV_EINVAL;
    if (conn->state == EP_CONN_FAILING || conn->state == EP_CONN_LOST)
        return OV_ECLOSED;
    return conn->sends + conn->sent >= conn->t->cfg.send_slots ? OV_EFULL : 0;
}

static void op_fill(struct ep_op *op, const struct ep_slice *slices,
                    unsigned count)
{
    op->bufs_count = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned at = op->bufs_count;

        if (slices[i].len_bytes == 0)
            continue;
        op->bufs[at] = ov_buf_ref(slices[i].buf);
        op->off_bytes[at] = slices[i].off_bytes;
        op->len_bytes[at] = slices[i].len_bytes;
        op->bufs_count++;
    }
    op->state = EP_OP_WAITING;
}

int ep_frames_send(struct ep_conn *conn, const struct ep_slice *slices,
                   unsigned count)
{
    int rc = check_send(conn, slices, count);
    struct ep_op *op;

    if (rc)
        return rc;
    op = STAILQ_FIRST(&conn->sends_free);
    STAILQ_REMOVE_HEAD(&conn->sends_free, link);
    op_fill(op, slices, count);
    STAILQ_INSERT_TAIL(&conn->sends_waiting, op, link);
    conn->sends++;
    if (!ep_frames_push(conn)) {
        ep_conn_touch(conn);
        ep_wake_kick(conn->t);
    }
    return 0;
}

static void deliver(struct ep_conn *conn, struct ov_buf *buf)
{
    struct ep_transport *t = conn->t;

    t->stats.received_frames++;
    t->stats.received_bytes += buf->len_bytes;
    t->reported++;
    t->cfg.events->on_frame(t->cfg.arg, conn, buf);
}

static void recv_repost(struct ep_op *op)
{
    struct ep_conn *conn = op->conn;

    op->state = EP_OP_WAITING;
    STAILQ_INSERT_TAIL(&conn->recvs_waiting, op, link);
    if (!ep_frames_push(conn))
        ep_conn_touch(conn);
}

static void on_received(struct ep_op *op, size_t len_bytes)
{
    struct ep_conn *conn = op->conn;
    struct ov_buf *buf = op->bufs[0];

    conn->injects = 0;
    switch ((enum ep_conn_state)conn->state) {
    case EP_CONN_DIALING:
    case EP_CONN_ACCEPTING:
        buf->len_bytes = (uint32_t)len_bytes;
        STAILQ_INSERT_TAIL(&conn->recvs_held, op, link);
        ep_wake_disarm_eq(conn->t);
        return;
    case EP_CONN_UP:
    case EP_CONN_FAILING:
    case EP_CONN_LOST:
        buf->len_bytes = (uint32_t)len_bytes;
        op->bufs_count = 0;
        recv_repost(op);
        deliver(conn, buf);
        return;
    case EP_CONN_FLUSHING:
        recv_repost(op); /* posts it again with the same buffer */
        return;
    case EP_CONN_DEAD:
    case EP_CONN_CLOSED:
    case EP_CONN_STATES:
        op_release(op);
        return;
    }
}

void ep_frames_deliver_held(struct ep_conn *conn)
{
    struct ep_op *op;

    while (conn->state < EP_CONN_FLUSHING &&
           (op = STAILQ_FIRST(&conn->recvs_held)) != NULL) {
        struct ov_buf *buf = op->bufs[0];

        STAILQ_REMOVE_HEAD(&conn->recvs_held, link);
        op->bufs_count = 0;
        recv_repost(op);
        deliver(conn, buf);
    }
}

void ep_frames_on_done(struct ep_op *op, size_t len_bytes)
{
    OV_ASSERT(op->state == EP_OP_POSTED);
    if (op->is_recv)
        on_received(op, len_bytes);
    else
        on_sent(op);
}

void ep_frames_on_error(struct ep_op *op, int fi_errno)
{
    struct ep_conn *conn = op->conn;

    OV_ASSERT(op->state == EP_OP_POSTED);
    op_release(op);
    if (op->is_recv)
        ep_conn_lose(conn, ep_down_from_fi(fi_errno));
    else
        ep_conn_fail(conn);
    ep_wake_disarm_eq(conn->t);
}
