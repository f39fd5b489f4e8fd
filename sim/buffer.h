/* The buffers of nodes: each is in the books of its node from the moment it
 * comes until the last reference to it goes. */
#ifndef SIM_BUFFER_H
#define SIM_BUFFER_H

#include "sim/state.h"

/* Each has one reference; that of the load passes to it. Output of node n; a
 * frame of the root's own; a frame that arrives at node n. */
struct sim_view *sim_buffer_own(struct sim_world *w, uint32_t n,
                                struct sim_load *load);
struct sim_view *sim_buffer_fed(struct sim_world *w, uint32_t stream,
                                struct sim_load *load);
struct sim_view *sim_buffer_arrived(struct sim_world *w, uint32_t n,
                                    uint16_t link, struct sim_load *load);

/* A frame of the root's own has got its content since. */
void sim_buffer_filled(struct sim_world *w, struct sim_view *view);

/* Drops a reference that the driver had. NULL is fine. */
void sim_buffer_put(struct sim_world *w, struct ov_buf *buf);

/* Drops the buffers that the core gave back. */
void sim_buffer_take_back(struct sim_world *w);

#endif
