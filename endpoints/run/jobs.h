/* The jobs of a session: its own, and any number of further ones one after the
 * other.
 *
 * The processes of each job have their own numbers, from its base on, and a
 * number is never used again. The run ends when all jobs have ended.
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

/* Begins with no further job. Returns 0 or OV_ENOMEM. */
int ep_run_jobs_open(struct run *r);
/* Frees all further jobs, and what is known of those that are over, without
 * telling anybody. */
void ep_run_jobs_close(struct run *r);

/* Plans a further job and tells it to the nodes while the run is running;
 * before that it is put off. Returns false when that cannot be done, with a
 * sentence in why (EP_CLIENT_WHY_MAX bytes). O(nodes + processes). */
bool ep_run_spawn(struct run *r, const struct ep_client_spawn *spawn,
                  struct ep_client_spawned *out, char *why);

/* Tells whether there is a further job. */
bool ep_run_jobs_further(const struct run *r);
/* Finds the job that has the process with this number; NULL: it is over, or
 * there never was one. O(jobs). */
struct run_job *ep_run_job_of(struct run *r, uint32_t number);
/* Returns how many parts a job has: ranks of one program on one node. And tells
 * where the parts of the job with this base are, as on_part of requests.h. */
uint32_t ep_run_jobs_parts(const struct job *job);
void ep_run_jobs_part(struct run *r, uint32_t base, uint32_t index,
                      struct job_neighbours *out);

/* All processes were told to die. How they end says nothing from here on. */
void ep_run_jobs_killed(struct run *r);
/* Takes a record of a further job, which the caller holds. */
void ep_run_jobs_output(struct run *r, const struct job_record *rec);
/* A client wants output of further jobs that no client wanted before. Returns
 * whether nodes are to hear of it. */
bool ep_run_jobs_wanted(struct run *r);
/* A node tells what its machine is; word NULL: the node is lost. Returns true
 * when its machine was not known. A job that is placed by machines is put off
 * until the nodes that it may be on have been asked, and have answered or are
 * lost (nodes.h). Other jobs that are put off meanwhile also wait until every
 * question is answered. */
bool ep_run_jobs_machine(struct run *r, uint32_t node,
                         const struct job_word *word);
/* The node no longer gives answers. */
void ep_run_jobs_silent(struct run *r, uint32_t node);
/* The node is gone for ever, and with it its processes in all jobs. */
void ep_run_jobs_lost(struct run *r, uint32_t node);

/* Files of further jobs: drops what is not written; and tells whether a file
 * takes nothing, and since when. See endpoints/output/output.h. */
void ep_run_jobs_give_up(struct run *r);
bool ep_run_jobs_are_stuck(const struct run *r, uint64_t *since_ns);

#endif
