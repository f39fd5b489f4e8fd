/* The processes that a tool means. */
#ifndef PMIX_API_HELPER_TARGET_H
#define PMIX_API_HELPER_TARGET_H

#include <stdint.h>

#include <pmix_server.h>

#include "pmix_api/wire.h"

/* Numbers of processes, lying apart and ascending. */
struct px_targets {
    struct topo_range *ranges; /* owned */
    uint32_t count, cap;
};

/* Adds the processes of each name: a rank, PMIX_RANK_WILDCARD, or those on
 * this machine (PMIX_RANK_LOCAL_NODE, PMIX_RANK_LOCAL_PEERS). No name at all
 * means the run's own job. Returns PMIX_SUCCESS; NOT_FOUND for a namespace or a
 * rank that is none, or when nobody is here; NOT_SUPPORTED for other special
 * ranks; NOMEM. The targets are the caller's to end in any case. O(n log n). */
pmix_status_t px_targets_find(const pmix_proc_t *procs, size_t count,
                              struct px_targets *out);
void px_targets_end(struct px_targets *targets);

#endif
