/* Drives the nodes: steps them and carries out their actions. */
#ifndef SIM_HOST_H
#define SIM_HOST_H

#include "sim/state.h"

/* Builds the hosts with their nodes, and the slots for their connections, and
 * queues the start of each node. Returns 0 or OV_ENOMEM. */
int sim_host_open(struct sim_world *w);
/* sim_host_finish() makes the nodes return their buffers, sim_host_close()
 * frees the hosts. */
void sim_host_finish(struct sim_world *w);
void sim_host_close(struct sim_world *w);

/* How many bytes of memory node n uses. */
uint64_t sim_host_node_bytes(const struct sim_world *w, uint32_t n);

/* Steps node n with *ev, and then with all events that follow from its actions
 * at the same time. The step happens now, or when the host's processor is free.
 * *ev is overwritten. O(actions). */
void sim_host_step(struct sim_world *w, uint32_t n, struct ov_event *ev);

/* Handle items whose time has come. They return true when *ev is an event for
 * the item's node. */
bool sim_host_on_start(struct sim_world *w, const struct sim_item *item,
                       struct ov_event *ev);
bool sim_host_on_timer(struct sim_world *w, const struct sim_item *item,
                       struct ov_event *ev);

/* Counts the node as ended, so that the run does not wait for its end. */
void sim_host_gone(struct sim_world *w, uint32_t n);

/* Ends the node; its links end after the frames that it has sent. */
void sim_host_end(struct sim_world *w, uint32_t n, enum sim_host_state state);

#endif
