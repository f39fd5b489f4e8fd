/* The processes that a tool means: names become ranges of numbers. */
#include "pmix_api/helper/target.h"

#include <stdlib.h>
#include <string.h>

#include "pmix_api/helper/job.h"

static pmix_status_t add(struct px_targets *out, uint32_t first, uint32_t last)
{
    if (out->count == out->cap) {
        uint32_t cap = 2 * out->cap + 16;
        struct topo_range *more = realloc(out->ranges, cap * sizeof(*more));

        if (more == NULL)
            return PMIX_ERR_NOMEM;
        out->ranges = more;
        out->cap = cap;
    }
    out->ranges[out->count++] = (struct topo_range){first, last};
    return PMIX_SUCCESS;
}

static pmix_status_t add_job(struct px_targets *out, const struct px_job *job)
{
    return add(out, job->base, job->base + job->size - 1);
}

static pmix_status_t add_local(struct px_targets *out, const struct px_job *job)
{
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;
    const char *here = px_job_here();
    struct px_place place;

    for (uint32_t i = 0; px_job_place(job, i, &place); i++) {
        uint32_t first = job->base + place.first_rank;

        if (strcmp(place.host, here) != 0 || place.ranks == 0)
            continue;
        rc = add(out, first, first + place.ranks - 1);
        if (rc != PMIX_SUCCESS)
            return rc;
    }
    return rc;
}

static pmix_status_t add_named(struct px_targets *out, const pmix_proc_t *proc)
{
    struct px_job job;

    if (!px_job_find(proc->nspace, &job))
        return PMIX_ERR_NOT_FOUND;
    if (proc->rank == PMIX_RANK_WILDCARD)
        return add_job(out, &job);
    if (proc->rank == PMIX_RANK_LOCAL_NODE ||
        proc->rank == PMIX_RANK_LOCAL_PEERS)
        return add_local(out, &job);
    if (proc->rank > PMIX_RANK_VALID)
        return PMIX_ERR_NOT_SUPPORTED;
    if (proc->rank >= job.size)
        return PMIX_ERR_NOT_FOUND;
    return add(out, job.base + proc->rank, job.base + proc->rank);
}

static pmix_status_t add_own(struct px_targets *out)
{
    struct px_job own = {.size = 0};

    return px_job_next(&own) ? add_job(out, &own) : PMIX_ERR_NOT_FOUND;
}

static int compare(const void *a, const void *b)
{
    const struct topo_range *left = a, *right = b;

    return left->first < right->first ? -1 : left->first > right->first;
}

/* Neighbours and those that overlap become one. */
static void merge(struct px_targets *out)
{
    uint32_t kept = 0;

    qsort(out->ranges, out->count, sizeof(*out->ranges), compare);
    for (uint32_t i = 1; i < out->count; i++) {
        struct topo_range *last = &out->ranges[kept];
        const struct topo_range *next = &out->ranges[i];

        if (next->first > last->last && next->first - last->last > 1)
            out->ranges[++kept] = *next;
        else if (next->last > last->last)
            last->last = next->last;
    }
    out->count = kept + 1;
}

pmix_status_t px_targets_find(const pmix_proc_t *procs, size_t count,
                              struct px_targets *out)
{
    pmix_status_t rc = PMIX_SUCCESS;

    *out = (struct px_targets){.ranges = NULL};
    if (procs == NULL || count == 0)
        rc = add_own(out);
    for (size_t i = 0; rc == PMIX_SUCCESS && procs != NULL && i < count; i++)
        rc = add_named(out, &procs[i]);
    if (rc == PMIX_SUCCESS)
        merge(out);
    return rc;
}

void px_targets_end(struct px_targets *targets)
{
    free(targets->ranges);
    *targets = (struct px_targets){.ranges = NULL};
}
