/* The jobs of a session. */
#include "endpoints/run/jobs.h"

#include <stdio.h>
#include <stdlib.h>

#include "endpoints/client/viewers.h"
#include "endpoints/run/down.h"
#include "endpoints/run/job_plan.h"
#include "endpoints/run/impl.h"
#include "endpoints/run/nodes.h"
#include "endpoints/run/orders.h"
#include "endpoints/run/history.h"
#include "endpoints/run/left_out.h"
#include "endpoints/run/plan.h"
#include "endpoints/run/proof.h"
#include "endpoints/run/sinks.h"
#include "endpoints/run/stalls.h"
#include "endpoints/run/subscription.h"
#include "endpoints/run/watch.h"
#include "endpoints/sys/clock.h"
#include "job/order.h"
#include "job/subscription.h"
#include "overlay/base/err.h"
#include "overlay/base/panic.h"

enum { LATE_MS = 1000 }; /* how often to look for jobs that may be forgotten */

/* --- what is reported about a further job */

static void on_started(struct run_job *job)
{
    const uint32_t base = job->desc.base;
    const struct ep_client_job told = {
        .event = EP_CLIENT_JOB_STARTED, .base = base, .size = job->desc.size};

    /* From now on clients can push to the processes that read stdin. */
    for (uint32_t i = 0; i < job->desc.readers_count; i++)
        ep_viewers_has_stdin(job->run->clients.viewers,
                             base + job->desc.readers[i].first,
                             base + job->desc.readers[i].last, true);
    ep_viewers_job(job->run->clients.viewers, &told);
}

static void on_unstarted(struct run_job *job, const struct ep_client_job *told)
{
    ep_viewers_job(job->run->clients.viewers, told);
}

/* A failure that the launcher is told of later may turn out to be the first:
 * then the client is told at the end of the job. */
static void on_bad_exit(struct run_job *job)
{
    if (!job->has_first)
        ep_run_job_first(job);
}

static void on_cut(struct run_job *job, const struct job_record *end)
{
    ep_run_sinks_record(job->sinks, end, end->proc - job->desc.base);
}

/* --- those of a further job that make no progress */

static void tell_stalled(struct run_job *job, const char *words,
                         const bool *are_told)
{
    const struct ep_client_job told = {.event = EP_CLIENT_JOB_STALLED,
                                       .base = job->desc.base,
                                       .size = job->desc.size,
                                       .words = words,
                                       .are_stalled = are_told};

    ep_viewers_job(job->run->clients.viewers, &told);
}

static void say_stalled(void *arg, const char *words)
{
    tell_stalled(arg, words, NULL);
}

static void on_stalled(void *arg, const bool *are_told)
{
    tell_stalled(arg, "", are_told);
}

static int open_stalls(struct run *r, struct run_job *job)
{
    static const struct run_stalls_events events = {.say = say_stalled,
                                                    .on_told = on_stalled};
    const struct run_stalls_cfg cfg = {.plan = &r->plan,
                                       .life = &job->life,
                                       .base = r->base,
                                       .events = &events,
                                       .arg = job};

    return job->desc.watch.ms > 0 ? ep_run_stalls_open(&cfg, &job->stalls) : 0;
}

static const struct run_job_events further = {
    .on_started = on_started,
    .on_unstarted = on_unstarted,
    .on_bad_exit = on_bad_exit,
    .on_abort = ep_run_job_kill,
    .on_cut = on_cut,
};

/* --- a further job begins */

/* Prepares the parts of a job that only the launcher needs. */
static int prepare_job(struct run *r, const struct ep_client_spawn *spawn,
                       const char *nspace, struct run_job *job, char *why)
{
    const bool has_sinks = ep_run_sinks_are_asked(r, spawn);
    const bool has_files = spawn->output.names.kind != EP_NAMES_NONE;
    const uint32_t channels = job_channels(&job->desc);
    int rc;

    job->run = r;
    job->events = &further;
    rc = job_life_open(&job->life, &job->desc);
    if (rc == 0)
        rc =
            ep_proof_open(job->desc.size, channels, 1 + has_files, &job->proof);
    if (rc == 0)
        rc = job_subscription_open(job->desc.size, &job->subscription);
    if (rc == 0)
        rc = open_stalls(r, job);
    if (rc == 0 && job->desc.filter.keeps_last)
        rc = ep_left_open(job->desc.size, &job->left);
    if (rc == 0 && has_sinks) {
        job->sinks = ep_run_sinks_open(
            r, spawn,
            &(struct run_sinks_job){nspace, &job->desc, job->proof,
                                    &ep_run_job_sinks, job},
            why);
        rc = job->sinks == NULL ? OV_EINVAL : 0;
    }
    return rc;
}

/* Asks all nodes that are due for their machines. */
static void ask_machines(struct run *r)
{
    struct job_order order = {.kind = JOB_CONTROL_MACHINE};
    uint32_t node;

    while ((node = ep_run_nodes_due(r->nodes)) != 0)
        ep_run_orders_add(r->orders, &order, node);
    ep_run_orders_rest(r->orders, &order);
}

/* The reason why a node is blind is kept until the clients that have waited for
 * the answer were told. */
bool ep_run_jobs_machine(struct run *r, uint32_t node,
                         const struct job_word *word)
{
    bool is_news;

    if (ep_run_nodes_said(r->nodes, node, word, &is_news) &&
        ep_run_nodes_asked(r->nodes) == 0) {
        ep_viewers_again(r->clients.viewers);
        ep_run_nodes_forgive(r->nodes);
    }
    return is_news;
}

/* Makes and plans the job, which is not sent to the nodes yet. Returns NULL,
 * with a sentence in why, when that fails. */
static struct run_job *plan_job(struct run *r,
                                const struct ep_client_spawn *spawn,
                                struct ep_client_spawned *out, char *why)
{
    struct run_job *job = calloc(1, sizeof(*job));
    int rc = OV_ENOMEM;

    if (job != NULL)
        rc = ep_run_job_plan(&r->plan, r->nodes, spawn, &job->desc,
                             &out->refusal, why);
    ask_machines(r);
    if (rc == 0 && job->desc.size > UINT32_MAX - 1 - r->jobs.next_number) {
        snprintf(why, EP_CLIENT_WHY_MAX,
                 "the session has used all process numbers (start a new dvm)");
        rc = OV_EFULL;
    }
    if (rc == 0) {
        job->desc.number = 2 + r->jobs.made;
        job->desc.base = r->jobs.next_number;
        snprintf(out->nspace, sizeof(out->nspace), "%s.%u", r->plan.nspace,
                 r->jobs.made + 1);
        rc = prepare_job(r, spawn, out->nspace, job, why);
    }
    if (rc == 0)
        return job;
    if (job != NULL)
        ep_run_job_fini(job);
    free(job);
    return NULL;
}

static bool may_spawn(const struct run *r, const struct ep_client_spawn *spawn,
                      char *why)
{
    uint32_t count = 0;

    for (const struct run_job *job = r->own.next; job != NULL; job = job->next)
        count++;
    if (r->session.state != JOB_SESSION_RUNNING || r->end.is_ending)
        snprintf(why, EP_CLIENT_WHY_MAX, "this session takes no further jobs");
    else if (count == RUN_JOBS_MAX)
        snprintf(why, EP_CLIENT_WHY_MAX,
                 "%d jobs are running, which is the maximum: wait until one "
                 "has ended",
                 RUN_JOBS_MAX);
    else if (spawn->apps_count == 0 || spawn->apps_count > JOB_APPS_MAX)
        snprintf(why, EP_CLIENT_WHY_MAX, "a job must have 1 to %d programs",
                 JOB_APPS_MAX);
    else
        return true;
    return false;
}

static void tell_begun(struct run_job *job, const struct ep_client_spawned *out)
{
    const struct ep_client_job told = {
        .event = EP_CLIENT_JOB_BEGUN,
        .base = out->base,
        .size = out->size,
        .nspace = out->nspace,
        .channels = (uint8_t)job_channels(&job->desc),
        .apps = job->desc.apps_count,
        .parts = out->parts,
        .cache_bytes = out->cache_bytes,
    };

    ep_viewers_job(job->run->clients.viewers, &told);
}

bool ep_run_spawn(struct run *r, const struct ep_client_spawn *spawn,
                  struct ep_client_spawned *out, char *why)
{
    struct run_job *job;

    out->refusal = EP_CLIENT_LATER;
    if (r->session.state == JOB_SESSION_LAUNCHING)
        return false;
    out->refusal = EP_CLIENT_NO_ROOM;
    if (!may_spawn(r, spawn, why))
        return false;
    snprintf(why, EP_CLIENT_WHY_MAX, "out of memory");
    job = plan_job(r, spawn, out, why);
    if (job == NULL)
        return false;
    if (job->desc.readers_count > 0)
        (void)ep_run_down_stream(r->down, JOB_STREAM_PUSHED);
    if (ep_run_down_job(r->down, &job->desc)) {
        snprintf(why, EP_CLIENT_WHY_MAX,
                 "its arguments and environment are larger than %d MiB",
                 JOB_BYTES_MAX >> 20);
        ep_run_job_fini(job);
        free(job);
        return false;
    }
    ep_run_nodes_told(r->nodes, &job->desc);
    ep_run_nodes_fill(r->nodes, &job->desc);
    r->jobs.made++;
    r->jobs.have_bars |= job->desc.filter.keeps_last;
    r->jobs.next_number += job->desc.size;
    job->next = r->own.next;
    r->own.next = job;
    ep_run_orders_pump(r->orders);
    out->base = job->desc.base;
    out->size = job->desc.size;
    out->parts = ep_run_jobs_parts(&job->desc);
    out->cache_bytes = job->desc.cache_bytes;
    tell_begun(job, out);
    return true;
}

/* --- jobs that are over */

static void on_forget(void *arg, uint32_t base, uint32_t size)
{
    struct run *r = arg;
    const struct ep_client_job told = {
        .event = EP_CLIENT_JOB_FORGOTTEN, .base = base, .size = size};
    const struct job_order order = {.kind = JOB_CONTROL_FORGET, .number = base};

    ep_viewers_job(r->clients.viewers, &told);
    ep_run_orders_give(r->orders, &order);
}

static void on_past_lost(void *arg, uint32_t first, uint32_t count)
{
    ep_viewers_lost(((struct run *)arg)->clients.viewers, first, count);
}

static bool is_replay_due(void *arg)
{
    return ep_viewers_replays(((struct run *)arg)->clients.viewers);
}

static void forget_late(void *arg)
{
    struct run *r = arg;

    if (ep_run_history_tick(r->jobs.past, ep_clock_ns()))
        ep_watch_soon(r->jobs.late);
}

int ep_run_jobs_open(struct run *r)
{
    static const struct run_history_events events = {
        .on_forget = on_forget,
        .on_lost = on_past_lost,
        .is_awaited = is_replay_due,
    };

    int rc =
        ep_watch_open(r->base, LATE_MS, LATE_MS, forget_late, r, &r->jobs.late);

    return rc != 0 ? rc : ep_run_history_open(&events, r, &r->jobs.past);
}

/* --- all jobs */

bool ep_run_jobs_further(const struct run *r)
{
    return r->own.next != NULL;
}

struct run_job *ep_run_job_of(struct run *r, uint32_t number)
{
    for (struct run_job *job = &r->own; job != NULL; job = job->next) {
        if (number >= job->desc.base &&
            number - job->desc.base < job->desc.size)
            return job;
    }
    return NULL;
}

static uint32_t nodes_of(const struct job_ranks *ranks)
{
    return ranks->nodes.last - ranks->nodes.first + 1;
}

uint32_t ep_run_jobs_parts(const struct job *job)
{
    uint32_t count = 0;

    for (uint32_t app = 0; app < job->apps_count; app++) {
        for (uint32_t i = 0; i < job->apps[app].ranks_count; i++)
            count += nodes_of(&job->apps[app].ranks[i]);
    }
    return count;
}

static void fill_part(const struct run *r, const struct job *job, uint32_t app,
                      const struct job_ranks *ranks, uint32_t nth,
                      struct job_neighbours *out)
{
    out->host =
        ep_run_host(&r->plan, job_node_at(job, ranks->nodes.first + nth));
    out->argv = job_app_program(&job->apps[app]).argv;
    out->program = out->argv[0];
    out->app = app;
    out->first_rank = ranks->first_rank + nth * ranks->each;
    out->ranks = ranks->each;
}

void ep_run_jobs_part(struct run *r, uint32_t base, uint32_t index,
                      struct job_neighbours *out)
{
    const struct run_job *of = ep_run_job_of(r, base);
    const struct job *job;

    OV_ASSERT(of != NULL);
    job = &of->desc;
    for (uint32_t app = 0; app < job->apps_count; app++) {
        for (uint32_t i = 0; i < job->apps[app].ranks_count; i++) {
            const struct job_ranks *ranks = &job->apps[app].ranks[i];

            if (index < nodes_of(ranks)) {
                fill_part(r, job, app, ranks, index, out);
                return;
            }
            index -= nodes_of(ranks);
        }
    }
}

void ep_run_jobs_killed(struct run *r)
{
    const uint64_t now_ns = ep_clock_ns();

    for (struct run_job *job = &r->own; job != NULL; job = job->next)
        job_life_kill(&job->life, now_ns);
}

void ep_run_jobs_give_up(struct run *r)
{
    for (struct run_job *job = r->own.next; job != NULL; job = job->next) {
        job->is_cut = true;
        ep_run_sinks_give_up(job->sinks);
    }
}

bool ep_run_jobs_are_stuck(const struct run *r, uint64_t *since_ns)
{
    for (const struct run_job *job = r->own.next; job != NULL;
         job = job->next) {
        if (ep_run_sinks_are_stuck(job->sinks, since_ns))
            return true;
    }
    return false;
}

void ep_run_jobs_output(struct run *r, const struct job_record *rec)
{
    struct run_job *job = ep_run_job_of(r, rec->proc);

    if (job == NULL)
        return;
    ep_run_job_wrote(job, rec);
    if (job->sinks == NULL)
        ep_run_subscription_record(job, rec->proc - job->desc.base,
                                   rec->channel, rec->len_bytes);
    ep_proof_written(job->proof, 0, rec->proc - job->desc.base, rec->channel,
                     rec->mem, rec->len_bytes);
    ep_run_sinks_record(job->sinks, rec, rec->proc - job->desc.base);
    (void)ep_viewers_output(r->clients.viewers, rec);
}

bool ep_run_jobs_wanted(struct run *r)
{
    bool is_told = false;

    for (struct run_job *job = r->own.next; job != NULL; job = job->next)
        is_told |= ep_run_subscription_wanted(job);
    return is_told;
}

void ep_run_jobs_silent(struct run *r, uint32_t node)
{
    ep_run_history_lost(r->jobs.past, node);
    for (const struct run_job *job = &r->own; job != NULL; job = job->next) {
        struct job_part part = {0};

        while (job_next_on_node(&job->desc, node, &part))
            ep_viewers_lost(r->clients.viewers,
                            job->desc.base + part.first_rank, part.count);
    }
}

void ep_run_jobs_lost(struct run *r, uint32_t node)
{
    struct run_job *next;

    for (struct run_job *job = &r->own; job != NULL; job = next) {
        next = job->next;
        (void)ep_run_job_lost(job, node);
    }
}

void ep_run_jobs_close(struct run *r)
{
    while (r->own.next != NULL) {
        struct run_job *job = r->own.next;

        r->own.next = job->next;
        ep_run_job_fini(job);
        free(job);
    }
    ep_watch_close(r->jobs.late);
    r->jobs.late = NULL;
    ep_run_history_close(r->jobs.past);
    r->jobs.past = NULL;
}
