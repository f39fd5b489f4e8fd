/* Where output of a further job goes beside the tools: to files, and to the
 * console.
 *
 * Records are borrowed until they are written, and hold the windows of the tree
 * as those of the console do, so a file system that takes nothing holds up
 * everything.
 *
 * At most ep_files_open_limit() files are open at a time for all further jobs,
 * and 4 more for each job; a job takes 120 KiB and a thread. For a job whose
 * output is shown, 140 bytes are kept until the run ends, as the console may
 * have lines of it in its spool.
 */
#ifndef ENDPOINTS_RUN_SINKS_H
#define ENDPOINTS_RUN_SINKS_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/console/console.h"

struct ep_proof;
struct ep_client_spawn;
struct run;
struct run_sinks;

/* Called from the loop; on_error also from within ep_run_sinks_record(). */
struct run_sinks_events {
    /* Some output cannot be written, and all that follows is dropped. Comes
     * once. */
    void (*on_error)(void *arg, const char *why);
    /* Everything is written or dropped after ep_run_sinks_finish(). Comes once;
     * may close the sinks. */
    void (*on_done)(void *arg);
};

struct run_sinks_job {
    const char *nspace;
    uint32_t base;
    struct ep_proof *proof; /* borrowed; its second place is the files */
    const struct run_sinks_events *events;
    void *arg;
};

/* Tells whether the job is to have any sinks in this run. */
bool ep_run_sinks_are_asked(const struct run *r,
                            const struct ep_client_spawn *spawn);
/* Returns NULL, with a sentence in why (EP_CLIENT_WHY_MAX bytes), when they
 * cannot be made. */
struct run_sinks *ep_run_sinks_open(struct run *r,
                                    const struct ep_client_spawn *spawn,
                                    const struct run_sinks_job *job, char *why);
/* Frees what is kept of jobs that were shown. The console must be closed. */
void ep_run_sinks_forget(struct run *r);
/* Drops what is not written. NULL is fine, here and below. */
void ep_run_sinks_close(struct run_sinks *sinks);

/* Takes a record of this rank of the job, which the caller holds. */
void ep_run_sinks_record(struct run_sinks *sinks, const struct job_record *rec,
                         uint32_t rank);
/* No record follows. */
void ep_run_sinks_finish(struct run_sinks *sinks);
/* See ep_output_give_up() and ep_output_is_stuck(). */
void ep_run_sinks_give_up(struct run_sinks *sinks);
bool ep_run_sinks_are_stuck(struct run_sinks *sinks, uint64_t *since_ns);

#endif
