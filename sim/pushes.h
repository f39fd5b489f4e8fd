/* Tools that push to processes of jobs: at most one for each job. A tool begins
 * when its job has started. A push has the same content whenever it is made
 * again, so that it can be checked wherever it arrives. */
#ifndef SIM_PUSHES_H
#define SIM_PUSHES_H

#include "sim/state.h"

/* Returns 0 or OV_ENOMEM. */
int sim_pushes_open(struct sim_world *w);
void sim_pushes_close(struct sim_world *w);

/* The job has started: its tool pushes, if it has one. */
void sim_pushes_begin(struct sim_world *w, uint32_t job);
/* Makes one more push; the root gets no other event from this. */
bool sim_pushes_on_push(struct sim_world *w, const struct sim_item *item,
                        struct ov_event *ev);

/* The nth push that came for a stream, from 0: writes at most
 * SIM_PUSH_MESSAGE_MAX bytes (sim/stdin.h) and returns how many; 0: there is
 * none. */
uint32_t sim_pushes_nth(const struct sim_world *w, uint32_t stream,
                        uint32_t nth, uint8_t *mem);

#endif
