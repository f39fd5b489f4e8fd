/* What the files of the simulated world share and nobody else sees. */
#ifndef SIM_WORLD_IMPL_H
#define SIM_WORLD_IMPL_H

#include "sim/world.h"

enum { SIM_OWED_MAX = 512, SIM_KEPT_CELLS = 1024 };

/* Events that a driver owes the node that is stepped, oldest first. */
struct sim_owed {
    struct ov_event ev[SIM_OWED_MAX];
    unsigned at, len;
};

/* Cells for kept records, lent to all nodes. */
struct sim_kept_slab {
    struct sim_kept_slab *next;
    struct ov_kept cells[SIM_KEPT_CELLS];
};

#endif
