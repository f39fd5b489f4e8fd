/* Which process of a job failed first: its exit code becomes that of the
 * job. */
#ifndef JOB_FAILURE_H
#define JOB_FAILURE_H

#include <stdbool.h>
#include <stdint.h>

#include "job/clock.h"

/* How many failures are kept that may have been the first one. */
enum { JOB_FAILURE_FIRSTS = 8 };

struct job_first {
    struct job_span at; /* when the process failed, by the launcher's clock */
    uint32_t rank;
    int status; /* the status as from waitpid() */
};

/* When all members are zero no process has failed. */
struct job_failure {
    uint32_t count; /* how many processes ended badly */
    uint32_t rank;  /* the lowest rank among those that may have failed first;
                       `status` is its status, as from waitpid() */
    int status;
    bool is_lost; /* a node was lost before any process failed */
    /* The failures that may have been the first, in ascending order of ranks.
     * When there are too many, the highest ranks are left out. */
    uint32_t firsts_count;
    struct job_first firsts[JOB_FAILURE_FIRSTS];
};

/* Adds a process that ended badly. A failure that was over before all others
 * can have been is the first, in whatever order the launcher learns of them.
 * Where several cannot be told apart the one with the lowest rank counts as the
 * first. O(JOB_FAILURE_FIRSTS). */
void job_failure_add(struct job_failure *failure, uint32_t rank, int status,
                     struct job_span at);

/* Notes that a process or a node was lost, so that it is not known how it
 * ended. O(1). */
void job_failure_lost(struct job_failure *failure);

/* Returns the length of the time in which all failures happened that may have
 * been the first, when there are several; else 0. The order of two failures
 * that are further apart is always known. O(JOB_FAILURE_FIRSTS). */
uint64_t job_failure_unsure_ns(const struct job_failure *failure);

/* Returns the exit code of the job: 1 when a process was lost before any
 * failed, else the code of the process that failed first, or 0. O(1). */
int job_failure_exit(const struct job_failure *failure);

/* Returns the exit code that a shell would give: 128 plus the signal for a
 * process that a signal has ended. */
int job_failure_code(int status);

#endif
