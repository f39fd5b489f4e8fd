/* Faults: what goes wrong at which nodes, and for how long. */
#ifndef SIM_FAULT_H
#define SIM_FAULT_H

#include "sim/state.h"

/* Queues the faults of the configuration. 0 or OV_ENOMEM. */
int sim_fault_open(struct sim_world *w);
/* Drops all items that wait for the end of a fault. May be called again. */
void sim_fault_close(struct sim_world *w);

/* Makes the faults strike that wait for an item of this kind. `nodes` has the
 * node that sends it, the one that receives it, and the one that claims. */
void sim_fault_on_word(struct sim_world *w, enum sim_when when,
                       const uint32_t nodes[SIM_WHOM_KINDS]);

/* Notes that a fault strikes node n, and whether other nodes may take it for
 * lost because of that. */
void sim_fault_touch(struct sim_world *w, uint32_t n,
                     const struct sim_fault *fault);
/* Begin and end a fault that lasts for a time. */
void sim_fault_begin(struct sim_world *w, const struct sim_item *item);
void sim_fault_heal(struct sim_world *w, const struct sim_item *item);

/* True when a frame from one node to the other does not arrive as long as a
 * fault lasts. The item is then kept until the fault ends. */
bool sim_fault_holds(struct sim_world *w, uint32_t from, uint32_t to,
                     const struct sim_item *item);
/* True when the item's host stands still. The item is then kept until the host
 * goes on. */
bool sim_fault_freezes(struct sim_world *w, const struct sim_item *item);

/* True when a frame from one node to the other is answered with a reset. The
 * sender receives the reset, the other node receives nothing. */
bool sim_fault_rejects(const struct sim_world *w, uint32_t from, uint32_t to);

/* True when a dial from one node to the other gets no answer; is refused; finds
 * no route. */
bool sim_fault_is_silent(const struct sim_world *w, uint32_t from, uint32_t to);
bool sim_fault_refuses(const struct sim_world *w, uint32_t to);
bool sim_fault_cuts(const struct sim_world *w, uint32_t from, uint32_t to);

#endif
