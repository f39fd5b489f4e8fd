/* Event queues: events are returned with the program's own endpoints. */
#include "tests/provider/strict.h"

#include <stdlib.h>

static struct strict_eq *eq_of(struct fid_eq *fid)
{
    return container_of(fid, struct strict_eq, fid);
}

static bool is_cm(uint32_t event)
{
    return event == FI_CONNREQ || event == FI_CONNECTED || event == FI_SHUTDOWN;
}

static int on_connreq(struct strict_pep *pep, struct fi_eq_cm_entry *entry)
{
    struct fi_info *info = strict_connreq_info(pep, entry->info);

    if (info == NULL)
        return -FI_ENOMEM;
    entry->info = info;
    entry->fid = &pep->fid.fid;
    return 0;
}

static void on_ep_event(struct strict_ep *ep, uint32_t event,
                        struct fi_eq_cm_entry *entry)
{
    ep->state = event == FI_CONNECTED ? STRICT_UP : STRICT_DOWN;
    if (ep->state == STRICT_UP)
        strict_ep_note_dry(ep);
    entry->fid = &ep->fid.fid;
}

/* Translates an event. Returns len_bytes, 0 when the event is for an endpoint
 * that is closed, or a negative error. */
static ssize_t translate(struct strict_eq *eq, uint32_t event, void *mem,
                         ssize_t len_bytes)
{
    struct fi_eq_cm_entry *entry = mem;
    fid_t fid;
    int rc = 0;

    if (len_bytes < 0 || !is_cm(event))
        return len_bytes;
    fid = strict_set_find(&eq->fids, entry->fid);
    if (fid == NULL) {
        if (event == FI_CONNREQ)
            fi_freeinfo(entry->info);
        return 0;
    }
    if (event == FI_CONNREQ)
        rc = on_connreq(container_of(fid, struct strict_pep, fid.fid), entry);
    else
        on_ep_event(container_of(fid, struct strict_ep, fid.fid), event, entry);
    return rc != 0 ? rc : len_bytes;
}

static ssize_t eq_read(struct fid_eq *fid, uint32_t *event, void *mem,
                       size_t len_bytes, uint64_t flags)
{
    struct strict_eq *eq = eq_of(fid);
    ssize_t rc;

    if ((flags & FI_PEEK) != 0)
        return -FI_ENOSYS;
    do {
        rc = fi_eq_read(eq->core, event, mem, len_bytes, flags);
        rc = translate(eq, *event, mem, rc);
    } while (rc == 0);
    return rc;
}

static ssize_t eq_sread(struct fid_eq *fid, uint32_t *event, void *mem,
                        size_t len_bytes, int timeout_ms, uint64_t flags)
{
    struct strict_eq *eq = eq_of(fid);
    ssize_t rc;

    if ((flags & FI_PEEK) != 0)
        return -FI_ENOSYS;
    rc = fi_eq_sread(eq->core, event, mem, len_bytes, timeout_ms, flags);
    rc = translate(eq, *event, mem, rc);
    return rc == 0 ? -FI_EAGAIN : rc;
}

static ssize_t eq_readerr(struct fid_eq *fid, struct fi_eq_err_entry *entry,
                          uint64_t flags)
{
    struct strict_eq *eq = eq_of(fid);
    ssize_t rc = fi_eq_readerr(eq->core, entry, flags);
    fid_t ours;

    if (rc <= 0)
        return rc;
    ours = strict_set_find(&eq->fids, entry->fid);
    if (ours == NULL)
        return rc;
    if (ours->fclass == FI_CLASS_EP)
        container_of(ours, struct strict_ep, fid.fid)->state = STRICT_DOWN;
    entry->fid = ours;
    entry->context = ours->context;
    return rc;
}

static ssize_t eq_write(struct fid_eq *fid, uint32_t event, const void *mem,
                        size_t len_bytes, uint64_t flags)
{
    if (is_cm(event))
        return -FI_ENOSYS; /* translate() would take such events for events of
                            * the core. */
    return fi_eq_write(eq_of(fid)->core, event, mem, len_bytes, flags);
}

static const char *eq_strerror(struct fid_eq *fid, int code, const void *more,
                               char *text, size_t len_bytes)
{
    return fi_eq_strerror(eq_of(fid)->core, code, more, text, len_bytes);
}

static struct fi_ops_eq eq_ops = {
    .size = sizeof(struct fi_ops_eq),
    .read = eq_read,
    .readerr = eq_readerr,
    .write = eq_write,
    .sread = eq_sread,
    .strerror = eq_strerror,
};

static int eq_control(fid_t fid, int command, void *arg)
{
    struct strict_eq *eq = container_of(fid, struct strict_eq, fid.fid);

    return fi_control(&eq->core->fid, command, arg);
}

static int eq_close(fid_t fid)
{
    struct strict_eq *eq = container_of(fid, struct strict_eq, fid.fid);
    int rc;

    strict_need_closed("event queue", eq->children);
    rc = fi_close(&eq->core->fid);
    if (rc != 0)
        return rc;
    eq->fabric->children--;
    free(eq);
    return 0;
}

static struct fi_ops eq_fid_ops = {
    .size = sizeof(struct fi_ops),
    .close = eq_close,
    .control = eq_control,
};

int strict_eq_open(struct fid_fabric *fid, struct fi_eq_attr *attr,
                   struct fid_eq **out, void *context)
{
    struct strict_fabric *fabric = container_of(fid, struct strict_fabric, fid);
    struct strict_eq *eq;
    int rc;

    if (attr->wait_obj == FI_WAIT_SET)
        return -FI_EINVAL;
    eq = calloc(1, sizeof(*eq));
    if (eq == NULL)
        return -FI_ENOMEM;
    rc = fi_eq_open(fabric->core, attr, &eq->core, NULL);
    if (rc != 0) {
        free(eq);
        return rc;
    }
    eq->fid.fid.fclass = FI_CLASS_EQ;
    eq->fid.fid.context = context;
    eq->fid.fid.ops = &eq_fid_ops;
    eq->fid.ops = &eq_ops;
    eq->fabric = fabric;
    fabric->children++;
    *out = &eq->fid;
    return 0;
}
