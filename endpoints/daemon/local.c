/* The processes of one node. */
#include "config.h"

#include "endpoints/daemon/local.h"

#include <signal.h>
#include <stdlib.h>

#include "endpoints/daemon/local_impl.h"
#include "overlay/base/err.h"

/* --- stdin
 * */

static void on_consumed(void *arg, uint64_t frames, uint32_t rank)
{
    const struct intake_of *of = arg;
    const struct ep_local_cfg *cfg = &of->local->cfg;

    ep_hub_consumed(cfg->hub, cfg->index, of->stream, frames, rank);
}

static void on_free(void *arg, struct ov_buf *buf)
{
    const struct intake_of *of = arg;

    ep_hub_free(of->local->cfg.hub, buf);
}

static void on_slow(void *arg, uint32_t rank, enum job_stdin_event what,
                    int err)
{
    struct job_word state = {.kind = JOB_WORD_STDIN,
                             .stdin_event = what,
                             .rank = rank,
                             .err = (uint32_t)err};
    const struct intake_of *of = arg;

    ep_local_say(of->local, &state);
}

static int open_intakes(struct ep_local *local)
{
    static const struct ep_intake_events events = {
        .on_consumed = on_consumed, .on_free = on_free, .on_slow = on_slow};
    static const uint32_t streams[INTAKES] = {
        [INTAKE_OWN] = JOB_STREAM_STDIN, [INTAKE_PUSHED] = JOB_STREAM_PUSHED};
    const struct topo_range all = {0, TOPO_NONE};
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < INTAKES; i++) {
        local->intakes_of[i] = (struct intake_of){local, streams[i]};
        rc = ep_intake_open(local->cfg.base, &events, &local->intakes_of[i],
                            &local->intakes[i]);
    }
    if (rc == 0)
        rc = ep_inlet_open(local->intakes[INTAKE_OWN], all, &local->own);
    return rc;
}

static void close_intakes(struct ep_local *local)
{
    for (unsigned i = 0; i < INTAKES; i++)
        ep_intake_close(local->intakes[i]);
}

/* --- life
 * */

int ep_local_open(const struct ep_local_cfg *cfg, struct ep_local **out)
{
    struct ep_local *local = calloc(1, sizeof(*local));

    if (local == NULL)
        return OV_ENOMEM;
    local->cfg = *cfg;
    TAILQ_INIT(&local->shares);
    STAILQ_INIT(&local->replays);
    if (cfg->inputs > EP_LOCAL_OWN_INPUTS)
        local->lanes_count = (cfg->inputs - EP_LOCAL_OWN_INPUTS) / OUTPUTS;
    local->lanes =
        calloc((size_t)local->lanes_count + 1, sizeof(*local->lanes));
    if (local->lanes == NULL || open_intakes(local)) {
        close_intakes(local);
        free(local->lanes);
        free(local);
        return OV_ENOMEM;
    }
    *out = local;
    return 0;
}

void ep_local_close(struct ep_local *local)
{
    if (local == NULL)
        return;
    ep_replay_close(local);
    while (!TAILQ_EMPTY(&local->shares))
        ep_share_free(TAILQ_FIRST(&local->shares));
    close_intakes(local);
    if (local->block != NULL)
        ep_hub_put(local->cfg.hub, local->block);
    free(local->words);
    free(local->lanes);
    free(local);
}

int ep_local_begin(struct ep_local *local, const struct job *job,
                   const struct ep_binding *binding, uint32_t program)
{
    bool is_first = !local->has_begun;

    local->has_begun = true;
    if (job_on_node(job, local->cfg.node) > 0)
        return ep_share_begin(local, job, binding, program);
    if (is_first)
        ep_words_over(local);
    return 0;
}

bool ep_local_reap(struct ep_local *local, const struct job *job)
{
    struct share *share;

    TAILQ_FOREACH (share, &local->shares, entry) {
        if (share->job != job)
            continue;
        if (share->over < share->procs_count)
            return false;
        ep_share_end(share);
        return true;
    }
    return true;
}

bool ep_local_is_idle(const struct ep_local *local)
{
    return local->has_begun && local->active == 0;
}

void ep_local_pause(struct ep_local *local, bool is_paused)
{
    for (unsigned i = 0; i < INTAKES; i++)
        ep_intake_pause(local->intakes[i], is_paused);
}

/* --- events */

void ep_local_read(struct ep_local *local, uint16_t input, uint32_t max_bytes,
                   struct ov_read *read)
{
    struct proc *proc;

    if (input == 0) {
        ep_words_read(local, max_bytes, read);
        return;
    }
    if (input == EP_LOCAL_REPLAY_INPUT) {
        ep_replay_read(local, max_bytes, read);
        return;
    }
    input = (uint16_t)(input - EP_LOCAL_OWN_INPUTS);
    proc = local->lanes[input / OUTPUTS];
    read->state = OV_INPUT_IDLE;
    if (proc != NULL) /* otherwise the process has ended since */
        ep_share_read(&proc->outputs[input % OUTPUTS], max_bytes, read);
}

void ep_local_feed(struct ep_local *local, uint32_t stream,
                   const struct ov_slice *slice, uint32_t flags)
{
    unsigned which = stream == JOB_STREAM_STDIN ? INTAKE_OWN : INTAKE_PUSHED;

    ep_intake_take(local->intakes[which], slice, flags);
    ep_hub_put(local->cfg.hub, slice->buf);
}

/* Says the pids, in words of neighbours by rank. */
static void say_pids(const struct share *share)
{
    struct job_word state = {.kind = JOB_WORD_PIDS};

    for (uint32_t i = 0; i < share->procs_count; i++) {
        const struct proc *proc = &share->procs[i];

        if (state.count == 0)
            state.rank = ep_proc_number(proc);
        state.pids[state.count++] = share->pids[i];
        if (i + 1 == share->procs_count || state.count == JOB_WORD_PIDS_MAX ||
            share->procs[i + 1].rank != proc->rank + 1) {
            ep_local_say(share->local, &state);
            state.count = 0;
        }
    }
}

/* When all processes run, their pids are said at once, with the word that they
 * run. */
void ep_local_started(struct ep_local *local, uint32_t number, int64_t pid)
{
    struct proc *proc = ep_share_find(local, number);
    struct share *share = proc->share;
    struct job_word state = {.kind = JOB_WORD_STARTED,
                             .rank = ep_proc_number(&share->procs[0]),
                             .count = share->procs_count};

    if (share->pids == NULL)
        share->pids = calloc(share->procs_count, sizeof(*share->pids));
    OV_ASSERT(share->pids != NULL);
    share->pids[proc - share->procs] = (uint32_t)pid;
    if (++share->started < share->procs_count)
        return;
    say_pids(share);
    free(share->pids);
    share->pids = NULL;
    ep_local_say(local, &state);
}

void ep_local_failed(struct ep_local *local, uint32_t number, const char *step,
                     int err)
{
    ep_share_failed(ep_share_find(local, number), step, err);
}

void ep_local_exited(struct ep_local *local, uint32_t number, int status)
{
    ep_share_exited(ep_share_find(local, number), status);
}

bool ep_local_has(const struct ep_local *local, uint32_t number)
{
    return ep_share_find(local, number) != NULL;
}

void ep_local_want(struct ep_local *local, const struct job_order *order)
{
    const struct share *share;

    TAILQ_FOREACH (share, &local->shares, entry) {
        for (uint32_t i = 0; i < share->procs_count * OUTPUTS; i++) {
            struct output *out =
                &share->procs[i / OUTPUTS].outputs[i % OUTPUTS];

            if ((order->channels & 1u << out->name) != 0 &&
                job_order_has(order, ep_proc_number(out->proc)))
                ep_share_want(out, order->is_wanted, order->is_held_back);
        }
    }
}

void ep_local_forget(struct ep_local *local, uint32_t base)
{
    struct share *share;

    TAILQ_FOREACH (share, &local->shares, entry) {
        if (share->base == base)
            share->is_forgotten = true;
    }
    ep_share_sweep(local);
}

void ep_local_signal(struct ep_local *local, const struct job_order *order)
{
    bool is_all = order->ranges_count == 0;
    const struct share *share;

    TAILQ_FOREACH (share, &local->shares, entry) {
        for (uint32_t i = 0; i < share->procs_count; i++) {
            uint32_t number = ep_proc_number(&share->procs[i]);

            if (share->procs[i].is_running &&
                (is_all || job_order_has(order, number)))
                ep_spawner_signal(local->cfg.spawner, number,
                                  (int)order->number);
        }
    }
}
