/* A table of the session's jobs, and the name of the tool. This module has the
 * main connection of a tool's helper to the session: as a client that has sent
 * WATCH, it gets a message about each job.
 *
 * It also registers each job with libpmix. Everything runs in the event loop's
 * thread. Memory: about 300 bytes a job.
 */
#ifndef PMIX_API_HELPER_JOBS_H
#define PMIX_API_HELPER_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "job/door.h"
#include "pmix_api/helper/lib/lib.h"

struct px_door;
struct px_door_way;
struct px_jobs;

struct px_jobs_entry {
    char name[PX_LIB_NAME_BYTES];
    uint32_t base, size;
    uint8_t channels; /* the channels that can be pulled, as bits, 1 <<
                         channel */
    bool is_dvm;      /* the job's processes are the daemons, which write no
                         output */
    uint8_t stage;    /* enum job_door_stage; 0: the job has not begun */
    /* Channels whose output goes to the tool without a pull, because the tool
     * has started the job, as bits. */
    uint8_t comes;
    /* The defaults for drops, cache and buffering, for pulls that give no
     * directives for these. */
    struct px_lib_wish wish;
};

struct px_jobs_events {
    /* Called once, when all jobs are known and a tool can be let in. */
    void (*on_watched)(void *arg);
    /* The session has given the tool this name; NULL: another tool has the name
     * that was asked for. */
    void (*on_named)(void *arg, const struct px_lib_name *name);
    /* Any other message of the session. The table has been updated by a message
     * about a job before, except that a job is still in the table when its
     * FORGOTTEN comes. */
    void (*on_word)(void *arg, const struct job_door *msg);
    /* The connection to the session has ended, for this reason. */
    void (*on_end)(void *arg, const char *why);
};

/* Returns 0 or OV_ENOMEM. */
int px_jobs_open(const struct px_door_way *way,
                 const struct px_jobs_events *events, void *arg,
                 struct px_jobs **out);
/* NULL is fine. */
void px_jobs_close(struct px_jobs *jobs);

/* Asks the session for this name for the tool, or with NULL for any name;
 * on_named follows. */
void px_jobs_name(struct px_jobs *jobs, const struct px_lib_name *wanted);

/* The tool's name, borrowed; its namespace is "" before it has one. */
const struct px_lib_name *px_jobs_tool(const struct px_jobs *jobs);

/* Sends the launcher a sentence that it shows with --verbose only. It is cut to
 * JOB_DOOR_TEXT_MAX bytes. */
void px_jobs_note(const struct px_jobs *jobs, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The connection, for other messages to the session. */
struct px_door *px_jobs_door(const struct px_jobs *jobs);

/* Finds a job by its namespace; NULL: there is no such job. The result is valid
 * until the caller returns to the event loop. O(jobs). */
const struct px_jobs_entry *px_jobs_find(const struct px_jobs *jobs,
                                         const char *name);
/* Finds the job of the process with this number. (Number 0 is in the session's
 * own job, or is a daemon of a dvm.) Otherwise as px_jobs_find(). */
const struct px_jobs_entry *px_jobs_find_of(const struct px_jobs *jobs,
                                            uint32_t number);
/* The index-th job, in the order in which the jobs began; NULL: there are
 * fewer. Valid as with px_jobs_find(). O(1). */
const struct px_jobs_entry *px_jobs_at(const struct px_jobs *jobs,
                                       uint32_t index);
/* True when the job with this base, or a later job, is or was in the table.
 * O(1). */
bool px_jobs_have_begun(const struct px_jobs *jobs, uint32_t base);
/* Notes that output of these channels of the job goes to the tool without a
 * pull. */
void px_jobs_come(struct px_jobs *jobs, uint32_t base, uint8_t channels);

#endif
