/* Somebody who looks on at what the launcher takes for the lives of jobs, and
 * knows how they are:
 *
 *   each process is over exactly once, and as it is on its node: ended, not
 *   started, or lost, which nobody is whose node is not; the word of its end
 *   comes behind its last output;
 *   no job is over before all its processes are, and all are at the end;
 *   a job has started at most once, and only when all its processes run or
 *   their nodes are lost;
 *   its exit code is that of the description, for the process that failed
 *   first, where no loss came before.
 */
#ifndef SIM_CHECK_JOBS_H
#define SIM_CHECK_JOBS_H

#include "sim/state.h"

/* Of a job that is told; its description stands. */
void sim_check_job_open(struct sim_told *job);
void sim_check_job_close(struct sim_told *job);

/* A step of its life, and what came of it. */
void sim_check_job(struct sim_world *w, struct sim_told *job,
                   const struct job_life_event *event,
                   const struct job_life_news *news);

/* The run has ended, and everybody with it. */
void sim_check_jobs_end(struct sim_world *w);

#endif
