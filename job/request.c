/* A job that a client asks for, as bytes. */
#include "job/request.h"

#include <stdlib.h>

#include "job/job.h"
#include "job/wish.h"
#include "overlay/base/err.h"

enum {
    HEAD_BYTES = 9,
    HAS_STDDIAG = 1,
    MERGES_STDERR = 2,
    HAS_STDIN = 4,
    FLAGS = 7
};

size_t job_request_bytes(const struct job_request *request)
{
    size_t size = HEAD_BYTES;

    for (uint32_t i = 0; i < request->apps_count; i++)
        size += job_wish_bytes(&request->apps[i]);
    return size;
}

void job_request_encode(struct ov_wr *wr, const struct job_request *request)
{
    unsigned flags = 0;

    if (request->has_stddiag)
        flags |= HAS_STDDIAG;
    if (request->merges_stderr)
        flags |= MERGES_STDERR;
    if (request->has_stdin)
        flags |= HAS_STDIN;
    ov_wr_u8(wr, (uint8_t)flags);
    ov_wr_u32(wr, request->reader);
    ov_wr_u32(wr, request->apps_count);
    for (uint32_t i = 0; i < request->apps_count; i++)
        job_wish_encode(wr, &request->apps[i]);
}

/* What stands before the programs. Returns how many of these there are; 0: it
 * makes no sense. */
static uint32_t get_head(struct ov_rd *rd, struct job_request *out)
{
    uint8_t flags = ov_rd_u8(rd);
    uint32_t count;

    *out = (struct job_request){
        .has_stddiag = (flags & HAS_STDDIAG) != 0,
        .merges_stderr = (flags & MERGES_STDERR) != 0,
        .has_stdin = (flags & HAS_STDIN) != 0,
        .reader = ov_rd_u32(rd),
    };
    count = ov_rd_u32(rd);
    return rd->bad || (flags & ~FLAGS) != 0 || count > JOB_APPS_MAX ? 0 : count;
}

int job_request_decode(struct ov_rd rd, struct job_request *out)
{
    uint32_t count = get_head(&rd, out);
    int rc = 0;

    if (count == 0)
        return OV_EPROTO;
    out->apps = calloc(count, sizeof(*out->apps));
    if (out->apps == NULL)
        return OV_ENOMEM;
    while (rc == 0 && out->apps_count < count)
        rc = job_wish_decode(&rd, &out->apps[out->apps_count++]);
    if (rc == 0 && ov_rd_left(&rd) > 0)
        rc = OV_EPROTO;
    if (rc != 0)
        job_request_fini(out);
    return rc;
}

void job_request_fini(struct job_request *request)
{
    for (uint32_t i = 0; i < request->apps_count; i++)
        job_wish_fini(&request->apps[i]);
    free(request->apps);
    *request = (struct job_request){.apps = NULL};
}
