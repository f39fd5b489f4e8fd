/* An onlooker that compares what the launcher believes about jobs with what
 * happens on the nodes:
 *
 *   each process is over exactly once, and in the way in which it is over on
 * its node: ended, not started, or lost, which nobody is whose node is not; the
 * word of its end comes behind its last output; no job is over before all its
 * processes are, and all are at the end; a job has started at most once, and
 * only when all its processes run or their nodes are lost; its exit code is
 * that of the description, for the process that failed first, where no loss
 * came before.
 */
#ifndef SIM_CHECK_JOBS_H
#define SIM_CHECK_JOBS_H

#include "sim/state.h"

/* Begins to check a job, before its nodes are told of it; its description must
 * be complete. */
void sim_check_job_open(struct sim_told *job);
void sim_check_job_close(struct sim_told *job);

/* Checks a step of a job's life: the event that went in, and the result. */
void sim_check_job(struct sim_world *w, struct sim_told *job,
                   const struct job_life_event *event,
                   const struct job_life_news *news);

/* Checks, at the end of the run, that all jobs are over. */
void sim_check_jobs_end(struct sim_world *w);

#endif
