/* Sorts the processes that a tool names by job. */
#include "pmix_api/helper/scope.h"

#include <stdlib.h>
#include <string.h>

/* The highest rank of a process; higher values have special meanings. */
enum { RANK_MAX = INT32_MAX - 1 };

/* Finds the scope of the job with this base; NULL: there is none yet. */
static struct px_scope *find_scope(const struct px_scopes *scopes,
                                   uint32_t base)
{
    for (size_t i = 0; i < scopes->count; i++) {
        if (scopes->at[i].job.base == base)
            return &scopes->at[i];
    }
    return NULL;
}

/* Makes a scope with room for as many ranges as there are names. */
static struct px_scope *make_scope(struct px_scopes *scopes,
                                   const struct px_jobs_entry *job,
                                   size_t names)
{
    struct px_scope *scope = &scopes->at[scopes->count];
    struct topo_range *items = calloc(names, sizeof(*items));

    if (items == NULL)
        return NULL;
    scope->job = *job;
    topo_ranges_init(&scope->ranks, items, (uint32_t)names);
    scopes->count++;
    return scope;
}

static enum px_lib_answer add_name(struct px_scopes *scopes,
                                   const struct px_jobs *jobs,
                                   const struct px_lib_name *name, size_t names)
{
    const struct px_jobs_entry *job = px_jobs_find(jobs, name->nspace);
    struct topo_range range = {name->rank, name->rank};
    const bool is_local = px_scope_is_local(name);
    struct px_scope *scope;

    if (job == NULL || job->size == 0)
        return PX_LIB_NOT_FOUND;
    if (name->rank == PX_LIB_ALL)
        range = (struct topo_range){0, job->size - 1};
    else if (!is_local && name->rank > RANK_MAX)
        return PX_LIB_NOT_SUPPORTED;
    else if (!is_local && name->rank >= job->size)
        return PX_LIB_NOT_FOUND;
    scope = find_scope(scopes, job->base);
    if (scope == NULL)
        scope = make_scope(scopes, job, names);
    if (scope == NULL ||
        (!is_local && topo_ranges_add(&scope->ranks, range) != 0))
        return PX_LIB_NO_RESOURCE;
    scope->is_local |= is_local;
    scope->is_all |= name->rank == PX_LIB_ALL;
    return PX_LIB_YES;
}

enum px_lib_answer px_scopes_find(const struct px_jobs *jobs,
                                  const struct px_lib_name *names, size_t count,
                                  struct px_scopes *out)
{
    enum px_lib_answer answer = PX_LIB_YES;

    *out = (struct px_scopes){.at = NULL};
    if (count == 0)
        return PX_LIB_BAD_PARAM;
    out->at = calloc(count, sizeof(*out->at));
    if (out->at == NULL)
        return PX_LIB_NO_RESOURCE;
    for (size_t i = 0; answer == PX_LIB_YES && i < count; i++)
        answer = add_name(out, jobs, &names[i], count);
    if (answer != PX_LIB_YES)
        px_scopes_end(out);
    return answer;
}

void px_scopes_end(struct px_scopes *scopes)
{
    for (size_t i = 0; i < scopes->count; i++)
        free(scopes->at[i].ranks.items);
    free(scopes->at);
    *scopes = (struct px_scopes){.at = NULL};
}
