/* A run: a job in the simulated world, from the start to the end.
 *
 * It consists of these files of sim/. Each calls only those beneath it; events
 * for a node are handed upward:
 *
 *     world    takes the next item of the queue to where it belongs, and steps
 *              the node with the event that comes of it
 *     host     drives ov_node_step() of a node, as endpoints/ does
 *     net      ports and links      process  readers and writers
 *     launcher its words, console, losses
 *     task     processes of further jobs
 *     jobs     what words and losses come to, for the launcher
 *     session  begin and end of the run
 *     pushes   what tools push     stdin    its streams
 *     orders   what waits for room on stream 0
 *     word     what nodes say of jobs
 *     buffer   what nodes hold      owed     events that follow a step
 *     check, check_links, check_jobs  those who look on and know the rules;
 *              check asks pushes which one is to come
 *     measure, tally  those who look on and count: the job, and repair
 *     fault    what goes wrong, and what waits until it is over
 *     state    what all these share; beneath it queue, store and model
 *
 * Above them are report, summary and scenario, which read the result.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "sim/state.h"

/* Builds the nodes and everything around them. cfg must have passed
 * sim_cfg_check(). Returns 0 or OV_ENOMEM. */
int sim_world_open(struct sim_world *w, const struct sim_cfg *cfg);

/* Runs until the job is over, a rule is broken, a limit is reached, or `items`
 * items were handled. Returns false when there is nothing more to do. */
bool sim_world_run(struct sim_world *w, uint64_t items);

/* Ends all nodes, and then makes the checks of the end of a run. To be called
 * before sim_world_close(). */
void sim_world_finish(struct sim_world *w);
void sim_world_close(struct sim_world *w);

/* How many bytes of memory a leaf uses when nothing happens to it. */
uint64_t sim_world_leaf_bytes(const struct sim_world *w);

#endif
