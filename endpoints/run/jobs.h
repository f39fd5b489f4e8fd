/* The jobs of a session: its own and any number of further ones, one after the
 * other.
 *
 * The processes of each have numbers of their own, from its base on; a number
 * is never used again. The run ends when all jobs have ended.
 */
#ifndef ENDPOINTS_RUN_JOBS_H
#define ENDPOINTS_RUN_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/run/job.h"
#include "endpoints/client/taps.h"

struct job_record;
struct job_word;

/* Further jobs at a time. */
enum { RUN_JOBS_MAX = 128 };

/* There are none but the own one. Returns 0 or OV_ENOMEM. */
int ep_run_jobs_open(struct run *r);
/* Frees all further ones, and what is known of those that are over, without a
 * word. */
void ep_run_jobs_close(struct run *r);

/* Plans a further job and tells it to the nodes, while the run is running;
 * before that it is put off. False when it cannot be, with a sentence in why
 * (EP_TAP_WHY_MAX bytes). O(nodes + processes). */
bool ep_run_spawn(struct run *r, const struct ep_tap_spawn *spawn,
                  struct ep_tap_spawned *out, char *why);

/* Are there any but the own one? */
bool ep_run_jobs_further(const struct run *r);
/* The one that the process with this number is of; NULL: none any more.
 * O(jobs). */
struct run_job *ep_run_job_of(struct run *r, uint32_t number);
/* How many parts a job has: ranks of one program on one node each; and where
 * those of the one with this base are, as of on_part (taps.h). */
uint32_t ep_run_jobs_parts(const struct job *job);
void ep_run_jobs_part(struct run *r, uint32_t base, uint32_t index,
                      struct job_neighbours *out);

/* All processes were told to die: how they end says nothing from here on. */
void ep_run_jobs_killed(struct run *r);
/* A record of a further one, which the caller holds. */
void ep_run_jobs_output(struct run *r, const struct job_record *rec);
/* Somebody wants output of them that nobody did. Returns whether nodes are to
 * hear of it. */
bool ep_run_jobs_wanted(struct run *r);
/* The word of a node about its machine; NULL: it is lost. True: its machine was
 * not known. A job that is placed by machines is put off until the nodes that
 * it may be on have been asked, and have answered or are lost (nodes.h). Of
 * others that are put off meanwhile none goes on before all that was asked is
 * answered. */
bool ep_run_jobs_machine(struct run *r, uint32_t node,
                         const struct job_word *word);
/* The node gives no answers any more. */
void ep_run_jobs_silent(struct run *r, uint32_t node);
/* The node is gone for ever, and its processes in all jobs. */
void ep_run_jobs_lost(struct run *r, uint32_t node);

/* Files of further ones: what is not written is dropped; does one take nothing,
 * and since when? As of endpoints/output/output.h. */
void ep_run_jobs_give_up(struct run *r);
bool ep_run_jobs_are_stuck(const struct run *r, uint64_t *since_ns);

#endif
