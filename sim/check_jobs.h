/* An onlooker that compares what the launcher believes about jobs with what
 * happens on the nodes:
 *
 *   each process is reported over exactly once, and in the way in which it is
 *   over on its node: ended or not started, or lost if its node is lost; the
 *   report of its end comes after its last output; no job is over before all
 *   its processes are, and all jobs are over at the end; a job starts at most
 *   once, and only when each of its processes runs or its node is lost; the
 *   job's exit code follows its description, from the process that failed
 *   first, if no node was lost before.
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

/* Checks, at the end of the run, that all jobs are over and have the right exit
 * codes. */
void sim_check_jobs_end(struct sim_world *w);

#endif
