/* Messages at the door, as tables. */
#include "job/door.h"

#include <string.h>

#include "overlay/base/err.h"
#include "overlay/base/panic.h"

#define UINT(member, label) JOB_SCHEMA_UINT(struct job_door, member, label)
#define TEXT(label)                                                            \
    JOB_SCHEMA_TEXT(struct job_door, text, label, 1, JOB_DOOR_TEXT_MAX - 1)

static const struct job_schema_row welcome_flags[] = {
    JOB_SCHEMA_FLAG(struct job_door, is_dvm, 1),
    JOB_SCHEMA_FLAG(struct job_door, has_no_tools, 2),
    {.kind = JOB_ROW_END},
};

/* What a kind has no more rows for is zero, and so JOB_ROW_END. */
enum { ROWS_MAX = 3 };

static const struct job_schema_row messages[JOB_DOOR_KINDS][ROWS_MAX] = {
    [JOB_DOOR_HELLO] = {UINT(version, "version"), TEXT("release")},
    [JOB_DOOR_WELCOME] = {JOB_SCHEMA_FLAGS(1, welcome_flags), TEXT("name")},
    [JOB_DOOR_REFUSED] = {TEXT("why")},
    [JOB_DOOR_TOOLS] = {TEXT("address")},
};

const struct job_schema_row *job_door_rows(unsigned kind)
{
    OV_ASSERT(kind < JOB_DOOR_KINDS);
    return messages[kind];
}

void job_door_encode(struct ov_wr *wr, const struct job_door *msg)
{
    ov_wr_u8(wr, msg->kind);
    job_schema_encode(job_door_rows(msg->kind), msg, wr);
}

int job_door_decode(struct ov_rd rd, struct job_door *msg)
{
    memset(msg, 0, sizeof(*msg));
    msg->kind = ov_rd_u8(&rd);
    if (rd.bad || msg->kind == 0 || msg->kind >= JOB_DOOR_KINDS)
        return OV_EPROTO;
    return job_schema_decode(messages[msg->kind], rd, msg);
}
