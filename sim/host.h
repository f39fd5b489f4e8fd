/* Drives one node: a step, its actions, and what its driver owes it. */
#ifndef SIM_HOST_H
#define SIM_HOST_H

#include "sim/world.h"

/* Steps node n with ev, and with all answers that are owed at once. The time
 * is now or when the host's processor is free. O(actions). */
void sim_host_step(struct sim_world *w, uint32_t n, struct ov_event ev);

/* Within a step: an event that follows it, at the same host. */
void sim_host_owe(struct sim_world *w, struct ov_event ev);

/* Drops a reference that the driver had. NULL is fine. */
void sim_host_put(struct sim_world *w, struct ov_buf *buf);

/* Drops the buffers that the core gave back. */
void sim_host_take_back(struct sim_world *w);

/* The run does not wait for the node's end any more. */
void sim_host_gone(struct sim_world *w, uint32_t n);

/* The node is no more: its links end, behind what it has sent. */
void sim_host_end(struct sim_world *w, uint32_t n, enum sim_host_state state);

static inline bool sim_host_runs(const struct sim_world *w, uint32_t n)
{
    return w->hosts[n].state == SIM_HOST_RUNS;
}

/* Something to do for the host's node in the time of its processor. */
static inline uint64_t sim_host_cost_ns(const struct sim_world *w, uint32_t n)
{
    return w->cfg.network.overhead_ns * w->hosts[n].slow;
}

#endif
