/* What a plan needs of one machine, compared with what that has room for.
 *
 * Only what is needed in any case is counted: the numbers are those of the
 * smallest program, and of windows that stdin fills. A job that passes may
 * still take more; one that does not pass cannot run.
 */
#ifndef ENDPOINTS_HUB_NEED_H
#define ENDPOINTS_HUB_NEED_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/hub/sizes.h"
#include "endpoints/sys/room.h"

/* What is to run on the machine. */
struct ep_need_plan {
    bool has_launcher;
    uint64_t shells;      /* remote shells; or one for all daemons */
    uint64_t daemons;     /* daemons that are started here, */
    uint64_t nodes;       /* with this many nodes in all */
    uint64_t procs;       /* processes of the job */
    uint64_t files;       /* descriptors of the process that needs most */
    uint64_t stdin_bytes; /* sent to each node, as far as known */
    const struct ep_session_sizes *sizes; /* sizes of nodes, if there are any */
};

struct ep_need {
    uint64_t tasks; /* processes and threads */
    uint64_t files;
    uint64_t memory_bytes;
};

/* What the plan needs. Pure arithmetic, O(1). */
struct ep_need ep_need_of(const struct ep_need_plan *plan);

/* Returns 0, or OV_EFULL with one line in why (EP_WHY_MAX bytes): what is too
 * much, how much is needed, how much there is, and what to do. O(1), unless the
 * tasks of the user have to be counted (sys/room.h). */
int ep_need_check(const struct ep_need *need, struct ep_room *room, char *why);

#endif
