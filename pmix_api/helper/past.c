/* Output from before a pull. */
#include "pmix_api/helper/past.h"

#include "pmix_api/helper/job.h"

enum { CHANNELS = 3 };

static uint32_t bytes_of(const struct px_job *job, const struct px_wish *own)
{
    return own->has_cache && own->cache_bytes < job->cache_bytes
               ? (uint32_t)own->cache_bytes
               : job->cache_bytes;
}

/* What of a range is of one job. */
static void cut(const void *tool, const struct px_wish *own,
                struct px_past *past)
{
    struct px_job job;
    bool is_spawner;

    past->cache_bytes = 0;
    if (!px_job_at(past->range.first, tool, &job, &is_spawner))
        return;
    if (job.base + job.size - 1 < past->range.last)
        past->range.last = job.base + job.size - 1;
    /* The tool that has spawned it had it all come: again where it says so. */
    if (!is_spawner || own->has_cache)
        past->cache_bytes = bytes_of(&job, own);
}

bool px_past_next(const struct px_targets *targets, const void *tool,
                  const struct px_wish *own, struct px_past *past)
{
    uint32_t first;

    if (past->is_last || targets->count == 0)
        return false;
    if (past->is_begun && past->range.last < targets->ranges[past->at].last)
        first = past->range.last + 1;
    else
        first = targets->ranges[past->is_begun ? ++past->at : 0].first;
    past->is_begun = true;
    past->range = (struct topo_range){first, targets->ranges[past->at].last};
    cut(tool, own, past);
    past->is_last = past->at + 1 == targets->count &&
                    past->range.last == targets->ranges[past->at].last;
    return true;
}

uint64_t px_past_sum(const struct px_targets *targets, const void *tool,
                     const struct px_wish *own)
{
    struct px_past past = {.at = 0};
    uint64_t sum = 0;

    while (px_past_next(targets, tool, own, &past))
        sum += (uint64_t)(past.range.last - past.range.first + 1) * CHANNELS *
               past.cache_bytes;
    return sum;
}
