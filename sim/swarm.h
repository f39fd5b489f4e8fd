/* Random jobs on random trees with random faults, each from one number. */
#ifndef SIM_SWARM_H
#define SIM_SWARM_H

#include <stdio.h>

#include "sim/model.h"

enum { SIM_SWARM_FAULTS = 6, SIM_SWARM_READERS = 4 };

struct sim_swarm {
    struct sim_cfg cfg; /* its lists are those below */
    struct sim_fault faults[SIM_SWARM_FAULTS];
    struct sim_reader readers[SIM_SWARM_READERS];
};

/* Trees of 2 to 300 nodes of arity 1 to 20, all workloads, narrow and wide
 * windows, slow and stopping readers; no fault in a third of the runs, one to
 * six in the others. The same seed gives the same configuration; it passes
 * sim_cfg_check(). */
void sim_swarm_make(struct sim_swarm *swarm, uint64_t seed);

/* Says in a few lines what it is. */
void sim_swarm_print(const struct sim_swarm *swarm, FILE *file);

#endif
