/* Layout of the messages between the spawner and its owner. */
#include "endpoints/spawn/msg.h"

#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"
#include "overlay/base/wire.h"

enum {
    JOB_CWD_OPTIONAL = 1,
    JOB_NEW_SESSION = 2,
    JOB_MANNERS = 4,
    MANNERS_BYTES = 5 + 8 * JOB_MANNERS_LIMITS,
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

static size_t strings_bytes(const char *const *strings)
{
    size_t total = 4;

    for (size_t i = 0; strings != NULL && strings[i] != NULL; i++)
        total += strlen(strings[i]) + 1;
    return total;
}

static void strings_write(struct ov_wr *wr, const char *const *strings)
{
    uint32_t count = 0;

    while (strings != NULL && strings[count] != NULL)
        count++;
    ov_wr_u32(wr, count);
    for (uint32_t i = 0; i < count; i++)
        ov_wr_bytes(wr, strings[i], strlen(strings[i]) + 1);
}

/* The next string up to and with its NUL, or NULL. */
static const char *string_read(struct ov_rd *rd)
{
    const void *nul = memchr(rd->at, 0, ov_rd_left(rd));

    if (nul == NULL) {
        rd->bad = true;
        return NULL;
    }
    return (const char *)ov_rd_bytes(
        rd, (size_t)((const uint8_t *)nul - rd->at) + 1);
}

static int strings_read(struct ov_rd *rd, struct ep_strings *out)
{
    uint32_t count = ov_rd_u32(rd);

    *out = (struct ep_strings){0};
    if (rd->bad || count > ov_rd_left(rd))
        return OV_EPROTO;
    out->at = calloc((size_t)count + 1, sizeof(*out->at));
    if (out->at == NULL)
        return OV_ENOMEM;
    for (uint32_t i = 0; i < count && !rd->bad; i++)
        out->at[i] = string_read(rd);
    out->count = count;
    if (!rd->bad)
        return 0;
    free(out->at);
    *out = (struct ep_strings){0};
    return OV_EPROTO;
}

/* A message with room for len_bytes; *wr writes its body. */
static struct ep_wire_out *out_new(enum ep_spawn_msg type, size_t len_bytes,
                                   struct ov_wr *wr, int *err)
{
    struct ep_wire_out *out;

    *err = OV_EINVAL;
    if (len_bytes > EP_WIRE_BODY_MAX)
        return NULL;
    *err = OV_ENOMEM;
    out = ep_wire_out_new((uint8_t)type, (uint32_t)len_bytes);
    if (out == NULL)
        return NULL;
    *err = 0;
    *wr = ov_wr_init(out->body, len_bytes);
    return out;
}

static void manners_write(struct ov_wr *wr, const struct job_manners *manners)
{
    ov_wr_u32(wr, manners->umask);
    ov_wr_u8(wr, manners->nice);
    for (unsigned i = 0; i < JOB_MANNERS_LIMITS; i++)
        ov_wr_u64(wr, manners->soft[i]);
}

static void manners_read(struct ov_rd *rd, struct job_manners *manners)
{
    manners->is_known = true;
    manners->umask = ov_rd_u32(rd);
    manners->nice = ov_rd_u8(rd);
    for (unsigned i = 0; i < JOB_MANNERS_LIMITS; i++)
        manners->soft[i] = ov_rd_u64(rd);
}

struct ep_wire_out *
ep_spawn_job_encode(uint32_t job, const struct ep_spawn_job *what, int *err)
{
    const struct job_program *program = &what->program;
    const char *cwd = program->cwd != NULL ? program->cwd : "";
    size_t len_bytes;
    struct ep_wire_out *out;
    struct ov_wr wr;

    *err = OV_EINVAL;
    if (program->argv == NULL || program->argv[0] == NULL)
        return NULL;
    len_bytes = 5 + strlen(cwd) + 1 + strings_bytes(program->argv) +
                strings_bytes(what->env) +
                (what->manners.is_known ? MANNERS_BYTES : 0);
    out = out_new(EP_SPAWN_JOB, len_bytes, &wr, err);
    if (out == NULL)
        return NULL;
    ov_wr_u32(&wr, job);
    ov_wr_u8(&wr, (uint8_t)((program->cwd_is_optional ? JOB_CWD_OPTIONAL : 0) |
                            (what->new_session ? JOB_NEW_SESSION : 0) |
                            (what->manners.is_known ? JOB_MANNERS : 0)));
    ov_wr_bytes(&wr, cwd, strlen(cwd) + 1);
    strings_write(&wr, program->argv);
    strings_write(&wr, what->env);
    if (what->manners.is_known)
        manners_write(&wr, &what->manners);
    return out;
}

int ep_spawn_job_decode(const struct ep_wire_in *in, struct ep_held_job *out)
{
    struct job_program *program = &out->what.program;
    struct ep_strings argv, env = {0};
    struct ov_rd rd;
    uint8_t flags;
    int rc;

    *out = (struct ep_held_job){0};
    out->body = malloc(in->len_bytes + 1);
    if (out->body == NULL)
        return OV_ENOMEM;
    memcpy(out->body, in->body, in->len_bytes);
    rd = ov_rd_init(out->body, in->len_bytes);
    out->job = ov_rd_u32(&rd);
    flags = ov_rd_u8(&rd);
    program->cwd_is_optional = flags & JOB_CWD_OPTIONAL;
    out->what.new_session = flags & JOB_NEW_SESSION;
    program->cwd = string_read(&rd);
    if (program->cwd != NULL && program->cwd[0] == '\0')
        program->cwd = NULL;
    rc = strings_read(&rd, &argv);
    if (rc == 0)
        rc = strings_read(&rd, &env);
    program->argv = argv.at;
    out->what.env = env.at;
    if (flags & JOB_MANNERS)
        manners_read(&rd, &out->what.manners);
    if (rc == 0 && (rd.bad || argv.count == 0 || ov_rd_left(&rd) > 0))
        rc = OV_EPROTO;
    if (rc != 0)
        ep_spawn_job_fini(out);
    return rc;
}

void ep_spawn_job_fini(struct ep_held_job *job)
{
    free((void *)(uintptr_t)job->what.program.argv);
    free((void *)(uintptr_t)job->what.env);
    free(job->body);
    *job = (struct ep_held_job){0};
}

struct ep_wire_out *ep_start_encode(const struct ep_spawn_proc *what, int *err)
{
    const char *cpus = what->cpus != NULL ? what->cpus : "";
    struct ep_wire_out *out;
    struct ov_wr wr;
    uint8_t mask = 0;

    *err = OV_EINVAL;
    for (size_t i = 0; what->env != NULL && what->env[i] != NULL; i++) {
        const char *equals = strchr(what->env[i], '=');

        if (equals == NULL || equals == what->env[i])
            return NULL;
    }
    out = out_new(EP_SPAWN_START,
                  9 + strlen(cpus) + 1 + strings_bytes(what->args) +
                      strings_bytes(what->env),
                  &wr, err);
    if (out == NULL)
        return NULL;
    for (unsigned i = 0; i < 3; i++) {
        if (what->stdio[i] >= 0)
            mask |= (uint8_t)(1u << i);
    }
    if (what->further > 0)
        mask |= 1u << EP_SPAWN_FURTHER_FD;
    ov_wr_u32(&wr, what->job);
    ov_wr_u32(&wr, what->proc);
    ov_wr_u8(&wr, mask);
    ov_wr_bytes(&wr, cpus, strlen(cpus) + 1);
    strings_write(&wr, what->args);
    strings_write(&wr, what->env);
    return out;
}

int ep_start_decode(const struct ep_wire_in *in, struct ep_start *out)
{
    struct ov_rd rd = ov_rd_init(in->body, in->len_bytes);
    int rc;

    *out = (struct ep_start){0};
    out->job = ov_rd_u32(&rd);
    out->proc = ov_rd_u32(&rd);
    out->mask = ov_rd_u8(&rd);
    out->cpus = string_read(&rd);
    rc = strings_read(&rd, &out->args);
    if (rc == 0)
        rc = strings_read(&rd, &out->env);
    if (rc == 0 && (ov_rd_left(&rd) > 0 || out->mask > 15))
        rc = OV_EPROTO;
    if (rc != 0)
        ep_start_fini(out);
    return rc;
}

void ep_start_fini(struct ep_start *start)
{
    free(start->args.at);
    free(start->env.at);
    start->args = start->env = (struct ep_strings){0};
}

struct ep_wire_out *ep_signal_encode(const struct ep_signal *sig, int *err)
{
    struct ov_wr wr;
    struct ep_wire_out *out = out_new(EP_SPAWN_SIGNAL, 6, &wr, err);

    if (out == NULL)
        return NULL;
    ov_wr_u32(&wr, sig->proc);
    ov_wr_u8(&wr, sig->signo);
    ov_wr_u8(&wr, sig->to_all);
    return out;
}

int ep_signal_decode(const struct ep_wire_in *in, struct ep_signal *out)
{
    struct ov_rd rd = ov_rd_init(in->body, in->len_bytes);

    out->proc = ov_rd_u32(&rd);
    out->signo = ov_rd_u8(&rd);
    out->to_all = ov_rd_u8(&rd) != 0;
    return rd.bad || ov_rd_left(&rd) > 0 ? OV_EPROTO : 0;
}

struct ep_wire_out *ep_report_encode(enum ep_spawn_msg type,
                                     const struct ep_report *report, int *err)
{
    struct ov_wr wr;
    struct ep_wire_out *out = out_new(type, 9, &wr, err);

    if (out == NULL)
        return NULL;
    ov_wr_u32(&wr, report->proc);
    ov_wr_u8(&wr, report->step);
    ov_wr_u32(&wr, report->value);
    return out;
}

int ep_report_decode(const struct ep_wire_in *in, struct ep_report *out)
{
    struct ov_rd rd = ov_rd_init(in->body, in->len_bytes);

    out->proc = ov_rd_u32(&rd);
    out->step = ov_rd_u8(&rd);
    out->value = ov_rd_u32(&rd);
    return rd.bad || ov_rd_left(&rd) > 0 ? OV_EPROTO : 0;
}
