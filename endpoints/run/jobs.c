/* Jobs beside the run's own. */
#include "endpoints/run/jobs.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints/run/control.h"
#include "endpoints/run/further.h"
#include "endpoints/run/impl.h"
#include "endpoints/run/loss.h"
#include "endpoints/run/past.h"
#include "endpoints/run/plan.h"
#include "endpoints/run/proof.h"
#include "endpoints/run/push.h"
#include "endpoints/run/sinks.h"
#include "endpoints/run/slow.h"
#include "endpoints/run/tap.h"
#include "endpoints/run/want.h"
#include "overlay/base/err.h"
#include "overlay/wire/frame.h"

struct run_job {
    struct run_job *next;
    struct job desc;
    struct ep_proof *proof; /* owned: output as it came, against its ends */
    struct run_want want;
    struct run *run;
    struct run_sinks *sinks; /* owned; NULL: its output is for the tap alone */
    bool *has_ended;         /* owned, by rank */
    bool *has_started; /* owned, by place: its processes run, or it is lost */
    uint32_t nodes_started;
    uint32_t ended;
    uint32_t last, last_status; /* the process that ended last */
    bool has_failed;
    bool is_cut; /* not all of its output could be written */
};

static void free_job(struct run_job *job)
{
    ep_run_sinks_close(job->sinks);
    job_fini(&job->desc);
    ep_proof_close(job->proof);
    ep_run_want_close(&job->want);
    free(job->has_ended);
    free(job->has_started);
    free(job);
}

static void on_sinks_error(void *arg, const char *why);
static void on_sinks_done(void *arg);

/* What is known of a job by the launcher alone. */
static int prepare(struct run *r, const struct ep_tap_spawn *spawn,
                   struct run_job *job, char *why)
{
    static const struct run_sinks_events events = {
        .on_error = on_sinks_error,
        .on_done = on_sinks_done,
    };
    const bool has_sinks = ep_run_sinks_are_asked(r, spawn);
    const bool has_files = spawn->output.names.kind != EP_NAMES_NONE;
    const uint32_t channels = job_channels(&job->desc);
    int rc;

    job->run = r;
    job->has_ended = calloc(job->desc.size, sizeof(*job->has_ended));
    job->has_started =
        calloc((size_t)job->desc.nodes + 1, sizeof(*job->has_started));
    if (job->has_ended == NULL || job->has_started == NULL)
        return OV_ENOMEM;
    rc = ep_proof_open(job->desc.size, channels, 1 + has_files, &job->proof);
    if (rc == 0)
        rc = ep_run_want_open(&job->want, job->desc.base, job->desc.size,
                              channels);
    if (rc == 0 && has_sinks) {
        job->sinks = ep_run_sinks_open(
            r, spawn,
            &(struct run_sinks_job){job->desc.base, job->proof, &events, job},
            why);
        rc = job->sinks == NULL ? OV_EINVAL : 0;
    }
    return rc;
}

/* The job as it is told; NULL with a sentence in why. */
static struct run_job *plan(struct run *r, const struct ep_tap_spawn *spawn,
                            enum ep_tap_refusal *refusal, char *why)
{
    struct run_job *job = calloc(1, sizeof(*job));
    int rc = OV_ENOMEM;

    if (job != NULL)
        rc = ep_run_further(r, spawn, &job->desc, refusal, why);
    if (rc == 0 && job->desc.size > UINT32_MAX - 1 - r->next_number) {
        snprintf(why, EP_TAP_WHY_MAX, "all numbers of processes are used");
        rc = OV_EFULL;
    }
    if (rc == 0) {
        job->desc.number = 2 + r->jobs_made;
        job->desc.base = r->next_number;
        rc = prepare(r, spawn, job, why);
    }
    if (rc == 0)
        return job;
    if (job != NULL)
        free_job(job);
    return NULL;
}

static bool may_spawn(const struct run *r, const struct ep_tap_spawn *spawn,
                      char *why)
{
    uint32_t count = 0;

    for (const struct run_job *job = r->jobs; job != NULL; job = job->next)
        count++;
    if (r->phase != RUN_RUNNING || r->is_killed || r->is_ending)
        snprintf(why, EP_TAP_WHY_MAX, "the run takes no further jobs");
    else if (count == RUN_JOBS_MAX)
        snprintf(why, EP_TAP_WHY_MAX, "%d jobs run: that is all there may be",
                 RUN_JOBS_MAX);
    else if (spawn->apps_count == 0 || spawn->apps_count > JOB_APPS_MAX)
        snprintf(why, EP_TAP_WHY_MAX, "a job has 1 to %d programs",
                 JOB_APPS_MAX);
    else
        return true;
    return false;
}

/* Its processes run on their nodes, or (less) do no longer. */
static void count_spare(struct run *r, const struct job *job, bool is_more)
{
    for (uint32_t n = 1; n <= r->nodes_count; n++) {
        uint32_t procs = job_on_node(job, n);

        r->nodes[n].spare += is_more ? procs : 0 - procs;
    }
}

bool ep_run_spawn(struct run *r, const struct ep_tap_spawn *spawn,
                  struct ep_tap_spawned *out, char *why)
{
    struct run_job *job;

    out->refusal = EP_TAP_NO_ROOM;
    if (!may_spawn(r, spawn, why))
        return false;
    snprintf(why, EP_TAP_WHY_MAX, "out of memory");
    job = plan(r, spawn, &out->refusal, why);
    if (job == NULL)
        return false;
    if (job->desc.readers_count > 0)
        ep_run_push_open(r);
    if (ep_run_control_job(r, &job->desc)) {
        snprintf(why, EP_TAP_WHY_MAX,
                 "its arguments and environment are larger than %d MiB",
                 JOB_BYTES_MAX >> 20);
        free_job(job);
        return false;
    }
    count_spare(r, &job->desc, true);
    r->jobs_made++;
    r->next_number += job->desc.size;
    job->next = r->jobs;
    r->jobs = job;
    ep_run_control_pump(r);
    *out = (struct ep_tap_spawned){.base = job->desc.base,
                                   .size = job->desc.size,
                                   .parts = ep_run_tap_parts(&job->desc),
                                   .cache_bytes = job->desc.cache_bytes};
    return true;
}

/* --- what becomes of it
 * */

static struct run_job *find(const struct run *r, uint32_t number)
{
    for (struct run_job *job = r->jobs; job != NULL; job = job->next) {
        if (number >= job->desc.base &&
            number - job->desc.base < job->desc.size)
            return job;
    }
    return NULL;
}

const struct job *ep_run_jobs_find(const struct run *r, uint32_t base)
{
    const struct run_job *job = find(r, base);

    return job != NULL ? &job->desc : NULL;
}

static void kill_job(struct run *r, const struct run_job *job)
{
    struct topo_range all = {job->desc.base,
                             job->desc.base + job->desc.size - 1};

    ep_run_signal_some(r, SIGKILL, &all, 1);
}

/* A process that has not ended, at the end: its node was lost. */
static enum ep_proof_reason absent(void *arg, uint32_t rank)
{
    (void)arg;
    (void)rank;
    return EP_PROOF_LOST;
}

static void end_job(struct run *r, struct run_job *job)
{
    const struct ep_proof_verdict *verdict =
        ep_proof_judge(job->proof, job->is_cut, absent, NULL);
    struct ep_tap_job told = {
        .event = EP_TAP_JOB_ENDED,
        .base = job->desc.base,
        .size = job->desc.size,
        .is_whole = verdict->counts[EP_PROOF_COMPLETE] == verdict->channels,
    };
    struct run_job **at = &r->jobs;

    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    if (ep_proof_gaps(verdict) > 0)
        ep_run_say(r,
                   "output of a further job, processes %u to %u, is not "
                   "whole",
                   told.base, told.base + told.size - 1);
    count_spare(r, &job->desc, false);
    ep_run_tap_job(r, &told);
    if (job->desc.cache_bytes > 0)
        ep_run_past_add(r, &job->desc);
    free_job(job);
}

/* One process more is over; the job may be, and gone. Its end is told with that
 * of its last process, so behind all that its files are to have. */
static void count_ended(struct run *r, struct run_job *job, uint32_t number,
                        uint32_t status)
{
    uint32_t rank = number - job->desc.base;

    if (job->has_ended[rank])
        return;
    job->has_ended[rank] = true;
    if (++job->ended < job->desc.size || job->sinks == NULL) {
        ep_run_tap_exit(r, number, status);
    } else {
        job->last = number;
        job->last_status = status;
        ep_run_sinks_finish(job->sinks);
    }
    if (job->ended == job->desc.size && job->sinks == NULL)
        end_job(r, job);
}

/* --- its files
 * */

static void on_sinks_error(void *arg, const char *why)
{
    struct run_job *job = arg;

    if (!job->is_cut)
        ep_run_say(job->run, "%s; the job that was to have it ends", why);
    job->is_cut = true;
    kill_job(job->run, job);
}

static void on_sinks_done(void *arg)
{
    struct run_job *job = arg;
    struct run *r = job->run;

    ep_run_tap_exit(r, job->last, job->last_status);
    end_job(r, job);
    r->tap_events->on_end(r);
}

void ep_run_jobs_give_up(struct run *r)
{
    for (struct run_job *job = r->jobs; job != NULL; job = job->next) {
        job->is_cut = true;
        ep_run_sinks_give_up(job->sinks);
    }
}

bool ep_run_jobs_are_stuck(const struct run *r, uint64_t *since_ns)
{
    for (const struct run_job *job = r->jobs; job != NULL; job = job->next) {
        if (ep_run_sinks_are_stuck(job->sinks, since_ns))
            return true;
    }
    return false;
}

/* All processes of the node run, or never will. */
static void on_started(struct run *r, struct run_job *job, uint32_t node)
{
    bool *has_started = &job->has_started[job_place(&job->desc, node)];
    struct ep_tap_job told = {
        .event = EP_TAP_JOB_STARTED,
        .base = job->desc.base,
        .size = job->desc.size,
    };

    if (*has_started)
        return;
    *has_started = true;
    if (++job->nodes_started < job->desc.nodes)
        return;
    /* From now on what is pushed to them finds them there. */
    for (uint32_t i = 0; i < job->desc.readers_count; i++)
        ep_run_tap_stdin(r, job->desc.base + job->desc.readers[i].first,
                         job->desc.base + job->desc.readers[i].last, true);
    ep_run_tap_job(r, &told);
}

const char *ep_run_jobs_subject(const struct job_app *app, const char *step)
{
    return strcmp(step, "chdir") == 0 ? app->cwd : app->argv.at[0];
}

static void on_failed(struct run *r, struct run_job *job,
                      const struct job_word *state)
{
    struct ep_tap_job told = {
        .event = EP_TAP_JOB_FAILED,
        .base = job->desc.base,
        .size = job->desc.size,
        .rank = state->rank - job->desc.base,
        .step = state->text,
        .err = (int)state->err,
    };
    uint32_t app = 0;

    if (job->has_failed)
        return;
    job->has_failed = true;
    (void)job_node_of(&job->desc, told.rank, &app);
    told.subject = ep_run_jobs_subject(&job->desc.apps[app], told.step);
    ep_run_tap_job(r, &told);
    kill_job(r, job);
}

void ep_run_jobs_word(struct run *r, const struct job_word *state)
{
    struct run_job *job = find(r, state->rank);

    if (job == NULL)
        return;
    if (state->kind == JOB_WORD_PIDS) {
        ep_run_tap_started(r, state->rank, state->pids, state->count);
        return;
    }
    if (state->kind == JOB_WORD_STARTED) {
        on_started(r, job,
                   job_node_of(&job->desc, state->rank - job->desc.base, NULL));
        return;
    }
    if (state->kind == JOB_WORD_STDIN) {
        if (ep_run_slow_said(r, &job->desc, state))
            kill_job(r, job);
        return;
    }
    if (state->kind == JOB_WORD_FAILED)
        on_failed(r, job, state);
    ep_proof_ended(job->proof, state->rank - job->desc.base, state->tallies);
    count_ended(r, job, state->rank,
                state->kind == JOB_WORD_EXIT ? state->status : 127 << 8);
}

void ep_run_jobs_output(struct run *r, const struct ep_console_record *rec)
{
    const struct ep_tap_output output = ep_run_tap_record(rec);
    struct run_job *job = find(r, rec->rank);

    if (job == NULL)
        return;
    if (job->sinks == NULL)
        ep_run_want_record(r, &job->want, rec->rank, rec->channel,
                           rec->len_bytes);
    ep_proof_written(job->proof, 0, rec->rank - job->desc.base, rec->channel,
                     output.mem, rec->len_bytes);
    ep_run_sinks_record(job->sinks, rec, rec->rank - job->desc.base);
    ep_run_tap_output(r, &output, rec->buf);
}

bool ep_run_jobs_wanted(struct run *r)
{
    bool is_told = false;

    for (struct run_job *job = r->jobs; job != NULL; job = job->next)
        is_told |= ep_run_want_again(r, &job->want);
    return is_told;
}

/* --- losses
 * */

static void lose(struct run *r, struct run_job *job, uint32_t number)
{
    const uint32_t rank = number - job->desc.base;
    const uint32_t channels = job_channels(&job->desc);
    const char *host = ep_run_host(r, job_node_of(&job->desc, rank, NULL));

    if (job->has_ended[rank])
        return;
    for (uint8_t channel = OV_CHANNEL_STDOUT; channel < OV_CHANNELS;
         channel++) {
        const struct ep_console_record end = {.proc = number,
                                              .rank = number,
                                              .host = host,
                                              .channel = channel,
                                              .is_eof = true,
                                              .cookie = RUN_NO_RECORD};
        const struct ep_tap_output told = ep_run_tap_record(&end);

        if ((channels & 1u << channel) != 0)
            ep_run_sinks_record(job->sinks, &end, rank);
        ep_run_tap_output(r, &told, NULL);
    }
    count_ended(r, job, number, SIGKILL);
}

/* A dvm goes on, but by this policy not the job that has lost a node. */
static bool ends_with_loss(const struct run *r)
{
    return r->options.is_dvm && r->options.on_node_loss == EP_RUN_LOSS_ABORT;
}

/* It gives no answers. */
static void tell_lost(struct run *r, const struct job *job, uint32_t node)
{
    struct job_part part = {0};

    while (job_next_on_node(job, node, &part))
        ep_run_tap_lost(r, job->base + part.first_rank, part.count);
}

void ep_run_jobs_lost(struct run *r, uint32_t node)
{
    struct run_job *next;

    ep_run_past_lost(r, node);
    for (const struct run_job *job = r->jobs; job != NULL; job = job->next)
        tell_lost(r, &job->desc, node);
    for (struct run_job *job = r->jobs; job != NULL; job = next) {
        uint32_t base = job->desc.base, left = job->desc.size - job->ended;
        struct job_part part = {0};
        uint32_t before = left;
        bool is_its = job_on_node(&job->desc, node) > 0;

        next = job->next;
        while (left > 0 && job_next_on_node(&job->desc, node, &part)) {
            for (uint32_t i = 0; left > 0 && i < part.count; i++) {
                left -= !job->has_ended[part.first_rank + i];
                lose(r, job, base + part.first_rank + i);
            }
        }
        if (left == 0 || !is_its)
            continue;
        if (left < before && ends_with_loss(r))
            kill_job(r, job);
        /* The lost node counts as started. The tool that has spawned the job
         * is answered then, and takes only then what the other processes have
         * written; their ends come behind that. */
        if (!job->has_failed)
            on_started(r, job, node);
    }
}

void ep_run_jobs_close(struct run *r)
{
    while (r->jobs != NULL) {
        struct run_job *job = r->jobs;

        r->jobs = job->next;
        free_job(job);
    }
}
