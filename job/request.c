/* Writes and reads the request of a client for a job. */
#include "job/request.h"

#include <stdlib.h>

#include "job/job.h"
#include "job/schema.h"
#include "job/wish.h"
#include "overlay/base/err.h"
#include "text/style.h"

enum {
    OUTPUTS = 1 << TEXT_CHANNEL_STDOUT | 1 << TEXT_CHANNEL_STDERR |
              1 << TEXT_CHANNEL_STDDIAG,
};

#define FLAG(member, bit) JOB_SCHEMA_FLAG(struct job_request, member, bit)
#define UINT(member, label, least, most)                                       \
    JOB_SCHEMA_RANGE(struct job_request, member, label, least, most)

static const struct job_schema_row flags[] = {
    FLAG(has_stddiag, 1),  FLAG(merges_stderr, 2), FLAG(has_stdin, 4),
    FLAG(is_kept, 8),      FLAG(waits, 16),        FLAG(is_raw, 32),
    FLAG(is_shown, 64),    FLAG(needs_shown, 128), FLAG(says_stages, 256),
    FLAG(says_end, 512),   FLAG(has_time, 1024),   FLAG(drops_oldest, 2048),
    FLAG(notes_end, 4096), FLAG(keeps_last, 8192), FLAG(stall_all, 16384),
    {.kind = JOB_ROW_END},
};

/* The fields before the programs; the programs are the rest. */
static const struct job_schema_row rows[] = {
    JOB_SCHEMA_FLAGS(2, flags),
    UINT(reader, "reader", 0, UINT32_MAX),
    UINT(comes, "comes", 0, OUTPUTS),
    UINT(forwards, "forwards", 0, OUTPUTS),
    UINT(cache_bytes, "cache", 0, UINT32_MAX),
    UINT(buffer_bytes, "buffer", 0, UINT32_MAX),
    UINT(buffer_s, "time", 0, UINT32_MAX),
    UINT(stall_ms, "stall", 0, UINT32_MAX),
    UINT(files, "files", 0, JOB_REQUEST_FILES - 1),
    UINT(label, "label", 0, TEXT_LABEL_FULL),
    UINT(format, "format", 0, TEXT_FORMATS - 1),
    JOB_SCHEMA_STRING(struct job_request, name, "name"),
    UINT(apps_count, "programs", 1, JOB_APPS_MAX),
    JOB_SCHEMA_REST(struct job_request, programs, "program", 1, 1,
                    JOB_REQUEST_BYTES_MAX),
    {.kind = JOB_ROW_END},
};

size_t job_request_bytes(const struct job_request *request)
{
    size_t size = job_schema_bytes(rows, request);

    for (uint32_t i = 0; i < request->apps_count; i++)
        size += job_wish_bytes(&request->apps[i]);
    return size;
}

void job_request_encode(struct ov_wr *wr, const struct job_request *request)
{
    job_schema_encode(rows, request, wr);
    for (uint32_t i = 0; i < request->apps_count; i++)
        job_wish_encode(wr, &request->apps[i]);
}

/* True when the values fit together: `name` is given exactly when files are,
 * and no channel is bit 0, which would be stdin. */
static bool makes_sense(const struct job_request *request)
{
    return (request->files == JOB_REQUEST_NO_FILES) ==
               (request->name[0] == '\0') &&
           ((request->comes | request->forwards) & 1) == 0;
}

static int get_programs(struct job_request *out, uint32_t count)
{
    int rc = 0;

    out->apps = calloc(count, sizeof(*out->apps));
    if (out->apps == NULL)
        return OV_ENOMEM;
    while (rc == 0 && out->apps_count < count)
        rc = job_wish_decode(&out->programs, &out->apps[out->apps_count++]);
    return rc == 0 && ov_rd_left(&out->programs) > 0 ? OV_EPROTO : rc;
}

int job_request_decode(struct ov_rd rd, struct job_request *out)
{
    uint32_t count;
    int rc;

    *out = (struct job_request){.apps = NULL};
    rc = job_schema_decode(rows, rd, out);
    count = out->apps_count;
    out->apps_count = 0;
    if (rc == 0)
        rc = makes_sense(out) ? get_programs(out, count) : OV_EPROTO;
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
