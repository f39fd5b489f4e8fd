/* The rules for a link (sim/check.h): slots, limits, bases, acknowledgements;
 * and how frames are read for them. */
#ifndef SIM_CHECK_LINKS_H
#define SIM_CHECK_LINKS_H

#include "sim/state.h"

/* Returns 0 or OV_ENOMEM. */
int sim_check_links_open(struct sim_world *w);
void sim_check_links_close(struct sim_world *w);

/* A frame is sent; the port is done with a frame; node n knows that its link
 * has ended. */
void sim_check_send(struct sim_world *w, uint32_t n, uint16_t link,
                    const struct sim_load *load);
void sim_check_sent(struct sim_world *w, uint32_t n, uint16_t link);
void sim_check_closed(struct sim_world *w, uint32_t n, uint16_t link);

/* The number of frames of a stream that a node keeps at most. */
uint32_t sim_check_window(const struct sim_world *w, uint32_t stream);

/* The stream of a DOWN frame, and the frame's number in it. */
uint32_t sim_check_stream(const struct sim_load *load);
uint64_t sim_check_seq(const struct sim_load *load);

/* Checks the items of a LINK frame at the end of node n, which sends or hears
 * it. */
void sim_check_words(struct sim_world *w, uint32_t n, uint16_t link,
                     const struct sim_load *load, bool is_heard);

/* A frame of a child begins to be held; it is no longer held. */
void sim_check_up_arrived(struct sim_world *w, const struct sim_view *view);
void sim_check_up_released(struct sim_world *w, const struct sim_view *view);

/* The step of node n is over: checks that it promised no more than there is
 * room for, that no base it reported is beyond a child, and that nobody was
 * welcomed beyond the balance. */
void sim_check_links(struct sim_world *w, uint32_t n);

#endif
