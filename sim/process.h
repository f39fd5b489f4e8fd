/* The process of the own job on a node: reads stdin, writes lines, ends.
 *
 * It begins with the launcher's word, writes its lines into a pipe and stands
 * still while that is full, reads stdin at its speed, and ends when it has
 * written everything and stdin is over. Then, and when everything it wrote was
 * read, the node says its last word, or how it has ended.
 */
#ifndef SIM_PROCESS_H
#define SIM_PROCESS_H

#include "sim/state.h"

/* The processes as the job says. 0 or OV_ENOMEM. */
int sim_process_open(struct sim_world *w);
void sim_process_close(struct sim_world *w);

/* Within a step of node n: its actions. The slice stays the caller's. */
void sim_process_consume(struct sim_world *w, uint32_t n,
                         const struct ov_act *act,
                         const struct ov_slice *slice);
void sim_process_read(struct sim_world *w, uint32_t n, uint32_t max_bytes,
                      struct ov_read *read);
/* The driver's own words: those of sim/word.h, or the last alone. */
void sim_process_say(struct sim_world *w, uint32_t n, uint32_t max_bytes,
                     struct ov_read *read);

/* Items whose time has come. True: *ev comes of it, for the item's node. */
bool sim_process_on_write(struct sim_world *w, const struct sim_item *item,
                          struct ov_event *ev);
bool sim_process_on_read(struct sim_world *w, const struct sim_item *item,
                         struct ov_event *ev);
bool sim_process_on_close(struct sim_world *w, const struct sim_item *item,
                          struct ov_event *ev);
/* After the last two: the last word may have become due. */
bool sim_process_last_word(struct sim_world *w, uint32_t n,
                           struct ov_event *ev);

#endif
