/* The words between the launcher and its PMIx helper, as bytes. */
#include "pmix_api/wire.h"

#include "overlay/base/err.h"

enum { CHANNEL_FIRST = 1, CHANNEL_LAST = 3 };

enum pull_flag { PULL_REDIRECTS = 1, PULL_MORE = 2, PULL_LAST = 4 };

struct px_text px_text(const char *string)
{
    size_t len = strlen(string);

    if (len > PX_TEXT_BYTES_MAX)
        len = PX_TEXT_BYTES_MAX;
    return (struct px_text){string, (uint16_t)len};
}

void px_text_copy(struct px_text text, char *out, size_t size_bytes)
{
    size_t len = text.len_bytes < size_bytes ? text.len_bytes : size_bytes - 1;

    memcpy(out, text.at, len);
    out[len] = '\0';
}

static void put_text(struct ov_wr *wr, struct px_text text)
{
    ov_wr_u16(wr, text.len_bytes);
    ov_wr_bytes(wr, text.at, text.len_bytes);
}

static struct px_text get_text(struct ov_rd *rd)
{
    struct px_text text = {"", ov_rd_u16(rd)};

    if (text.len_bytes > PX_TEXT_BYTES_MAX)
        rd->bad = true;
    else
        text.at = (const char *)ov_rd_bytes(rd, text.len_bytes);
    return text;
}

/* --- writing */

static void put_start(struct ov_wr *wr, const struct px_start *start)
{
    ov_wr_u16(wr, start->version);
    ov_wr_u32(wr, start->pid);
    ov_wr_u32(wr, start->size);
    ov_wr_u32(wr, start->apps);
    ov_wr_u32(wr, start->parts);
    ov_wr_u8(wr, start->allow);
    ov_wr_u8(wr, start->is_dvm);
    ov_wr_u32(wr, start->cache_bytes);
    put_text(wr, start->nspace);
    put_text(wr, start->folder);
}

static void put_part(struct ov_wr *wr, const struct px_part *part)
{
    ov_wr_u32(wr, part->app);
    ov_wr_u32(wr, part->first_rank);
    ov_wr_u32(wr, part->ranks);
    put_text(wr, part->host);
    put_text(wr, part->program);
}

static void put_job(struct ov_wr *wr, const struct px_job_word *job)
{
    ov_wr_u32(wr, job->token);
    ov_wr_u32(wr, job->base);
    ov_wr_u32(wr, job->size);
    ov_wr_u32(wr, job->apps);
    ov_wr_u32(wr, job->parts);
    ov_wr_u8(wr, job->forwards);
    ov_wr_u32(wr, job->pull);
    ov_wr_u32(wr, job->cache_bytes);
    put_text(wr, job->nspace);
}

static void put_spawn(struct ov_wr *wr, const struct px_spawn_piece *spawn)
{
    ov_wr_u32(wr, spawn->token);
    ov_wr_u8(wr, spawn->is_more);
    ov_wr_u32(wr, spawn->len_bytes);
    ov_wr_bytes(wr, spawn->mem, spawn->len_bytes);
}

static void put_stage(struct ov_wr *wr, const struct px_stage *stage)
{
    ov_wr_u32(wr, stage->base);
    ov_wr_u8(wr, stage->name);
    ov_wr_u64(wr, stage->time_s);
    ov_wr_u8(wr, (uint8_t)(stage->has_failed | stage->is_lost << 1));
    ov_wr_u32(wr, stage->rank);
    ov_wr_u32(wr, stage->status);
}

static void put_signal(struct ov_wr *wr, const struct px_signal *signal)
{
    ov_wr_u32(wr, signal->token);
    ov_wr_u32(wr, signal->signo);
    ov_wr_u8(wr, signal->count);
    for (unsigned i = 0; i < signal->count; i++) {
        ov_wr_u32(wr, signal->ranges[i].first);
        ov_wr_u32(wr, signal->ranges[i].last);
    }
}

static void put_exit(struct ov_wr *wr, const struct px_exit *exit)
{
    ov_wr_u32(wr, exit->rank);
    ov_wr_u32(wr, exit->status);
}

static void put_of_job(struct ov_wr *wr, const struct px_msg *msg)
{
    if (msg->kind == PX_PIDS) {
        ov_wr_u32(wr, msg->pids.first);
        ov_wr_u16(wr, msg->pids.count);
        ov_wr_bytes(wr, msg->pids.mem, 4u * msg->pids.count);
    } else if (msg->kind == PX_STAGE) {
        put_stage(wr, &msg->stage);
    } else if (msg->kind == PX_PART) {
        put_part(wr, &msg->part);
    } else if (msg->kind == PX_EXIT) {
        put_exit(wr, &msg->exit);
    } else if (msg->kind == PX_JOB) {
        put_job(wr, &msg->job);
    } else {
        put_spawn(wr, &msg->spawn);
    }
}

static void put_broken(struct ov_wr *wr, const struct px_broken *broken)
{
    ov_wr_u32(wr, broken->rank);
    ov_wr_u8(wr, broken->channel);
}

/* Of what tools ask for. */
static void put_more(struct ov_wr *wr, const struct px_msg *msg)
{
    if (msg->kind == PX_DONE) {
        ov_wr_u32(wr, msg->done.token);
        ov_wr_u8(wr, msg->done.answer);
    } else if (msg->kind == PX_LOG) {
        ov_wr_u32(wr, msg->log.token);
        ov_wr_u8(wr, msg->log.channel);
        ov_wr_u8(wr, msg->log.is_more);
        put_text(wr, msg->log.text);
    } else if (msg->kind == PX_BROKEN) {
        put_broken(wr, &msg->broken);
    } else {
        put_signal(wr, &msg->signal);
    }
}

static void put_stdin(struct ov_wr *wr, const struct px_stdin *in)
{
    ov_wr_u8(wr, in->what);
    ov_wr_u32(wr, in->first);
    ov_wr_u32(wr, in->last);
}

static void put_push(struct ov_wr *wr, const struct px_push *push)
{
    ov_wr_u32(wr, push->len_bytes);
    ov_wr_bytes(wr, push->mem, push->len_bytes);
}

static void put_grant(struct ov_wr *wr, const struct px_grant *grant)
{
    ov_wr_u32(wr, grant->bytes);
    ov_wr_u32(wr, grant->message_bytes);
}

static void put_of_push(struct ov_wr *wr, const struct px_msg *msg)
{
    if (msg->kind == PX_STDIN)
        put_stdin(wr, &msg->in);
    else if (msg->kind == PX_GRANT)
        put_grant(wr, &msg->grant);
    else
        put_push(wr, &msg->push);
}

static void put_end(struct ov_wr *wr, const struct px_end *end)
{
    ov_wr_u32(wr, end->id);
    ov_wr_u64(wr, end->lost_bytes);
    ov_wr_u8(wr, end->is_kept);
    ov_wr_u64(wr, end->position);
}

static void put_pull(struct ov_wr *wr, const struct px_pull *pull)
{
    ov_wr_u32(wr, pull->id);
    ov_wr_u8(wr, pull->channels);
    ov_wr_u8(wr, (uint8_t)((pull->redirects ? PULL_REDIRECTS : 0) |
                           (pull->has_more ? PULL_MORE : 0) |
                           (pull->is_last ? PULL_LAST : 0)));
    ov_wr_u32(wr, pull->first);
    ov_wr_u32(wr, pull->last);
    ov_wr_u32(wr, pull->cache_bytes);
}

static void put_of_pull(struct ov_wr *wr, const struct px_msg *msg)
{
    if (msg->kind == PX_PULL)
        put_pull(wr, &msg->pull);
    else if (msg->kind == PX_END)
        put_end(wr, &msg->end);
    else
        ov_wr_u32(wr, msg->id);
}

void px_msg_encode(struct ov_wr *wr, const struct px_msg *msg)
{
    ov_wr_u8(wr, (uint8_t)msg->kind);
    switch (msg->kind) {
    case PX_START:
        put_start(wr, &msg->start);
        return;
    case PX_PART:
    case PX_JOB:
    case PX_SPAWN:
    case PX_EXIT:
    case PX_PIDS:
    case PX_STAGE:
        put_of_job(wr, msg);
        return;
    case PX_OUTPUT:
        px_output_encode(wr, &msg->output);
        return;
    case PX_PULL:
    case PX_END:
    case PX_LIVE:
    case PX_HEARD:
    case PX_BEHIND:
    case PX_STOP:
        put_of_pull(wr, msg);
        return;
    case PX_STDIN:
    case PX_GRANT:
    case PX_PUSH:
        put_of_push(wr, msg);
        return;
    case PX_UP:
    case PX_NOTE:
        put_text(wr, msg->text);
        return;
    case PX_PING:
    case PX_PONG:
    case PX_HANGUP:
        ov_wr_u32(wr, msg->token);
        return;
    case PX_DONE:
    case PX_LOG:
    case PX_SIGNAL:
    case PX_BROKEN:
        put_more(wr, msg);
        return;
    case PX_FLUSH:
    case PX_QUIET:
    case PX_FLUSHED:
    case PX_TOOL:
    case PX_REST:
    case PX_PUSHER:
    case PX_HELD:
    case PX_ROOM:
    case PX_TAKEN:
        return;
    }
    wr->bad = true;
}

/* --- reading */

static void get_start(struct ov_rd *rd, struct px_start *start)
{
    uint8_t is_dvm;

    start->version = ov_rd_u16(rd);
    start->pid = ov_rd_u32(rd);
    start->size = ov_rd_u32(rd);
    start->apps = ov_rd_u32(rd);
    start->parts = ov_rd_u32(rd);
    start->allow = ov_rd_u8(rd);
    is_dvm = ov_rd_u8(rd);
    start->is_dvm = is_dvm != 0;
    if (is_dvm > 1)
        rd->bad = true;
    start->cache_bytes = ov_rd_u32(rd);
    start->nspace = get_text(rd);
    start->folder = get_text(rd);
}

static void get_grant(struct ov_rd *rd, struct px_grant *grant)
{
    grant->bytes = ov_rd_u32(rd);
    grant->message_bytes = ov_rd_u32(rd);
}

static void get_end(struct ov_rd *rd, struct px_end *end)
{
    uint8_t is_kept;

    end->id = ov_rd_u32(rd);
    end->lost_bytes = ov_rd_u64(rd);
    is_kept = ov_rd_u8(rd);
    end->position = ov_rd_u64(rd);
    end->is_kept = is_kept != 0;
    if (is_kept > 1)
        rd->bad = true;
}

static void get_pull(struct ov_rd *rd, struct px_pull *pull)
{
    uint8_t flags;

    pull->id = ov_rd_u32(rd);
    pull->channels = ov_rd_u8(rd);
    flags = ov_rd_u8(rd);
    pull->redirects = (flags & PULL_REDIRECTS) != 0;
    pull->has_more = (flags & PULL_MORE) != 0;
    pull->is_last = (flags & PULL_LAST) != 0;
    pull->first = ov_rd_u32(rd);
    pull->last = ov_rd_u32(rd);
    pull->cache_bytes = ov_rd_u32(rd);
    if (pull->first > pull->last || pull->id == 0 ||
        (flags & ~(PULL_REDIRECTS | PULL_MORE | PULL_LAST)) != 0)
        rd->bad = true;
}

static void get_pids(struct ov_rd *rd, struct px_pids *pids)
{
    pids->first = ov_rd_u32(rd);
    pids->count = ov_rd_u16(rd);
    pids->mem = ov_rd_bytes(rd, 4u * pids->count);
    if (pids->count == 0 || pids->count > PX_PIDS_MAX)
        rd->bad = true;
}

static void get_part(struct ov_rd *rd, struct px_part *part)
{
    part->app = ov_rd_u32(rd);
    part->first_rank = ov_rd_u32(rd);
    part->ranks = ov_rd_u32(rd);
    part->host = get_text(rd);
    part->program = get_text(rd);
}

static void get_job(struct ov_rd *rd, struct px_job_word *job)
{
    job->token = ov_rd_u32(rd);
    job->base = ov_rd_u32(rd);
    job->size = ov_rd_u32(rd);
    job->apps = ov_rd_u32(rd);
    job->parts = ov_rd_u32(rd);
    job->forwards = ov_rd_u8(rd);
    job->pull = ov_rd_u32(rd);
    job->cache_bytes = ov_rd_u32(rd);
    job->nspace = get_text(rd);
    if (job->base == 0 || job->size == 0 || job->size > UINT32_MAX - job->base)
        rd->bad = true;
}

static void get_spawn(struct ov_rd *rd, struct px_spawn_piece *spawn)
{
    uint8_t is_more;

    spawn->token = ov_rd_u32(rd);
    is_more = ov_rd_u8(rd);
    spawn->is_more = is_more == 1;
    spawn->len_bytes = ov_rd_u32(rd);
    if (spawn->len_bytes > PX_SPAWN_PIECE || is_more > 1)
        rd->bad = true;
    else
        spawn->mem = ov_rd_bytes(rd, spawn->len_bytes);
}

static void get_exit(struct ov_rd *rd, struct px_exit *exit)
{
    exit->rank = ov_rd_u32(rd);
    exit->status = ov_rd_u32(rd);
}

static void get_stage(struct ov_rd *rd, struct px_stage *stage)
{
    uint8_t ends;

    stage->base = ov_rd_u32(rd);
    stage->name = ov_rd_u8(rd);
    stage->time_s = ov_rd_u64(rd);
    ends = ov_rd_u8(rd);
    stage->has_failed = (ends & 1) != 0;
    stage->is_lost = (ends & 2) != 0;
    stage->rank = ov_rd_u32(rd);
    stage->status = ov_rd_u32(rd);
    if (stage->name > PX_STAGE_ENDED || ends > 3)
        rd->bad = true;
}

static void get_done(struct ov_rd *rd, struct px_done *done)
{
    done->token = ov_rd_u32(rd);
    done->answer = ov_rd_u8(rd);
    if (done->answer >= PX_ANSWERS)
        rd->bad = true;
}

static void get_log(struct ov_rd *rd, struct px_log *log)
{
    uint8_t is_more;

    log->token = ov_rd_u32(rd);
    log->channel = ov_rd_u8(rd);
    is_more = ov_rd_u8(rd);
    log->is_more = is_more == 1;
    log->text = get_text(rd);
    if (log->channel < CHANNEL_FIRST || log->channel >= CHANNEL_LAST ||
        is_more > 1)
        rd->bad = true;
}

static void get_signal(struct ov_rd *rd, struct px_signal *signal)
{
    signal->token = ov_rd_u32(rd);
    signal->signo = ov_rd_u32(rd);
    signal->count = ov_rd_u8(rd);
    if (signal->count > PX_RANGES_MAX) {
        rd->bad = true;
        return;
    }
    for (unsigned i = 0; i < signal->count; i++) {
        signal->ranges[i].first = ov_rd_u32(rd);
        signal->ranges[i].last = ov_rd_u32(rd);
        if (signal->ranges[i].first > signal->ranges[i].last)
            rd->bad = true;
    }
}

static void get_of_job(struct ov_rd *rd, struct px_msg *msg)
{
    if (msg->kind == PX_PIDS)
        get_pids(rd, &msg->pids);
    else if (msg->kind == PX_STAGE)
        get_stage(rd, &msg->stage);
    else if (msg->kind == PX_PART)
        get_part(rd, &msg->part);
    else if (msg->kind == PX_EXIT)
        get_exit(rd, &msg->exit);
    else if (msg->kind == PX_JOB)
        get_job(rd, &msg->job);
    else
        get_spawn(rd, &msg->spawn);
}

static void get_broken(struct ov_rd *rd, struct px_broken *broken)
{
    broken->rank = ov_rd_u32(rd);
    broken->channel = ov_rd_u8(rd);
    if (broken->channel < CHANNEL_FIRST || broken->channel > CHANNEL_LAST)
        rd->bad = true;
}

static void get_more(struct ov_rd *rd, struct px_msg *msg)
{
    if (msg->kind == PX_DONE)
        get_done(rd, &msg->done);
    else if (msg->kind == PX_LOG)
        get_log(rd, &msg->log);
    else if (msg->kind == PX_BROKEN)
        get_broken(rd, &msg->broken);
    else
        get_signal(rd, &msg->signal);
}

static void get_stdin(struct ov_rd *rd, struct px_stdin *in)
{
    in->what = ov_rd_u8(rd);
    in->first = ov_rd_u32(rd);
    in->last = ov_rd_u32(rd);
    if (in->what >= PX_STDIN_WHATS || in->first > in->last)
        rd->bad = true;
}

static void get_push(struct ov_rd *rd, struct px_push *push)
{
    push->len_bytes = ov_rd_u32(rd);
    if (push->len_bytes > PX_PUSH_BYTES_MAX)
        rd->bad = true;
    else
        push->mem = ov_rd_bytes(rd, push->len_bytes);
}

static void get_of_push(struct ov_rd *rd, struct px_msg *msg)
{
    if (msg->kind == PX_STDIN)
        get_stdin(rd, &msg->in);
    else if (msg->kind == PX_GRANT)
        get_grant(rd, &msg->grant);
    else
        get_push(rd, &msg->push);
}

/* The body of a message of msg->kind; false when there is no such kind. */
static bool get_body(struct ov_rd *rd, struct px_msg *msg)
{
    switch (msg->kind) {
    case PX_START:
        get_start(rd, &msg->start);
        return true;
    case PX_PART:
    case PX_JOB:
    case PX_SPAWN:
    case PX_EXIT:
    case PX_PIDS:
    case PX_STAGE:
        get_of_job(rd, msg);
        return true;
    case PX_OUTPUT:
        px_output_decode(rd, &msg->output);
        return true;
    case PX_PULL:
        get_pull(rd, &msg->pull);
        return true;
    case PX_STDIN:
    case PX_GRANT:
    case PX_PUSH:
        get_of_push(rd, msg);
        return true;
    case PX_END:
        get_end(rd, &msg->end);
        return true;
    case PX_LIVE:
    case PX_HEARD:
    case PX_BEHIND:
    case PX_STOP:
        msg->id = ov_rd_u32(rd);
        return true;
    case PX_UP:
    case PX_NOTE:
        msg->text = get_text(rd);
        return true;
    case PX_PING:
    case PX_PONG:
    case PX_HANGUP:
        msg->token = ov_rd_u32(rd);
        return true;
    case PX_DONE:
    case PX_LOG:
    case PX_SIGNAL:
    case PX_BROKEN:
        get_more(rd, msg);
        return true;
    case PX_FLUSH:
    case PX_QUIET:
    case PX_FLUSHED:
    case PX_TOOL:
    case PX_REST:
    case PX_PUSHER:
    case PX_HELD:
    case PX_ROOM:
    case PX_TAKEN:
        return true;
    }
    return false;
}

int px_msg_decode(struct ov_rd *rd, struct px_msg *out)
{
    memset(out, 0, sizeof(*out));
    out->kind = (enum px_kind)ov_rd_u8(rd);
    return get_body(rd, out) && !rd->bad ? 0 : OV_EPROTO;
}
