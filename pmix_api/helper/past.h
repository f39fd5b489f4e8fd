/* What a pull gets from before: of each job as much as is kept of it, or as the
 * pull says. Of a job that its tool has spawned with PMIX_FWD_STDOUT or its
 * like only where the pull says how much: that had all of it come already.
 */
#ifndef PMIX_API_HELPER_PAST_H
#define PMIX_API_HELPER_PAST_H

#include <stdbool.h>
#include <stdint.h>

#include "pmix_api/helper/target.h"
#include "pmix_api/helper/wish.h"

/* A range of targets within one job, or of none that is known; zeroed: the one
 * before the first. */
struct px_past {
    uint32_t at; /* of the targets' ranges */
    bool is_begun, is_last;
    struct topo_range range;
    uint32_t cache_bytes; /* of each channel */
};

/* The next one; false when there is none. `own` is what the pull itself says.
 * O(jobs). */
bool px_past_next(const struct px_targets *targets, const void *tool,
                  const struct px_wish *own, struct px_past *past);
/* Bytes of all channels of all targets. */
uint64_t px_past_sum(const struct px_targets *targets, const void *tool,
                     const struct px_wish *own);

#endif
