/* The processes of one node: their stdin, their events, and orders about
 * them. */
#include "config.h"

#include "endpoints/daemon/processes.h"

#include <signal.h>
#include <stdlib.h>

#include "endpoints/daemon/processes_impl.h"
#include "endpoints/sys/clock.h"
#include "overlay/base/err.h"

/* --- stdin
 * */

static void on_consumed(void *arg, uint64_t frames, uint32_t rank)
{
    const struct stdin_stream_of *of = arg;
    const struct ep_processes_cfg *cfg = &of->local->cfg;

    ep_hub_consumed(cfg->hub, cfg->index, of->stream, frames, rank);
}

static void on_free(void *arg, struct ov_buf *buf)
{
    const struct stdin_stream_of *of = arg;

    ep_hub_free(of->local->cfg.hub, buf);
}

static void on_slow(void *arg, uint32_t rank, enum job_stdin_event what,
                    int err)
{
    struct job_word state = {.kind = JOB_WORD_STDIN,
                             .stdin_event = what,
                             .rank = rank,
                             .err = (uint32_t)err};
    const struct stdin_stream_of *of = arg;

    ep_processes_say(of->local, &state);
}

static int open_stdin_streams(struct ep_processes *local)
{
    static const struct ep_stdin_stream_events events = {
        .on_consumed = on_consumed, .on_free = on_free, .on_slow = on_slow};
    static const uint32_t streams[STDIN_STREAMS] = {
        [STDIN_STREAM_OWN] = JOB_STREAM_STDIN,
        [STDIN_STREAM_PUSHED] = JOB_STREAM_PUSHED};
    const struct topo_range all = {0, TOPO_NONE};
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < STDIN_STREAMS; i++) {
        local->stdin_streams_of[i] =
            (struct stdin_stream_of){local, streams[i]};
        rc = ep_stdin_stream_open(local->cfg.base, &events,
                                  &local->stdin_streams_of[i],
                                  &local->stdin_streams[i]);
    }
    if (rc == 0)
        rc = ep_inlet_open(local->stdin_streams[STDIN_STREAM_OWN], all,
                           &local->own);
    return rc;
}

static void close_stdin_streams(struct ep_processes *local)
{
    for (unsigned i = 0; i < STDIN_STREAMS; i++)
        ep_stdin_stream_close(local->stdin_streams[i]);
}

/* --- opening, jobs and closing
 * */

int ep_processes_open(const struct ep_processes_cfg *cfg,
                      struct ep_processes **out)
{
    struct ep_processes *local = calloc(1, sizeof(*local));

    if (local == NULL)
        return OV_ENOMEM;
    local->cfg = *cfg;
    TAILQ_INIT(&local->node_jobs);
    STAILQ_INIT(&local->replays);
    if (cfg->inputs > EP_PROCESSES_OWN_INPUTS)
        local->lanes_count = (cfg->inputs - EP_PROCESSES_OWN_INPUTS) / OUTPUTS;
    local->lanes =
        calloc((size_t)local->lanes_count + 1, sizeof(*local->lanes));
    if (local->lanes == NULL || open_stdin_streams(local)) {
        close_stdin_streams(local);
        free(local->lanes);
        free(local);
        return OV_ENOMEM;
    }
    *out = local;
    return 0;
}

void ep_processes_close(struct ep_processes *local)
{
    if (local == NULL)
        return;
    ep_replay_close(local);
    while (!TAILQ_EMPTY(&local->node_jobs))
        ep_node_job_free(TAILQ_FIRST(&local->node_jobs));
    close_stdin_streams(local);
    if (local->block != NULL)
        ep_hub_put(local->cfg.hub, local->block);
    free(local->words);
    free(local->lanes);
    free(local);
}

int ep_processes_begin(struct ep_processes *local, const struct job *job,
                       const struct ep_binding *binding, uint32_t program)
{
    bool is_first = !local->has_begun;

    local->has_begun = true;
    if (job_on_node(job, local->cfg.node) > 0)
        return ep_node_job_begin(local, job, binding, program);
    if (is_first)
        ep_words_over(local);
    return 0;
}

bool ep_processes_reap(struct ep_processes *local, const struct job *job)
{
    struct node_job *node_job;

    TAILQ_FOREACH (node_job, &local->node_jobs, entry) {
        if (node_job->job != job)
            continue;
        if (node_job->over < node_job->procs_count)
            return false;
        ep_node_job_end(node_job);
        return true;
    }
    return true;
}

bool ep_processes_is_idle(const struct ep_processes *local)
{
    return local->has_begun && local->active == 0;
}

void ep_processes_pause(struct ep_processes *local, bool is_paused)
{
    for (unsigned i = 0; i < STDIN_STREAMS; i++)
        ep_stdin_stream_pause(local->stdin_streams[i], is_paused);
}

/* --- events */

void ep_processes_read(struct ep_processes *local, uint16_t input,
                       uint32_t max_bytes, struct ov_read *read)
{
    struct proc *proc;

    if (input == 0) {
        ep_words_read(local, max_bytes, read);
        return;
    }
    if (input == EP_PROCESSES_REPLAY_INPUT) {
        ep_replay_read(local, max_bytes, read);
        return;
    }
    input = (uint16_t)(input - EP_PROCESSES_OWN_INPUTS);
    proc = local->lanes[input / OUTPUTS];
    read->state = OV_INPUT_IDLE;
    if (proc != NULL) /* NULL: the process has ended meanwhile */
        ep_node_job_read(&proc->outputs[input % OUTPUTS], max_bytes, read);
}

void ep_processes_feed(struct ep_processes *local, uint32_t stream,
                       const struct ov_slice *slice, uint32_t flags)
{
    unsigned which =
        stream == JOB_STREAM_STDIN ? STDIN_STREAM_OWN : STDIN_STREAM_PUSHED;

    ep_stdin_stream_take(local->stdin_streams[which], slice, flags);
    ep_hub_put(local->cfg.hub, slice->buf);
}

/* Reports the pids: one message for processes with consecutive ranks. */
static void say_pids(const struct node_job *node_job)
{
    struct job_word state = {.kind = JOB_WORD_PIDS};

    for (uint32_t i = 0; i < node_job->procs_count; i++) {
        const struct proc *proc = &node_job->procs[i];

        if (state.count == 0)
            state.rank = ep_proc_number(proc);
        state.pids[state.count++] = proc->pid;
        if (i + 1 == node_job->procs_count ||
            state.count == JOB_WORD_PIDS_MAX ||
            node_job->procs[i + 1].rank != proc->rank + 1) {
            ep_processes_say(node_job->local, &state);
            state.count = 0;
        }
    }
}

/* When all processes run, reports their pids together, and that they run. */
void ep_processes_started(struct ep_processes *local, uint32_t number,
                          int64_t pid)
{
    struct proc *proc = ep_node_job_find(local, number);
    struct node_job *node_job = proc->node_job;
    struct job_word state = {.kind = JOB_WORD_STARTED,
                             .rank = ep_proc_number(&node_job->procs[0]),
                             .count = node_job->procs_count,
                             .sent_ns = ep_clock_ns()};

    proc->pid = (uint32_t)pid;
    if (++node_job->started < node_job->procs_count)
        return;
    say_pids(node_job);
    ep_processes_say(local, &state);
}

void ep_processes_clock(struct ep_processes *local, uint64_t sent_ns)
{
    job_clock_hear(&local->clock, sent_ns, ep_clock_ns());
}

void ep_processes_failed(struct ep_processes *local, uint32_t number,
                         const char *step, int err)
{
    ep_node_job_failed(ep_node_job_find(local, number), step, err);
}

void ep_processes_exited(struct ep_processes *local, uint32_t number,
                         int status, uint64_t at_ns)
{
    ep_node_job_exited(ep_node_job_find(local, number), status, at_ns);
}

void ep_processes_ending(struct ep_processes *local)
{
    struct node_job *node_job;

    TAILQ_FOREACH (node_job, &local->node_jobs, entry)
        node_job->has_failed = true;
}

static struct job_stall_limit limit_of(const struct job *job)
{
    return (struct job_stall_limit){
        .ns = (uint64_t)job->watch.ms * 1000000,
        .counts_compute = !job->watch.all,
    };
}

/* How much the process has written so far, whatever was left out of it. */
static uint64_t written(const struct output *out)
{
    return out->sieve != NULL ? ep_sieve_source(out->sieve) : out->tally.bytes;
}

void ep_processes_each(struct ep_processes *local,
                       void (*each)(void *arg, const struct ep_running *it),
                       void *arg)
{
    const struct node_job *node_job;

    TAILQ_FOREACH (node_job, &local->node_jobs, entry) {
        for (uint32_t i = 0; i < node_job->procs_count; i++) {
            const struct proc *proc = &node_job->procs[i];
            struct ep_running it = {.number = ep_proc_number(proc)};

            if (proc->is_over)
                continue;
            it.has_ended = !proc->is_running;
            it.pid = proc->is_running ? (pid_t)proc->pid : 0;
            for (unsigned o = 0; o < OUTPUTS; o++)
                it.output_bytes += written(&proc->outputs[o]);
            if (node_job->stalls != NULL && node_job->job != NULL) {
                it.stall = &node_job->stalls[i];
                it.limit = limit_of(node_job->job);
            }
            each(arg, &it);
        }
    }
}

bool ep_processes_has(const struct ep_processes *local, uint32_t number)
{
    return ep_node_job_find(local, number) != NULL;
}

void ep_processes_want(struct ep_processes *local,
                       const struct job_order *order)
{
    const struct node_job *node_job;

    TAILQ_FOREACH (node_job, &local->node_jobs, entry) {
        for (uint32_t i = 0; i < node_job->procs_count * OUTPUTS; i++) {
            struct output *out =
                &node_job->procs[i / OUTPUTS].outputs[i % OUTPUTS];

            if ((order->channels & 1u << out->name) != 0 &&
                job_order_has(order, ep_proc_number(out->proc)))
                ep_node_job_want(out, order->is_wanted, order->is_held_back);
        }
    }
}

void ep_processes_forget(struct ep_processes *local, uint32_t base)
{
    struct node_job *node_job;

    TAILQ_FOREACH (node_job, &local->node_jobs, entry) {
        if (node_job->base == base)
            node_job->is_forgotten = true;
    }
    ep_node_job_sweep(local);
}

/* Returns true when a process that is watched goes on. */
static bool pause_watch(struct job_stall *stall, uint32_t signo)
{
    const bool stops = signo == SIGTSTP || signo == SIGSTOP;

    if (!stops && signo != SIGCONT)
        return false;
    job_stall_pause(stall, stops);
    return !stops;
}

bool ep_processes_signal(struct ep_processes *local,
                         const struct job_order *order)
{
    bool is_all = order->ranges_count == 0, goes_on = false;
    const struct node_job *node_job;

    TAILQ_FOREACH (node_job, &local->node_jobs, entry) {
        for (uint32_t i = 0; i < node_job->procs_count; i++) {
            uint32_t number = ep_proc_number(&node_job->procs[i]);

            if (!node_job->procs[i].is_running ||
                (!is_all && !job_order_has(order, number)))
                continue;
            ep_spawner_signal(local->cfg.spawner, number, (int)order->number);
            if (node_job->stalls != NULL)
                goes_on |= pause_watch(&node_job->stalls[i], order->number);
        }
    }
    return goes_on;
}
