/* Who has a stdin that can be pushed to. Every call takes the lock. */
#ifndef PMIX_API_HELPER_READERS_H
#define PMIX_API_HELPER_READERS_H

#include <stdbool.h>
#include <stdint.h>

#include <pmix_server.h>

#include "pmix_api/wire.h"
#include "topo/tree.h"

/* Numbers of processes: ascending, none twice. */
struct px_set {
    struct topo_range *range; /* owned */
    uint32_t count;
};

/* Word of the launcher. */
void px_readers_told(const struct px_stdin *in);

/* Returns PMIX_SUCCESS with *out, which is the caller's; or what
 * px_targets_find() returns; or
 *     PMIX_ERR_BAD_PARAM      no target is named
 *     PMIX_ERR_IOF_COMPLETE   none of them has a stdin, or none any more; of
 *                             those named one by one, unless they may lack
 *                             it: one has none
 * O(n log n), and O(ranks) for each name for many. */
pmix_status_t px_readers_judge(const pmix_proc_t targets[], size_t n,
                               bool may_lack, struct px_set *out);

/* Can one of them be pushed to, still? O(ranks). */
bool px_readers_can_take(const struct px_set *set);

/* Says whether a job that some of them are of is full. O(ranges * jobs). */
bool px_readers_are_full(const struct px_set *set);
/* Says whether they are of several jobs. O(jobs). */
bool px_readers_are_of_several(const struct px_set *set);

/* Their stdin ends: nobody can push to them from now on. */
void px_readers_close(const struct px_set *set);

#endif
