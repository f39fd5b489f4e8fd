/* The least that a plan needs of one machine, compared with the machine's
 * limits.
 *
 * Only needs that no run can avoid are counted: those of the smallest program,
 * and of windows that stdin fills. A job that passes this check may still need
 * more; a job that does not pass cannot run.
 */
#ifndef ENDPOINTS_HUB_NEED_H
#define ENDPOINTS_HUB_NEED_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/hub/sizes.h"
#include "endpoints/sys/room.h"

/* What the plan would run on the machine. */
struct ep_need_plan {
    bool has_launcher;
    uint64_t shells;  /* remote shells, one for each daemon; or 1 for all */
    uint64_t daemons; /* daemons that run on this machine */
    uint64_t nodes;   /* nodes of all these daemons together */
    uint64_t procs;   /* processes of the job */
    uint64_t files;   /* descriptors of the process that opens most of them */
    uint64_t stdin_bytes; /* bytes of stdin for each node, as far as known */
    const struct ep_session_sizes *sizes; /* used when nodes > 0 */
};

struct ep_need {
    uint64_t tasks; /* processes and threads */
    uint64_t files;
    uint64_t memory_bytes;
};

/* Computes what the plan needs. Pure, O(1). */
struct ep_need ep_need_of(const struct ep_need_plan *plan);

/* Compares the need with the machine's limits. Returns 0, or OV_EFULL with one
 * line in why (EP_WHY_MAX bytes): what is too much, how much is needed, how
 * much there is, and what to do. O(1), unless the tasks of the user have to be
 * counted (sys/room.h). */
int ep_need_check(const struct ep_need *need, struct ep_room *room, char *why);

#endif
