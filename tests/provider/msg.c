/* The calls that send and receive. */
#include "tests/provider/op.h"

static struct strict_ep *endpoint_of(struct fid_ep *fid)
{
    return container_of(fid, struct strict_ep, fid);
}

static ssize_t finish(struct strict_op *op, ssize_t rc)
{
    if (rc != 0)
        strict_op_drop(op);
    return rc;
}

/* Finishes a receive. The program looked into its queue while no receive was
 * posted, and this receive is filled at once: so a frame was waiting, and a
 * network card would have rejected it. */
static ssize_t finish_recv(struct strict_op *op, ssize_t rc)
{
    struct strict_ep *ep = op->ep;

    if (rc == 0 && op->after_wait && strict_cq_look(op->cq, op))
        ep->starved++;
    return finish(op, rc);
}

static ssize_t msg_recvv(struct fid_ep *fid, const struct iovec *iov,
                         void **desc, size_t count, fi_addr_t source,
                         void *context)
{
    struct strict_ep *ep = endpoint_of(fid);
    struct strict_op *op =
        strict_op_new(ep, &(struct strict_post){.iov = iov,
                                                .desc = desc,
                                                .count = count,
                                                .context = context,
                                                .is_recv = true});

    if (op == NULL)
        return -FI_EAGAIN;
    return finish_recv(op, fi_recvv(ep->core, iov, NULL, count, source, op));
}

static ssize_t msg_recv(struct fid_ep *fid, void *mem, size_t len_bytes,
                        void *desc, fi_addr_t source, void *context)
{
    struct iovec iov = {.iov_base = mem, .iov_len = len_bytes};

    return msg_recvv(fid, &iov, &desc, 1, source, context);
}

static ssize_t msg_recvmsg(struct fid_ep *fid, const struct fi_msg *msg,
                           uint64_t flags)
{
    struct strict_ep *ep = endpoint_of(fid);
    struct fi_msg core = *msg;
    struct strict_op *op =
        strict_op_new(ep, &(struct strict_post){.iov = msg->msg_iov,
                                                .desc = msg->desc,
                                                .count = msg->iov_count,
                                                .context = msg->context,
                                                .is_recv = true});

    if (op == NULL)
        return -FI_EAGAIN;
    core.desc = NULL;
    core.context = op;
    return finish_recv(op, fi_recvmsg(ep->core, &core, flags));
}

static ssize_t msg_sendv(struct fid_ep *fid, const struct iovec *iov,
                         void **desc, size_t count, fi_addr_t target,
                         void *context)
{
    struct strict_ep *ep = endpoint_of(fid);
    struct strict_op *op = strict_op_new(
        ep, &(struct strict_post){
                .iov = iov, .desc = desc, .count = count, .context = context});

    if (op == NULL)
        return -FI_EAGAIN;
    return finish(op, fi_sendv(ep->core, iov, NULL, count, target, op));
}

static ssize_t msg_send(struct fid_ep *fid, const void *mem, size_t len_bytes,
                        void *desc, fi_addr_t target, void *context)
{
    struct iovec iov = {.iov_base = (void *)(uintptr_t)mem,
                        .iov_len = len_bytes};

    return msg_sendv(fid, &iov, &desc, 1, target, context);
}

static void check_inject(size_t len_bytes)
{
    if (len_bytes > STRICT_INJECT_MAX)
        strict_abort("INJECT", "%zu bytes injected, %d is the limit", len_bytes,
                     STRICT_INJECT_MAX);
}

static size_t total_bytes(const struct iovec *iov, size_t count)
{
    size_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += iov[i].iov_len;
    return sum;
}

static ssize_t msg_sendmsg(struct fid_ep *fid, const struct fi_msg *msg,
                           uint64_t flags)
{
    struct strict_ep *ep = endpoint_of(fid);
    struct fi_msg core = *msg;
    struct strict_op *op;

    if ((flags & FI_INJECT) != 0)
        check_inject(total_bytes(msg->msg_iov, msg->iov_count));
    op = strict_op_new(
        ep, &(struct strict_post){.iov = msg->msg_iov,
                                  .desc = msg->desc,
                                  .count = msg->iov_count,
                                  .context = msg->context,
                                  .is_copied = (flags & FI_INJECT) != 0});
    if (op == NULL)
        return -FI_EAGAIN;
    core.desc = NULL;
    core.context = op;
    return finish(op, fi_sendmsg(ep->core, &core, flags));
}

static ssize_t msg_senddata(struct fid_ep *fid, const void *mem,
                            size_t len_bytes, void *desc, uint64_t data,
                            fi_addr_t target, void *context)
{
    struct strict_ep *ep = endpoint_of(fid);
    struct iovec iov = {.iov_base = (void *)(uintptr_t)mem,
                        .iov_len = len_bytes};
    struct strict_op *op = strict_op_new(
        ep, &(struct strict_post){
                .iov = &iov, .desc = &desc, .count = 1, .context = context});

    if (op == NULL)
        return -FI_EAGAIN;
    return finish(
        op, fi_senddata(ep->core, mem, len_bytes, NULL, data, target, op));
}

static bool may_inject(struct strict_ep *ep, size_t len_bytes)
{
    strict_post_check(ep, false);
    check_inject(len_bytes);
    return ep->tx_posted < ep->tx_depth && !strict_domain_chance(ep->domain);
}

static ssize_t msg_inject(struct fid_ep *fid, const void *mem, size_t len_bytes,
                          fi_addr_t target)
{
    struct strict_ep *ep = endpoint_of(fid);

    if (!may_inject(ep, len_bytes))
        return -FI_EAGAIN;
    return fi_inject(ep->core, mem, len_bytes, target);
}

static ssize_t msg_injectdata(struct fid_ep *fid, const void *mem,
                              size_t len_bytes, uint64_t data, fi_addr_t target)
{
    struct strict_ep *ep = endpoint_of(fid);

    if (!may_inject(ep, len_bytes))
        return -FI_EAGAIN;
    return fi_injectdata(ep->core, mem, len_bytes, data, target);
}

struct fi_ops_msg strict_msg_ops = {
    .size = sizeof(struct fi_ops_msg),
    .recv = msg_recv,
    .recvv = msg_recvv,
    .recvmsg = msg_recvmsg,
    .send = msg_send,
    .sendv = msg_sendv,
    .sendmsg = msg_sendmsg,
    .inject = msg_inject,
    .senddata = msg_senddata,
    .injectdata = msg_injectdata,
};
