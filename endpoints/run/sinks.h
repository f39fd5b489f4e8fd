/* Where output of a further job goes beside the tools: files, and the console.
 *
 * Records are borrowed until they are written, and hold the windows of the
 * tree as those of the console do: what a file system does not take holds
 * everybody up.
 *
 * At most ep_files_open_limit() files are open at a time for all such jobs,
 * and 4 more for each; 120 KiB and a thread for each. What is known of a job
 * whose output is shown (140 bytes) is kept until the run ends, as the console
 * may have lines of it in its spool.
 */
#ifndef ENDPOINTS_RUN_SINKS_H
#define ENDPOINTS_RUN_SINKS_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/console/console.h"

struct ep_proof;
struct ep_tap_spawn;
struct run;
struct run_sinks;

/* From the loop; on_error also from within ep_run_sinks_record(). */
struct run_sinks_events {
    /* Some cannot be written, and all that follows is dropped. Once. */
    void (*on_error)(void *arg, const char *why);
    /* All is written, or dropped, behind ep_run_sinks_finish(). Once; may
     * close them. */
    void (*on_done)(void *arg);
};

struct run_sinks_job {
    const char *nspace;
    uint32_t base;
    struct ep_proof *proof; /* borrowed: its second place are the files */
    const struct run_sinks_events *events;
    void *arg;
};

/* Does the job have any, in this run? */
bool ep_run_sinks_are_asked(const struct run *r,
                            const struct ep_tap_spawn *spawn);
/* NULL, with a sentence in why (EP_TAP_WHY_MAX bytes), when they cannot be
 * made. */
struct run_sinks *ep_run_sinks_open(struct run *r,
                                    const struct ep_tap_spawn *spawn,
                                    const struct run_sinks_job *job, char *why);
/* Frees what is kept of jobs that were shown; the console is closed. */
void ep_run_sinks_forget(struct run *r);
/* Drops what is not written. NULL is fine, here and below. */
void ep_run_sinks_close(struct run_sinks *sinks);

/* A record of the job, held by whoever calls, of this rank. */
void ep_run_sinks_record(struct run_sinks *sinks, const struct job_record *rec,
                         uint32_t rank);
/* None follows. */
void ep_run_sinks_finish(struct run_sinks *sinks);
/* As of ep_output_give_up() and ep_output_is_stuck(). */
void ep_run_sinks_give_up(struct run_sinks *sinks);
bool ep_run_sinks_are_stuck(struct run_sinks *sinks, uint64_t *since_ns);

#endif
