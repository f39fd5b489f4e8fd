/* A job, from the first message that its processes run to the end of its last
 * process. */
#include "endpoints/run/job.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints/client/viewers.h"
#include "endpoints/run/down.h"
#include "endpoints/run/exits.h"
#include "endpoints/run/records.h"
#include "endpoints/run/impl.h"
#include "endpoints/run/nodes.h"
#include "endpoints/run/orders.h"
#include "endpoints/run/history.h"
#include "endpoints/run/left_out.h"
#include "endpoints/run/plan.h"
#include "endpoints/run/proof.h"
#include "endpoints/run/sinks.h"
#include "endpoints/run/stalls.h"
#include "endpoints/run/watch.h"
#include "endpoints/sys/clock.h"
#include "job/subscription.h"
#include "overlay/wire/frame.h"

bool ep_run_job_is_own(const struct run_job *job)
{
    return job == &job->run->own;
}

void ep_run_job_fini(struct run_job *job)
{
    ep_run_sinks_close(job->sinks);
    ep_proof_close(job->proof);
    job_subscription_close(job->subscription);
    ep_run_look_fini(&job->look);
    ep_run_stalls_close(job->stalls);
    job->stalls = NULL;
    ep_left_close(job->left);
    job->left = NULL;
    job_life_close(&job->life);
    job_fini(&job->desc);
}

void ep_run_job_wrote(struct run_job *job, const struct job_record *rec)
{
    struct run_last_output *last = &job->last_output;

    if (rec->len_bytes == 0)
        return;
    last->rank = rec->rank;
    last->len_bytes =
        rec->len_bytes < RUN_LAST_BYTES ? rec->len_bytes : RUN_LAST_BYTES;
    memcpy(last->text, rec->mem + (rec->len_bytes - last->len_bytes),
           last->len_bytes);
    job->output_bytes += rec->len_bytes;
    job->output_ns = ep_clock_ns();
}

/* --- the job's end */

void ep_run_job_first(struct run_job *job)
{
    const struct job_failure *failure = &job->life.failure;
    char words[RUN_EXITS_FIRST_MAX];
    const struct ep_client_job told = {
        .event = EP_CLIENT_JOB_FIRST,
        .base = job->desc.base,
        .size = job->desc.size,
        .rank = failure->rank,
        .status = failure->status,
        .words = words,
    };

    if (failure->count == 0 ||
        (job->has_first && job->first.rank == failure->rank))
        return;
    job->has_first = true;
    job->first = failure->firsts[0];
    (void)ep_run_exits_first_words(&job->run->plan, &job->life, words);
    ep_viewers_job(job->run->clients.viewers, &told);
}

void ep_run_job_kill(struct run_job *job)
{
    struct topo_range all = {job->desc.base,
                             job->desc.base + job->desc.size - 1};

    job_life_kill(&job->life, ep_clock_ns());
    ep_run_orders_signal(job->run->orders, SIGKILL, &all, 1);
}

/* Judges a process whose exit nobody reported: when the job ends, all other
 * processes have ended, so this one was on a lost node. */
static enum ep_proof_reason absent(void *arg, uint32_t rank)
{
    (void)arg;
    (void)rank;
    return EP_PROOF_LOST;
}

static void end_job(struct run_job *job)
{
    struct run *r = job->run;
    char note[EP_LEFT_TEXT_MAX];
    const struct ep_proof_verdict *verdict =
        ep_proof_judge(job->proof, job->is_cut, absent, NULL);
    struct ep_client_job told = {
        .event = EP_CLIENT_JOB_ENDED,
        .base = job->desc.base,
        .size = job->desc.size,
        .note = note,
    };
    const struct ep_left_sum left = ep_left_sum(job->left);
    struct run_job **at = &r->own.next;
    struct text_buf lines = {0};

    ep_run_job_first(job);
    if (job->life.failure.count > 0)
        ep_run_exits_others(&r->plan, &job->life, &lines);
    ep_left_bars(&left, note);
    told.words = lines.bad ? NULL : lines.at;
    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    if (ep_proof_gaps(verdict) > 0)
        ep_voice_say(
            &r->voice,
            "output of a further job, processes %u to %u, is incomplete",
            told.base, told.base + told.size - 1);
    ep_run_nodes_empty(job->run->nodes, &job->desc);
    ep_viewers_job(r->clients.viewers, &told);
    text_buf_fini(&lines);
    if (job->desc.cache_bytes > 0) {
        ep_run_history_add(r->jobs.past, &job->desc, ep_clock_ns());
        ep_watch_soon(r->jobs.late);
    }
    ep_run_job_fini(job);
    free(job);
}

/* Reports that a process is over. Returns false when this ended a further job,
 * which is freed. When a job has files, its last process and the job's end are
 * reported only after everything was written to the files. */
static bool tell_over(struct run_job *job, const struct job_life_news *news,
                      uint32_t number, uint32_t status, struct job_span at)
{
    if (!news->is_process)
        return true;
    if (news->is_over && job->sinks != NULL) {
        job->last = number;
        job->last_status = status;
        job->last_at = at;
        ep_run_sinks_finish(job->sinks);
        return true;
    }
    ep_viewers_exit(job->run->clients.viewers, number, status, at);
    if (!news->is_over || ep_run_job_is_own(job))
        return true;
    end_job(job);
    return false;
}

/* Returns a span for an event that happened now, for which nobody else has
 * noted the time. */
static struct job_span just_now(void)
{
    const uint64_t now_ns = ep_clock_ns();

    return (struct job_span){now_ns, now_ns};
}

static struct job_life_news step_life(struct run_job *job,
                                      enum job_life_kind kind, uint32_t number,
                                      uint32_t status, struct job_span at)
{
    const struct job_life_event event = {.kind = kind,
                                         .rank = number - job->desc.base,
                                         .status = (int)status,
                                         .at = at};

    return job_life_step(&job->life, &event);
}

/* --- the job's files */

static void on_sinks_error(void *arg, const char *why)
{
    struct run_job *job = arg;

    if (!job->is_cut)
        ep_voice_say(&job->run->voice, "%s; the job that writes it ends", why);
    job->is_cut = true;
    ep_run_job_kill(job);
}

static void on_sinks_done(void *arg)
{
    struct run_job *job = arg;
    struct run *r = job->run;

    ep_viewers_exit(r->clients.viewers, job->last, job->last_status,
                    job->last_at);
    end_job(job);
    event_active(r->end.check, 0, 0);
}

const struct run_sinks_events ep_run_job_sinks = {
    .on_error = on_sinks_error,
    .on_done = on_sinks_done,
};

/* --- the life of the job's processes */

static void on_node(struct run_job *job, enum job_life_kind kind, uint32_t node)
{
    const struct job_life_event event = {.kind = kind, .node = node};

    if (job_life_step(&job->life, &event).is_started)
        job->events->on_started(job);
}

void ep_run_job_started(struct run_job *job, uint32_t node)
{
    on_node(job, JOB_LIFE_NODE_STARTED, node);
}

bool ep_run_job_ended(struct run_job *job, uint32_t number, uint32_t status,
                      struct job_span at)
{
    struct job_life_news news =
        step_life(job, JOB_LIFE_PROCESS_ENDED, number, status, at);

    if (news.is_process && status != 0 && !job->life.is_killed)
        job->events->on_bad_exit(job);
    return tell_over(job, &news, number, status, at);
}

/* Returns what the failed step was applied to: the program's directory, or the
 * program itself. */
static const char *subject_of(const struct job_app *app, const char *step)
{
    return strcmp(step, "chdir") == 0 ? app->cwd : app->argv.at[0];
}

static void tell_unstarted(struct run_job *job, uint32_t rank, const char *step,
                           int err)
{
    uint32_t app = 0;
    struct ep_client_job told = {
        .event = EP_CLIENT_JOB_FAILED,
        .base = job->desc.base,
        .size = job->desc.size,
        .rank = rank,
        .step = step,
        .err = err,
    };

    (void)job_node_of(&job->desc, rank, &app);
    told.subject = subject_of(&job->desc.apps[app], step);
    job->events->on_unstarted(job, &told);
}

/* Ends the channels of a process that was not started. No daemon reports their
 * ends. */
static void end_unstarted(struct run_job *job, uint32_t number)
{
    for (uint8_t channel = OV_CHANNEL_STDOUT; channel < OV_CHANNELS;
         channel++) {
        const struct job_record end = {.proc = number,
                                       .rank = number,
                                       .channel = channel,
                                       .is_end = true,
                                       .cookie = RUN_NO_RECORD};

        (void)ep_viewers_output(job->run->clients.viewers, &end);
    }
}

/* The client is told even when the job was killed, because the client that has
 * started a further job waits for an answer. */
bool ep_run_job_unstarted(struct run_job *job, uint32_t number,
                          const char *what, int err)
{
    struct job_life_news news =
        step_life(job, JOB_LIFE_PROCESS_UNSTARTED, number, 0, just_now());

    if (news.is_process)
        end_unstarted(job, number);
    if (news.is_failed) {
        tell_unstarted(job, number - job->desc.base, what, err);
        job->events->on_abort(job);
    }
    return tell_over(job, &news, number, 127 << 8, just_now());
}

/* --- losses */

/* Ends the channels that a process on a lost node has left open, for clients,
 * console and files. */
static void end_channels(struct run_job *job, uint32_t node, uint32_t number)
{
    struct run *r = job->run;

    for (uint8_t channel = OV_CHANNEL_STDOUT; channel < OV_CHANNELS;
         channel++) {
        const bool has = (job_channels(&job->desc) & 1u << channel) != 0;
        struct job_record end = {.proc = number,
                                 .rank = number,
                                 .host = ep_run_host(&r->plan, node),
                                 .channel = channel,
                                 .is_end = true,
                                 .is_cut = has,
                                 .cookie = RUN_NO_RECORD};

        (void)ep_viewers_output(r->clients.viewers, &end);
        if (has)
            job->events->on_cut(job, &end);
    }
}

/* Notes that a process is lost. It is not known whether the process is being
 * killed or had already ended; tools are told that it was killed. */
static bool lose_process(struct run_job *job, uint32_t node, uint32_t number)
{
    uint32_t rank = number - job->desc.base;
    struct job_life_news news;

    if (job->life.processes[rank] != JOB_PROCESS_TOLD)
        return true;
    end_channels(job, node, number);
    news = step_life(job, JOB_LIFE_PROCESS_LOST, number, 0, just_now());
    return tell_over(job, &news, number, SIGKILL, just_now());
}

/* Notes that the node's processes are lost. Returns false when the job is over
 * and was freed. */
static bool lose_processes(struct run_job *job, uint32_t node)
{
    struct job_part part = {0};

    while (job_next_on_node(&job->desc, node, &part)) {
        for (uint32_t i = 0; i < part.count; i++) {
            if (!lose_process(job, node, job->desc.base + part.first_rank + i))
                return false;
        }
    }
    return true;
}

/* Tells whether to kill a further job because it has lost a node. A dvm itself
 * goes on after a loss, but its policy may be that such a job does not. */
static bool ends_with_loss(const struct run_job *job)
{
    const struct ep_run_options *options = &job->run->options;

    return options->is_dvm && options->on_node_loss == EP_RUN_LOSS_ABORT &&
           !ep_run_job_is_own(job);
}

bool ep_run_job_lost(struct run_job *job, uint32_t node)
{
    uint32_t before = job->life.processes_over;

    if (job_on_node(&job->desc, node) == 0)
        return true;
    if (!lose_processes(job, node))
        return false;
    if (job->life.processes_over > before && ends_with_loss(job))
        ep_run_job_kill(job);
    /* The loss may make the job count as started, when it was the last node
     * that was awaited. Only then is the tool that has spawned the job
     * answered, and only then does the tool read what the other processes have
     * written; their ends come after that. */
    on_node(job, JOB_LIFE_NODE_LOST, node);
    return true;
}
