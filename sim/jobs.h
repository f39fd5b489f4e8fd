/* The launcher's jobs: their descriptions, and what reports and losses of nodes
 * do to them, which job/life.h decides.
 *
 * Processes are numbered in the order in which the launcher adds jobs; those of
 * a job begin at its base.
 */
#ifndef SIM_JOBS_H
#define SIM_JOBS_H

#include "sim/state.h"

void sim_jobs_close(struct sim_world *w);

/* Add a job: the first function the run's own job, with a process on each node;
 * the second one a further job, on those of its nodes that are not lost. It
 * returns NULL when all of these are lost. */
struct sim_told *sim_jobs_tell_own(struct sim_world *w);
struct sim_told *sim_jobs_tell(struct sim_world *w,
                               const struct sim_further *further);

/* Finds the job of a process, and the process's rank there. NULL when there is
 * no such process. */
struct sim_told *sim_jobs_of(struct sim_world *w, uint32_t number,
                             uint32_t *rank);

/* Makes a step of a job's life, and lets the onlookers check it. */
struct job_life_news sim_jobs_step(struct sim_world *w, struct sim_told *job,
                                   const struct job_life_event *event);

/* Notes that a node is lost: first for its processes of all jobs, then for the
 * node itself, as the launcher does. O(processes of the node). */
void sim_jobs_lost(struct sim_world *w, uint32_t node);

/* True when all jobs that were added are over. */
bool sim_jobs_are_over(const struct sim_world *w);

#endif
