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

static void free_job(struct px_host_job *job)
{
    free(job->redirected);
    free(job->wanted);
    free(job->status);
    free(job->pids);
    free(job->stdin_state);
    free(job->dropped);
    free(job->ended);
    free(job->broken);
    free(job);
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
    job->wanted = calloc(job->size, sizeof(*job->wanted));
    job->status = malloc(job->size * sizeof(*job->status));
    job->pids = calloc(job->size, 4);
    job->stdin_state = calloc(job->size, sizeof(*job->stdin_state));
    job->ended = calloc(job->size, sizeof(*job->ended));
    job->broken = calloc(job->size, sizeof(*job->broken));
    if (job->ended == NULL || job->broken == NULL || job->redirected == NULL ||
        job->wanted == NULL || job->status == NULL || job->pids == NULL ||
        job->stdin_state == NULL) {
        free_job(job);
        return NULL;
    }
    memset(job->status, 0xff, job->size * sizeof(*job->status));
    while (*at != NULL)
        at = &(*at)->next;
    *at = job;
    return job;
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
        job->parts_told = job->pids_told = job->exits_told = 0;
        job->stdin_told = job->broken_told = 0;
        job->stages_told = PX_STAGE_NONE;
    }
}

bool px_jobs_are_told(const struct px_host *host)
{
    for (const struct px_host_job *job = host->jobs; job != NULL;
         job = job->next) {
        if (job->parts_told < job->parts || job->stdin_told < job->size ||
            job->stages_told < job->stage)
            return false;
    }
    return true;
}
