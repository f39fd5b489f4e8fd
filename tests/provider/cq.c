/* Completion queues: entries are returned with the program's own contexts. */
#include "tests/provider/strict.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/provider/op.h"

static struct strict_cq *cq_of(struct fid_cq *fid)
{
    struct strict_cq *cq = container_of(fid, struct strict_cq, fid);

    if (cq->domain->pid != getpid())
        strict_abort("FORK",
                     "a completion queue is read in process %d that "
                     "was opened in %d",
                     (int)getpid(), (int)cq->domain->pid);
    return cq;
}

static struct fi_cq_entry *entry_at(const struct strict_cq *cq, void *mem,
                                    size_t i)
{
    /* Every format of entries starts with the context. */
    return (struct fi_cq_entry *)(void *)((char *)mem + i * cq->entry_bytes);
}

bool strict_cq_look(struct strict_cq *cq, const struct strict_op *op)
{
    bool is_done = false;
    ssize_t count;

    if (cq->ahead_end == cq->size)
        return false; /* There is no room to store an entry. */
    count = fi_cq_read(cq->core, entry_at(cq, cq->ahead, cq->ahead_end),
                       cq->size - cq->ahead_end);
    for (ssize_t i = 0; i < count; i++)
        if (entry_at(cq, cq->ahead, cq->ahead_end++)->op_context == op)
            is_done = true;
    return is_done;
}

static ssize_t read_ahead(struct strict_cq *cq, void *mem, size_t count)
{
    size_t held = cq->ahead_end - cq->ahead_first;

    if (count > held)
        count = held;
    memcpy(mem, entry_at(cq, cq->ahead, cq->ahead_first),
           count * cq->entry_bytes);
    cq->ahead_first += count;
    if (cq->ahead_first == cq->ahead_end)
        cq->ahead_first = cq->ahead_end = 0;
    return (ssize_t)count;
}

static ssize_t translate(struct strict_cq *cq, void *mem, ssize_t count)
{
    cq->reads++;
    for (ssize_t i = 0; i < count; i++) {
        struct fi_cq_entry *entry = entry_at(cq, mem, (size_t)i);

        entry->op_context = strict_op_done(cq, entry->op_context);
    }
    return count;
}

/* The four functions that read differ in whether they wait and whether they
 * report the source, which connected endpoints do not have. */
static ssize_t cq_sreadfrom(struct fid_cq *fid, void *mem, size_t count,
                            fi_addr_t *source, const void *cond, int timeout_ms)
{
    struct strict_cq *cq = cq_of(fid);
    ssize_t rc;

    if (cq->ahead_first < cq->ahead_end)
        rc = read_ahead(cq, mem, count);
    else if (timeout_ms == 0)
        rc = fi_cq_read(cq->core, mem, count);
    else
        rc = fi_cq_sread(cq->core, mem, count, cond, timeout_ms);
    for (ssize_t i = 0; source != NULL && i < rc; i++)
        source[i] = FI_ADDR_NOTAVAIL;
    return translate(cq, mem, rc);
}

static ssize_t cq_sread(struct fid_cq *fid, void *mem, size_t count,
                        const void *cond, int timeout_ms)
{
    return cq_sreadfrom(fid, mem, count, NULL, cond, timeout_ms);
}

static ssize_t cq_readfrom(struct fid_cq *fid, void *mem, size_t count,
                           fi_addr_t *source)
{
    return cq_sreadfrom(fid, mem, count, source, NULL, 0);
}

static ssize_t cq_read(struct fid_cq *fid, void *mem, size_t count)
{
    return cq_sreadfrom(fid, mem, count, NULL, NULL, 0);
}

static ssize_t cq_readerr(struct fid_cq *fid, struct fi_cq_err_entry *entry,
                          uint64_t flags)
{
    struct strict_cq *cq = cq_of(fid);
    ssize_t rc = fi_cq_readerr(cq->core, entry, flags);

    if (rc > 0)
        entry->op_context = strict_op_done(cq, entry->op_context);
    return rc;
}

static int cq_signal(struct fid_cq *fid)
{
    return fi_cq_signal(cq_of(fid)->core);
}

static const char *cq_strerror(struct fid_cq *fid, int code, const void *more,
                               char *text, size_t len_bytes)
{
    return fi_cq_strerror(cq_of(fid)->core, code, more, text, len_bytes);
}

static struct fi_ops_cq cq_ops = {
    .size = sizeof(struct fi_ops_cq),
    .read = cq_read,
    .readfrom = cq_readfrom,
    .readerr = cq_readerr,
    .sread = cq_sread,
    .sreadfrom = cq_sreadfrom,
    .signal = cq_signal,
    .strerror = cq_strerror,
};

static int cq_control(fid_t fid, int command, void *arg)
{
    struct strict_cq *cq = container_of(fid, struct strict_cq, fid.fid);

    return fi_control(&cq->core->fid, command, arg);
}

static int cq_close(fid_t fid)
{
    struct strict_cq *cq = container_of(fid, struct strict_cq, fid.fid);
    int rc;

    strict_need_closed("completion queue", cq->children);
    rc = fi_close(&cq->core->fid);
    if (rc != 0)
        return rc;
    while (cq->orphans != NULL)
        strict_op_drop(cq->orphans);
    cq->domain->children--;
    free(cq->ahead);
    free(cq);
    return 0;
}

static struct fi_ops cq_fid_ops = {
    .size = sizeof(struct fi_ops),
    .close = cq_close,
    .control = cq_control,
};

static size_t entry_size(enum fi_cq_format format)
{
    switch (format) {
    case FI_CQ_FORMAT_UNSPEC:
    case FI_CQ_FORMAT_CONTEXT:
        return sizeof(struct fi_cq_entry);
    case FI_CQ_FORMAT_MSG:
        return sizeof(struct fi_cq_msg_entry);
    case FI_CQ_FORMAT_DATA:
        return sizeof(struct fi_cq_data_entry);
    case FI_CQ_FORMAT_TAGGED:
        return sizeof(struct fi_cq_tagged_entry);
    }
    return 0;
}

int strict_cq_open(struct fid_domain *fid, struct fi_cq_attr *attr,
                   struct fid_cq **out, void *context)
{
    struct strict_domain *domain = container_of(fid, struct strict_domain, fid);
    struct strict_cq *cq;
    int rc;

    if (entry_size(attr->format) == 0 || attr->wait_obj == FI_WAIT_SET)
        return -FI_EINVAL;
    if (attr->size == 0)
        attr->size = STRICT_CQ_DEFAULT;
    cq = calloc(1, sizeof(*cq));
    if (cq == NULL)
        return -FI_ENOMEM;
    cq->ahead = calloc(attr->size, entry_size(attr->format));
    rc = cq->ahead == NULL ? -FI_ENOMEM
                           : fi_cq_open(domain->core, attr, &cq->core, NULL);
    if (rc != 0) {
        free(cq->ahead);
        free(cq);
        return rc;
    }
    cq->fid.fid.fclass = FI_CLASS_CQ;
    cq->fid.fid.context = context;
    cq->fid.fid.ops = &cq_fid_ops;
    cq->fid.ops = &cq_ops;
    cq->domain = domain;
    cq->entry_bytes = entry_size(attr->format);
    cq->size = attr->size;
    domain->children++;
    *out = &cq->fid;
    return 0;
}
