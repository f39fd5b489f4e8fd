/* Who has a stdin. */
#include "pmix_api/helper/readers.h"

#include <stdlib.h>

#include "overlay/base/err.h"
#include "pmix_api/helper/job.h"
#include "pmix_api/helper/target.h"

void px_readers_told(const struct px_stdin *in)
{
    if (in->what == PX_STDIN_FULL || in->what == PX_STDIN_FREE)
        px_job_set_full(in->first, in->what == PX_STDIN_FULL);
    else
        px_job_stdin(in->first, in->last, in->what == PX_STDIN_READY);
}

void px_readers_close(const struct px_set *set)
{
    for (uint32_t i = 0; i < set->count; i++)
        px_job_close_stdin(set->range[i].first, set->range[i].last);
}

bool px_readers_can_take(const struct px_set *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        for (uint64_t rank = set->range[i].first; rank <= set->range[i].last;
             rank++) {
            if (px_job_can_take((uint32_t)rank))
                return true;
        }
    }
    return false;
}

bool px_readers_are_full(const struct px_set *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        if (px_job_is_full(set->range[i].first, set->range[i].last))
            return true;
    }
    return false;
}

bool px_readers_are_of_several(const struct px_set *set)
{
    return !px_job_is_one(set->range[0].first, set->range[set->count - 1].last);
}

static int copy(const struct px_targets *found, struct px_set *out)
{
    out->range = calloc((size_t)found->count + 1, sizeof(out->range[0]));
    if (out->range == NULL)
        return OV_ENOMEM;
    for (; out->count < found->count; out->count++)
        out->range[out->count] = (struct topo_range){
            found->ranges[out->count].first, found->ranges[out->count].last};
    return 0;
}

/* Names for one process each; all of them exist. */
static pmix_status_t judge_each(const pmix_proc_t targets[], size_t n)
{
    struct px_job job;

    for (size_t i = 0; i < n; i++) {
        if (targets[i].rank <= PMIX_RANK_VALID &&
            (!px_job_find(targets[i].nspace, &job) ||
             !px_job_can_take(job.base + targets[i].rank)))
            return PMIX_ERR_IOF_COMPLETE;
    }
    return PMIX_SUCCESS;
}

pmix_status_t px_readers_judge(const pmix_proc_t targets[], size_t n,
                               bool may_lack, struct px_set *out)
{
    struct px_targets found = {.ranges = NULL};
    pmix_status_t rc;

    *out = (struct px_set){.range = NULL};
    if (targets == NULL || n == 0)
        return PMIX_ERR_BAD_PARAM;
    rc = px_targets_find(targets, n, &found);
    if (rc == PMIX_SUCCESS && copy(&found, out))
        rc = PMIX_ERR_NOMEM;
    px_targets_end(&found);
    if (rc == PMIX_SUCCESS && !may_lack)
        rc = judge_each(targets, n);
    if (rc == PMIX_SUCCESS && !px_readers_can_take(out))
        rc = PMIX_ERR_IOF_COMPLETE;
    if (rc == PMIX_SUCCESS)
        return PMIX_SUCCESS;
    free(out->range);
    *out = (struct px_set){.range = NULL};
    return rc;
}
