/* The processes of one node. */
#include "config.h"

#include "endpoints/daemon/local.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "endpoints/daemon/channel.h"
#include "endpoints/daemon/feed.h"
#include "endpoints/daemon/identity.h"
#include "endpoints/spawn/spawner.h"
#include "endpoints/sys/fds.h"
#include "endpoints/sys/spool_file.h"
#include "overlay/base/err.h"

enum {
    OUTPUTS = EP_STATE_OUTPUTS,
    NAME_FRAMES = 4,
    SPILL_AFTER_MS = 1000,
    /* No wide pipes for more: a user's pipes share a limit (64 MiB as a rule,
     * see pipe(7)), and beyond it new ones of anybody are tiny. */
    WIDE_PROCS = 16,
};

/* stdout or stderr of a process. */
struct output {
    struct ep_channel *channel; /* NULL: none, or ended */
    struct proc *proc;
    struct ep_tally tally; /* of what was read, every byte */
    uint16_t input;
    uint8_t name; /* enum ov_channel */
};

struct proc {
    struct ep_local *local;
    struct output outputs[OUTPUTS];
    struct event *linger; /* owned; made when the process has ended */
    uint64_t taken_bytes; /* of stdin, when it had ended */
    uint32_t rank;
    uint32_t app;
    int status;
    bool is_running; /* not yet failed or exited */
    bool is_over;    /* its end was said */
};

struct ep_local {
    struct ep_local_cfg cfg;
    const struct ep_job *job; /* NULL before ep_local_begin */
    const struct ep_binding *binding;
    struct proc *procs;
    struct ep_feed *feed;
    struct ov_buf *block;   /* output is read into it, then referenced */
    uint64_t fed, consumed; /* frames of stdin */
    uint32_t block_used;
    uint32_t procs_count, started;
    uint32_t over;
    uint8_t *words; /* [words_len]: said but not read; owned */
    size_t words_len, words_cap;
    bool is_ready_told; /* input 0 */
    bool is_final;
};

/* --- what the node has to say */

static void tell_ready(struct ep_local *local)
{
    if (local->is_ready_told)
        return;
    local->is_ready_told = true;
    ep_hub_ready(local->cfg.hub, local->cfg.index, 0);
}

void ep_local_say(struct ep_local *local, const struct ep_state *state)
{
    uint8_t mem[EP_STATE_BYTES_MAX + 64];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    size_t len_bytes;

    ep_state_encode(&wr, state);
    OV_ASSERT(!wr.bad);
    len_bytes = (size_t)(wr.at - mem);
    if (local->words_len + len_bytes > local->words_cap) {
        size_t cap = 2 * local->words_cap + sizeof(mem);
        uint8_t *words = realloc(local->words, cap);

        OV_ASSERT(words != NULL);
        local->words = words;
        local->words_cap = cap;
    }
    memcpy(local->words + local->words_len, mem, len_bytes);
    local->words_len += len_bytes;
    tell_ready(local);
}

static bool is_all_over(const struct ep_local *local)
{
    return local->job != NULL && local->over == local->procs_count;
}

/* The last process is over: the daemon's usage, then the final record. */
static void say_last(struct ep_local *local)
{
    struct ep_state state = {.kind = EP_STATE_USAGE};

    if (local->cfg.on_over(local->cfg.arg, &state.usage))
        ep_local_say(local, &state);
    tell_ready(local);
}

/* --- reading */

/* The block, with room for max_bytes, or for as much as a block can have left
 * when half of it is still free. Returns the room, 0 when memory is out. */
static uint32_t block_room(struct ep_local *local, uint32_t max_bytes)
{
    struct ov_buf *block = local->block;
    uint32_t left = block == NULL ? 0 : block->cap_bytes - local->block_used;

    if (block == NULL || (left < max_bytes && left < block->cap_bytes / 2)) {
        if (block != NULL)
            ep_hub_put(local->cfg.hub, block);
        local->block = ep_hub_buf(local->cfg.hub);
        local->block_used = 0;
        if (local->block == NULL)
            return 0;
        left = local->block->cap_bytes;
    }
    return left < max_bytes ? left : max_bytes;
}

static void block_took(struct ep_local *local, uint32_t len_bytes,
                       struct ov_read *read)
{
    read->len_bytes = len_bytes;
    if (len_bytes == 0)
        return;
    read->buf = ov_buf_ref(local->block);
    read->off_bytes = local->block_used;
    local->block_used += len_bytes;
}

/* Whole words only: their lengths are walked. */
static uint32_t words_that_fit(const struct ep_local *local, uint32_t room)
{
    uint32_t at = 0;

    while (at < local->words_len) {
        struct ov_rd rd = ov_rd_init(local->words + at + 1, 2);
        uint32_t next = at + 3 + ov_rd_u16(&rd);

        if (next > room)
            break;
        at = next;
    }
    return at;
}

static void read_words(struct ep_local *local, uint32_t max_bytes,
                       struct ov_read *read)
{
    uint32_t room = block_room(local, max_bytes);
    uint32_t len_bytes = words_that_fit(local, room);

    read->rank = local->cfg.node;
    read->channel = OV_CHANNEL_STATE;
    if (len_bytes > 0) {
        memcpy(local->block->mem + local->block_used, local->words, len_bytes);
        memmove(local->words, local->words + len_bytes,
                local->words_len - len_bytes);
        local->words_len -= len_bytes;
    }
    block_took(local, len_bytes, read);
    local->is_ready_told = local->words_len > 0;
    read->state = local->words_len > 0 ? OV_INPUT_MORE : OV_INPUT_IDLE;
    if (local->words_len == 0 && is_all_over(local) && !local->is_final) {
        local->is_final = true;
        read->flags = OV_RECORD_FINAL;
    }
}

/* The process has ended and nothing more is to come from it. */
static void check_over(struct proc *proc)
{
    struct ep_local *local = proc->local;
    struct ep_state state = {.kind = EP_STATE_EXIT,
                             .rank = proc->rank,
                             .value = (uint32_t)proc->status,
                             .taken_bytes = proc->taken_bytes};

    if (proc->is_running || proc->is_over)
        return;
    for (unsigned i = 0; i < OUTPUTS; i++) {
        if (proc->outputs[i].channel != NULL)
            return;
        state.tallies[i] = proc->outputs[i].tally;
    }
    proc->is_over = true;
    local->over++;
    ep_local_say(local, &state);
    if (is_all_over(local))
        say_last(local);
}

static void restart_linger(struct proc *proc)
{
    uint32_t ms = proc->local->job->linger_ms;
    struct timeval wait = {(time_t)(ms / 1000),
                           (suseconds_t)(ms % 1000 * 1000)};

    if (proc->linger != NULL)
        evtimer_add(proc->linger, &wait);
}

void ep_local_read(struct ep_local *local, uint16_t input, uint32_t max_bytes,
                   struct ov_read *read)
{
    struct output *out;
    uint32_t room, got = 0;
    enum ep_channel_state state;

    if (input == 0) {
        read_words(local, max_bytes, read);
        return;
    }
    out = &local->procs[(input - 1) / OUTPUTS].outputs[(input - 1) % OUTPUTS];
    read->rank = out->proc->rank;
    read->channel = out->name;
    read->state = OV_INPUT_IDLE;
    if (out->channel == NULL)
        return;
    room = block_room(local, max_bytes);
    OV_ASSERT(room > 0); /* memory is bounded, and without it nothing works */
    ep_channel_read(out->channel, local->block->mem + local->block_used, room,
                    &got, &state);
    ep_tally_add(&out->tally, local->block->mem + local->block_used, got);
    block_took(local, got, read);
    if (got > 0)
        restart_linger(out->proc);
    if (state == EP_CHANNEL_MORE)
        read->state = OV_INPUT_MORE;
    if (state != EP_CHANNEL_END)
        return;
    read->state = OV_INPUT_END;
    read->flags = OV_RECORD_EOF;
    ep_channel_close(out->channel);
    out->channel = NULL;
    check_over(out->proc);
}

static void on_ready(void *arg, struct ep_channel *channel)
{
    struct output *out = arg;
    const struct ep_local_cfg *cfg = &out->proc->local->cfg;

    (void)channel;
    ep_hub_ready(cfg->hub, cfg->index, out->input);
}

/* --- starting */

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static int open_output(struct proc *proc, unsigned which, int fd)
{
    struct ep_local *local = proc->local;
    struct output *out = &proc->outputs[which];
    struct ep_channel_cfg cfg = {
        .base = local->cfg.base,
        .fd = fd,
        .raw = local->job->is_raw,
        .open_ms = local->job->open_ms,
        .on_ready = on_ready,
        .arg = out,
    };

    return ep_channel_open(&cfg, &out->channel);
}

static void widen(const struct ep_local *local, int fd)
{
    if ((uint64_t)local->procs_count * local->cfg.nodes <= WIDE_PROCS)
        ep_fds_widen(fd);
}

/* Pipes for a process: the far ends in stdio, to be closed by the caller. */
static int make_pipes(struct proc *proc, int stdio[3])
{
    struct ep_local *local = proc->local;
    const struct ep_job *job = local->job;
    int pair[2];

    if (ep_job_reads(job, proc->rank)) {
        if (pipe2(pair, O_CLOEXEC))
            return errno;
        stdio[0] = pair[0];
        widen(local, pair[1]);
        if (ep_feed_target(local->feed, pair[1], proc->rank)) {
            close(pair[1]);
            return ENOMEM;
        }
    }
    for (unsigned i = 0; i < OUTPUTS; i++) {
        if (i == 1 && job->merges_stderr) {
            stdio[2] = fcntl(stdio[1], F_DUPFD_CLOEXEC, 0);
            return stdio[2] < 0 ? errno : 0;
        }
        if (pipe2(pair, O_CLOEXEC))
            return errno;
        stdio[1 + i] = pair[1];
        if (i == 0)
            widen(local, pair[1]);
        if (open_output(proc, i, pair[0])) {
            close(pair[0]);
            return ENOMEM;
        }
    }
    return 0;
}

static void drop_outputs(struct proc *proc)
{
    for (unsigned i = 0; i < OUTPUTS; i++) {
        ep_channel_close(proc->outputs[i].channel);
        proc->outputs[i].channel = NULL;
    }
}

static void fail(struct proc *proc, const char *step, int err)
{
    struct ep_local *local = proc->local;
    struct ep_state state = {
        .kind = EP_STATE_FAILED, .rank = proc->rank, .value = (uint32_t)err};

    if (proc->is_over)
        return;
    proc->is_running = false;
    proc->is_over = true;
    local->over++;
    drop_outputs(proc);
    ep_feed_drop_target(local->feed, proc->rank);
    snprintf(state.text, EP_STATE_STEP_MAX, "%s", step);
    ep_local_say(local, &state);
    if (is_all_over(local))
        say_last(local);
}

static void start(struct proc *proc, uint32_t number)
{
    const struct ep_local *local = proc->local;
    uint32_t local_rank = (uint32_t)(proc - local->procs);
    struct ep_identity identity;
    int stdio[3] = {-1, -1, -1};
    struct ep_spawn_proc what = {
        .job = ep_local_app(local->job, proc->app),
        .proc = number,
        .env = identity.env,
        .cpus = ep_binding_of(local->binding, proc->rank, local_rank),
    };
    int err = make_pipes(proc, stdio);

    ep_identity_fill(&identity, local->job,
                     ep_job_place(local->job, local->cfg.node), proc->rank,
                     local_rank);
    memcpy(what.stdio, stdio, sizeof(stdio));
    if (err == 0 && ep_spawner_start(local->cfg.spawner, &what))
        err = EAGAIN;
    for (unsigned i = 0; i < 3; i++)
        close_fd(&stdio[i]);
    if (err != 0)
        fail(proc, "pipes", err);
}

/* So many frames are consumed; who is furthest behind goes with it. */
static void tell_consumed(struct ep_local *local)
{
    uint32_t rank = TOPO_NONE;
    uint64_t done;

    ep_feed_holder(local->feed, &rank, &done);
    ep_hub_consumed(local->cfg.hub, local->cfg.index, EP_STREAM_STDIN,
                    local->consumed, rank);
}

static void on_consumed(void *arg, uint64_t frames)
{
    struct ep_local *local = arg;

    local->consumed = frames;
    tell_consumed(local);
}

static void on_free(void *arg, struct ov_buf *buf)
{
    struct ep_local *local = arg;

    ep_hub_free(local->cfg.hub, buf);
}

static void on_slow(void *arg, uint32_t rank, enum ep_stdin_event what, int err)
{
    struct ep_state state = {.kind = EP_STATE_STDIN,
                             .stdin_event = (uint8_t)what,
                             .rank = rank,
                             .value = (uint32_t)err};

    ep_local_say(arg, &state);
}

/* Where stdin of slow processes is to lie in a file, one can be made now: the
 * loop waits for it once, before any process runs. Returns 0 or an errno. */
static int set_slow(struct ep_local *local)
{
    const struct ep_job *job = local->job;
    struct ep_feed_slow slow = {
        .policy = job->slow,
        .window_frames = local->cfg.window_frames,
        .after_ms = job->slow == EP_SLOW_SPILL ? SPILL_AFTER_MS : job->close_ms,
        .spill_bytes = job->spill_bytes,
        .spill_dir = job->spill_dir,
        .writer = local->cfg.writer,
    };
    int err = 0;

    if (job->readers_count == 0)
        return 0;
    if (job->slow == EP_SLOW_SPILL)
        err = ep_spool_file_probe(job->spill_dir);
    if (err == 0 && ep_feed_slow(local->feed, &slow))
        err = ENOMEM;
    return err;
}

int ep_local_open(const struct ep_local_cfg *cfg, struct ep_local **out)
{
    static const struct ep_feed_events events = {
        .on_consumed = on_consumed, .on_free = on_free, .on_slow = on_slow};
    struct ep_local *local = calloc(1, sizeof(*local));

    if (local == NULL)
        return OV_ENOMEM;
    local->cfg = *cfg;
    if (ep_feed_open(cfg->base, &events, local, &local->feed)) {
        free(local);
        return OV_ENOMEM;
    }
    *out = local;
    return 0;
}

static void init_proc(struct ep_local *local, uint32_t i, uint32_t app,
                      uint32_t rank)
{
    struct proc *proc = &local->procs[i];

    proc->local = local;
    proc->rank = rank;
    proc->app = app;
    proc->is_running = true;
    for (unsigned o = 0; o < OUTPUTS; o++)
        proc->outputs[o] = (struct output){
            .proc = proc,
            .input = (uint16_t)(1 + i * OUTPUTS + o),
            .name = (uint8_t)(OV_CHANNEL_STDOUT + o),
        };
}

int ep_local_begin(struct ep_local *local, const struct ep_job *job,
                   const struct ep_binding *binding, uint32_t proc_first)
{
    uint32_t count = ep_job_on_node(job, local->cfg.node);
    struct ep_job_part part = {0};
    uint32_t next = 0;
    int err;

    OV_ASSERT(local->job == NULL);
    local->procs = calloc(count > 0 ? count : 1, sizeof(*local->procs));
    if (local->procs == NULL)
        return OV_ENOMEM;
    local->job = job;
    local->binding = binding;
    local->procs_count = count;
    while (ep_job_next_on_node(job, local->cfg.node, &part)) {
        for (uint32_t i = 0; i < part.count; i++)
            init_proc(local, next++, part.app, part.first_rank + i);
    }
    err = set_slow(local);
    for (uint32_t i = 0; i < count; i++) {
        if (err == 0)
            start(&local->procs[i], proc_first + i);
        else
            fail(&local->procs[i], EP_STATE_STEP_SPILL, err);
    }
    if (count == 0)
        say_last(local);
    return 0;
}

void ep_local_close(struct ep_local *local)
{
    if (local == NULL)
        return;
    for (uint32_t i = 0; i < local->procs_count; i++) {
        drop_outputs(&local->procs[i]);
        if (local->procs[i].linger != NULL)
            event_free(local->procs[i].linger);
    }
    ep_feed_close(local->feed);
    if (local->block != NULL)
        ep_hub_put(local->cfg.hub, local->block);
    free(local->words);
    free(local->procs);
    free(local);
}

void ep_local_pause(struct ep_local *local, bool is_paused)
{
    ep_feed_pause(local->feed, is_paused);
}

/* --- events */

void ep_local_feed(struct ep_local *local, const struct ov_slice *slice,
                   uint32_t flags)
{
    (flags & OV_DOWN_SOME ? ep_feed_push_some : ep_feed_push)(
        local->feed, slice->buf, slice->off_bytes, slice->len_bytes);
    ep_hub_put(local->cfg.hub, slice->buf);
    local->fed++;
    if (flags & OV_DOWN_END)
        ep_feed_end(local->feed);
    /* Whoever does not read at all is known by name before it matters. */
    if (local->fed - local->consumed == NAME_FRAMES)
        tell_consumed(local);
}

void ep_local_started(struct ep_local *local)
{
    struct ep_state state = {EP_STATE_STARTED, .value = local->procs_count};

    if (++local->started == local->procs_count)
        ep_local_say(local, &state);
}

void ep_local_failed(struct ep_local *local, uint32_t proc, const char *step,
                     int err)
{
    fail(&local->procs[proc], step, err);
}

static void on_linger(evutil_socket_t fd, short what, void *arg)
{
    struct proc *proc = arg;

    (void)fd;
    (void)what;
    for (unsigned i = 0; i < OUTPUTS; i++) {
        if (proc->outputs[i].channel != NULL)
            ep_channel_expire(proc->outputs[i].channel);
    }
}

void ep_local_exited(struct ep_local *local, uint32_t number, int status)
{
    struct proc *proc = &local->procs[number];

    proc->is_running = false;
    proc->status = status;
    proc->taken_bytes = ep_feed_taken(local->feed, proc->rank);
    ep_feed_drop_target(local->feed, proc->rank);
    proc->linger = evtimer_new(local->cfg.base, on_linger, proc);
    restart_linger(proc);
    check_over(proc);
}

uint32_t ep_local_rank(const struct ep_local *local, uint32_t proc)
{
    return local->procs[proc].rank;
}

uint32_t ep_local_procs(const struct ep_local *local)
{
    return local->procs_count;
}

bool ep_local_is_final(const struct ep_local *local)
{
    return local->is_final;
}
