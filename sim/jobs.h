/* The jobs of the launcher: who they are, and what words and losses come to,
 * which job/life.h decides.
 *
 * Their processes have numbers, those of a job from its base on, in the order
 * in which jobs are told.
 */
#ifndef SIM_JOBS_H
#define SIM_JOBS_H

#include "sim/state.h"

void sim_jobs_close(struct sim_world *w);

/* One more job: the own one, first, with a process on each node, or a further
 * one on the nodes of its own that are not lost. NULL: there is none of them.
 */
struct sim_told *sim_jobs_tell_own(struct sim_world *w);
struct sim_told *sim_jobs_tell(struct sim_world *w,
                               const struct sim_further *further);

/* The job of a process, its rank there; NULL: there is no such process. */
struct sim_told *sim_jobs_of(struct sim_world *w, uint32_t number,
                             uint32_t *rank);

/* A step of its life, at which those who know the rules look. */
struct job_life_news sim_jobs_step(struct sim_world *w, struct sim_told *job,
                                   const struct job_life_event *event);

/* The node is lost: its processes of all jobs, then the node, as in the
 * launcher. O(processes of the node). */
void sim_jobs_lost(struct sim_world *w, uint32_t node);

/* All that were told are over. */
bool sim_jobs_are_over(const struct sim_world *w);

#endif
