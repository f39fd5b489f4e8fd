/* The processes of further jobs on their nodes: they begin with the launcher's
 * order, run for a time and end, or are killed. They write nothing. Where a
 * tool pushes to them they do not end before it closes their stdin. */
#ifndef SIM_TASK_H
#define SIM_TASK_H

#include "sim/state.h"

/* Within a step of node n: start and kill the node's processes of a job
 * (SIM_JOBS_ALL: of all jobs), as the launcher has ordered. O(processes of the
 * node). */
void sim_task_launch(struct sim_world *w, uint32_t n, uint32_t job);
void sim_task_kill(struct sim_world *w, uint32_t n, uint32_t job);

/* Within a step of node n: closes the stdin of the node's processes of a job;
 * `number` is one of the job's processes. O(processes of the node). */
void sim_task_close(struct sim_world *w, uint32_t n, uint32_t number);

/* Handles an item whose time has come. Returns true when *ev is an event for
 * the item's node. */
bool sim_task_on_exit(struct sim_world *w, const struct sim_item *item,
                      struct ov_event *ev);

#endif
