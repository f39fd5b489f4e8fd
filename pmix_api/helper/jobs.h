/* The jobs of the session, and the name of the tool. This is the main
 * connection of a tool's helper: the launcher tells the jobs to a client that
 * sends WATCH.
 *
 * Each job is made known to libpmix. All in the loop's thread. Memory: about
 * 300 bytes a job.
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
    /* Channels that come to the tool without a pull, because it has started the
     * job; bits. */
    uint8_t comes;
    /* The wish of a pull of the job that says nothing of drops, cache and
     * buffering itself. */
    struct px_lib_wish wish;
};

struct px_jobs_events {
    /* All jobs are known: a tool may come. Called once. */
    void (*on_watched)(void *arg);
    /* The tool has this name now; NULL: the name that it wants is taken. */
    void (*on_named)(void *arg, const struct px_lib_name *name);
    /* Any other message of the session, or one about a job. The table already
     * has what it says, except for FORGOTTEN, where the job is still in the
     * table. */
    void (*on_word)(void *arg, const struct job_door *msg);
    /* The session has gone, for this reason. */
    void (*on_end)(void *arg, const char *why);
};

/* Returns 0 or OV_ENOMEM. */
int px_jobs_open(const struct px_door_way *way,
                 const struct px_jobs_events *events, void *arg,
                 struct px_jobs **out);
/* NULL is fine. */
void px_jobs_close(struct px_jobs *jobs);

/* Asks for a name for the tool, or with NULL for any; on_named follows. */
void px_jobs_name(struct px_jobs *jobs, const struct px_lib_name *wanted);

/* The tool's name, borrowed; its namespace is "" before it has one. */
const struct px_lib_name *px_jobs_tool(const struct px_jobs *jobs);

/* Tells a note to users who want to know all. It is cut where it is longer than
 * the door takes. */
void px_jobs_note(const struct px_jobs *jobs, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The connection, for other messages to the session. */
struct px_door *px_jobs_door(const struct px_jobs *jobs);

/* NULL: there is no such job. Borrowed until the loop goes on. O(jobs). */
const struct px_jobs_entry *px_jobs_find(const struct px_jobs *jobs,
                                         const char *name);
/* The job that has this process. The process is one of the run's own job, or a
 * daemon of a dvm, when the number is 0. Otherwise like px_jobs_find(). */
const struct px_jobs_entry *px_jobs_find_of(const struct px_jobs *jobs,
                                            uint32_t number);
/* The index-th job, in the order in which they began; NULL: there is none of
 * this index. Borrowed as above. O(1). */
const struct px_jobs_entry *px_jobs_at(const struct px_jobs *jobs,
                                       uint32_t index);
/* True when this job or a later one is known, or was once. O(1). */
bool px_jobs_have_begun(const struct px_jobs *jobs, uint32_t base);
/* Notes that these channels of the job come to the tool without a pull. */
void px_jobs_come(struct px_jobs *jobs, uint32_t base, uint8_t channels);

#endif
