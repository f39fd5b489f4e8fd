/* The jobs of a session: its own, and any number of further ones, one after the
 * other or at the same time.
 *
 * Each process has a number in the session: those of a job begin at its base,
 * and no number is used twice. The run ends when all jobs have ended.
 */
#ifndef ENDPOINTS_RUN_JOBS_H
#define ENDPOINTS_RUN_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/run/job.h"
#include "endpoints/client/requests.h"

struct job_record;
struct job_word;

/* How many further jobs there may be at a time. */
enum { RUN_JOBS_MAX = 128 };

/* Prepares the run for further jobs, of which there is none yet. Returns 0 or
 * OV_ENOMEM. */
int ep_run_jobs_open(struct run *r);
/* Frees all further jobs, and what is known about those that are over, without
 * reporting it to anybody. */
void ep_run_jobs_close(struct run *r);

/* Plans a further job and sends its description to the nodes. Before the run's
 * own job has begun, the further job is put off. Returns false when the job
 * cannot be started or is put off, with a sentence in why (EP_CLIENT_WHY_MAX
 * bytes). O(nodes + processes). */
bool ep_run_spawn(struct run *r, const struct ep_client_spawn *spawn,
                  struct ep_client_spawned *out, char *why);

/* Tells whether any further job has not ended. */
bool ep_run_jobs_further(const struct run *r);
/* Finds the job that has the process with this number. Returns NULL when the
 * job is over or never existed. O(jobs). */
struct run_job *ep_run_job_of(struct run *r, uint32_t number);
/* The parts of a job, a part being the ranks of one program on one node. The
 * first function returns how many parts a job has; the second tells where part
 * `index` of the job with this base runs, as on_part of requests.h. */
uint32_t ep_run_jobs_parts(const struct job *job);
void ep_run_jobs_part(struct run *r, uint32_t base, uint32_t index,
                      struct job_neighbours *out);

/* Notes that the launcher kills all processes. From here on their exit statuses
 * do not matter. */
void ep_run_jobs_killed(struct run *r);
/* Gives a record of a further job to its takers. The caller keeps its own hold
 * on the record. */
void ep_run_jobs_output(struct run *r, const struct job_record *rec);
/* Has the nodes send output of further jobs that a client wants now and that no
 * client wanted before. Returns whether nodes were told so. */
bool ep_run_jobs_wanted(struct run *r);
/* Notes what a node says about its machine; word NULL: the node is lost.
 * Returns true when its machine was not known before. A job that is placed by
 * machines is put off until the nodes on which it may run were asked, and have
 * answered or are lost (nodes.h). Other jobs that are put off meanwhile also
 * wait until all questions are answered. */
bool ep_run_jobs_machine(struct run *r, uint32_t node,
                         const struct job_word *word);
/* Notes that the node will give no further answers. */
void ep_run_jobs_silent(struct run *r, uint32_t node);
/* Notes that the node is lost for ever, and its processes of all jobs with
 * it. */
void ep_run_jobs_lost(struct run *r, uint32_t node);

/* The files of further jobs: the first function drops what is not written; the
 * second tells whether a file accepts nothing, and since when. See
 * endpoints/output/output.h. */
void ep_run_jobs_give_up(struct run *r);
bool ep_run_jobs_are_stuck(const struct run *r, uint64_t *since_ns);

#endif
