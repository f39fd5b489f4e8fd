/* Drives the nodes: a step, its actions, and what its driver owes it. */
#ifndef SIM_HOST_H
#define SIM_HOST_H

#include "sim/state.h"

/* Builds the hosts, their nodes and the slots for their wires; each is to
 * start. 0 or OV_ENOMEM. */
int sim_host_open(struct sim_world *w);
/* Nodes give their buffers back. */
void sim_host_finish(struct sim_world *w);
void sim_host_close(struct sim_world *w);

/* Bytes of memory of node n. */
uint64_t sim_host_node_bytes(const struct sim_world *w, uint32_t n);

/* Steps node n with *ev, and with all answers that are owed at once. The time
 * is now or when the host's processor is free. *ev is written over. O(actions).
 */
void sim_host_step(struct sim_world *w, uint32_t n, struct ov_event *ev);

/* Items whose time has come. True: *ev comes of it, for the item's node. */
bool sim_host_on_start(struct sim_world *w, const struct sim_item *item,
                       struct ov_event *ev);
bool sim_host_on_timer(struct sim_world *w, const struct sim_item *item,
                       struct ov_event *ev);

/* The run does not wait for the node's end any more. */
void sim_host_gone(struct sim_world *w, uint32_t n);

/* The node is no more: its links end, behind what it has sent. */
void sim_host_end(struct sim_world *w, uint32_t n, enum sim_host_state state);

#endif
