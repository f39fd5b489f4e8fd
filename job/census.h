/* Groups of processes that ended in the same way, for the processes of a job
 * that did not return 0.
 *
 * The memory does not depend on the number of processes: the caller keeps the
 * number of each process's group, which fits into a byte.
 */
#ifndef JOB_CENSUS_H
#define JOB_CENSUS_H

#include <stdbool.h>
#include <stdint.h>

/* How many groups there are at most. The last one takes all processes that
 * would need a further one. */
enum { JOB_CENSUS_GROUPS = 128 };

enum job_exit_cause {
    JOB_EXIT_ITSELF, /* the process failed */
    JOB_EXIT_SIGNAL, /* a signal ended the process that the user has sent to the
                      * job */
    JOB_EXIT_KILLED, /* xylem has killed it */
    JOB_EXIT_OTHER,  /* the processes have several statuses, because the table
                      * of groups was full */
    JOB_EXIT_CAUSES
};

struct job_exits {
    uint32_t count;  /* how many processes are in the group */
    uint32_t first;  /* the lowest rank among them */
    uint16_t status; /* the status as from waitpid(), without the bit of a core
                      * dump; 0 for KILLED and OTHER */
    uint8_t cause;   /* enum job_exit_cause */
};

/* A struct of zeroes has no group. */
struct job_census {
    struct job_exits groups[JOB_CENSUS_GROUPS];
    uint32_t count; /* how many groups there are */
};

/* Which groups are to be shown, in this order. */
struct job_census_view {
    uint8_t shown[JOB_CENSUS_GROUPS];
    uint32_t shown_count;
    uint32_t left_groups;    /* how many groups there was no room for */
    uint32_t left_processes; /* how many processes are in these groups */
};

/* Adds a process that ended with this status, which is not 0, for this cause.
 * Returns the number of its group. O(groups). */
uint8_t job_census_add(struct job_census *census, uint32_t rank, int status,
                       enum job_exit_cause cause);

/* Picks the groups to show in at most `lines` lines (at least 4), one of which
 * is for the groups that are left out, if there are any. Failed processes come
 * first, then those ended by signals of the user, then those killed by xylem:
 * the larger groups before the smaller ones, then by the lowest rank. What is
 * left out are the smallest groups of failed processes. The process with the
 * rank `named` has been shown already (UINT32_MAX: none has), so that a group
 * of it alone does not count. O(groups^2). */
void job_census_view(const struct job_census *census, uint32_t lines,
                     uint32_t named, struct job_census_view *view);

#endif
