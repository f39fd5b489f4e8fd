/* What one launch passes on to the next, when a launch ends and is repeated.
 *
 * The next launch leaves out hosts whose daemons did not connect (missing.h),
 * and places ranks by what the hosts' machines were found to be (survey.h).
 */
#ifndef ENDPOINTS_RUN_RELAUNCH_H
#define ENDPOINTS_RUN_RELAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/sys/why.h"
#include "topo/hosts.h"
#include "topo/object.h"

struct ep_machine {
    /* numbers as in topo/machine.h; 0 when not known */
    uint32_t packages, cores;
    bool is_known; /* whether a daemon there has said what its machine is */
};

/* Returns how many cores or sockets the machine has, as `object` says. */
static inline uint32_t ep_machine_has(const struct ep_machine *machine,
                                      enum topo_object object)
{
    return object == TOPO_CORE ? machine->cores : machine->packages;
}

/* Zeroed at first: no machine is known, and no further launch is due. */
struct run_relaunch {
    uint64_t start_ns; /* when the first launch began */
    bool is_due;       /* whether another launch follows */
    /* owned: hosts that the next launch leaves out */
    struct topo_hosts left_out;
    struct topo_hosts known;     /* owned: hosts whose machines are known */
    struct ep_machine *machines; /* owned: the machine of each known host */
    /* the session's door, for all launches; NULL when there is none */
    struct ep_door *door;
    /* Why there is no door; "" when the user has been told the reason. */
    char no_door[EP_WHY_MAX];
    bool has_begun; /* whether the first launch has tried to open the door */
};

void ep_run_relaunch_fini(struct run_relaunch *again);

/* Leaves this host out of the next launch. Returns 0 or OV_ENOMEM. O(1). */
int ep_run_relaunch_without(struct run_relaunch *again, const char *host);

/* Notes the machine of a host. Returns 0 or OV_ENOMEM. O(1) amortised. */
int ep_run_relaunch_know(struct run_relaunch *again, const char *host,
                         struct ep_machine machine);

/* Returns the machine of a host; zeroed when it is not known. O(1). */
struct ep_machine ep_run_relaunch_machine(const struct run_relaunch *again,
                                          const char *host);

/* Calls off the next launch, so that the run ends with this code, and sets
 * *exit_code to it. Returns false when no launch was due. */
bool ep_run_relaunch_stop(struct run_relaunch *again, int code, int *exit_code);

#endif
