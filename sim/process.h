/* The process of the run's own job on a node: it reads stdin, writes lines, and
 * ends.
 *
 * It begins with the launcher's order, writes its lines into a pipe and stands
 * still while the pipe is full, reads stdin at its speed, and ends when it has
 * written everything and stdin has ended. When the node has also read
 * everything that the process wrote, the node reports how it has ended.
 */
#ifndef SIM_PROCESS_H
#define SIM_PROCESS_H

#include "sim/state.h"

/* Makes the processes as the job describes them. Returns 0 or OV_ENOMEM. */
int sim_process_open(struct sim_world *w);
void sim_process_close(struct sim_world *w);

/* Carry out actions of node n, within its step. The slice remains the
 * caller's. */
void sim_process_consume(struct sim_world *w, uint32_t n,
                         const struct ov_act *act,
                         const struct ov_slice *slice);
void sim_process_read(struct sim_world *w, uint32_t n, uint32_t max_bytes,
                      struct ov_read *read);
/* Reads the driver's own messages from the node's input 0: those of sim/word.h
 * or, in a job without words, one empty last record. */
void sim_process_say(struct sim_world *w, uint32_t n, uint32_t max_bytes,
                     struct ov_read *read);

/* Handle items whose time has come. They return true when *ev is an event for
 * the item's node. */
bool sim_process_on_write(struct sim_world *w, const struct sim_item *item,
                          struct ov_event *ev);
bool sim_process_on_read(struct sim_world *w, const struct sim_item *item,
                         struct ov_event *ev);
bool sim_process_on_close(struct sim_world *w, const struct sim_item *item,
                          struct ov_event *ev);
/* To be called after the previous two functions, as the node may now have its
 * last report to send. Returns true when *ev is an event for node n. */
bool sim_process_last_word(struct sim_world *w, uint32_t n,
                           struct ov_event *ev);

#endif
