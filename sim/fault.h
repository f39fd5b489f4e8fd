/* What goes wrong, and for how long. */
#ifndef SIM_FAULT_H
#define SIM_FAULT_H

#include "sim/state.h"

/* Queues the faults of the configuration. 0 or OV_ENOMEM. */
int sim_fault_open(struct sim_world *w);
/* Drops everything that waits. May be called again. */
void sim_fault_close(struct sim_world *w);

/* An item was said, which concerns these nodes: faults that wait for it
 * strike. */
void sim_fault_on_word(struct sim_world *w, enum sim_when when,
                       const uint32_t nodes[SIM_WHOM_KINDS]);

/* A fault strikes node n: notes whether others may take it for lost. */
void sim_fault_touch(struct sim_world *w, uint32_t n,
                     const struct sim_fault *fault);
/* A fault with a duration begins; it ends. */
void sim_fault_begin(struct sim_world *w, const struct sim_item *item);
void sim_fault_heal(struct sim_world *w, const struct sim_item *item);

/* True when what was sent from one to the other vanishes as long as a fault
 * lasts. The item is then kept until the fault ends. */
bool sim_fault_holds(struct sim_world *w, uint32_t from, uint32_t to,
                     const struct sim_item *item);
/* True when the host stands still. The item is then kept until it goes on. */
bool sim_fault_freezes(struct sim_world *w, const struct sim_item *item);

/* True when what one sends to the other is answered with a reset. The sender
 * hears the reset, the other hears nothing. */
bool sim_fault_rejects(const struct sim_world *w, uint32_t from, uint32_t to);

/* Whether a dial from one to the other hears nothing; is refused; finds no
 * route. */
bool sim_fault_is_silent(const struct sim_world *w, uint32_t from, uint32_t to);
bool sim_fault_refuses(const struct sim_world *w, uint32_t to);
bool sim_fault_cuts(const struct sim_world *w, uint32_t from, uint32_t to);

#endif
