/* The messages between the spawner and its owner, as tables. */
#include "endpoints/spawn/msg.h"

#include <stdlib.h>
#include <string.h>

#include "job/schema.h"
#include "overlay/base/err.h"

static const struct job_schema_row job_flags[] = {
    JOB_SCHEMA_FLAG(struct ep_held_job, what.program.cwd_is_optional, 1),
    JOB_SCHEMA_FLAG(struct ep_held_job, what.new_session, 2),
    JOB_SCHEMA_FLAG(struct ep_held_job, what.manners.is_known, 4),
    {.kind = JOB_ROW_END},
};

static const struct job_schema_row manners_rows[] = {
    JOB_SCHEMA_UINT(struct ep_held_job, what.manners.umask, "umask"),
    JOB_SCHEMA_UINT(struct ep_held_job, what.manners.nice, "nice"),
#define LIMIT_ROW(name, text)                                                  \
    JOB_SCHEMA_UINT(struct ep_held_job, what.manners.soft[JOB_MANNERS_##name], \
                    text),
    JOB_MANNERS_MAP(LIMIT_ROW)
#undef LIMIT_ROW
        {.kind = JOB_ROW_END},
};

static const struct job_schema_row job_rows[] = {
    JOB_SCHEMA_UINT(struct ep_held_job, job, "job"),
    JOB_SCHEMA_FLAGS(1, job_flags),
    JOB_SCHEMA_STRING(struct ep_held_job, what.program.cwd, "cwd"),
    JOB_SCHEMA_STRINGS(struct ep_held_job, what.program.argv, "argv", 1),
    JOB_SCHEMA_STRINGS(struct ep_held_job, what.env, "env", 0),
    JOB_SCHEMA_WHEN(struct ep_held_job, what.manners.is_known, true,
                    manners_rows),
    {.kind = JOB_ROW_END},
};

static const struct job_schema_row start_rows[] = {
    JOB_SCHEMA_UINT(struct ep_start, job, "job"),
    JOB_SCHEMA_UINT(struct ep_start, proc, "proc"),
    JOB_SCHEMA_RANGE(struct ep_start, mask, "mask", 0,
                     (1u << EP_WIRE_FDS_MAX) - 1),
    JOB_SCHEMA_STRING(struct ep_start, cpus, "cpus"),
    JOB_SCHEMA_STRINGS(struct ep_start, args, "args", 0),
    JOB_SCHEMA_STRINGS(struct ep_start, env, "env", 0),
    {.kind = JOB_ROW_END},
};

static const struct job_schema_row signal_rows[] = {
    JOB_SCHEMA_UINT(struct ep_signal, proc, "proc"),
    JOB_SCHEMA_UINT(struct ep_signal, signo, "signal"),
    {.kind = JOB_ROW_END},
};

static const struct job_schema_row report_rows[] = {
    JOB_SCHEMA_UINT(struct ep_report, proc, "proc"),
    JOB_SCHEMA_UINT(struct ep_report, step, "step"),
    JOB_SCHEMA_UINT(struct ep_report, value, "value"),
    JOB_SCHEMA_UINT(struct ep_report, at_ns, "time"),
    {.kind = JOB_ROW_END},
};

const char *ep_step_name(unsigned step)
{
    static const char *const names[] = {
#define STEP_NAME(name, text) text,
        EP_STEP_MAP(STEP_NAME)
#undef STEP_NAME
    };

    return step < EP_STEPS ? names[step] : "step";
}

static struct ep_wire_out *encode(enum ep_spawn_msg type,
                                  const struct job_schema_row *rows,
                                  const void *what, int *err)
{
    size_t len_bytes = job_schema_bytes(rows, what);
    struct ep_wire_out *out;
    struct ov_wr wr;

    *err = OV_EINVAL;
    if (len_bytes > EP_WIRE_BODY_MAX)
        return NULL;
    *err = OV_ENOMEM;
    out = ep_wire_out_new((uint8_t)type, (uint32_t)len_bytes);
    if (out == NULL)
        return NULL;
    *err = 0;
    wr = ov_wr_init(out->body, len_bytes);
    job_schema_encode(rows, what, &wr);
    return out;
}

struct ep_wire_out *
ep_spawn_job_encode(uint32_t job, const struct ep_spawn_job *what, int *err)
{
    const struct ep_held_job held = {.job = job, .what = *what};

    *err = OV_EINVAL;
    if (what->program.argv == NULL || what->program.argv[0] == NULL)
        return NULL;
    return encode(EP_SPAWN_JOB, job_rows, &held, err);
}

int ep_spawn_job_decode(const struct ep_wire_in *in, struct ep_held_job *out)
{
    struct job_program *program = &out->what.program;
    int rc;

    *out = (struct ep_held_job){0};
    out->body = malloc(in->len_bytes + 1);
    if (out->body == NULL)
        return OV_ENOMEM;
    memcpy(out->body, in->body, in->len_bytes);
    rc = job_schema_decode(job_rows, ov_rd_init(out->body, in->len_bytes), out);
    if (rc != 0)
        ep_spawn_job_fini(out);
    else if (program->cwd[0] == '\0')
        program->cwd = NULL;
    return rc;
}

void ep_spawn_job_fini(struct ep_held_job *job)
{
    job_schema_fini(job_rows, job);
    free(job->body);
    *job = (struct ep_held_job){0};
}

struct ep_wire_out *ep_start_encode(const struct ep_spawn_proc *what, int *err)
{
    struct ep_start start = {
        .job = what->job,
        .proc = what->proc,
        .cpus = what->cpus,
        .args = what->args,
        .env = what->env,
    };

    *err = OV_EINVAL;
    for (size_t i = 0; what->env != NULL && what->env[i] != NULL; i++) {
        const char *equals = strchr(what->env[i], '=');

        if (equals == NULL || equals == what->env[i])
            return NULL;
    }
    for (unsigned i = 0; i < 3; i++) {
        if (what->stdio[i] >= 0)
            start.mask |= (uint8_t)(1u << i);
    }
    if (what->further > 0)
        start.mask |= 1u << EP_SPAWN_FURTHER_FD;
    return encode(EP_SPAWN_START, start_rows, &start, err);
}

int ep_start_decode(const struct ep_wire_in *in, struct ep_start *out)
{
    *out = (struct ep_start){0};
    return job_schema_decode(start_rows, ov_rd_init(in->body, in->len_bytes),
                             out);
}

void ep_start_fini(struct ep_start *start)
{
    job_schema_fini(start_rows, start);
}

struct ep_wire_out *ep_signal_encode(const struct ep_signal *sig, int *err)
{
    return encode(EP_SPAWN_SIGNAL, signal_rows, sig, err);
}

int ep_signal_decode(const struct ep_wire_in *in, struct ep_signal *out)
{
    return job_schema_decode(signal_rows, ov_rd_init(in->body, in->len_bytes),
                             out);
}

struct ep_wire_out *ep_report_encode(enum ep_spawn_msg type,
                                     const struct ep_report *report, int *err)
{
    return encode(type, report_rows, report, err);
}

int ep_report_decode(const struct ep_wire_in *in, struct ep_report *out)
{
    return job_schema_decode(report_rows, ov_rd_init(in->body, in->len_bytes),
                             out);
}
