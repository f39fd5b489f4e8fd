/* The jobs of the session, as its launcher tells them to a client that WATCHes,
 * and the name of the tool: the main connection of a tool's helper.
 *
 * Each job is made known to libpmix. All in the loop's thread. Memory: some 300
 * bytes a job.
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
    uint8_t channels; /* that can be pulled: bits, 1 << channel */
    bool is_dvm;      /* its processes are the daemons: they write nothing */
    uint8_t stage;    /* enum job_door_stage; 0: it has not begun */
    uint8_t comes; /* channels that come to the tool without a pull, as it has
                      started the job; bits */
    /* What a pull of it gets that says nothing: of drops, cache and buffering.
     */
    struct px_lib_wish wish;
};

struct px_jobs_events {
    /* All jobs are known: a tool may come. Once. */
    void (*on_watched)(void *arg);
    /* The tool may have this name; NULL: the one that it wants is taken. */
    void (*on_named)(void *arg, const struct px_lib_name *name);
    /* Any other word of the session, or one of a job: the table has what it
     * says, but for FORGOTTEN, where the job is still there. */
    void (*on_word)(void *arg, const struct job_door *msg);
    /* The session has gone. */
    void (*on_end)(void *arg, const char *why);
};

/* Returns 0 or OV_ENOMEM. */
int px_jobs_open(const struct px_door_way *way,
                 const struct px_jobs_events *events, void *arg,
                 struct px_jobs **out);
/* NULL is fine. */
void px_jobs_close(struct px_jobs *jobs);

/* Asks for a name, NULL: any; on_named follows. */
void px_jobs_name(struct px_jobs *jobs, const struct px_lib_name *wanted);

/* What it is called; "": it has no name yet. Borrowed. */
const struct px_lib_name *px_jobs_tool(const struct px_jobs *jobs);

/* Tells a user who wants to know all; cut where it is longer than the door
 * takes. */
void px_jobs_note(const struct px_jobs *jobs, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* For other words to the session. */
struct px_door *px_jobs_door(const struct px_jobs *jobs);

/* NULL: there is no such job. Borrowed until the loop goes on. O(jobs). */
const struct px_jobs_entry *px_jobs_find(const struct px_jobs *jobs,
                                         const char *name);
/* The job that has this process: 0 is one of the run's own job, or a daemon of
 * a dvm. Otherwise like px_jobs_find(). */
const struct px_jobs_entry *px_jobs_find_of(const struct px_jobs *jobs,
                                            uint32_t number);
/* The index-th, in the order in which they began; NULL: there are no more.
 * Borrowed as above. O(1). */
const struct px_jobs_entry *px_jobs_at(const struct px_jobs *jobs,
                                       uint32_t index);
/* This one, or a later one, is known or has been. O(1). */
bool px_jobs_have_begun(const struct px_jobs *jobs, uint32_t base);
/* Its channels come to the tool without a pull. */
void px_jobs_come(struct px_jobs *jobs, uint32_t base, uint8_t channels);

#endif
