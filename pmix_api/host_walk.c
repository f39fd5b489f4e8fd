/* The processes that a pull names. */
#include <stdlib.h>

#include "pmix_api/host_impl.h"

static void walk_job(struct px_host *host, struct px_host_pull *pull,
                     const struct px_host_job *job, px_pull_rank_fn visit)
{
    bool *is_seen = calloc(job->size, sizeof(*is_seen));

    for (uint32_t i = 0; is_seen != NULL && i < pull->ranges_count; i++) {
        const struct px_host_range *range = &pull->ranges[i];
        uint32_t first =
            range->first > job->base ? range->first - job->base : 0;

        for (uint32_t rank = first;
             rank < job->size && job->base + rank <= range->last; rank++) {
            if (!is_seen[rank])
                visit(host, pull, job, rank);
            is_seen[rank] = true;
        }
    }
    free(is_seen);
}

void px_pulls_walk(struct px_host *host, struct px_host_pull *pull,
                   px_pull_rank_fn visit)
{
    for (struct px_host_job *job = host->jobs; job != NULL; job = job->next)
        walk_job(host, pull, job, visit);
}
