/* The jobs of a tree, by the numbers of their processes. */
#include "pmix_api/host_job.h"

#include <stdlib.h>
#include <string.h>

#include "pmix_api/host_impl.h"

struct px_host_job *px_job_of(const struct px_host *host, uint32_t number)
{
    for (struct px_host_job *job = host->jobs; job != NULL; job = job->next) {
        if (number >= job->base && number - job->base < job->size)
            return job;
    }
    return NULL;
}

bool px_redirects(const struct px_host *host, uint32_t number, uint8_t channel)
{
    const struct px_host_job *job = px_job_of(host, number);

    return job != NULL &&
           (job->redirected[number - job->base] & 1u << channel) != 0;
}

bool px_returns(const struct px_host *host, uint32_t number, uint8_t channel)
{
    const struct px_host_job *job = px_job_of(host, number);

    return job != NULL &&
           (job->returning[number - job->base] & 1u << channel) != 0;
}

static void free_job(struct px_host_job *job)
{
    for (uint32_t i = 0; job->places != NULL && i < job->parts; i++) {
        free((void *)(uintptr_t)job->places[i].host);
        free((void *)(uintptr_t)job->places[i].program);
    }
    free(job->places);
    if (job->hangup != NULL)
        event_free(job->hangup);
    px_pushes_close(&job->in.pushes);
    free(job->redirected);
    free(job->returning);
    free(job->wanted);
    free(job->asked);
    free(job->status);
    free(job->pids);
    free(job->in.state);
    free(job->dropped);
    free(job->ended);
    free(job->broken);
    free(job->is_lost);
    free(job);
}

/* It may be over before all of it is told. */
static bool keep_places(const struct px_host *host, struct px_host_job *job)
{
    job->places = calloc((size_t)job->parts + 1, sizeof(*job->places));
    for (uint32_t i = 0; job->places != NULL && i < job->parts; i++) {
        struct job_neighbours *part = &job->places[i];

        host->cfg.events->on_part(host->cfg.arg, job->base, i, part);
        part->host = strdup(part->host);
        part->program = strdup(part->program);
        if (part->host == NULL || part->program == NULL)
            return false;
    }
    return job->places != NULL;
}

struct px_host_job *px_job_add(struct px_host *host,
                               const struct px_host_job *like)
{
    struct px_host_job *job = calloc(1, sizeof(*job)), **at = &host->jobs;

    if (job == NULL)
        return NULL;
    *job = *like;
    job->next = NULL;
    job->redirected = calloc(job->size, sizeof(*job->redirected));
    job->returning = calloc(job->size, sizeof(*job->returning));
    job->wanted = calloc(job->size, sizeof(*job->wanted));
    job->asked = calloc(job->size, sizeof(*job->asked));
    job->status = malloc(job->size * sizeof(*job->status));
    job->pids = calloc(job->size, 4);
    job->in.state = calloc(job->size, sizeof(*job->in.state));
    job->ended = calloc(job->size, sizeof(*job->ended));
    job->broken = calloc(job->size, sizeof(*job->broken));
    job->is_lost = calloc(job->size, sizeof(*job->is_lost));
    if (job->base > 0 && !keep_places(host, job)) {
        free_job(job);
        return NULL;
    }
    if (job->ended == NULL || job->broken == NULL || job->redirected == NULL ||
        job->returning == NULL || job->wanted == NULL || job->asked == NULL ||
        job->status == NULL || job->pids == NULL || job->in.state == NULL ||
        job->is_lost == NULL) {
        free_job(job);
        return NULL;
    }
    memset(job->status, 0xff, job->size * sizeof(*job->status));
    while (*at != NULL)
        at = &(*at)->next;
    *at = job;
    return job;
}

void px_jobs_reap(struct px_host *host)
{
    struct px_host_job **at = &host->jobs;

    if (host->push.is_handing_on) /* it walks them, and reaps then */
        return;
    while (*at != NULL) {
        struct px_host_job *job = *at;

        if (!job->is_done) {
            at = &job->next;
            continue;
        }
        *at = job->next;
        free_job(job);
    }
}

void px_jobs_close(struct px_host *host)
{
    while (host->jobs != NULL) {
        struct px_host_job *job = host->jobs;

        host->jobs = job->next;
        free_job(job);
    }
}

void px_jobs_begin(struct px_host *host)
{
    for (struct px_host_job *job = host->jobs; job != NULL; job = job->next) {
        job->is_named = false;
        job->pull = 0; /* that was of another helper */
        job->parts_told = job->pids_told = job->exits_told = 0;
        job->in.told = job->broken_told = 0;
        job->in.full_told = false;
        job->stages_told = PX_STAGE_NONE;
    }
}

bool px_jobs_are_told(const struct px_host *host)
{
    for (const struct px_host_job *job = host->jobs; job != NULL;
         job = job->next) {
        if (job->is_done || job->parts_told < job->parts ||
            job->in.told < job->size ||
            job->in.full_told != job->in.pushes.is_full ||
            job->stages_told < job->stage)
            return false;
    }
    return true;
}
