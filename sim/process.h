/* The process of the run's own job on a node: it reads stdin, writes lines, and
 * ends.
 *
 * It begins with the launcher's order, writes its lines into a pipe and stands
 * still while that is full, reads stdin at its speed, and ends when it has
 * written everything and stdin has ended. When also everything it wrote was
 * read, the node says its last word, or how the process has ended.
 */
#ifndef SIM_PROCESS_H
#define SIM_PROCESS_H

#include "sim/state.h"

/* Makes the processes as the job describes them. Returns 0 or OV_ENOMEM. */
int sim_process_open(struct sim_world *w);
void sim_process_close(struct sim_world *w);

/* Actions of node n, within its step. The slice stays the caller's. */
void sim_process_consume(struct sim_world *w, uint32_t n,
                         const struct ov_act *act,
                         const struct ov_slice *slice);
void sim_process_read(struct sim_world *w, uint32_t n, uint32_t max_bytes,
                      struct ov_read *read);
/* Reads the driver's own messages: those of sim/word.h, or the last record
 * alone. */
void sim_process_say(struct sim_world *w, uint32_t n, uint32_t max_bytes,
                     struct ov_read *read);

/* Handle items whose time has come. True: *ev is an event for the item's
 * node. */
bool sim_process_on_write(struct sim_world *w, const struct sim_item *item,
                          struct ov_event *ev);
bool sim_process_on_read(struct sim_world *w, const struct sim_item *item,
                         struct ov_event *ev);
bool sim_process_on_close(struct sim_world *w, const struct sim_item *item,
                          struct ov_event *ev);
/* To be called after the last two: the last word may be due now. */
bool sim_process_last_word(struct sim_world *w, uint32_t n,
                           struct ov_event *ev);

#endif
