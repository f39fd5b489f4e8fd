/* What goes wrong, and for how long. */
#ifndef SIM_FAULT_H
#define SIM_FAULT_H

#include "sim/state.h"

/* Queues the faults of the configuration. 0 or OV_ENOMEM. */
int sim_fault_open(struct sim_world *w);
/* Drops what waits. More than once is fine. */
void sim_fault_close(struct sim_world *w);

/* A word was said, by and to and about these: what waits for it strikes. */
void sim_fault_on_word(struct sim_world *w, enum sim_when when,
                       const uint32_t nodes[SIM_WHOM_KINDS]);

/* A fault strikes node n: notes whether others may take that for its loss. */
void sim_fault_touch(struct sim_world *w, uint32_t n,
                     const struct sim_fault *fault);
/* A fault that lasts begins, and ends. */
void sim_fault_begin(struct sim_world *w, const struct sim_item *item);
void sim_fault_heal(struct sim_world *w, const struct sim_item *item);

/* Does what was sent from one to the other vanish, as long as a fault lasts?
 * Then the item is kept for its end. */
bool sim_fault_holds(struct sim_world *w, uint32_t from, uint32_t to,
                     const struct sim_item *item);
/* Does the host stand still? Then the item is kept for the thaw. */
bool sim_fault_freezes(struct sim_world *w, const struct sim_item *item);

/* Is what one sends the other answered with a reset? Who sends it hears that,
 * the other hears nothing. */
bool sim_fault_rejects(const struct sim_world *w, uint32_t from, uint32_t to);

/* A dial from one to the other: hears nothing; is refused; finds no way. */
bool sim_fault_is_silent(const struct sim_world *w, uint32_t from, uint32_t to);
bool sim_fault_refuses(const struct sim_world *w, uint32_t to);
bool sim_fault_cuts(const struct sim_world *w, uint32_t from, uint32_t to);

#endif
