/* Which process of a job failed first: its exit code becomes that of the
 * job. */
#ifndef JOB_FAILURE_H
#define JOB_FAILURE_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: no process has failed. */
struct job_failure {
    uint32_t count; /* how many processes ended badly */
    uint32_t rank;  /* rank of the process that failed first; `status` is its
                       status, as from waitpid() */
    int status;
    uint64_t since_ns; /* when the launcher learned of the first failure */
    bool is_lost;      /* a node was lost before any process failed */
};

/* Adds a process that ended badly; the launcher learned of it at now_ns.
 * Messages of several nodes can overtake each other. So among the processes
 * whose failures are reported within 100 ms, the process with the lowest rank
 * counts as the first: when all fail at once the exit code is the same each
 * time. O(1). */
void job_failure_add(struct job_failure *failure, uint32_t rank, int status,
                     uint64_t now_ns);

/* Notes that a process or a node was lost, so that it is not known how it
 * ended. O(1). */
void job_failure_lost(struct job_failure *failure);

/* The exit code of the job: 1 where a process was lost before any failed, else
 * the code of the process that failed first, or 0. O(1). */
int job_failure_exit(const struct job_failure *failure);

/* The exit code that a shell would give: 128 plus the signal for a process that
 * a signal has ended. */
int job_failure_code(int status);

#endif
