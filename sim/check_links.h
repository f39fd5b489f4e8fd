/* The rules of a link (sim/check.h): slots, limits, bases, acknowledgements;
 * and reading frames for it. */
#ifndef SIM_CHECK_LINKS_H
#define SIM_CHECK_LINKS_H

#include "sim/state.h"

/* 0 or OV_ENOMEM. */
int sim_check_links_open(struct sim_world *w);
void sim_check_links_close(struct sim_world *w);

/* A frame goes out; the port is done with one; node n knows that its link is
 * no more. */
void sim_check_send(struct sim_world *w, uint32_t n, uint16_t link,
                    const struct sim_load *load);
void sim_check_sent(struct sim_world *w, uint32_t n, uint16_t link);
void sim_check_closed(struct sim_world *w, uint32_t n, uint16_t link);

/* Frames of a stream that a node keeps at most. */
uint32_t sim_check_window(const struct sim_world *w, uint32_t stream);

/* The stream of a DOWN frame, and its number there. */
uint32_t sim_check_stream(const struct sim_load *load);
uint64_t sim_check_seq(const struct sim_load *load);

/* The words of a LINK frame, at the end of node n: as it is said, or heard. */
void sim_check_words(struct sim_world *w, uint32_t n, uint16_t link,
                     const struct sim_load *load, bool is_heard);

/* A frame of a child begins to be held, and no longer is. */
void sim_check_up_arrived(struct sim_world *w, const struct sim_view *view);
void sim_check_up_released(struct sim_world *w, const struct sim_view *view);

/* The step of node n is over: was no more promised than there is room for, no
 * base said that a child has not reached, nobody welcomed beyond the balance?
 */
void sim_check_links(struct sim_world *w, uint32_t n);

#endif
