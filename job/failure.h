/* Which process of a job failed first: its exit code is that of the job. */
#ifndef JOB_FAILURE_H
#define JOB_FAILURE_H

#include <stdint.h>

/* All zero: none has failed. */
struct job_failure {
    uint32_t count; /* processes that ended badly */
    uint32_t rank;  /* of the first one, and its status, as of waitpid() */
    int status;
    uint64_t since_ns; /* when the first word of one came */
};

/* One more ended badly, as is heard at now_ns. Words of several nodes overtake
 * each other: of those that come within 100 ms of the first word the process
 * with the lowest rank is the first, so that a failure of all at once has the
 * same exit code each time. O(1). */
void job_failure_add(struct job_failure *failure, uint32_t rank, int status,
                     uint64_t now_ns);

/* The exit code of a shell for it: 128 and the signal that has ended it. */
int job_failure_code(int status);

#endif
