/* The provider as libfabric sees it, and its fabrics. */
#include "tests/provider/strict.h"

#include <stdlib.h>
#include <strings.h>

static int no_wait_open(struct fid_fabric *fabric, struct fi_wait_attr *attr,
                        struct fid_wait **out)
{
    (void)fabric;
    (void)attr;
    (void)out;
    return -FI_ENOSYS;
}

/* Returns the core's queue of this object. NULL: the object holds something
 * that the core no longer knows. */
static fid_t core_queue(fid_t fid)
{
    struct strict_cq *cq;

    if (fid->fclass == FI_CLASS_CQ) {
        cq = container_of(fid, struct strict_cq, fid.fid);
        return cq->ahead_first < cq->ahead_end ? NULL : &cq->core->fid;
    }
    if (fid->fclass == FI_CLASS_EQ)
        return &container_of(fid, struct strict_eq, fid.fid)->core->fid;
    strict_abort("STATE", "fi_trywait() on an object of class %zu",
                 fid->fclass);
}

/* Asks one queue at a time: the first one that must not sleep decides, as for a
 * list. */
static int fabric_trywait(struct fid_fabric *fid, struct fid **fids, int count)
{
    struct strict_fabric *fabric = container_of(fid, struct strict_fabric, fid);

    for (int i = 0; i < count; i++) {
        fid_t core = core_queue(fids[i]);
        int rc = core == NULL ? -FI_EAGAIN : fi_trywait(fabric->core, &core, 1);

        if (rc != 0)
            return rc;
    }
    return 0;
}

static struct fi_ops_fabric fabric_ops = {
    .size = sizeof(struct fi_ops_fabric),
    .domain = strict_domain_open,
    .passive_ep = strict_pep_open,
    .eq_open = strict_eq_open,
    .wait_open = no_wait_open,
    .trywait = fabric_trywait,
};

static int fabric_close(fid_t fid)
{
    struct strict_fabric *fabric =
        container_of(fid, struct strict_fabric, fid.fid);
    int rc;

    strict_need_closed("fabric", fabric->children);
    rc = fi_close(&fabric->core->fid);
    if (rc != 0)
        return rc;
    free(fabric);
    return 0;
}

static struct fi_ops fabric_fid_ops = {
    .size = sizeof(struct fi_ops),
    .close = fabric_close,
};

static int fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **out,
                       void *context)
{
    struct strict_fabric *fabric = calloc(1, sizeof(*fabric));
    struct fi_fabric_attr core = *attr;
    char name[] = STRICT_CORE;
    int rc;

    if (fabric == NULL)
        return -FI_ENOMEM;
    core.prov_name = name;
    core.fabric = NULL;
    rc = fi_fabric(&core, &fabric->core, NULL);
    if (rc != 0) {
        free(fabric);
        return rc;
    }
    fabric->fid.fid.fclass = FI_CLASS_FABRIC;
    fabric->fid.fid.context = context;
    fabric->fid.fid.ops = &fabric_fid_ops;
    fabric->fid.ops = &fabric_ops;
    *out = &fabric->fid;
    return 0;
}

static void cleanup(void)
{
}

static struct fi_provider provider = {
    .version = FI_VERSION(1, 0),
    .fi_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
    .name = STRICT_NAME,
    .getinfo = strict_getinfo,
    .fabric = fabric_open,
    .cleanup = cleanup,
};

/* The only symbol that libfabric looks for. */
__attribute__((visibility("default"))) struct fi_provider *fi_prov_ini(void);

struct fi_provider *fi_prov_ini(void)
{
    return &provider;
}
