/* Domains and registered memory. */
#include "tests/provider/strict.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static unsigned long setting(const char *name, unsigned long fallback)
{
    const char *text = getenv(name);

    return text == NULL || *text == '\0' ? fallback : strtoul(text, NULL, 10);
}

bool strict_domain_chance(struct strict_domain *domain)
{
    uint64_t mixed;

    domain->chance += 0x9E3779B97F4A7C15u;
    mixed = domain->chance;
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
    return (mixed ^ mixed >> 31) % 100 < domain->eagain_percent;
}

struct strict_mr *strict_mr_find(const struct strict_domain *domain,
                                 const void *desc)
{
    return strict_set_find(&domain->mrs, desc);
}

static int mr_close(fid_t fid)
{
    struct strict_mr *mr = container_of(fid, struct strict_mr, fid.fid);
    int rc;

    if (mr->in_use > 0)
        strict_abort("MR", "closed while %u operations in flight use it",
                     mr->in_use);
    rc = fi_close(&mr->core->fid);
    if (rc != 0)
        return rc;
    strict_set_del(&mr->domain->mrs, &mr->by_desc);
    mr->domain->children--;
    free(mr);
    return 0;
}

static struct fi_ops mr_fid_ops = {
    .size = sizeof(struct fi_ops),
    .close = mr_close,
};

/* FI_MR_ALLOCATED: every page must exist when it is registered. */
static void mr_check(const struct iovec *iov, size_t count, uint64_t access)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char is_resident;
    uintptr_t first, end;

    if (count != 1)
        strict_abort("MR", "registered from %zu parts, 1 is the limit", count);
    if (iov->iov_len == 0)
        strict_abort("MR", "registered with no bytes");
    if ((access & (FI_SEND | FI_RECV)) == 0)
        strict_abort("MR", "registered for neither FI_SEND nor FI_RECV");
    first = (uintptr_t)iov->iov_base & ~(uintptr_t)(page - 1);
    end = (uintptr_t)iov->iov_base + iov->iov_len;
    for (; first < end && mincore((void *)first, 1, &is_resident) == 0;)
        first += page;
    if (first < end)
        strict_abort("MR", "registered %zu bytes at %p that are not mapped",
                     iov->iov_len, iov->iov_base);
}

static int mr_regattr(fid_t fid, const struct fi_mr_attr *attr, uint64_t flags,
                      struct fid_mr **out)
{
    /* Descriptors and keys are numbers that are never used again, and no
     * addresses, so that the descriptor of a closed region stays invalid for
     * ever. The key is not the requested one. */
    static uintptr_t numbers = 0x57000000;
    struct strict_domain *domain =
        container_of(fid, struct strict_domain, fid.fid);
    struct fi_mr_attr core = *attr;
    struct strict_mr *mr;
    int rc;

    mr_check(attr->mr_iov, attr->iov_count, attr->access);
    mr = calloc(1, sizeof(*mr));
    if (mr == NULL)
        return -FI_ENOMEM;
    core.requested_key = ++numbers;
    rc = fi_mr_regattr(domain->core, &core, flags, &mr->core);
    if (rc != 0) {
        free(mr);
        return rc;
    }
    mr->fid.fid.fclass = FI_CLASS_MR;
    mr->fid.fid.context = attr->context;
    mr->fid.fid.ops = &mr_fid_ops;
    mr->fid.mem_desc = (void *)numbers;
    mr->fid.key = numbers ^ 0x5A5A5A5A;
    mr->domain = domain;
    mr->first = (uintptr_t)attr->mr_iov->iov_base;
    mr->len_bytes = attr->mr_iov->iov_len;
    mr->access = attr->access;
    strict_set_add(&domain->mrs, &mr->by_desc, mr->fid.mem_desc, mr);
    domain->children++;
    *out = &mr->fid;
    return 0;
}

static int mr_regv(fid_t fid, const struct iovec *iov, size_t count,
                   uint64_t access, uint64_t offset, uint64_t key,
                   uint64_t flags, struct fid_mr **out, void *context)
{
    struct fi_mr_attr attr = {
        .mr_iov = iov,
        .iov_count = count,
        .access = access,
        .offset = offset,
        .requested_key = key,
        .context = context,
    };

    return mr_regattr(fid, &attr, flags, out);
}

static int mr_reg(fid_t fid, const void *mem, size_t len_bytes, uint64_t access,
                  uint64_t offset, uint64_t key, uint64_t flags,
                  struct fid_mr **out, void *context)
{
    struct iovec iov = {.iov_base = (void *)(uintptr_t)mem,
                        .iov_len = len_bytes};

    return mr_regv(fid, &iov, 1, access, offset, key, flags, out, context);
}

static struct fi_ops_mr mr_ops = {
    .size = sizeof(struct fi_ops_mr),
    .reg = mr_reg,
    .regv = mr_regv,
    .regattr = mr_regattr,
};

static int no_av(struct fid_domain *domain, struct fi_av_attr *attr,
                 struct fid_av **out, void *context)
{
    (void)domain, (void)attr, (void)out, (void)context;
    return -FI_ENOSYS;
}

static int no_scalable_ep(struct fid_domain *domain, struct fi_info *info,
                          struct fid_ep **out, void *context)
{
    (void)domain, (void)info, (void)out, (void)context;
    return -FI_ENOSYS;
}

static int no_cntr(struct fid_domain *domain, struct fi_cntr_attr *attr,
                   struct fid_cntr **out, void *context)
{
    (void)domain, (void)attr, (void)out, (void)context;
    return -FI_ENOSYS;
}

static int no_poll(struct fid_domain *domain, struct fi_poll_attr *attr,
                   struct fid_poll **out)
{
    (void)domain, (void)attr, (void)out;
    return -FI_ENOSYS;
}

static int no_stx(struct fid_domain *domain, struct fi_tx_attr *attr,
                  struct fid_stx **out, void *context)
{
    (void)domain, (void)attr, (void)out, (void)context;
    return -FI_ENOSYS;
}

static int no_srx(struct fid_domain *domain, struct fi_rx_attr *attr,
                  struct fid_ep **out, void *context)
{
    (void)domain, (void)attr, (void)out, (void)context;
    return -FI_ENOSYS;
}

static struct fi_ops_domain domain_ops = {
    .size = sizeof(struct fi_ops_domain),
    .av_open = no_av,
    .cq_open = strict_cq_open,
    .endpoint = strict_ep_open,
    .scalable_ep = no_scalable_ep,
    .cntr_open = no_cntr,
    .poll_open = no_poll,
    .stx_ctx = no_stx,
    .srx_ctx = no_srx,
};

static int domain_close(fid_t fid)
{
    struct strict_domain *domain =
        container_of(fid, struct strict_domain, fid.fid);
    int rc;

    strict_need_closed("domain", domain->children);
    rc = fi_close(&domain->core->fid);
    if (rc != 0)
        return rc;
    domain->fabric->children--;
    free(domain);
    return 0;
}

static struct fi_ops domain_fid_ops = {
    .size = sizeof(struct fi_ops),
    .close = domain_close,
};

int strict_domain_open(struct fid_fabric *fid, struct fi_info *info,
                       struct fid_domain **out, void *context)
{
    struct strict_fabric *fabric = container_of(fid, struct strict_fabric, fid);
    struct strict_domain *domain = calloc(1, sizeof(*domain));
    struct fi_info *core = strict_info_core(info);
    int rc = -FI_ENOMEM;

    if (domain == NULL || core == NULL)
        goto fail;
    rc = fi_domain(fabric->core, core, &domain->core, NULL);
    if (rc != 0)
        goto fail;
    fi_freeinfo(core);
    domain->fid.fid.fclass = FI_CLASS_DOMAIN;
    domain->fid.fid.context = context;
    domain->fid.fid.ops = &domain_fid_ops;
    domain->fid.ops = &domain_ops;
    domain->fid.mr = &mr_ops;
    domain->fabric = fabric;
    domain->pid = getpid();
    domain->chance = setting("STRICT_SEED", 1);
    domain->eagain_percent = (unsigned)setting("STRICT_EAGAIN", 5);
    fabric->children++;
    *out = &domain->fid;
    return 0;

fail:
    fi_freeinfo(core);
    free(domain);
    return rc;
}
