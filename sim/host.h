/* Drives the nodes: steps them and carries out their actions. */
#ifndef SIM_HOST_H
#define SIM_HOST_H

#include "sim/state.h"

/* Builds the hosts with their nodes, and the slots for their wires; each node
 * will start. Returns 0 or OV_ENOMEM. */
int sim_host_open(struct sim_world *w);
/* Finishing makes the nodes return their buffers. */
void sim_host_finish(struct sim_world *w);
void sim_host_close(struct sim_world *w);

/* The bytes of memory of node n. */
uint64_t sim_host_node_bytes(const struct sim_world *w, uint32_t n);

/* Steps node n with *ev, and then with all answers that it is owed at once. The
 * time is now, or when the host's processor is free. *ev is overwritten.
 * O(actions). */
void sim_host_step(struct sim_world *w, uint32_t n, struct ov_event *ev);

/* Handle items whose time has come. True: *ev is an event for the item's
 * node. */
bool sim_host_on_start(struct sim_world *w, const struct sim_item *item,
                       struct ov_event *ev);
bool sim_host_on_timer(struct sim_world *w, const struct sim_item *item,
                       struct ov_event *ev);

/* The run no longer waits for the node's end. */
void sim_host_gone(struct sim_world *w, uint32_t n);

/* The node ends: its links end after what it has sent. */
void sim_host_end(struct sim_world *w, uint32_t n, enum sim_host_state state);

#endif
