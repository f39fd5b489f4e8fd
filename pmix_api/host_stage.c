/* How far jobs are: which processes were started, which have ended. */
#include <inttypes.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>

#include "pmix_api/host_impl.h"
#include "pmix_api/rendezvous.h"
#include "pmix_api/spawn.h"
#include "pmix_api/wire.h"

/* A job that is over before has no use for the helper. */
enum { AFTER_MS = 200 };
#define NS_PER_MS UINT64_C(1000000)

/* How it ended: the first process that ended badly says so. */
static void put_end(const struct px_host_job *job, char *text, size_t size)
{
    const int status = job->failure.status;

    if (job->exited < job->size)
        snprintf(text, size, "%u of %u processes %s not heard of again",
                 job->size - job->exited, job->size,
                 job->size - job->exited == 1 ? "was" : "were");
    else if (job->failure.count == 0)
        snprintf(text, size, "%u process%s returned 0", job->size,
                 job->size == 1 ? "" : "es");
    else if (WIFSIGNALED(status))
        snprintf(text, size, "rank %u was ended by signal %d",
                 job->failure.rank, WTERMSIG(status));
    else
        snprintf(text, size, "rank %u returned %d", job->failure.rank,
                 WEXITSTATUS(status));
}

/* PMIX_LOG_JOB_EVENTS, PMIX_LOG_COMPLETION. */
static void log_stage(const struct px_host *host, const struct px_host_job *job,
                      enum px_stage_name stage)
{
    char what[96] = "a first process runs", text[256];
    const char *name = "PMIX_EVENT_JOB_START";

    if ((job->logs & PX_SPAWN_LOG_EVENTS) == 0 &&
        (stage != PX_STAGE_ENDED || job->logs == 0))
        return;
    if (stage == PX_STAGE_RUNNING) {
        name = "PMIX_LAUNCH_COMPLETE";
        snprintf(what, sizeof(what), "%u process%s", job->size,
                 job->size == 1 ? " runs" : "es run");
    } else if (stage == PX_STAGE_ENDED) {
        name = "PMIX_EVENT_JOB_END";
        put_end(job, what, sizeof(what));
    }
    snprintf(text, sizeof(text), "%s of %s: %s", name, job->nspace, what);
    host->cfg.events->on_say(host->cfg.arg, text);
}

/* Stages are passed in their order: one that was skipped has the time of the
 * one after it. */
static void reach(struct px_host *host, struct px_host_job *job,
                  enum px_stage_name stage)
{
    while (job->stage < stage) {
        job->stage_s[job->stage++] = (uint64_t)time(NULL);
        log_stage(host, job, job->stage);
        px_queue_wake(host);
    }
}

static void end(struct px_host *host, struct px_host_job *job)
{
    /* What has never begun has not ended either. */
    if (job->stage != PX_STAGE_NONE)
        reach(host, job, PX_STAGE_ENDED);
}

void px_stages_end(struct px_host *host)
{
    for (struct px_host_job *job = host->jobs; job != NULL; job = job->next)
        end(host, job);
}

void px_host_started(struct px_host *host, uint32_t rank, const uint32_t *pids,
                     uint32_t count)
{
    struct px_item item = {
        .output = {.proc = rank}, .value = count, .kind = PX_ITEM_PIDS};
    struct px_host_job *job = px_job_of(host, rank);
    struct ov_wr wr;

    if (job == NULL || count > job->size - (rank - job->base))
        return;
    rank -= job->base;
    wr = ov_wr_init(job->pids + 4 * (size_t)rank, 4 * (size_t)count);
    for (uint32_t i = 0; i < count; i++)
        ov_wr_u32(&wr, pids[i]);
    job->started += count;
    if (host->phase == PX_HOST_READY && rank < job->pids_told)
        px_queue_push(host, &item);
    reach(host, job,
          job->started < job->size ? PX_STAGE_STARTED : PX_STAGE_RUNNING);
    if (host->starts == 0 && job->started == count && !px_rendezvous_path()) {
        event_del(host->timer);
        px_queue_arm(host, AFTER_MS);
    }
}

void px_host_exit(struct px_host *host, uint32_t rank, uint32_t status)
{
    struct px_item item = {
        .output = {.proc = rank}, .value = status, .kind = PX_ITEM_EXIT};
    struct px_host_job *job = px_job_of(host, rank);

    if (job == NULL || job->status[rank - job->base] >= 0)
        return;
    rank -= job->base;
    job->status[rank] = (int32_t)(status & INT32_MAX);
    if (status != 0)
        job_failure_add(&job->failure, rank, (int)status,
                        px_now_ms() * NS_PER_MS);
    /* One that is still to be told of the job hears it with that. */
    if (host->phase == PX_HOST_READY && rank < job->exits_told)
        px_queue_push(host, &item);
    px_ends_exit(host, job, rank);
    px_host_behind(host, job->base + rank, false);
    if (++job->exited == job->size)
        end(host, job);
}
