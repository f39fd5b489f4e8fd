/* The processes of one job on one node: started, read, ended. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "endpoints/daemon/identity.h"
#include "endpoints/daemon/outputs.h"
#include "endpoints/daemon/rules.h"
#include "endpoints/sys/fds.h"
#include "endpoints/sys/spool_file.h"
#include "overlay/base/err.h"

enum {
    SPILL_AFTER_MS = 1000,
    UNREAD_MS = 10000,
    /* Larger jobs get no wide pipes: all pipes of a user share a limit (usually
     * 64 MiB, see pipe(7)), and beyond it new pipes of that user are tiny. */
    WIDE_PROCS = 16,
    /* number of descriptors that a process gets */
    FDS = EP_SPAWN_FURTHER_FD + 1,
};

/* --- the end
 * */

static void drop_outputs(struct proc *proc)
{
    struct ep_processes *local = proc->node_job->local;

    for (unsigned i = 0; i < OUTPUTS; i++) {
        ep_proc_output_close(&proc->outputs[i]);
    }
    if (proc->lane != LANE_NONE)
        local->lanes[proc->lane] = NULL;
    proc->lane = LANE_NONE;
}

static void forget_left(struct proc *proc)
{
    for (unsigned i = 0; i < OUTPUTS; i++)
        ep_proc_output_forget(&proc->outputs[i]);
    ep_last_fini(&proc->last);
}

/* Counts a process about which everything was reported. */
static void count_over(struct proc *proc)
{
    struct node_job *node_job = proc->node_job;
    struct ep_processes *local = node_job->local;

    proc->is_over = true;
    if (++node_job->over < node_job->procs_count)
        return;
    if (--local->active == 0)
        ep_words_over(local);
    local->cfg.on_over(local->cfg.arg);
}

/* Reports the exit of a process that has ended, when no output of it can
 * follow. */
static void check_over(struct proc *proc)
{
    if (proc->is_running || proc->is_over)
        return;
    for (unsigned i = 0; i < OUTPUTS; i++) {
        if (proc->outputs[i].channel != NULL)
            return;
    }
    drop_outputs(proc);
    ep_words_exit(proc);
    forget_left(proc);
    count_over(proc);
}

void ep_node_job_read(struct output *out, uint32_t max_bytes,
                      struct ov_read *read)
{
    struct proc *proc = out->proc;
    enum ep_channel_state state = EP_CHANNEL_END;

    read->rank = ep_proc_number(proc);
    read->channel = out->name;
    read->state = OV_INPUT_IDLE;
    if (out->channel == NULL || out->replays > 0 || out->is_held_back)
        return;
    if (ep_proc_output_is_dropped(out)) {
        ep_proc_output_drop(out);
        if (!out->has_ended)
            return;
    }
    if (!out->has_ended)
        state = ep_proc_output_take(out, max_bytes, read);
    if (state == EP_CHANNEL_MORE)
        read->state = OV_INPUT_MORE;
    if (state != EP_CHANNEL_END)
        return;
    read->state = OV_INPUT_END;
    read->flags = OV_RECORD_EOF;
    ep_proc_output_close(out);
    check_over(proc);
}

void ep_node_job_want(struct output *out, bool is_wanted, bool is_held_back)
{
    if (out->is_unwanted == !is_wanted && out->is_held_back == is_held_back)
        return;
    out->is_unwanted = !is_wanted;
    out->is_held_back = is_held_back;
    if (out->channel != NULL && is_held_back)
        ep_channel_rest(out->channel);
    if (out->channel != NULL)
        ep_proc_output_look(
            out); /* bytes in the pipe may have waited for room */
}

static void drop_input(const struct proc *proc)
{
    const struct ep_inlet *inlet = proc->node_job->inlet;

    if (inlet != NULL)
        ep_feed_drop_target(ep_inlet_feed(inlet), ep_proc_number(proc));
}

void ep_node_job_exited(struct proc *proc, int status, uint64_t at_ns)
{
    struct ep_processes *local = proc->node_job->local;

    proc->is_running = false;
    proc->status = status;
    proc->exit_ns = at_ns;
    proc->is_first = status != 0 && !proc->node_job->has_failed;
    proc->node_job->has_failed |= proc->is_first;
    if (proc->node_job->inlet != NULL)
        proc->taken_bytes = ep_feed_taken(ep_inlet_feed(proc->node_job->inlet),
                                          ep_proc_number(proc));
    drop_input(proc);
    ep_linger_start(proc, local->cfg.base);
    check_over(proc);
}

void ep_node_job_failed(struct proc *proc, const char *step, int err)
{
    struct ep_processes *local = proc->node_job->local;
    struct job_word state = {.kind = JOB_WORD_FAILED,
                             .rank = ep_proc_number(proc),
                             .err = (uint32_t)err};

    if (proc->is_over)
        return;
    proc->is_running = false;
    drop_outputs(proc);
    forget_left(proc);
    drop_input(proc);
    snprintf(state.text, JOB_WORD_STEP_MAX, "%s", step);
    ep_processes_say(local, &state);
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

static void widen(const struct node_job *node_job, int fd)
{
    if ((uint64_t)node_job->procs_count * node_job->local->cfg.nodes <=
        WIDE_PROCS)
        ep_fds_widen(fd);
}

/* Makes the stdin of a process; *far is the process's end of the pipe.
 * Processes of the run's own job get the stream from its first byte on, other
 * processes get what is pushed after they have started. Returns 0 or an
 * errno. */
static int make_input(struct proc *proc, int *far)
{
    const struct job *job = proc->node_job->job;
    struct ep_feed *feed;
    int pair[2];

    if (!job_reads(job, proc->rank))
        return 0;
    feed = ep_inlet_feed(proc->node_job->inlet);
    if (pipe2(pair, O_CLOEXEC))
        return errno;
    *far = pair[0];
    widen(proc->node_job, pair[1]);
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
        widen(proc->node_job, pair[1]);
    if (ep_proc_output_open(&proc->outputs[which], pair[0]) == 0)
        return 0;
    close(pair[0]);
    return ENOMEM;
}

/* Makes the pipes of a process. fds are the process's ends, indexed by their
 * numbers in the process; the caller closes them. Returns 0 or an errno. */
static int make_pipes(struct proc *proc, int fds[FDS])
{
    const struct job *job = proc->node_job->job;
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
    struct ep_processes *local = proc->node_job->local;

    for (uint32_t i = 0; i < local->lanes_count; i++) {
        if (local->lanes[i] != NULL)
            continue;
        local->lanes[i] = proc;
        proc->lane = (uint16_t)i;
        for (unsigned o = 0; o < OUTPUTS; o++)
            proc->outputs[o].input =
                (uint16_t)(EP_PROCESSES_OWN_INPUTS + i * OUTPUTS + o);
        return true;
    }
    return false;
}

static void start_process(struct proc *proc)
{
    const struct node_job *node_job = proc->node_job;
    uint32_t local_rank = (uint32_t)(proc - node_job->procs);
    struct ep_identity identity;
    int fds[FDS] = {-1, -1, -1, -1};
    struct ep_spawn_proc what = {
        .job = node_job->program + proc->app,
        .proc = ep_proc_number(proc),
        .env = identity.env,
        .cpus = ep_binding_of(node_job->binding, proc->rank, local_rank),
    };
    int err = take_lane(proc) ? make_pipes(proc, fds) : EUSERS;

    ep_identity_fill(&identity, node_job->job,
                     job_place(node_job->job, node_job->local->cfg.node),
                     proc->rank, local_rank, node_job->local->cfg.mark);
    memcpy(what.stdio, fds, sizeof(what.stdio));
    what.further = fds[EP_SPAWN_FURTHER_FD] > 0 ? fds[EP_SPAWN_FURTHER_FD] : 0;
    if (err == 0 && ep_spawner_start(node_job->local->cfg.spawner, &what))
        err = EAGAIN;
    for (unsigned i = 0; i < FDS; i++)
        close_fd(&fds[i]);
    if (err != 0)
        ep_node_job_failed(proc, "pipes", err);
}

/* When the stdin of slow processes may be kept in a file, checks that a file
 * can be made: the loop waits for that once, before any process runs. Returns 0
 * or an errno. */
static int set_slow(const struct node_job *node_job)
{
    const struct ep_processes *local = node_job->local;
    const struct job *job = node_job->job;
    bool is_soon = job->slow == JOB_SLOW_SPILL || job->base > 0;
    bool is_close = job->slow == JOB_SLOW_CLOSE;
    struct ep_feed_slow slow = {
        .policy = job->slow,
        .is_shared = job->base > 0,
        .unread_ms = is_close ? job->close_ms : UNREAD_MS,
        .window_frames = local->cfg.window_frames,
        .after_ms = is_soon    ? SPILL_AFTER_MS
                    : is_close ? job->close_ms
                               : UNREAD_MS,
        .spill_bytes = job->spill_bytes,
        .spill_dir = job->spill_dir,
        .writer = local->cfg.writer,
    };
    int err = 0;

    if (job->slow == JOB_SLOW_SPILL)
        err = ep_spool_file_probe(job->spill_dir);
    if (err == 0 && ep_feed_slow(ep_inlet_feed(node_job->inlet), &slow))
        err = ENOMEM;
    return err;
}

/* Opens the inlet for the processes that read stdin. Returns 0 or an errno. */
static int open_inlet(struct node_job *node_job)
{
    struct ep_processes *local = node_job->local;
    struct topo_range procs = {node_job->base,
                               node_job->base + node_job->size - 1};

    if (node_job->job->readers_count == 0)
        return 0;
    if (node_job->base == 0)
        node_job->inlet = local->own;
    else if (ep_inlet_open(local->stdin_streams[STDIN_STREAM_PUSHED], procs,
                           &node_job->inlet))
        return ENOMEM;
    return set_slow(node_job);
}

static void init_proc(struct node_job *node_job, uint32_t i, uint32_t app,
                      uint32_t rank)
{
    struct proc *proc = &node_job->procs[i];

    proc->node_job = node_job;
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

static struct node_job *make(struct ep_processes *local, const struct job *job)
{
    struct node_job *node_job = calloc(1, sizeof(*node_job));
    struct job_part part = {0};
    uint32_t next = 0;

    if (node_job == NULL)
        return NULL;
    node_job->procs_count = job_on_node(job, local->cfg.node);
    node_job->procs = calloc(node_job->procs_count, sizeof(*node_job->procs));
    if (job->watch.ms > 0)
        node_job->stalls =
            calloc(node_job->procs_count, sizeof(*node_job->stalls));
    if (node_job->procs == NULL ||
        (job->watch.ms > 0 && node_job->stalls == NULL)) {
        free(node_job->procs);
        free(node_job->stalls);
        free(node_job);
        return NULL;
    }
    node_job->local = local;
    node_job->job = job;
    node_job->base = job->base;
    node_job->size = job->size;
    node_job->cache_bytes = job->cache_bytes;
    node_job->cache_channels = job->cache_bytes > 0 ? job->cache_channels : 0;
    while (job_next_on_node(job, local->cfg.node, &part)) {
        for (uint32_t i = 0; i < part.count; i++)
            init_proc(node_job, next++, part.app, part.first_rank + i);
    }
    return node_job;
}

int ep_node_job_begin(struct ep_processes *local, const struct job *job,
                      const struct ep_binding *binding, uint32_t program)
{
    struct node_job *node_job = make(local, job);
    const char *step = JOB_WORD_STEP_SPILL;
    int err;

    if (node_job == NULL)
        return OV_ENOMEM;
    node_job->binding = binding;
    node_job->program = program;
    TAILQ_INSERT_TAIL(&local->node_jobs, node_job, entry);
    local->begun++;
    local->active++;
    err = ep_rules_open(&job->filter, &node_job->rules);
    node_job->has_rules = job_filter_has_rules(&job->filter);
    if (err != 0)
        step = JOB_WORD_STEP_FILTER;
    else
        err = open_inlet(node_job);
    for (uint32_t i = 0; i < node_job->procs_count; i++) {
        if (err == 0)
            start_process(&node_job->procs[i]);
        else
            ep_node_job_failed(&node_job->procs[i], step, err);
    }
    return 0;
}

void ep_node_job_free(struct node_job *node_job)
{
    TAILQ_REMOVE(&node_job->local->node_jobs, node_job, entry);
    for (uint32_t i = 0; i < node_job->procs_count; i++) {
        drop_outputs(&node_job->procs[i]);
        forget_left(&node_job->procs[i]);
        if (node_job->procs[i].linger != NULL)
            event_free(node_job->procs[i].linger);
        for (unsigned o = 0; o < OUTPUTS; o++)
            ep_cache_fini(&node_job->procs[i].outputs[o].cache,
                          node_job->local->cfg.pool);
    }
    ep_rules_close(&node_job->rules);
    free(node_job->procs);
    free(node_job->stalls);
    free(node_job);
}

static bool is_read(const struct node_job *node_job)
{
    for (uint32_t i = 0; i < node_job->procs_count * OUTPUTS; i++) {
        if (node_job->procs[i / OUTPUTS].outputs[i % OUTPUTS].replays > 0)
            return true;
    }
    return false;
}

/* The output of the run's own job is kept as long as the run lasts, because the
 * user has asked for that. */
void ep_node_job_retire(struct output *out)
{
    const struct node_job *node_job = out->proc->node_job;

    if (node_job->job == NULL && node_job->base > 0 && out->replays == 0)
        ep_cache_retire(&out->cache, node_job->local->cfg.pool);
}

void ep_node_job_end(struct node_job *node_job)
{
    if (node_job->base > 0)
        ep_inlet_close(node_job->inlet);
    node_job->inlet = NULL;
    node_job->job = NULL;
    node_job->binding = NULL;
    if (node_job->cache_channels == 0 || node_job->is_forgotten) {
        node_job->is_forgotten = true;
        ep_node_job_sweep(node_job->local);
        return;
    }
    for (uint32_t i = 0; i < node_job->procs_count * OUTPUTS; i++)
        ep_node_job_retire(&node_job->procs[i / OUTPUTS].outputs[i % OUTPUTS]);
}

void ep_node_job_sweep(struct ep_processes *local)
{
    struct node_job *node_job = TAILQ_FIRST(&local->node_jobs), *next;

    for (; node_job != NULL; node_job = next) {
        next = TAILQ_NEXT(node_job, entry);
        if (node_job->job == NULL && node_job->is_forgotten &&
            !is_read(node_job))
            ep_node_job_free(node_job);
    }
}

static int compare_rank(const void *key, const void *item)
{
    uint32_t rank = *(const uint32_t *)key;
    const struct proc *proc = item;

    return (rank > proc->rank) - (rank < proc->rank);
}

struct proc *ep_node_job_find(const struct ep_processes *local, uint32_t number)
{
    const struct node_job *node_job;

    TAILQ_FOREACH (node_job, &local->node_jobs, entry) {
        uint32_t rank = number - node_job->base;

        if (node_job->job != NULL && number >= node_job->base &&
            rank < node_job->size)
            return bsearch(&rank, node_job->procs, node_job->procs_count,
                           sizeof(*node_job->procs), compare_rank);
    }
    return NULL;
}
