/* Limits of the operating system that a big job runs into. */
#ifndef ENDPOINTS_SYS_LIMITS_H
#define ENDPOINTS_SYS_LIMITS_H

#include <stdint.h>

/* Makes sure that this process may have `need` descriptors open. When the soft
 * limit is lower, it is raised to the hard limit, for this process and what it
 * forks from then on. Not thread-safe; call it from main.
 *
 * Returns 0; OV_EINVAL when the hard limit is too low, with `why` (EP_WHY_MAX
 * bytes) saying how many are needed, what the limit is and what to do; the soft
 * limit is then unchanged; or OV_ESYS when the system refuses to tell or to
 * raise it, also in words. `why` is not touched on success.
 */
int ep_limits_descriptors(uint64_t need, char *why);

/* Does so for descriptors that are useful but not needed: when the hard limit
 * is lower, or the system refuses, nothing changes. */
void ep_limits_wish(uint64_t wish);

/* Keeps memory that is freed in this process, 4 MiB of it in each arena of
 * malloc(). Otherwise each burst of output would give its memory back to the
 * system, and have it made anew. */
void ep_limits_keep_memory(void);

/* The soft limit as it was before the first ep_limits_descriptors, for
 * processes that should see it (UINT64_MAX: unlimited). The present soft limit
 * when nothing was raised yet. */
uint64_t ep_limits_descriptors_at_start(void);

#endif
