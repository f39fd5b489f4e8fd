/* Plans a further job. */
#include "endpoints/run/job_plan.h"

#include <stdio.h>

#include "endpoints/run/environ.h"
#include "endpoints/run/placing.h"
#include "endpoints/run/plan.h"
#include "overlay/base/err.h"

/* --- the job's programs and options */

static int add_app(const struct run_plan *plan, const struct job_wish *from,
                   struct job *job)
{
    int rc = job_add_app(job);

    if (rc == 0)
        rc = ep_run_plan_app(&from->program, job_app_last(job));
    return rc == 0 ? ep_run_environ(&plan->job->env, from, job_app_last(job))
                   : rc;
}

/* Returns how much output to keep. What the request asks for takes precedence
 * over the run's option. */
static uint32_t cache_bytes(const struct run_plan *plan,
                            const struct ep_client_spawn *spawn)
{
    uint32_t bytes = spawn->cache_bytes;

    if (spawn->cache_channels == 0)
        return 0;
    if (bytes == JOB_CACHE_UNSAID)
        bytes = plan->options->has_cache ? plan->options->cache_bytes
                                         : EP_CLIENT_CACHE_BYTES;
    return bytes < JOB_CACHE_MAX ? bytes : JOB_CACHE_MAX;
}

/* Sets the options that are the same as in the run's own job. */
static int describe_job(const struct run_plan *plan,
                        const struct ep_client_spawn *spawn, struct job *job)
{
    int rc = 0;

    job->manners = plan->job->manners;
    job->linger_ms = plan->job->linger_ms;
    job->has_stddiag = spawn->has_stddiag;
    job->filter.keeps_last = spawn->keeps_last;
    job->watch = spawn->watch;
    job->is_raw = spawn->output.is_raw;
    job->merges_stderr = spawn->output.merges_stderr;
    job->cache_bytes = cache_bytes(plan, spawn);
    job->cache_channels = spawn->cache_channels;
    for (uint32_t i = 0; rc == 0 && i < spawn->apps_count; i++)
        rc = add_app(plan, &spawn->apps[i], job);
    return rc;
}

/* --- which processes read stdin */

/* Sets which processes read stdin. Slow readers are treated as in the run's own
 * job. */
static int add_readers(const struct run_plan *plan,
                       const struct ep_client_spawn *spawn, struct job *job,
                       enum ep_client_refusal *refusal, char *why)
{
    struct topo_range ranks = {spawn->reader, spawn->reader};
    int rc = 0;

    if (!spawn->has_stdin)
        return 0;
    if (spawn->reader == JOB_READERS_ALL)
        ranks = (struct topo_range){0, job->size - 1};
    if (ranks.last >= job->size) {
        snprintf(why, EP_CLIENT_WHY_MAX,
                 "rank %u is to have stdin, but the job has ranks 0 to %u",
                 ranks.last, job->size - 1);
        *refusal = EP_CLIENT_NO_READER;
        return OV_EINVAL;
    }
    job->slow = plan->job->slow;
    job->spill_bytes = plan->job->spill_bytes;
    job->close_ms = plan->job->close_ms;
    rc = job_set_string(&job->spill_dir, plan->job->spill_dir);
    return rc == 0 ? job_add_reader(job, ranks) : rc;
}

int ep_run_job_plan(const struct run_plan *plan, struct run_nodes *nodes,
                    const struct ep_client_spawn *spawn, struct job *job,
                    enum ep_client_refusal *refusal, char *why)
{
    int rc = describe_job(plan, spawn, job);

    *refusal = EP_CLIENT_NO_ROOM;
    if (rc == 0)
        rc = ep_run_placing(plan, nodes, spawn, job, refusal, why);
    if (rc == 0)
        rc = add_readers(plan, spawn, job, refusal, why);
    return rc;
}
