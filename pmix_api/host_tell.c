/* What the helper is told of the jobs: how each is, where its processes are,
 * who was started and has ended, who has a stdin. */
#include "pmix_api/host_impl.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "overlay/base/err.h"
#include "pmix_api/wire.h"

enum { PACKET_BYTES = 32 * 1024, STDIN_BYTES = 10, CHANNELS = 3 };

static int went(struct px_host *host, ssize_t sent)
{
    if (sent >= 0) {
        host->held_looks = 0;
        host->is_deaf = false;
        return 1;
    }
    return errno == EAGAIN || errno == ENOBUFS || errno == EINTR ? 0
                                                                 : OV_ECLOSED;
}

int px_tell_packet(struct px_host *host, const uint8_t *mem, size_t len)
{
    return went(host, send(host->fd, mem, len, MSG_NOSIGNAL | MSG_DONTWAIT));
}

/* Its bytes are copied by the kernel alone. */
static int tell_bytes(struct px_host *host, const struct px_output *output)
{
    uint8_t head[PX_OUTPUT_HEAD_BYTES];
    struct ov_wr wr = ov_wr_init(head, sizeof(head));
    struct iovec parts[2] = {
        {.iov_base = head, .iov_len = sizeof(head)},
        {.iov_base = (void *)(uintptr_t)output->mem,
         .iov_len = output->len_bytes},
    };
    struct msghdr packet = {.msg_iov = parts, .msg_iovlen = 2};

    px_output_encode_head(&wr, output);
    return went(host, sendmsg(host->fd, &packet, MSG_NOSIGNAL | MSG_DONTWAIT));
}

/* Those that there is room for, from the first on. */
static unsigned put_shared(struct px_share *share, struct ov_wr *wr,
                           const struct px_output *outputs, unsigned count)
{
    unsigned put = 0;

    for (; put < count; put++) {
        struct px_output shared = outputs[put];

        if (shared.len_bytes < PX_SHARE_LEN_MIN ||
            !px_share_put(share, shared.mem, shared.len_bytes, &shared.at))
            break;
        shared.is_shared = true;
        px_output_encode_head(wr, &shared);
    }
    return put;
}

/* Bytes go behind it where none are shared, or too few for that. */
int px_tell_outputs(struct px_host *host, const struct px_output *outputs,
                    unsigned count)
{
    uint8_t mem[PX_OUTPUTS_MAX * PX_OUTPUT_SHARED_BYTES];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    struct px_share was = host->share;
    unsigned put;
    int rc;

    if (outputs->len_bytes < PX_SHARE_LEN_MIN || was.head == NULL)
        return tell_bytes(host, outputs);
    put = put_shared(&host->share, &wr, outputs, count);
    if (put == 0) {
        host->is_share_full =
            !host->is_share_stuck && px_share_await(&host->share);
        return host->is_share_full ? 0 : tell_bytes(host, outputs);
    }
    rc = px_tell_packet(host, mem, (size_t)(wr.at - mem));
    if (rc == 1)
        return (int)put;
    host->share = was; /* nobody has heard of it */
    return rc;
}

int px_tell(struct px_host *host, const struct px_msg *msg)
{
    uint8_t mem[PX_OUTPUT_HEAD_BYTES + PX_OUTPUT_BYTES_MAX];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

    px_msg_encode(&wr, msg);
    return px_tell_packet(host, mem, (size_t)(wr.at - mem));
}

static int tell_start(struct px_host *host)
{
    const struct px_host_cfg *cfg = &host->cfg;
    struct px_msg msg = {
        .kind = PX_START,
        .start = {.version = PX_WIRE_VERSION,
                  .pid = (uint32_t)getpid(),
                  .size = cfg->size,
                  .cache_bytes = cfg->cache_bytes,
                  .apps = cfg->apps,
                  .parts = cfg->parts,
                  .allow = cfg->allow,
                  .is_dvm = cfg->is_dvm,
                  .nspace = px_text(cfg->nspace),
                  .folder = px_text(host->folder)},
    };

    return px_tell(host, &msg);
}

/* As many parts as a packet holds. */
static int tell_parts(struct px_host *host, struct px_host_job *job)
{
    uint8_t mem[PACKET_BYTES];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    uint32_t next = job->parts_told;
    int rc;

    for (; next < job->parts; next++) {
        struct px_msg msg = {.kind = PX_PART};
        struct ov_wr was = wr;
        struct job_neighbours part;

        if (job->places != NULL)
            part = job->places[next];
        else
            host->cfg.events->on_part(host->cfg.arg, job->base, next, &part);
        msg.part = (struct px_part){.app = part.app,
                                    .first_rank = job->base + part.first_rank,
                                    .ranks = part.ranks,
                                    .host = px_text(part.host),
                                    .program = px_text(part.program)};
        px_msg_encode(&wr, &msg);
        if (wr.bad) {
            wr = was;
            break;
        }
    }
    rc = px_tell_packet(host, mem, (size_t)(wr.at - mem));
    if (rc == 1)
        job->parts_told = next;
    return rc;
}

/* To a helper that was started again: who was started, and has ended,
 * already. */
static int tell_pids(struct px_host *host, struct px_host_job *job)
{
    uint32_t left = job->size - job->pids_told;
    uint16_t count = (uint16_t)(left < PX_PIDS_MAX ? left : PX_PIDS_MAX);
    struct px_msg msg = {
        .kind = PX_PIDS,
        .pids = {.first = job->base + job->pids_told,
                 .count = count,
                 .mem = job->pids + 4 * (size_t)job->pids_told}};
    int rc = job->started > 0 ? px_tell(host, &msg) : 1;

    if (rc == 1)
        job->pids_told += count;
    return rc;
}

static int tell_exits(struct px_host *host, struct px_host_job *job)
{
    uint8_t mem[PACKET_BYTES];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    uint32_t rank = job->exits_told;
    int rc = 1;

    for (; rank < job->size && wr.end - wr.at > 16; rank++) {
        struct px_msg msg = {.kind = PX_EXIT,
                             .exit = {.rank = job->base + rank}};

        if (job->status[rank] < 0)
            continue;
        msg.exit.status = (uint32_t)job->status[rank];
        px_msg_encode(&wr, &msg);
    }
    if (wr.at != mem)
        rc = px_tell_packet(host, mem, (size_t)(wr.at - mem));
    if (rc == 1)
        job->exits_told = rank;
    return rc;
}

/* The same of channels that are not whole. */
static int tell_broken(struct px_host *host, struct px_host_job *job)
{
    uint8_t mem[PACKET_BYTES];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    uint32_t rank = job->broken_told;
    int rc = 1;

    for (; rank < job->size && wr.end - wr.at > 16 * CHANNELS; rank++) {
        for (uint8_t channel = 1; channel <= CHANNELS; channel++) {
            struct px_msg msg = {.kind = PX_BROKEN,
                                 .broken = {job->base + rank, channel}};

            if ((job->broken[rank] & 1u << channel) != 0)
                px_msg_encode(&wr, &msg);
        }
    }
    if (wr.at != mem)
        rc = px_tell_packet(host, mem, (size_t)(wr.at - mem));
    if (rc == 1)
        job->broken_told = rank;
    return rc;
}

/* The next runs of ranks with and without a stdin, as many as there is room
 * for; returns how far that is. */
static uint32_t put_runs(const struct px_host_job *job, struct ov_wr *wr)
{
    uint32_t rank = job->in.told;

    while (rank < job->size && wr->end - wr->at >= STDIN_BYTES) {
        uint8_t open = job->in.state[rank] & PX_STDIN_OPEN;
        struct px_msg msg = {
            .kind = PX_STDIN,
            .in = {.what = open != 0 ? PX_STDIN_READY : PX_STDIN_SHUT,
                   .first = job->base + rank}};

        while (rank < job->size &&
               (job->in.state[rank] & PX_STDIN_OPEN) == open)
            rank++;
        msg.in.last = job->base + rank - 1;
        px_msg_encode(wr, &msg);
    }
    return rank;
}

static int tell_stdin(struct px_host *host, struct px_host_job *job)
{
    uint8_t mem[PACKET_BYTES];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    uint32_t told = put_runs(job, &wr);
    int rc = px_tell_packet(host, mem, (size_t)(wr.at - mem));

    if (rc == 1)
        job->in.told = told;
    return rc;
}

static int tell_full(struct px_host *host, struct px_host_job *job)
{
    bool is_full = job->in.pushes.is_full;
    int rc = px_tell(
        host,
        &(struct px_msg){.kind = PX_STDIN,
                         .in = {.what = is_full ? PX_STDIN_FULL : PX_STDIN_FREE,
                                .first = job->base,
                                .last = job->base + job->size - 1}});

    if (rc == 1)
        job->in.full_told = is_full;
    return rc;
}

static int tell_grant(struct px_host *host)
{
    struct px_msg msg = {
        .kind = PX_GRANT,
        .grant = {.bytes = host->push.grants_due,
                  .message_bytes = host->cfg.push_bytes},
    };
    int rc = px_tell(host, &msg);

    if (rc == 1) {
        host->push.granted_bytes += host->push.grants_due;
        host->push.grants_due = 0;
    }
    return rc;
}

static int tell_held(struct px_host *host)
{
    int rc = px_tell(host, &(struct px_msg){.kind = PX_HELD});

    host->push.is_held_due = rc != 1;
    return rc;
}

static int tell_taken(struct px_host *host)
{
    int rc = px_tell(host, &(struct px_msg){.kind = PX_TAKEN});

    host->taken_due -= rc == 1;
    return rc;
}

static int tell_name(struct px_host *host, struct px_host_job *job)
{
    struct px_msg msg = {.kind = PX_JOB,
                         .job = {.token = job->token,
                                 .base = job->base,
                                 .size = job->size,
                                 .apps = job->apps,
                                 .parts = job->parts,
                                 .forwards = job->forwards,
                                 .pull = job->pull,
                                 .cache_bytes = job->cache_bytes,
                                 .nspace = px_text(job->nspace)}};
    int rc = job->base == 0 ? tell_start(host) : px_tell(host, &msg);

    job->is_named = rc == 1;
    return rc;
}

static int tell_job(struct px_host *host, struct px_host_job *job)
{
    int rc = job->is_named ? 1 : tell_name(host, job);

    while (rc == 1 && job->parts_told < job->parts)
        rc = tell_parts(host, job);
    while (rc == 1 && job->pids_told < job->size)
        rc = tell_pids(host, job);
    while (rc == 1 && job->exits_told < job->size)
        rc = tell_exits(host, job);
    while (rc == 1 && job->broken_told < job->size)
        rc = tell_broken(host, job);
    while (rc == 1 && job->in.told < job->size)
        rc = tell_stdin(host, job);
    if (rc == 1 && job->in.full_told != job->in.pushes.is_full)
        rc = tell_full(host, job);
    return rc;
}

int px_tell_jobs(struct px_host *host)
{
    int rc = 1;

    for (struct px_host_job *job = host->jobs; rc == 1 && job != NULL;
         job = job->next) {
        rc = tell_job(host, job);
        if (rc == 1)
            host->phase = PX_HOST_READY;
    }
    if (rc == 1 && host->push.grants_due > 0)
        rc = tell_grant(host);
    if (rc == 1 && host->push.is_held_due)
        rc = tell_held(host);
    while (rc == 1 && host->taken_due > 0)
        rc = tell_taken(host);
    return rc;
}

static int tell_stage(struct px_host *host, struct px_host_job *job)
{
    struct px_msg msg = {.kind = PX_STAGE,
                         .stage = {.base = job->base,
                                   .name = (uint8_t)(job->stages_told + 1),
                                   .time_s = job->stage_s[job->stages_told],
                                   .has_failed = job->failure.count > 0,
                                   .is_lost = job->failure.is_lost,
                                   .rank = job->base + job->failure.rank,
                                   .status = (uint32_t)job->failure.status}};
    int rc = px_tell(host, &msg);

    if (rc == 1)
        job->stages_told++;
    return rc;
}

/* Nothing of the job ever ran. */
static int tell_void(struct px_host *host, const struct px_host_job *job)
{
    struct px_msg msg = {.kind = PX_STAGE,
                         .stage = {.base = job->base, .name = PX_STAGE_NONE}};

    return px_tell(host, &msg);
}

int px_tell_stages(struct px_host *host)
{
    int rc = 1;

    for (struct px_host_job *job = host->jobs; job != NULL; job = job->next) {
        while (rc == 1 && job->stages_told < job->stage)
            rc = tell_stage(host, job);
        if (rc == 1 && job->is_done && job->stage == PX_STAGE_NONE)
            rc = tell_void(host, job);
    }
    if (rc == 1)
        px_jobs_reap(host);
    return rc;
}
