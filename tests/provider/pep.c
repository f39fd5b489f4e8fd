/* Passive endpoints and the connection requests that reach them. */
#include "tests/provider/strict.h"

#include <stdlib.h>

void strict_cm_check(const char *call, size_t len_bytes)
{
    if (len_bytes > STRICT_CM_MAX)
        strict_abort("CM", "%s with %zu bytes of private data, %d is the limit",
                     call, len_bytes, STRICT_CM_MAX);
}

int strict_opt_get(int level, int name, void *value, size_t *len_bytes)
{
    if (level != FI_OPT_ENDPOINT || name != FI_OPT_CM_DATA_SIZE)
        return -FI_ENOPROTOOPT;
    if (*len_bytes < sizeof(size_t)) {
        *len_bytes = sizeof(size_t);
        return -FI_ETOOSMALL;
    }
    *(size_t *)value = STRICT_CM_MAX;
    *len_bytes = sizeof(size_t);
    return 0;
}

static void move_addr(void **to, size_t *to_len, void **from, size_t *from_len)
{
    free(*to);
    *to = *from;
    *to_len = *from_len;
    *from = NULL;
    *from_len = 0;
}

/* Converts the core's info to one of strict, which has the listener's terms and
 * the request's addresses. NULL: memory is out, and the core's info is
 * freed. */
struct fi_info *strict_connreq_info(struct strict_pep *pep,
                                    struct fi_info *core)
{
    struct strict_connreq *req = calloc(1, sizeof(*req));
    struct fi_info *info = fi_dupinfo(pep->info);

    if (req == NULL || info == NULL) {
        free(req);
        fi_freeinfo(info);
        fi_freeinfo(core);
        return NULL;
    }
    req->fid.fclass = FI_CLASS_CONNREQ;
    req->core = core->handle;
    req->pep = pep;
    req->next = pep->connreqs;
    pep->connreqs = req;
    info->handle = &req->fid;
    move_addr(&info->src_addr, &info->src_addrlen, &core->src_addr,
              &core->src_addrlen);
    move_addr(&info->dest_addr, &info->dest_addrlen, &core->dest_addr,
              &core->dest_addrlen);
    fi_freeinfo(core);
    return info;
}

void strict_connreq_free(struct strict_connreq *req)
{
    struct strict_connreq **at;

    if (req->pep != NULL) {
        for (at = &req->pep->connreqs; *at != req; at = &(*at)->next)
            ;
        *at = req->next;
    }
    free(req);
}

static struct strict_pep *pep_of(fid_t fid)
{
    return container_of(fid, struct strict_pep, fid.fid);
}

static int pep_setname(fid_t fid, void *addr, size_t len_bytes)
{
    return fi_setname(&pep_of(fid)->core->fid, addr, len_bytes);
}

static int pep_getname(fid_t fid, void *addr, size_t *len_bytes)
{
    return fi_getname(&pep_of(fid)->core->fid, addr, len_bytes);
}

static int no_getpeer(struct fid_ep *ep, void *addr, size_t *len_bytes)
{
    (void)ep, (void)addr, (void)len_bytes;
    return -FI_ENOSYS;
}

static int no_connect(struct fid_ep *ep, const void *addr, const void *param,
                      size_t len_bytes)
{
    (void)ep, (void)addr, (void)param, (void)len_bytes;
    return -FI_ENOSYS;
}

static int no_accept(struct fid_ep *ep, const void *param, size_t len_bytes)
{
    (void)ep, (void)param, (void)len_bytes;
    return -FI_ENOSYS;
}

static int no_shutdown(struct fid_ep *ep, uint64_t flags)
{
    (void)ep, (void)flags;
    return -FI_ENOSYS;
}

static int pep_listen(struct fid_pep *fid)
{
    struct strict_pep *pep = container_of(fid, struct strict_pep, fid);

    if (pep->eq == NULL)
        strict_abort("BIND", "listening without an event queue");
    return fi_listen(pep->core);
}

static int pep_reject(struct fid_pep *fid, fid_t handle, const void *param,
                      size_t len_bytes)
{
    struct strict_pep *pep = container_of(fid, struct strict_pep, fid);
    struct strict_connreq *req = pep->connreqs;
    int rc;

    strict_cm_check("fi_reject()", len_bytes);
    while (req != NULL && &req->fid != handle)
        req = req->next;
    if (req == NULL)
        strict_abort("CONNREQ", "rejected a request that was answered before");
    rc = fi_reject(pep->core, req->core, param, len_bytes);
    if (rc == 0)
        strict_connreq_free(req);
    return rc;
}

static struct fi_ops_cm pep_cm_ops = {
    .size = sizeof(struct fi_ops_cm),
    .setname = pep_setname,
    .getname = pep_getname,
    .getpeer = no_getpeer,
    .connect = no_connect,
    .listen = pep_listen,
    .accept = no_accept,
    .reject = pep_reject,
    .shutdown = no_shutdown,
};

static int pep_getopt(fid_t fid, int level, int name, void *value,
                      size_t *len_bytes)
{
    (void)fid;
    return strict_opt_get(level, name, value, len_bytes);
}

static int no_setopt(fid_t fid, int level, int name, const void *value,
                     size_t len_bytes)
{
    (void)fid, (void)level, (void)name, (void)value, (void)len_bytes;
    return -FI_ENOSYS;
}

static struct fi_ops_ep pep_ep_ops = {
    .size = sizeof(struct fi_ops_ep),
    .getopt = pep_getopt,
    .setopt = no_setopt,
};

static int pep_bind(fid_t fid, fid_t other, uint64_t flags)
{
    struct strict_pep *pep = pep_of(fid);
    struct strict_eq *eq;
    int rc;

    if (other->fclass != FI_CLASS_EQ || pep->eq != NULL)
        strict_abort("BIND", "a passive endpoint takes one event queue");
    eq = container_of(other, struct strict_eq, fid.fid);
    rc = fi_pep_bind(pep->core, &eq->core->fid, flags);
    if (rc != 0)
        return rc;
    pep->eq = eq;
    eq->children++;
    strict_set_add(&eq->fids, &pep->by_core, pep->core, fid);
    return 0;
}

static void forget_connreqs(struct strict_pep *pep)
{
    struct strict_connreq *req;

    for (req = pep->connreqs; req != NULL; req = req->next) {
        if (!req->taken)
            strict_abort("CONNREQ",
                         "a passive endpoint is closed with a "
                         "request that was neither accepted nor rejected");
        req->pep = NULL;
    }
}

static int pep_close(fid_t fid)
{
    struct strict_pep *pep = pep_of(fid);
    int rc;

    forget_connreqs(pep);
    rc = fi_close(&pep->core->fid);
    if (rc != 0)
        return rc;
    if (pep->eq != NULL) {
        strict_set_del(&pep->eq->fids, &pep->by_core);
        pep->eq->children--;
    }
    pep->fabric->children--;
    fi_freeinfo(pep->info);
    free(pep);
    return 0;
}

static struct fi_ops pep_fid_ops = {
    .size = sizeof(struct fi_ops),
    .close = pep_close,
    .bind = pep_bind,
};

int strict_pep_open(struct fid_fabric *fid, struct fi_info *info,
                    struct fid_pep **out, void *context)
{
    struct strict_fabric *fabric = container_of(fid, struct strict_fabric, fid);
    struct strict_pep *pep = calloc(1, sizeof(*pep));
    struct fi_info *core = strict_info_core(info);
    int rc = -FI_ENOMEM;

    if (pep == NULL || core == NULL)
        goto fail;
    pep->info = fi_dupinfo(info);
    if (pep->info == NULL)
        goto fail;
    rc = fi_passive_ep(fabric->core, core, &pep->core, NULL);
    if (rc != 0)
        goto fail;
    fi_freeinfo(core);
    pep->fid.fid.fclass = FI_CLASS_PEP;
    pep->fid.fid.context = context;
    pep->fid.fid.ops = &pep_fid_ops;
    pep->fid.ops = &pep_ep_ops;
    pep->fid.cm = &pep_cm_ops;
    pep->fabric = fabric;
    fabric->children++;
    *out = &pep->fid;
    return 0;

fail:
    if (pep != NULL)
        fi_freeinfo(pep->info);
    free(pep);
    fi_freeinfo(core);
    return rc;
}
