/* Endpoints: their life from opening to closing. The calls that transfer data
 * are in msg.c and op.c. */
#include "tests/provider/strict.h"

#include <stdlib.h>

#include "tests/provider/op.h"

static struct strict_ep *endpoint_of(fid_t fid)
{
    return container_of(fid, struct strict_ep, fid.fid);
}

/* Notes whether the endpoint has no receive left. Called when a receive was
 * consumed and when the endpoint comes up. */
void strict_ep_note_dry(struct strict_ep *ep)
{
    if (ep->state != STRICT_UP || ep->rx_posted > 0 || ep->is_dry)
        return;
    ep->is_dry = true;
    ep->dry_since = ep->rx_cq->reads;
}

static int endpoint_enable(struct strict_ep *ep)
{
    int rc;

    if (ep->is_enabled)
        return 0;
    if (ep->tx_cq == NULL || ep->rx_cq == NULL || ep->eq == NULL)
        strict_abort("BIND", "an endpoint is enabled without its queues");
    rc = fi_enable(ep->core);
    ep->is_enabled = rc == 0;
    return rc;
}

static int endpoint_setname(fid_t fid, void *addr, size_t len_bytes)
{
    return fi_setname(&endpoint_of(fid)->core->fid, addr, len_bytes);
}

static int endpoint_getname(fid_t fid, void *addr, size_t *len_bytes)
{
    return fi_getname(&endpoint_of(fid)->core->fid, addr, len_bytes);
}

static int endpoint_getpeer(struct fid_ep *fid, void *addr, size_t *len_bytes)
{
    return fi_getpeer(endpoint_of(&fid->fid)->core, addr, len_bytes);
}

static int endpoint_connect(struct fid_ep *fid, const void *addr,
                            const void *param, size_t len_bytes)
{
    struct strict_ep *ep = endpoint_of(&fid->fid);
    int rc;

    strict_cm_check("fi_connect()", len_bytes);
    if (ep->state != STRICT_IDLE || ep->connreq != NULL)
        strict_abort("STATE", "fi_connect() on an endpoint that has been used");
    rc = endpoint_enable(ep);
    if (rc == 0)
        rc = fi_connect(ep->core, addr, param, len_bytes);
    if (rc == 0)
        ep->state = STRICT_CONNECTING;
    return rc;
}

static int no_listen(struct fid_pep *pep)
{
    (void)pep;
    return -FI_ENOSYS;
}

static int endpoint_accept(struct fid_ep *fid, const void *param,
                           size_t len_bytes)
{
    struct strict_ep *ep = endpoint_of(&fid->fid);
    int rc;

    strict_cm_check("fi_accept()", len_bytes);
    if (ep->state != STRICT_IDLE || ep->connreq == NULL)
        strict_abort("STATE", "fi_accept() on an endpoint without an open "
                              "request");
    rc = endpoint_enable(ep);
    if (rc == 0)
        rc = fi_accept(ep->core, param, len_bytes);
    if (rc != 0)
        return rc;
    strict_connreq_free(ep->connreq);
    ep->connreq = NULL;
    ep->state = STRICT_CONNECTING;
    return 0;
}

static int no_reject(struct fid_pep *pep, fid_t handle, const void *param,
                     size_t len_bytes)
{
    (void)pep, (void)handle, (void)param, (void)len_bytes;
    return -FI_ENOSYS;
}

static int endpoint_shutdown(struct fid_ep *fid, uint64_t flags)
{
    struct strict_ep *ep = endpoint_of(&fid->fid);

    ep->state = STRICT_DOWN;
    return fi_shutdown(ep->core, flags);
}

static struct fi_ops_cm endpoint_cm_ops = {
    .size = sizeof(struct fi_ops_cm),
    .setname = endpoint_setname,
    .getname = endpoint_getname,
    .getpeer = endpoint_getpeer,
    .connect = endpoint_connect,
    .listen = no_listen,
    .accept = endpoint_accept,
    .reject = no_reject,
    .shutdown = endpoint_shutdown,
};

static ssize_t endpoint_cancel(fid_t fid, void *context)
{
    struct strict_ep *ep = endpoint_of(fid);
    struct strict_op *op;

    for (op = ep->ops; op != NULL; op = op->next)
        if (op->context == context)
            return fi_cancel(&ep->core->fid, op);
    return -FI_ENOENT;
}

static int endpoint_getopt(fid_t fid, int level, int name, void *value,
                           size_t *len_bytes)
{
    (void)fid;
    return strict_opt_get(level, name, value, len_bytes);
}

static int no_setopt(fid_t fid, int level, int name, const void *value,
                     size_t len_bytes)
{
    (void)fid, (void)level, (void)name, (void)value, (void)len_bytes;
    return -FI_ENOPROTOOPT;
}

static struct fi_ops_ep endpoint_ops = {
    .size = sizeof(struct fi_ops_ep),
    .cancel = endpoint_cancel,
    .getopt = endpoint_getopt,
    .setopt = no_setopt,
};

static int bind_eq(struct strict_ep *ep, struct strict_eq *eq, uint64_t flags)
{
    int rc;

    if (ep->eq != NULL)
        strict_abort("BIND", "an endpoint takes one event queue");
    rc = fi_ep_bind(ep->core, &eq->core->fid, flags);
    if (rc != 0)
        return rc;
    ep->eq = eq;
    eq->children++;
    strict_set_add(&eq->fids, &ep->by_core, ep->core, &ep->fid.fid);
    return 0;
}

static int bind_cq(struct strict_ep *ep, struct strict_cq *cq, uint64_t flags)
{
    int rc;

    if ((flags & ~(FI_TRANSMIT | FI_RECV)) != 0)
        return -FI_EBADFLAGS; /* Every operation must produce a completion, or
                               * operations could not be counted. */
    if (cq->domain != ep->domain)
        strict_abort("BIND", "a completion queue of another domain");
    rc = fi_ep_bind(ep->core, &cq->core->fid, flags);
    if (rc != 0)
        return rc;
    if ((flags & FI_TRANSMIT) != 0) {
        ep->tx_cq = cq;
        cq->children++;
    }
    if ((flags & FI_RECV) != 0) {
        ep->rx_cq = cq;
        cq->children++;
    }
    return 0;
}

static int endpoint_bind(fid_t fid, fid_t other, uint64_t flags)
{
    struct strict_ep *ep = endpoint_of(fid);

    if (ep->is_enabled)
        strict_abort("BIND", "an enabled endpoint is bound to a queue");
    if (other->fclass == FI_CLASS_EQ)
        return bind_eq(ep, container_of(other, struct strict_eq, fid.fid),
                       flags);
    if (other->fclass == FI_CLASS_CQ)
        return bind_cq(ep, container_of(other, struct strict_cq, fid.fid),
                       flags);
    return -FI_ENOSYS;
}

static int endpoint_control(fid_t fid, int command, void *arg)
{
    (void)arg;
    return command == FI_ENABLE ? endpoint_enable(endpoint_of(fid))
                                : -FI_ENOSYS;
}

static void leave_queues(struct strict_ep *ep)
{
    if (ep->eq != NULL) {
        strict_set_del(&ep->eq->fids, &ep->by_core);
        ep->eq->children--;
    }
    if (ep->tx_cq != NULL)
        ep->tx_cq->children--;
    if (ep->rx_cq != NULL)
        ep->rx_cq->children--;
}

static int endpoint_close(fid_t fid)
{
    struct strict_ep *ep = endpoint_of(fid);
    int rc = fi_close(&ep->core->fid);

    if (rc != 0)
        return rc;
    strict_op_orphan(ep);
    if (ep->starved > 0)
        strict_note("RNR", "%llu frames came when no receive was posted",
                    (unsigned long long)ep->starved);
    if (ep->connreq != NULL) {
        ep->connreq->taken = false;
        if (ep->connreq->pep == NULL)
            strict_abort("CONNREQ", "an endpoint is closed before its request "
                                    "is answered, and the listener is gone");
    }
    leave_queues(ep);
    ep->domain->children--;
    free(ep);
    return 0;
}

static struct fi_ops endpoint_fid_ops = {
    .size = sizeof(struct fi_ops),
    .close = endpoint_close,
    .bind = endpoint_bind,
    .control = endpoint_control,
};

static unsigned context_words(uint64_t mode)
{
    if ((mode & FI_CONTEXT2) != 0)
        return sizeof(struct fi_context2) / sizeof(void *);
    return (mode & FI_CONTEXT) != 0 ? sizeof(struct fi_context) / sizeof(void *)
                                    : 0;
}

static void take_connreq(struct strict_ep *ep, const struct fi_info *info)
{
    if (info->handle == NULL && info->dest_addr == NULL)
        strict_abort("ADDRESS", "an active endpoint is opened without "
                                "info->dest_addr");
    if (info->handle == NULL || info->handle->fclass != FI_CLASS_CONNREQ)
        return;
    ep->connreq = container_of(info->handle, struct strict_connreq, fid);
    if (ep->connreq->taken)
        strict_abort("CONNREQ", "two endpoints are opened for one request");
    ep->connreq->taken = true;
}

int strict_ep_open(struct fid_domain *fid, struct fi_info *info,
                   struct fid_ep **out, void *context)
{
    struct strict_domain *domain = container_of(fid, struct strict_domain, fid);
    struct strict_ep *ep = calloc(1, sizeof(*ep));
    struct fi_info *core = strict_info_core(info);
    int rc = -FI_ENOMEM;

    if (ep == NULL || core == NULL)
        goto fail;
    take_connreq(ep, info);
    rc = fi_endpoint(domain->core, core, &ep->core, NULL);
    if (rc != 0)
        goto fail;
    fi_freeinfo(core);
    ep->fid.fid.fclass = FI_CLASS_EP;
    ep->fid.fid.context = context;
    ep->fid.fid.ops = &endpoint_fid_ops;
    ep->fid.ops = &endpoint_ops;
    ep->fid.cm = &endpoint_cm_ops;
    ep->fid.msg = &strict_msg_ops;
    ep->domain = domain;
    ep->tx_depth = info->tx_attr->size;
    ep->rx_depth = info->rx_attr->size;
    ep->context_words = context_words(info->mode);
    domain->children++;
    *out = &ep->fid;
    return 0;

fail:
    if (ep != NULL && ep->connreq != NULL)
        ep->connreq->taken = false;
    fi_freeinfo(core);
    free(ep);
    return rc;
}
