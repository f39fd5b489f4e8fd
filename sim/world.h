/* A run: a job in the simulated world, from the start to the end.
 *
 * It consists of these files of sim/. Each calls only files that stand below
 * it; an event for a node is returned to the file above:
 *
 *     world    gives each item of the queue to the file that handles it, and
 *              steps the node when an event for it comes of that
 *     host     drives ov_node_step() of a node, as endpoints/ does
 *     net      ports and links          process  readers and writers
 *     launcher reports of nodes, console, losses
 *     task     processes of further jobs
 *     jobs     what reports and losses do to jobs
 *     session  begin and end of the run
 *     pushes   the pushes of tools      stdin    the streams of stdin
 *     orders   orders that wait for room on stream 0
 *     word     what nodes report about jobs
 *     buffer   what nodes hold          owed     events that follow a step
 *     check, check_links, check_jobs    onlookers that check the rules; check
 *              asks pushes which push must come next
 *     measure, tally                    onlookers that count: the job's data,
 *              and what repair does
 *     fault    faults, and the items that wait until a fault is over
 *     state    what all these files share; below it are queue, store and model
 *
 * Above world are report, summary and scenario, which read the result.
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
