/* The tables of rows that describe the bodies of door messages. */
#include "job/door.h"

#include <string.h>

#include "overlay/base/err.h"
#include "overlay/base/panic.h"

#define UINT(member, label) JOB_SCHEMA_UINT(struct job_door, member, label)
#define TEXT_OF(label, least)                                                  \
    JOB_SCHEMA_TEXT(struct job_door, text, label, least, JOB_DOOR_TEXT_MAX - 1)
#define TEXT(label) TEXT_OF(label, 1)
#define REST(label, piece, least)                                              \
    JOB_SCHEMA_REST(struct job_door, rest, label, piece, least,                \
                    JOB_DOOR_REST_MAX / (piece))

static const struct job_schema_row dvm_flags[] = {
    JOB_SCHEMA_FLAG(struct job_door, is_dvm, 1),
    {.kind = JOB_ROW_END},
};

static const struct job_schema_row begun_flags[] = {
    JOB_SCHEMA_FLAG(struct job_door, is_dvm, 1),
    JOB_SCHEMA_FLAG(struct job_door, is_last, 2),
    {.kind = JOB_ROW_END},
};

static const struct job_schema_row listed_flags[] = {
    JOB_SCHEMA_FLAG(struct job_door, is_dvm, 1),
    JOB_SCHEMA_FLAG(struct job_door, is_over, 2),
    {.kind = JOB_ROW_END},
};

static const struct job_schema_row output_flags[] = {
    JOB_SCHEMA_FLAG(struct job_door, is_end, 1),
    {.kind = JOB_ROW_END},
};

static const struct job_schema_row over_flags[] = {
    JOB_SCHEMA_FLAG(struct job_door, is_over, 1),
    {.kind = JOB_ROW_END},
};

static const struct job_schema_row grouped_flags[] = {
    JOB_SCHEMA_FLAG(struct job_door, is_over, 1),
    JOB_SCHEMA_FLAG(struct job_door, is_more, 2),
    {.kind = JOB_ROW_END},
};

static const struct job_schema_row more_flags[] = {
    JOB_SCHEMA_FLAG(struct job_door, is_more, 1),
    {.kind = JOB_ROW_END},
};

static const struct job_schema_row pull_flags[] = {
    JOB_SCHEMA_FLAG(struct job_door, redirects, 1),
    JOB_SCHEMA_FLAG(struct job_door, is_last, 2),
    {.kind = JOB_ROW_END},
};

static const struct job_schema_row pulled_flags[] = {
    JOB_SCHEMA_FLAG(struct job_door, redirects, 1),
    {.kind = JOB_ROW_END},
};

static const struct job_schema_row push_flags[] = {
    JOB_SCHEMA_FLAG(struct job_door, needs_all, 1),
    JOB_SCHEMA_FLAG(struct job_door, is_more, 2),
    {.kind = JOB_ROW_END},
};

static const struct job_schema_row ended_flags[] = {
    JOB_SCHEMA_FLAG(struct job_door, is_lost, 1),
    {.kind = JOB_ROW_END},
};

static const struct job_schema_row stage_flags[] = {
    JOB_SCHEMA_FLAG(struct job_door, is_lost, 1),
    JOB_SCHEMA_FLAG(struct job_door, is_more, 2),
    {.kind = JOB_ROW_END},
};

/* The most rows of a kind. A kind with fewer rows leaves the others zero, which
 * is JOB_ROW_END. */
enum { ROWS_MAX = 14 };

static const struct job_schema_row messages[JOB_DOOR_KINDS][ROWS_MAX] = {
    [JOB_DOOR_HELLO] = {UINT(version, "version"), TEXT("release")},
    [JOB_DOOR_WELCOME] = {JOB_SCHEMA_FLAGS(1, dvm_flags), TEXT("name")},
    [JOB_DOOR_REFUSED] = {TEXT("why")},
    [JOB_DOOR_TOOLS] = {TEXT("address")},
    [JOB_DOOR_ATTACH] = {TEXT_OF("name", 0)},
    [JOB_DOOR_JOB] = {UINT(first, "base"), UINT(count, "processes"),
                      UINT(channels, "channels"), UINT(parts, "parts"),
                      UINT(push_bytes, "push"), UINT(cache_bytes, "cache"),
                      TEXT("name")},
    [JOB_DOOR_WHERE] = {UINT(parts, "part")},
    [JOB_DOOR_PART] = {UINT(parts, "part"), UINT(first, "process"),
                       UINT(count, "processes"), TEXT("host")},
    [JOB_DOOR_RANGES] = {REST("range", JOB_DOOR_RANGE_BYTES, 1)},
    [JOB_DOOR_PULL] = {UINT(channels, "channels"),
                       JOB_SCHEMA_FLAGS(1, pull_flags),
                       UINT(cache_bytes, "cache"), UINT(limit_bytes, "limit")},
    [JOB_DOOR_PULLED] = {JOB_SCHEMA_FLAGS(1, pulled_flags)},
    [JOB_DOOR_OUTPUT] = {UINT(first, "process"), UINT(channel, "channel"),
                         JOB_SCHEMA_FLAGS(1, output_flags),
                         UINT(dropped_bytes, "dropped"),
                         UINT(before_bytes, "before"),
                         JOB_SCHEMA_REST(struct job_door, rest, "bytes", 1, 0,
                                         JOB_DOOR_OUTPUT_MAX)},
    [JOB_DOOR_PUSH] = {JOB_SCHEMA_FLAGS(1, push_flags), REST("push", 1, 1)},
    [JOB_DOOR_PUSHED] = {JOB_SCHEMA_FLAGS(1, over_flags)},
    [JOB_DOOR_SPAWN] = {JOB_SCHEMA_FLAGS(1, more_flags), REST("piece", 1, 1)},
    [JOB_DOOR_UNSTARTED] = {JOB_SCHEMA_RANGE(struct job_door, reason, "reason",
                                             1, JOB_DOOR_REASONS - 1),
                            TEXT_OF("why", 0)},
    [JOB_DOOR_SIGNAL] = {UINT(status, "signal")},
    [JOB_DOOR_ENDED] = {JOB_SCHEMA_FLAGS(1, ended_flags),
                        UINT(first, "process"), UINT(status, "status"),
                        UINT(count, "failed"),
                        JOB_SCHEMA_REST(struct job_door, rest, "lines", 1, 0,
                                        JOB_DOOR_ENDS_MAX)},
    [JOB_DOOR_SIGNALLED] = {JOB_SCHEMA_FLAGS(1, over_flags)},
    [JOB_DOOR_TAKEN] = {UINT(taken, "outputs"),
                        JOB_SCHEMA_FLAGS(1, over_flags)},
    [JOB_DOOR_BEGUN] = {UINT(first, "base"), UINT(count, "processes"),
                        UINT(channels, "channels"),
                        JOB_SCHEMA_FLAGS(1, begun_flags),
                        UINT(cache_bytes, "cache"),
                        UINT(buffer.bytes, "buffer"), UINT(buffer.s, "held"),
                        TEXT("name")},
    [JOB_DOOR_STAGE] = {UINT(base, "base"),
                        JOB_SCHEMA_RANGE(struct job_door, reason, "stage", 1,
                                         JOB_DOOR_STAGES - 1),
                        UINT(time_s, "time"), JOB_SCHEMA_FLAGS(1, stage_flags),
                        UINT(first, "process"), UINT(status, "status"),
                        UINT(count, "failed")},
    [JOB_DOOR_BROKEN] = {UINT(first, "process"), UINT(channel, "channel")},
    [JOB_DOOR_FORGOTTEN] = {UINT(base, "base")},
    [JOB_DOOR_DESCRIBE] = {UINT(base, "base")},
    [JOB_DOOR_PLACE] = {UINT(parts, "program"), UINT(first, "process"),
                        UINT(count, "processes"),
                        JOB_SCHEMA_STRING(struct job_door, host, "host"),
                        TEXT_OF("words", 0)},
    [JOB_DOOR_PIDS] = {UINT(first, "process"),
                       REST("pid", JOB_DOOR_NUMBER_BYTES, 1)},
    [JOB_DOOR_EXITS] = {UINT(first, "process"),
                        REST("status", JOB_DOOR_NUMBER_BYTES, 1)},
    [JOB_DOOR_DESCRIBED] = {JOB_SCHEMA_FLAGS(1, over_flags),
                            TEXT_OF("command", 0)},
    [JOB_DOOR_NAME] = {UINT(first, "rank"), TEXT_OF("namespace", 0)},
    [JOB_DOOR_NAMED] = {JOB_SCHEMA_FLAGS(1, over_flags), UINT(first, "rank"),
                        TEXT_OF("namespace", 0)},
    [JOB_DOOR_LOG] = {UINT(channel, "channel"), JOB_SCHEMA_FLAGS(1, more_flags),
                      REST("bytes", 1, 0)},
    [JOB_DOOR_LOGGED] = {JOB_SCHEMA_FLAGS(1, over_flags)},
    [JOB_DOOR_EVENT] = {REST("event", 1, 1)},
    [JOB_DOOR_NOTE] = {TEXT("text")},
    [JOB_DOOR_LIST] = {UINT(base, "base")},
    [JOB_DOOR_LISTED] = {JOB_SCHEMA_FLAGS(1, listed_flags), UINT(first, "base"),
                         UINT(count, "processes"), UINT(row.left, "left"),
                         UINT(row.hosts, "hosts"), UINT(row.age_s, "age"),
                         UINT(row.output_bytes, "output"),
                         UINT(row.quiet_s, "quiet"),
                         UINT(row.stdin_bytes, "stdin"),
                         UINT(row.waiting_bytes, "waiting"),
                         JOB_SCHEMA_STRING(struct job_door, row.name, "name"),
                         JOB_SCHEMA_STRING(struct job_door, host, "set"),
                         TEXT_OF("command", 0)},
    [JOB_DOOR_GROUPS] = {UINT(base, "base")},
    [JOB_DOOR_GROUPED] = {JOB_SCHEMA_FLAGS(1, grouped_flags),
                          REST("lines", 1, 0)},
    [JOB_DOOR_FIRST] = {UINT(first, "process"), UINT(status, "status"),
                        TEXT_OF("words", 0)},
    [JOB_DOOR_STALLED] = {TEXT_OF("words", 0)},
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
