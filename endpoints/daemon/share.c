/* The processes of one job on one node: started, read, ended. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "endpoints/daemon/identity.h"
#include "endpoints/daemon/local_impl.h"
#include "endpoints/sys/fds.h"
#include "endpoints/sys/spool_file.h"
#include "overlay/base/err.h"

enum {
    SPILL_AFTER_MS = 1000,
    UNREAD_MS = 10000,
    /* Larger jobs get no wide pipes: all pipes of a user share a limit (usually
     * 64 MiB, see pipe(7)), and beyond it new pipes of that user are tiny. */
    WIDE_PROCS = 16,
    FDS = EP_SPAWN_FURTHER_FD + 1, /* that a process gets */
    DROPS_MAX = 16, /* reads in a row of a channel that is not wanted */
};

/* --- the end
 * */

static void drop_outputs(struct proc *proc)
{
    struct ep_local *local = proc->share->local;

    for (unsigned i = 0; i < OUTPUTS; i++) {
        ep_channel_close(proc->outputs[i].channel);
        proc->outputs[i].channel = NULL;
    }
    if (proc->lane != LANE_NONE)
        local->lanes[proc->lane] = NULL;
    proc->lane = LANE_NONE;
}

/* Counts a process of which nothing more is to be said. */
static void count_over(struct proc *proc)
{
    struct share *share = proc->share;
    struct ep_local *local = share->local;

    proc->is_over = true;
    if (++share->over < share->procs_count)
        return;
    if (--local->active == 0)
        ep_words_over(local);
    local->cfg.on_over(local->cfg.arg);
}

/* Says the exit of a process that has ended when nothing more comes from it. */
static void check_over(struct proc *proc)
{
    struct job_word state = {.kind = JOB_WORD_EXIT,
                             .rank = ep_proc_number(proc),
                             .status = (uint32_t)proc->status,
                             .taken_bytes = proc->taken_bytes};

    if (proc->is_running || proc->is_over)
        return;
    for (unsigned i = 0; i < OUTPUTS; i++) {
        if (proc->outputs[i].channel != NULL)
            return;
        state.tallies[i] = proc->outputs[i].tally;
    }
    drop_outputs(proc);
    ep_local_say(proc->share->local, &state);
    count_over(proc);
}

/* Keeps a copy for tools that come late. */
static void keep_copy(struct output *out, const uint8_t *mem,
                      uint32_t len_bytes)
{
    struct ep_local *local = out->proc->share->local;
    struct ep_cache_pool *pool = local->cfg.pool;
    struct job_word state = {.kind = JOB_WORD_NOTE};
    bool was_full = pool->is_full;

    if ((out->proc->share->cache_channels & 1u << out->name) == 0)
        return;
    ep_cache_add(&out->cache, pool, out->proc->share->cache_bytes, mem,
                 len_bytes);
    if (was_full || !pool->is_full)
        return;
    snprintf(state.text, sizeof(state.text),
             "no more output is kept for tools that attach later "
             "(--pmix-cache): %d MiB are kept, the most there may be",
             EP_CACHE_POOL_BYTES >> 20);
    ep_local_say(local, &state);
}

static bool is_dropped(const struct output *out)
{
    return out->is_unwanted && out->replays == 0 && !out->has_ended;
}

/* Reads and drops output that is not wanted, whether the tree has room or not.
 * Only a process that writes without end finds us busy with others now and
 * then. The proof of the job's output is about what travels, so this is not
 * counted. */
static void drop_output(struct output *out)
{
    static uint8_t mem[EP_CHANNEL_CARRY_MAX];
    enum ep_channel_state state = EP_CHANNEL_MORE;
    uint32_t got;

    for (unsigned i = 0; i < DROPS_MAX && state == EP_CHANNEL_MORE; i++) {
        ep_channel_read(out->channel, mem, sizeof(mem), &got, &state);
        keep_copy(out, mem, got);
        if (got > 0)
            ep_linger_restart(out->proc);
    }
    if (state == EP_CHANNEL_MORE)
        ep_channel_wait(out->channel);
    out->has_ended = state == EP_CHANNEL_END;
}

static void tell_ready(const struct output *out)
{
    const struct ep_local_cfg *cfg = &out->proc->share->local->cfg;

    ep_hub_ready(cfg->hub, cfg->index, out->input);
}

/* Counts bytes that a file has not given back, so that the proof of the job's
 * output shows that they are missing. */
static void count_lost(struct output *out)
{
    int err;
    uint64_t lost_bytes = ep_channel_lost(out->channel, &err);

    if (lost_bytes == 0)
        return;
    out->tally.bytes += lost_bytes;
    ep_words_lost(out->proc, err);
}

/* Reads an output into the block. */
static enum ep_channel_state take_output(struct output *out, uint32_t max_bytes,
                                         struct ov_read *read)
{
    struct ep_local *local = out->proc->share->local;
    uint32_t room = ep_words_room(local, max_bytes), got = 0;
    enum ep_channel_state state;

    OV_ASSERT(room > 0); /* memory is bounded, and without it nothing works */
    ep_channel_read(out->channel, local->block->mem + local->block_used, room,
                    &got, &state);
    count_lost(out);
    job_tally_add(&out->tally, local->block->mem + local->block_used, got);
    keep_copy(out, local->block->mem + local->block_used, got);
    ep_words_took(local, got, read);
    if (got > 0)
        ep_linger_restart(out->proc);
    return state;
}

void ep_share_read(struct output *out, uint32_t max_bytes, struct ov_read *read)
{
    struct proc *proc = out->proc;
    enum ep_channel_state state = EP_CHANNEL_END;

    read->rank = ep_proc_number(proc);
    read->channel = out->name;
    read->state = OV_INPUT_IDLE;
    if (out->channel == NULL || out->replays > 0 || out->is_held_back)
        return;
    if (is_dropped(out)) {
        drop_output(out);
        if (!out->has_ended)
            return;
    }
    if (!out->has_ended)
        state = take_output(out, max_bytes, read);
    if (state == EP_CHANNEL_MORE)
        read->state = OV_INPUT_MORE;
    if (state != EP_CHANNEL_END)
        return;
    read->state = OV_INPUT_END;
    read->flags = OV_RECORD_EOF;
    ep_channel_close(out->channel);
    out->channel = NULL;
    check_over(proc);
}

static void look_at_output(struct output *out)
{
    if (is_dropped(out))
        drop_output(out);
    if (!is_dropped(out))
        tell_ready(out);
}

static void on_ready(void *arg, struct ep_channel *channel)
{
    (void)channel;
    look_at_output(arg);
}

void ep_share_want(struct output *out, bool is_wanted, bool is_held_back)
{
    if (out->is_unwanted == !is_wanted && out->is_held_back == is_held_back)
        return;
    out->is_unwanted = !is_wanted;
    out->is_held_back = is_held_back;
    if (out->channel != NULL && is_held_back)
        ep_channel_rest(out->channel);
    if (out->channel != NULL)
        look_at_output(
            out); /* something in the pipe may have waited for room */
}

static void drop_input(const struct proc *proc)
{
    const struct ep_inlet *inlet = proc->share->inlet;

    if (inlet != NULL)
        ep_feed_drop_target(ep_inlet_feed(inlet), ep_proc_number(proc));
}

void ep_share_exited(struct proc *proc, int status)
{
    struct ep_local *local = proc->share->local;

    proc->is_running = false;
    proc->status = status;
    if (proc->share->inlet != NULL)
        proc->taken_bytes = ep_feed_taken(ep_inlet_feed(proc->share->inlet),
                                          ep_proc_number(proc));
    drop_input(proc);
    ep_linger_start(proc, local->cfg.base);
    check_over(proc);
}

void ep_share_failed(struct proc *proc, const char *step, int err)
{
    struct ep_local *local = proc->share->local;
    struct job_word state = {.kind = JOB_WORD_FAILED,
                             .rank = ep_proc_number(proc),
                             .err = (uint32_t)err};

    if (proc->is_over)
        return;
    proc->is_running = false;
    drop_outputs(proc);
    drop_input(proc);
    snprintf(state.text, JOB_WORD_STEP_MAX, "%s", step);
    ep_local_say(local, &state);
    count_over(proc);
}

/* --- starting
 * */

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static int open_output(struct proc *proc, unsigned which, int fd)
{
    struct ep_local *local = proc->share->local;
    struct output *out = &proc->outputs[which];
    struct ep_channel_cfg cfg = {
        .base = local->cfg.base,
        .tails = local->cfg.tails,
        .fd = fd,
        .raw = proc->share->job->is_raw,
        .open_ms = proc->share->job->open_ms,
        .on_ready = on_ready,
        .arg = out,
    };

    return ep_channel_open(&cfg, &out->channel);
}

static void widen(const struct share *share, int fd)
{
    if ((uint64_t)share->procs_count * share->local->cfg.nodes <= WIDE_PROCS)
        ep_fds_widen(fd);
}

/* Makes the stdin of a process; *far is the process's end. Processes of the
 * run's own job get the stream from its first byte on, others get what is
 * pushed once they run. Returns 0 or an errno. */
static int make_input(struct proc *proc, int *far)
{
    const struct job *job = proc->share->job;
    struct ep_feed *feed;
    int pair[2];

    if (!job_reads(job, proc->rank))
        return 0;
    feed = ep_inlet_feed(proc->share->inlet);
    if (pipe2(pair, O_CLOEXEC))
        return errno;
    *far = pair[0];
    widen(proc->share, pair[1]);
    if ((job->base == 0 ? ep_feed_target : ep_feed_join)(
            feed, pair[1], ep_proc_number(proc)) == 0)
        return 0;
    close(pair[1]);
    return ENOMEM;
}

static int make_output(struct proc *proc, unsigned which, int *far)
{
    int pair[2];

    if (pipe2(pair, O_CLOEXEC))
        return errno;
    *far = pair[1];
    if (which == 0)
        widen(proc->share, pair[1]);
    if (open_output(proc, which, pair[0]) == 0)
        return 0;
    close(pair[0]);
    return ENOMEM;
}

/* Makes the pipes of a process. fds has the far ends, by their numbers in the
 * process; the caller closes them. Returns 0 or an errno. */
static int make_pipes(struct proc *proc, int fds[FDS])
{
    const struct job *job = proc->share->job;
    uint32_t channels = job_channels(job);
    int err = make_input(proc, &fds[0]);

    for (unsigned i = 0; err == 0 && i < OUTPUTS; i++) {
        if (channels & 1u << (OV_CHANNEL_STDOUT + i))
            err = make_output(proc, i, &fds[1 + i]);
    }
    if (err == 0 && job->merges_stderr) {
        fds[2] = fcntl(fds[1], F_DUPFD_CLOEXEC, 0);
        err = fds[2] < 0 ? errno : 0;
    }
    return err;
}

static bool take_lane(struct proc *proc)
{
    struct ep_local *local = proc->share->local;

    for (uint32_t i = 0; i < local->lanes_count; i++) {
        if (local->lanes[i] != NULL)
            continue;
        local->lanes[i] = proc;
        proc->lane = (uint16_t)i;
        for (unsigned o = 0; o < OUTPUTS; o++)
            proc->outputs[o].input =
                (uint16_t)(EP_LOCAL_OWN_INPUTS + i * OUTPUTS + o);
        return true;
    }
    return false;
}

static void start_process(struct proc *proc)
{
    const struct share *share = proc->share;
    uint32_t local_rank = (uint32_t)(proc - share->procs);
    struct ep_identity identity;
    int fds[FDS] = {-1, -1, -1, -1};
    struct ep_spawn_proc what = {
        .job = share->program + proc->app,
        .proc = ep_proc_number(proc),
        .env = identity.env,
        .cpus = ep_binding_of(share->binding, proc->rank, local_rank),
    };
    int err = take_lane(proc) ? make_pipes(proc, fds) : EUSERS;

    ep_identity_fill(&identity, share->job,
                     job_place(share->job, share->local->cfg.node), proc->rank,
                     local_rank, share->local->cfg.mark);
    memcpy(what.stdio, fds, sizeof(what.stdio));
    what.further = fds[EP_SPAWN_FURTHER_FD] > 0 ? fds[EP_SPAWN_FURTHER_FD] : 0;
    if (err == 0 && ep_spawner_start(share->local->cfg.spawner, &what))
        err = EAGAIN;
    for (unsigned i = 0; i < FDS; i++)
        close_fd(&fds[i]);
    if (err != 0)
        ep_share_failed(proc, "pipes", err);
}

/* Where the stdin of slow processes may lie in a file, checks that a file can
 * be made: the loop waits for that once, before any process runs. Returns 0 or
 * an errno. */
static int set_slow(const struct share *share)
{
    const struct ep_local *local = share->local;
    const struct job *job = share->job;
    struct ep_feed_slow slow = {
        .policy = job->slow,
        .is_shared = job->base > 0,
        .unread_ms = job->slow == JOB_SLOW_CLOSE ? job->close_ms : UNREAD_MS,
        .window_frames = local->cfg.window_frames,
        .after_ms = job->slow == JOB_SLOW_SPILL || job->base > 0
                        ? SPILL_AFTER_MS
                        : job->close_ms,
        .spill_bytes = job->spill_bytes,
        .spill_dir = job->spill_dir,
        .writer = local->cfg.writer,
    };
    int err = 0;

    if (job->slow == JOB_SLOW_SPILL)
        err = ep_spool_file_probe(job->spill_dir);
    if (err == 0 && ep_feed_slow(ep_inlet_feed(share->inlet), &slow))
        err = ENOMEM;
    return err;
}

/* Opens the inlet for the processes that read stdin. Returns 0 or an errno. */
static int open_inlet(struct share *share)
{
    struct ep_local *local = share->local;
    struct topo_range procs = {share->base, share->base + share->size - 1};

    if (share->job->readers_count == 0)
        return 0;
    if (share->base == 0)
        share->inlet = local->own;
    else if (ep_inlet_open(local->intakes[INTAKE_PUSHED], procs, &share->inlet))
        return ENOMEM;
    return set_slow(share);
}

static void init_proc(struct share *share, uint32_t i, uint32_t app,
                      uint32_t rank)
{
    struct proc *proc = &share->procs[i];

    proc->share = share;
    proc->rank = rank;
    proc->app = app;
    proc->lane = LANE_NONE;
    proc->is_running = true;
    for (unsigned o = 0; o < OUTPUTS; o++)
        proc->outputs[o] = (struct output){
            .proc = proc,
            .name = (uint8_t)(OV_CHANNEL_STDOUT + o),
        };
}

static struct share *make(struct ep_local *local, const struct job *job)
{
    struct share *share = calloc(1, sizeof(*share));
    struct job_part part = {0};
    uint32_t next = 0;

    if (share == NULL)
        return NULL;
    share->procs_count = job_on_node(job, local->cfg.node);
    share->procs = calloc(share->procs_count, sizeof(*share->procs));
    if (share->procs == NULL) {
        free(share);
        return NULL;
    }
    share->local = local;
    share->job = job;
    share->base = job->base;
    share->size = job->size;
    share->cache_bytes = job->cache_bytes;
    share->cache_channels = job->cache_bytes > 0 ? job->cache_channels : 0;
    while (job_next_on_node(job, local->cfg.node, &part)) {
        for (uint32_t i = 0; i < part.count; i++)
            init_proc(share, next++, part.app, part.first_rank + i);
    }
    return share;
}

int ep_share_begin(struct ep_local *local, const struct job *job,
                   const struct ep_binding *binding, uint32_t program)
{
    struct share *share = make(local, job);
    int err;

    if (share == NULL)
        return OV_ENOMEM;
    share->binding = binding;
    share->program = program;
    TAILQ_INSERT_TAIL(&local->shares, share, entry);
    local->begun++;
    local->active++;
    err = open_inlet(share);
    for (uint32_t i = 0; i < share->procs_count; i++) {
        if (err == 0)
            start_process(&share->procs[i]);
        else
            ep_share_failed(&share->procs[i], JOB_WORD_STEP_SPILL, err);
    }
    return 0;
}

void ep_share_free(struct share *share)
{
    TAILQ_REMOVE(&share->local->shares, share, entry);
    for (uint32_t i = 0; i < share->procs_count; i++) {
        drop_outputs(&share->procs[i]);
        if (share->procs[i].linger != NULL)
            event_free(share->procs[i].linger);
        for (unsigned o = 0; o < OUTPUTS; o++)
            ep_cache_fini(&share->procs[i].outputs[o].cache,
                          share->local->cfg.pool);
    }
    free(share->procs);
    free(share->pids);
    free(share);
}

static bool is_read(const struct share *share)
{
    for (uint32_t i = 0; i < share->procs_count * OUTPUTS; i++) {
        if (share->procs[i / OUTPUTS].outputs[i % OUTPUTS].replays > 0)
            return true;
    }
    return false;
}

/* The run's own output is kept as long as the run lasts, as its user has asked
 * for that. */
void ep_share_retire(struct output *out)
{
    const struct share *share = out->proc->share;

    if (share->job == NULL && share->base > 0 && out->replays == 0)
        ep_cache_retire(&out->cache, share->local->cfg.pool);
}

void ep_share_end(struct share *share)
{
    if (share->base > 0)
        ep_inlet_close(share->inlet);
    share->inlet = NULL;
    share->job = NULL;
    share->binding = NULL;
    if (share->cache_channels == 0 || share->is_forgotten) {
        share->is_forgotten = true;
        ep_share_sweep(share->local);
        return;
    }
    for (uint32_t i = 0; i < share->procs_count * OUTPUTS; i++)
        ep_share_retire(&share->procs[i / OUTPUTS].outputs[i % OUTPUTS]);
}

void ep_share_sweep(struct ep_local *local)
{
    struct share *share = TAILQ_FIRST(&local->shares), *next;

    for (; share != NULL; share = next) {
        next = TAILQ_NEXT(share, entry);
        if (share->job == NULL && share->is_forgotten && !is_read(share))
            ep_share_free(share);
    }
}

static int compare_rank(const void *key, const void *item)
{
    uint32_t rank = *(const uint32_t *)key;
    const struct proc *proc = item;

    return (rank > proc->rank) - (rank < proc->rank);
}

struct proc *ep_share_find(const struct ep_local *local, uint32_t number)
{
    const struct share *share;

    TAILQ_FOREACH (share, &local->shares, entry) {
        uint32_t rank = number - share->base;

        if (share->job != NULL && number >= share->base && rank < share->size)
            return bsearch(&rank, share->procs, share->procs_count,
                           sizeof(*share->procs), compare_rank);
    }
    return NULL;
}
