/* Limits of the operating system that a big job reaches. */
#ifndef ENDPOINTS_SYS_LIMITS_H
#define ENDPOINTS_SYS_LIMITS_H

#include <stdint.h>

/* Makes sure that this process may have `need` descriptors open. When the soft
 * limit is lower, it is raised to the hard limit, for this process and the
 * processes that it forks later. Not thread-safe; call it from main.
 *
 * Returns 0; OV_EINVAL when the hard limit is too low, with `why` (EP_WHY_MAX
 * bytes) saying how many are needed, what the limit is and what to do; the soft
 * limit is then unchanged; or OV_ESYS, also with `why`, when the system does
 * not let us read or raise it. `why` is not touched on success.
 */
int ep_limits_descriptors(uint64_t need, char *why);

/* Raises the limit likewise for descriptors that are useful but not needed:
 * when the hard limit is lower, or the system refuses, nothing changes. */
void ep_limits_wish(uint64_t wish);

/* Has malloc() keep up to 4 MiB of freed memory in each arena. Otherwise each
 * burst of output would return its memory to the system, and get new memory
 * from it. */
void ep_limits_keep_memory(void);

/* Returns the soft limit as it was before the first ep_limits_descriptors, for
 * processes that should get it (UINT64_MAX: unlimited). When nothing was raised
 * yet, returns the present soft limit. */
uint64_t ep_limits_descriptors_at_start(void);

#endif
