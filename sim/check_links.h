/* Reading frames on the links for the checks. */
#ifndef SIM_CHECK_LINKS_H
#define SIM_CHECK_LINKS_H

#include "sim/world.h"

/* The stream of a DOWN frame. */
uint32_t sim_check_stream(const struct sim_load *load);

/* The words of a LINK frame: when it is sent, and when it is heard. */
void sim_check_words(struct sim_world *w, uint32_t from, uint32_t to,
                     const struct sim_load *load, bool is_heard);

/* The step is over: was no more promised than there is room for? */
void sim_check_promises(struct sim_world *w);

#endif
