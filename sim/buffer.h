/* The buffers of nodes. Each is counted in the books (sim/books.h) of its node
 * from its arrival until its last reference is dropped. */
#ifndef SIM_BUFFER_H
#define SIM_BUFFER_H

#include "sim/state.h"

/* Each makes a view (a buffer of one node) with one reference; the reference to
 * the load passes to it. The first is for bytes that node n reads from an
 * input, the second for a frame that the root makes, the third for a frame that
 * arrives at node n. */
struct sim_view *sim_buffer_own(struct sim_world *w, uint32_t n,
                                struct sim_load *load);
struct sim_view *sim_buffer_fed(struct sim_world *w, uint32_t stream,
                                struct sim_load *load);
struct sim_view *sim_buffer_arrived(struct sim_world *w, uint32_t n,
                                    uint16_t link, struct sim_load *load);

/* Updates the books after a frame that the root makes has been filled. */
void sim_buffer_filled(struct sim_world *w, struct sim_view *view);

/* Drops a reference that the driver has. NULL is allowed. */
void sim_buffer_put(struct sim_world *w, struct ov_buf *buf);

/* Frees the buffers that the core has returned in the last step. */
void sim_buffer_take_back(struct sim_world *w);

#endif
