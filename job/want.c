/* What is wanted, as a table. */
#include "job/want.h"

#include "job/schema.h"
#include "overlay/base/err.h"

static const struct job_schema_row flags[] = {
    JOB_SCHEMA_FLAG(struct job_want_order, is_wanted, 1),
    JOB_SCHEMA_FLAG(struct job_want_order, is_held_back, 2),
    {.kind = JOB_ROW_END},
};

static const struct job_schema_row order_rows[] = {
    JOB_SCHEMA_UINT(struct job_want_order, channels, "channels"),
    JOB_SCHEMA_FLAGS(1, flags),
    JOB_SCHEMA_REST(struct job_want_order, ranges, "ranges", 8, 1,
                    JOB_WANT_RANGES_MAX),
    {.kind = JOB_ROW_END},
};

void job_want_order_encode(struct ov_wr *wr, const struct job_want_order *order)
{
    job_schema_encode(order_rows, order, wr);
}

int job_want_order_decode(struct ov_rd body, struct job_want_order *out)
{
    if (job_schema_decode(order_rows, body, out))
        return OV_EPROTO;
    return out->is_held_back && !out->is_wanted ? OV_EPROTO : 0;
}
