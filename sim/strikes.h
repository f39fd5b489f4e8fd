/* Random faults. In two thirds of the jobs they strike where it hurts: while
 * data is in flight, mostly at inner nodes, along paths, and during the repair
 * of an earlier fault. In the others they are spread over all nodes and
 * times. */
#ifndef SIM_STRIKES_H
#define SIM_STRIKES_H

#include "sim/model.h"
#include "sim/random.h"

/* 1 to 5 strikes; each is a fault or a few of them along a path. */
enum { SIM_STRIKES_MAX = 5, SIM_STRIKE_PATH = 6 };

struct sim_strikes {
    struct sim_fault faults[SIM_STRIKES_MAX * SIM_STRIKE_PATH];
    uint32_t count;
};

/* Makes up faults for a job which, without faults, is launched at joined_ns and
 * over at end_ns. */
void sim_strikes_make(struct sim_strikes *strikes, const struct sim_cfg *cfg,
                      uint64_t joined_ns, uint64_t end_ns,
                      struct sim_random *random);

#endif
