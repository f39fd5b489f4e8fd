/* The tables of rows that describe answers with earlier output. */
#include "job/replay.h"

#include "job/schema.h"
#include "overlay/base/err.h"

static const struct job_schema_row answer_flags[] = {
    JOB_SCHEMA_FLAG(struct job_replay_answer, is_turn, 1),
    JOB_SCHEMA_FLAG(struct job_replay_answer, is_heard, 2),
    {.kind = JOB_ROW_END},
};

static const struct job_schema_row heard_rows[] = {
    JOB_SCHEMA_RANGE(struct job_replay_answer, heard, "processes", 1,
                     UINT32_MAX),
    {.kind = JOB_ROW_END},
};

static const struct job_schema_row bytes_rows[] = {
    JOB_SCHEMA_UINT(struct job_replay_answer, dropped_bytes, "dropped"),
    JOB_SCHEMA_REST(struct job_replay_answer, bytes, "bytes", 1, 0, UINT64_MAX),
    {.kind = JOB_ROW_END},
};

static const struct job_schema_row answer_rows[] = {
    JOB_SCHEMA_FLAGS(4, answer_flags),
    JOB_SCHEMA_WHEN(struct job_replay_answer, is_heard, true, heard_rows),
    JOB_SCHEMA_WHEN(struct job_replay_answer, is_heard, false, bytes_rows),
    {.kind = JOB_ROW_END},
};

void job_replay_answer_encode(struct ov_wr *wr,
                              const struct job_replay_answer *answer)
{
    job_schema_encode(answer_rows, answer, wr);
}

int job_replay_answer_decode(struct ov_rd body, struct job_replay_answer *out)
{
    *out = (struct job_replay_answer){0};
    if (job_schema_decode(answer_rows, body, out))
        return OV_EPROTO;
    return out->is_heard && out->is_turn ? OV_EPROTO : 0;
}
