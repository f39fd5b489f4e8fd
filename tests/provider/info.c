/* What the provider strict asks for and offers, and its terms translated for
 * the core. */
#include "tests/provider/strict.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CAPS (FI_MSG | FI_SEND | FI_RECV | FI_LOCAL_COMM | FI_REMOTE_COMM)

static const size_t message_max_bytes = (size_t)1 << 30;

static bool is_called(const struct fi_info *hints)
{
    return hints != NULL && hints->fabric_attr != NULL &&
           hints->fabric_attr->prov_name != NULL &&
           strcasecmp(hints->fabric_attr->prov_name, STRICT_NAME) == 0;
}

static bool depths_fit(const struct fi_info *hints)
{
    const struct fi_tx_attr *tx = hints->tx_attr;
    const struct fi_rx_attr *rx = hints->rx_attr;

    if (tx != NULL &&
        (tx->inject_size > STRICT_INJECT_MAX || tx->iov_limit > STRICT_IOV_MAX))
        return false;
    return rx == NULL || rx->iov_limit <= STRICT_IOV_MAX;
}

static bool hints_fit(const struct fi_info *hints)
{
    const struct fi_domain_attr *domain = hints->domain_attr;
    const struct fi_ep_attr *ep = hints->ep_attr;

    if (domain == NULL || (hints->caps & ~CAPS) != 0)
        return false;
    if ((domain->mr_mode & STRICT_MR_MODE) != STRICT_MR_MODE)
        return false;
    if (domain->threading != FI_THREAD_DOMAIN &&
        domain->threading != FI_THREAD_UNSPEC)
        return false;
    if (ep != NULL && ep->type != FI_EP_MSG && ep->type != FI_EP_UNSPEC)
        return false;
    if (ep != NULL && (ep->rx_ctx_cnt == FI_SHARED_CONTEXT ||
                       ep->tx_ctx_cnt == FI_SHARED_CONTEXT))
        return false;
    return depths_fit(hints);
}

/* Turns an info of the core into one of strict. */
static void dress(struct fi_info *info, const struct fi_info *hints)
{
    size_t tx = hints->tx_attr != NULL ? hints->tx_attr->size : 0;
    size_t rx = hints->rx_attr != NULL ? hints->rx_attr->size : 0;
    uint64_t mode = hints->mode & FI_CONTEXT2;

    if (mode == 0)
        mode = hints->mode & FI_CONTEXT;
    info->mode = mode;
    info->caps &= CAPS;
    info->handle = hints->handle;
    info->tx_attr->mode = mode;
    info->tx_attr->caps &= CAPS;
    info->tx_attr->size = tx > 0 ? tx : STRICT_DEPTH_DEFAULT;
    info->tx_attr->inject_size = STRICT_INJECT_MAX;
    info->tx_attr->iov_limit = STRICT_IOV_MAX;
    info->tx_attr->rma_iov_limit = 0;
    info->rx_attr->mode = mode;
    info->rx_attr->caps &= CAPS;
    info->rx_attr->size = rx > 0 ? rx : STRICT_DEPTH_DEFAULT;
    info->rx_attr->iov_limit = STRICT_IOV_MAX;
    info->ep_attr->type = FI_EP_MSG;
    info->ep_attr->max_msg_size = message_max_bytes;
    info->domain_attr->threading = FI_THREAD_DOMAIN;
    info->domain_attr->mr_mode = STRICT_MR_MODE;
    info->domain_attr->mr_iov_limit = 1;
    info->domain_attr->domain = NULL;
    info->fabric_attr->fabric = NULL;
    free(info->fabric_attr->prov_name);
    info->fabric_attr->prov_name = NULL; /* libfabric fills in the name of
                                          * strict. */
}

static int rename_prov(struct fi_info *info, const char *name)
{
    char *copy = strdup(name);

    if (copy == NULL)
        return -FI_ENOMEM;
    free(info->fabric_attr->prov_name);
    info->fabric_attr->prov_name = copy;
    return 0;
}

/* Returns the core's first plain endpoint type for each address. */
static struct fi_info *dress_list(struct fi_info *list,
                                  const struct fi_info *hints)
{
    struct fi_info *first = NULL, **last = &first;

    while (list != NULL) {
        struct fi_info *info = list;

        list = info->next;
        info->next = NULL;
        if (info->ep_attr->rx_ctx_cnt == FI_SHARED_CONTEXT) {
            fi_freeinfo(info);
            continue;
        }
        dress(info, hints);
        *last = info;
        last = &info->next;
    }
    return first;
}

int strict_getinfo(uint32_t version, const char *node, const char *service,
                   uint64_t flags, const struct fi_info *hints,
                   struct fi_info **out)
{
    struct fi_info *core_hints, *list;
    int rc;

    /* The provider must be asked for by name, so that nobody uses it by
     * accident. */
    if (!is_called(hints) || !hints_fit(hints))
        return -FI_ENODATA;
    core_hints = fi_dupinfo(hints);
    if (core_hints == NULL)
        return -FI_ENOMEM;
    core_hints->handle = NULL;
    core_hints->fabric_attr->fabric = NULL;
    core_hints->domain_attr->domain = NULL;
    if (core_hints->caps == 0)
        core_hints->caps = FI_MSG;
    rc = rename_prov(core_hints, STRICT_CORE);
    if (rc == 0)
        rc = fi_getinfo(version, node, service, flags, core_hints, &list);
    fi_freeinfo(core_hints);
    if (rc != 0)
        return rc;
    *out = dress_list(list, hints);
    return *out == NULL ? -FI_ENODATA : 0;
}

static fid_t core_handle(fid_t handle)
{
    if (handle == NULL)
        return NULL;
    if (handle->fclass == FI_CLASS_CONNREQ)
        return container_of(handle, struct strict_connreq, fid)->core;
    if (handle->fclass == FI_CLASS_PEP)
        return &container_of(handle, struct strict_pep, fid.fid)->core->fid;
    strict_abort("STATE", "info->handle has the unknown class %zu",
                 handle->fclass);
}

struct fi_info *strict_info_core(const struct fi_info *info)
{
    struct fi_info *core = fi_dupinfo(info);

    if (core == NULL)
        return NULL;
    if (rename_prov(core, STRICT_CORE) != 0) {
        fi_freeinfo(core);
        return NULL;
    }
    core->mode = 0;
    core->tx_attr->mode = 0;
    core->rx_attr->mode = 0;
    core->domain_attr->mr_mode = 0;
    core->domain_attr->domain = NULL;
    core->fabric_attr->fabric = NULL;
    core->handle = core_handle(info->handle);
    return core;
}
