/* The buffers of nodes. Each is in the books of its node from its arrival until
 * its last reference is dropped. */
#ifndef SIM_BUFFER_H
#define SIM_BUFFER_H

#include "sim/state.h"

/* Make a view with one reference, to which the reference of the load passes:
 * output of node n; a frame of the root's own; a frame that arrives at node
 * n. */
struct sim_view *sim_buffer_own(struct sim_world *w, uint32_t n,
                                struct sim_load *load);
struct sim_view *sim_buffer_fed(struct sim_world *w, uint32_t stream,
                                struct sim_load *load);
struct sim_view *sim_buffer_arrived(struct sim_world *w, uint32_t n,
                                    uint16_t link, struct sim_load *load);

/* A frame of the root's own has got its content. */
void sim_buffer_filled(struct sim_world *w, struct sim_view *view);

/* Drops a reference of the driver. NULL is fine. */
void sim_buffer_put(struct sim_world *w, struct ov_buf *buf);

/* Drops the buffers that the core gave back. */
void sim_buffer_take_back(struct sim_world *w);

#endif
