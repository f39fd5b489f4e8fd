/* The processes that a request of a tool names, sorted by job. */
#ifndef PMIX_API_HELPER_SCOPE_H
#define PMIX_API_HELPER_SCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pmix_api/helper/lib/lib.h"
#include "pmix_api/helper/jobs.h"
#include "topo/ranges.h"

/* A set of processes of one job. */
struct px_scope {
    struct px_jobs_entry job; /* the job as it was when the tool named it */
    struct topo_ranges ranks; /* owned; not empty, unless is_local */
    bool is_all;              /* one of the names stands for all processes of
                                 the job */
    bool is_local;            /* one of the names stands for the processes on
                                 the launcher's machine */
};

struct px_scopes {
    /* Owned; in the order in which the request first names the jobs. */
    struct px_scope *at;
    size_t count;
};

/* True when the name stands for the processes on the launcher's machine. */
static inline bool px_scope_is_local(const struct px_lib_name *name)
{
    return name->rank == PX_LIB_LOCAL_NODE || name->rank == PX_LIB_LOCAL_PEERS;
}

/* Sorts the names. Returns PX_LIB_YES, and the caller must free *out by
 * px_scopes_end(). Or returns, without *out,
 *     PX_LIB_BAD_PARAM      no process is named
 *     PX_LIB_NOT_FOUND      there is no such job, or rank
 *     PX_LIB_NOT_SUPPORTED  a rank that stands for others and is none of
 *                           PX_LIB_ALL, PX_LIB_LOCAL_NODE and _PEERS
 *     PX_LIB_NO_RESOURCE    memory is out
 * O(count * (jobs + log count)). */
enum px_lib_answer px_scopes_find(const struct px_jobs *jobs,
                                  const struct px_lib_name *names, size_t count,
                                  struct px_scopes *out);
/* Frees the scopes. A second call does nothing. */
void px_scopes_end(struct px_scopes *scopes);

#endif
