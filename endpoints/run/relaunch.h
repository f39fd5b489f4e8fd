/* What one launch passes on to the next, when a launch ends and is to be
 * repeated.
 *
 * The next launch leaves out hosts that did not come (missing.h), and places
 * ranks by what the machines of the hosts were found to be (survey.h).
 */
#ifndef ENDPOINTS_RUN_RELAUNCH_H
#define ENDPOINTS_RUN_RELAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/sys/why.h"
#include "topo/hosts.h"
#include "topo/object.h"

struct ep_machine {
    uint32_t packages, cores; /* as in topo/machine.h; 0: not known */
    bool is_known;            /* a daemon there has told what its machine is */
};

/* How many the machine has of a kind: cores or sockets. */
static inline uint32_t ep_machine_has(const struct ep_machine *machine,
                                      enum topo_object object)
{
    return object == TOPO_CORE ? machine->cores : machine->packages;
}

/* Zeroed: nothing is known, and no further launch is due. */
struct run_relaunch {
    uint64_t start_ns;           /* of the first launch */
    bool is_due;                 /* another launch follows */
    struct topo_hosts left_out;  /* owned */
    struct topo_hosts known;     /* owned: hosts whose machines are known */
    struct ep_machine *machines; /* owned: the machine of each known host */
    struct ep_door *door;     /* shared by all launches; NULL: there is none */
    char no_door[EP_WHY_MAX]; /* why there is none; "": the user was told */
    bool has_begun; /* the first launch has opened the door, or has tried to */
};

void ep_run_relaunch_fini(struct run_relaunch *again);

/* Leaves this host out of the next launch. Returns 0 or OV_ENOMEM. O(1). */
int ep_run_relaunch_without(struct run_relaunch *again, const char *host);

/* Notes the machine of a host. Returns 0 or OV_ENOMEM. O(1) amortised. */
int ep_run_relaunch_know(struct run_relaunch *again, const char *host,
                         struct ep_machine machine);

/* Returns the machine of a host; zeroed: not known. O(1). */
struct ep_machine ep_run_relaunch_machine(const struct run_relaunch *again,
                                          const char *host);

/* Calls off the next launch: the run ends with this exit code, in *exit_code.
 * False: no launch was due. */
bool ep_run_relaunch_stop(struct run_relaunch *again, int code, int *exit_code);

#endif
