/* Checks the rules for a link (see sim/check.h): slots, limits, bases,
 * acknowledgements. Also reads frames for these checks. */
#ifndef SIM_CHECK_LINKS_H
#define SIM_CHECK_LINKS_H

#include "sim/state.h"

/* Returns 0 or OV_ENOMEM. */
int sim_check_links_open(struct sim_world *w);
void sim_check_links_close(struct sim_world *w);

/* These are called when node n sends a frame, when its port is done with a
 * frame, and when the node knows that its link has ended. */
void sim_check_send(struct sim_world *w, uint32_t n, uint16_t link,
                    const struct sim_load *load);
void sim_check_sent(struct sim_world *w, uint32_t n, uint16_t link);
void sim_check_closed(struct sim_world *w, uint32_t n, uint16_t link);

/* The largest number of frames of a stream that a node may keep. */
uint32_t sim_check_window(const struct sim_world *w, uint32_t stream);

/* The stream to which a DOWN frame belongs, and the frame's number in it. */
uint32_t sim_check_stream(const struct sim_load *load);
uint64_t sim_check_seq(const struct sim_load *load);

/* Checks the items of a LINK frame that node n sends, or receives
 * (is_heard). */
void sim_check_words(struct sim_world *w, uint32_t n, uint16_t link,
                     const struct sim_load *load, bool is_heard);

/* These are called when a node begins to hold a frame of a child, and when it
 * has released the frame. */
void sim_check_up_arrived(struct sim_world *w, const struct sim_view *view);
void sim_check_up_released(struct sim_world *w, const struct sim_view *view);

/* Checks, after a step of node n, that it has allowed its children no more
 * frames than there is room for, that no base it reported is beyond that of a
 * child, and that it has welcomed no more children than it may have. */
void sim_check_links(struct sim_world *w, uint32_t n);

#endif
