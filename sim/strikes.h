/* Faults at random. Two thirds of the jobs have them where they hurt: while
 * data is in flight, mostly at inner nodes, on paths, and in the middle of the
 * repair of an earlier one; in the others they are strewn over nodes and times.
 */
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

/* Makes up faults for a job which, left alone, is launched at joined_ns and
 * over at end_ns. */
void sim_strikes_make(struct sim_strikes *strikes, const struct sim_cfg *cfg,
                      uint64_t joined_ns, uint64_t end_ns,
                      struct sim_random *random);

#endif
