/* Jobs beside the run's own: started in its tree by a tap, any number of them
 * one after the other.
 *
 * The processes of each have numbers of their own, from its base on; a number
 * is never used again. Such a job has no part in the console, in the exit code
 * or in the run's stdin: its output is for the tap and for files of its own,
 * and proved as far as those. The run ends when its own job and all of these
 * have ended.
 */
#ifndef ENDPOINTS_RUN_JOBS_H
#define ENDPOINTS_RUN_JOBS_H

#include "job/word.h"
#include "endpoints/run/taps.h"

struct ep_console_record;
struct job;
struct job_app;
struct run;

/* Processes of such jobs that a node may run at a time. For each that there may
 * be a daemon has some 32 bytes in each of its nodes. */
enum { RUN_SPARE_PROCS = 256 };
/* Jobs at a time. */
enum { RUN_JOBS_MAX = 128 };

/* Plans a job and tells it to the nodes; while the run is running. False when
 * it cannot be, with a sentence in why (EP_TAP_WHY_MAX bytes). O(nodes +
 * processes). */
bool ep_run_spawn(struct run *r, const struct ep_tap_spawn *spawn,
                  struct ep_tap_spawned *out, char *why);
/* What a step of spawner.h that could not be done for a program was about: its
 * directory, or what it runs. */
const char *ep_run_jobs_subject(const struct job_app *app, const char *step);
/* The one with this base; NULL: there is none. */
const struct job *ep_run_jobs_find(const struct run *r, uint32_t base);

/* --- from the nodes: what is about a process that is not the run's own */
void ep_run_jobs_word(struct run *r, const struct job_word *state);
/* A record, by the number of its process, which the caller holds. */
void ep_run_jobs_output(struct run *r, const struct ep_console_record *rec);
/* Somebody wants output of them that nobody did. Returns whether nodes are to
 * hear of it. */
bool ep_run_jobs_wanted(struct run *r);
/* The node is gone for ever, and its processes. */
void ep_run_jobs_lost(struct run *r, uint32_t node);

/* Their files: what is not written is dropped; does one take nothing, and since
 * when? As of endpoints/output/output.h. */
void ep_run_jobs_give_up(struct run *r);
bool ep_run_jobs_are_stuck(const struct run *r, uint64_t *since_ns);

/* Frees what is left, without a word. */
void ep_run_jobs_close(struct run *r);

#endif
