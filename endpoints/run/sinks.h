/* Where output of a further job goes besides PMIx tools: to files, and to the
 * console.
 *
 * Records are borrowed until they are written. Like records of the console,
 * they keep the tree's windows from opening, so a file system that accepts
 * nothing stops the output of all jobs.
 *
 * For all further jobs together, at most ep_files_open_limit() files are open
 * at a time, and 4 more for each job. A job takes 120 KiB and a thread. A job
 * whose output the console shows takes 140 bytes until the run ends, because
 * lines of the job may wait in the console's spool.
 */
#ifndef ENDPOINTS_RUN_SINKS_H
#define ENDPOINTS_RUN_SINKS_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/console/console.h"

struct ep_proof;
struct job;
struct ep_client_spawn;
struct run;
struct run_sinks;

/* What the caller does at events of the sinks. These are called from the event
 * loop; on_error is also called from within ep_run_sinks_record(). */
struct run_sinks_events {
    /* Some output cannot be written, for the reason in `why`, and all that
     * follows is dropped. Called once at most. */
    void (*on_error)(void *arg, const char *why);
    /* All output that was there at ep_run_sinks_finish() is now written or
     * dropped. Called once; the callee may close the sinks. */
    void (*on_done)(void *arg);
};

struct run_sinks_job {
    const char *nspace;
    const struct job *desc; /* borrowed */
    struct ep_proof *proof; /* borrowed; counts the files as its second taker */
    const struct run_sinks_events *events;
    void *arg;
};

/* Tells whether the client has asked for output to files or the console, and
 * whether this run can do it. */
bool ep_run_sinks_are_asked(const struct run *r,
                            const struct ep_client_spawn *spawn);
/* Opens the sinks of a further job. Returns NULL, with a sentence in why
 * (EP_CLIENT_WHY_MAX bytes), when this fails. */
struct run_sinks *ep_run_sinks_open(struct run *r,
                                    const struct ep_client_spawn *spawn,
                                    const struct run_sinks_job *job, char *why);
/* Frees what is kept of jobs whose output the console has shown. The console
 * must be closed. */
void ep_run_sinks_forget(struct run *r);
/* Closes the sinks. Output that is not written yet is dropped. NULL is fine,
 * here and below. */
void ep_run_sinks_close(struct run_sinks *sinks);

/* Writes a record of this rank of the job. The caller keeps its own hold on the
 * record. */
void ep_run_sinks_record(struct run_sinks *sinks, const struct job_record *rec,
                         uint32_t rank);
/* Notes that no record follows; on_done is called when all is written. */
void ep_run_sinks_finish(struct run_sinks *sinks);
/* Do for the files what ep_output_give_up() and ep_output_is_stuck() do. */
void ep_run_sinks_give_up(struct run_sinks *sinks);
bool ep_run_sinks_are_stuck(struct run_sinks *sinks, uint64_t *since_ns);

#endif
