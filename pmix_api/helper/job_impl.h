/* What the files about jobs share. */
#ifndef PMIX_API_HELPER_JOB_IMPL_H
#define PMIX_API_HELPER_JOB_IMPL_H

#include "pmix_api/helper/job.h"

struct px_job_part {
    char *host, *program; /* owned; equal ones of neighbours are one */
    uint32_t first_rank;
    uint32_t ranks;
};

enum px_job_stdin_state {
    PX_JOB_STDIN_NONE,   /* the launcher has not said that it has one */
    PX_JOB_STDIN_THERE,  /* it can be pushed to */
    PX_JOB_STDIN_CLOSED, /* by a push, whatever the launcher says */
};

struct px_job_state {
    struct px_job_state *next; /* ascending bases */
    struct px_job name;
    uint32_t token;      /* of the request it began with; 0: none */
    uint32_t pull;       /* gets its output from the start; 0: none does */
    struct px_wish wish; /* of pulls of it */
    const void *spawner; /* gets its output from the start; NULL: it has left */
    pmix_proc_t spawner_name;
    uint32_t apps, ended;
    uint64_t over_nth; /* the how many-th that was over; 0: it is not */
    uint32_t next_rank;
    struct px_job_part *parts; /* [parts_max], ascending ranks */
    uint32_t parts_count, parts_max;
    int32_t *status;      /* [size]; -1: it runs */
    uint32_t *pids;       /* [size]; 0: not started */
    uint8_t *stdin_state; /* [size]: enum px_job_stdin_state */
    bool is_full; /* the launcher has no room for more that is pushed to it */
};

/* NULL: there is none. Its parts do not change once it is whole. */
const struct px_job_state *px_job_state(uint32_t base);

#endif
