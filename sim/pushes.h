/* Tools that push to processes of jobs: at most one for each job. A tool begins
 * when its job has started. The content of a push follows from the seed and its
 * number, so that it can be made again, and checked, wherever it arrives. */
#ifndef SIM_PUSHES_H
#define SIM_PUSHES_H

#include "sim/state.h"

/* Returns 0 or OV_ENOMEM. */
int sim_pushes_open(struct sim_world *w);
void sim_pushes_close(struct sim_world *w);

/* Starts the tool of a job that has started, if the job has one. */
void sim_pushes_begin(struct sim_world *w, uint32_t job);
/* Makes one more push. Returns false, because the root gets no other event from
 * this. */
bool sim_pushes_on_push(struct sim_world *w, const struct sim_item *item,
                        struct ov_event *ev);

/* Makes the nth push that a stream was given, counted from 0: writes at most
 * SIM_PUSH_MESSAGE_MAX bytes (sim/stdin.h) and returns how many; 0 when there
 * is no such push. */
uint32_t sim_pushes_nth(const struct sim_world *w, uint32_t stream,
                        uint32_t nth, uint8_t *mem);

#endif
