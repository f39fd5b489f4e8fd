/* What a launch leaves to the next one, where it ends to go again.
 *
 * Hosts that do not come are left out then (missing.h), and ranks are placed by
 * what the hosts' machines were found to be (survey.h).
 */
#ifndef ENDPOINTS_RUN_AGAIN_H
#define ENDPOINTS_RUN_AGAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/sys/why.h"
#include "topo/hosts.h"
#include "topo/object.h"

struct ep_machine {
    uint32_t packages, cores; /* as in topo/machine.h; 0: nobody knows */
    bool is_known;            /* a daemon there has said so */
};

/* How many of a kind: cores or sockets. */
static inline uint32_t ep_machine_has(const struct ep_machine *machine,
                                      enum topo_object object)
{
    return object == TOPO_CORE ? machine->cores : machine->packages;
}

/* Zeroed: nothing is known, and nothing goes again. */
struct run_again {
    uint64_t start_ns;           /* of the first launch */
    bool is_due;                 /* another launch follows */
    struct topo_hosts left_out;  /* owned */
    struct topo_hosts known;     /* owned: hosts whose machines are known */
    struct ep_machine *machines; /* owned: of each of them */
    struct ep_door *door;        /* of all launches; NULL: there is none, */
    char no_door[EP_WHY_MAX];    /* and why; "": the user knows */
    bool has_begun;              /* the first launch has opened it, or tried */
};

void ep_run_again_fini(struct run_again *again);

/* The next launch goes without this host. Returns 0 or OV_ENOMEM. O(1). */
int ep_run_again_without(struct run_again *again, const char *host);

/* The host has this machine. Returns 0 or OV_ENOMEM. O(1) amortised. */
int ep_run_again_know(struct run_again *again, const char *host,
                      struct ep_machine machine);

/* The machine of a host; zeroed: nobody knows it. O(1). */
struct ep_machine ep_run_again_machine(const struct run_again *again,
                                       const char *host);

/* What was about to go again ends, with this exit code in *exit_code. False: it
 * was not about to. */
bool ep_run_again_stop(struct run_again *again, int code, int *exit_code);

#endif
