/* Random jobs on random trees with random faults, each made from one number. */
#ifndef SIM_SWARM_H
#define SIM_SWARM_H

#include <stdio.h>

#include "sim/model.h"

#include "sim/strikes.h"

enum { SIM_SWARM_READERS = 4, SIM_SWARM_TARGETS = 3, SIM_SWARM_FURTHER = 3 };

struct sim_swarm {
    struct sim_cfg cfg; /* its lists are the arrays below */
    struct sim_strikes strikes;
    struct sim_reader readers[SIM_SWARM_READERS];
    struct topo_range targets[SIM_SWARM_TARGETS];
    struct sim_further further[SIM_SWARM_FURTHER];
};

/* Makes a random run: a tree of 10 to nodes_max nodes (in a tenth of the runs a
 * smaller one) of arity 1 to 20; any workload, stdin for all processes or some,
 * narrow and wide windows, slow and stopping readers, a console that is stuck
 * for a while. In most runs nodes report what becomes of processes, and some
 * processes fail; half of these runs have further jobs beside their own. There
 * are no faults yet. The same seed gives the same configuration, which passes
 * sim_cfg_check(). */
void sim_swarm_make(struct sim_swarm *swarm, uint64_t seed, uint32_t nodes_max);

/* Adds faults to a run, or none to one run of ten. Without faults, as an
 * earlier run has shown, the job is launched at joined_ns and over at
 * end_ns. */
void sim_swarm_aim(struct sim_swarm *swarm, uint64_t joined_ns,
                   uint64_t end_ns);

/* Describes the run in a few lines. */
void sim_swarm_print(const struct sim_swarm *swarm, FILE *file);

#endif
