/* The jobs of the launcher: their descriptions, and what words and losses mean
 * for them, which job/life.h decides.
 *
 * Processes are numbered in the order in which jobs are told; those of a job
 * begin at its base.
 */
#ifndef SIM_JOBS_H
#define SIM_JOBS_H

#include "sim/state.h"

void sim_jobs_close(struct sim_world *w);

/* Adds a job: first the run's own, with a process on each node; then further
 * ones, on those of their nodes that are not lost. NULL: none of these is
 * left. */
struct sim_told *sim_jobs_tell_own(struct sim_world *w);
struct sim_told *sim_jobs_tell(struct sim_world *w,
                               const struct sim_further *further);

/* The job of a process and its rank there; NULL: there is no such process. */
struct sim_told *sim_jobs_of(struct sim_world *w, uint32_t number,
                             uint32_t *rank);

/* Makes a step of a job's life, which the onlookers check. */
struct job_life_news sim_jobs_step(struct sim_world *w, struct sim_told *job,
                                   const struct job_life_event *event);

/* A node is lost: first its processes of all jobs, then the node itself, as in
 * the launcher. O(processes of the node). */
void sim_jobs_lost(struct sim_world *w, uint32_t node);

/* True when all jobs that were told are over. */
bool sim_jobs_are_over(const struct sim_world *w);

#endif
