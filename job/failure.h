/* Which process of a job failed first: its exit code is that of the job. */
#ifndef JOB_FAILURE_H
#define JOB_FAILURE_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: none has failed. */
struct job_failure {
    uint32_t count; /* processes that ended badly */
    uint32_t rank;  /* of the first one, and its status, as of waitpid() */
    int status;
    uint64_t since_ns; /* when the first word of one came */
    bool is_lost;      /* a node was lost before */
};

/* One more ended badly, as is heard at now_ns. Words of several nodes overtake
 * each other: of those that come within 100 ms of the first word the process
 * with the lowest rank is the first, so that a failure of all at once has the
 * same exit code each time. O(1). */
void job_failure_add(struct job_failure *failure, uint32_t rank, int status,
                     uint64_t now_ns);

/* A process is lost, or a node: how it ended is not known. O(1). */
void job_failure_lost(struct job_failure *failure);

/* The exit code of the job: 1 where a process was lost before any failed, else
 * that of the first that failed; 0. O(1). */
int job_failure_exit(const struct job_failure *failure);

/* The exit code of a shell for it: 128 and the signal that has ended it. */
int job_failure_code(int status);

#endif
