/* Finds words for processes of a job that make no progress (--on-stall), and
 * for those that go on after that.
 *
 * Nodes report each process once (job/stall.h). Those that come within
 * JOB_STALL_GATHER_MS are told together, in a line for each thing that they do.
 * While more keep coming each line is gathered for twice as long as the one
 * before, up to ten seconds.
 */
#ifndef ENDPOINTS_RUN_STALLS_H
#define ENDPOINTS_RUN_STALLS_H

#include <stdbool.h>
#include <stdint.h>

struct event_base;
struct job_life;
struct job_word;
struct run_plan;
struct run_stalls;

/* What is passed to these is valid within the call. */
struct run_stalls_events {
    void (*say)(void *arg, const char *words);
    /* Some were said to make no progress: of each rank, whether it is among
     * them. */
    void (*on_told)(void *arg, const bool *are_told);
};

struct run_stalls_cfg {
    const struct run_plan *plan; /* borrowed, like all pointers */
    const struct job_life *life;
    struct event_base *base;
    const struct run_stalls_events *events;
    void *arg;
};

/* Returns 0 or OV_ENOMEM. */
int ep_run_stalls_open(const struct run_stalls_cfg *cfg,
                       struct run_stalls **out);
void ep_run_stalls_close(struct run_stalls *stalls); /* NULL is fine */

/* Takes a DOING message that answers nothing: these processes have made no
 * progress for the limit of the job, or go on. NULL is fine. O(processes in
 * it). */
void ep_run_stalls_hear(struct run_stalls *stalls, const struct job_word *word);

#endif
