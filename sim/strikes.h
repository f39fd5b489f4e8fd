/* Makes random faults. In two thirds of the jobs they strike at critical
 * moments and places: while data is in flight, mostly at inner nodes, along
 * paths, and during the repair of an earlier fault. In the other jobs they are
 * spread over all nodes and times. */
#ifndef SIM_STRIKES_H
#define SIM_STRIKES_H

#include "sim/model.h"
#include "sim/random.h"

/* A job has 1 to SIM_STRIKES_MAX strikes; each is one fault, or at most
 * SIM_STRIKE_PATH faults along a path. */
enum { SIM_STRIKES_MAX = 5, SIM_STRIKE_PATH = 6 };

struct sim_strikes {
    struct sim_fault faults[SIM_STRIKES_MAX * SIM_STRIKE_PATH];
    uint32_t count;
};

/* Makes faults for a job which, without them, is launched at joined_ns and over
 * at end_ns. */
void sim_strikes_make(struct sim_strikes *strikes, const struct sim_cfg *cfg,
                      uint64_t joined_ns, uint64_t end_ns,
                      struct sim_random *random);

#endif
