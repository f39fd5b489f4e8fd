/* A job as the launcher's side of PMIx knows it. */
#ifndef PMIX_API_HOST_JOB_H
#define PMIX_API_HOST_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "job/failure.h"
#include "pmix_api/host_events.h"
#include "pmix_api/pushes.h"

struct event;
struct px_host;
struct job_neighbours;

/* The stdin of a job: who has one, and what is pushed to it. */
struct px_host_input {
    uint8_t *state;          /* [size]: enum px_stdin_bit */
    struct px_pushes pushes; /* heard, and not told */
    bool has_set;            /* the set that tools name is of it, too */
    uint32_t behind;         /* processes: it waits for them */
    /* What the helper knows of it. */
    uint32_t told;  /* ranks; set back when something changes */
    bool full_told; /* that no more is to be pushed */
};

/* Processes have numbers in the whole tree; a rank is one less its base. */
struct px_host_job {
    struct px_host_job *next; /* as they came: the run's own first */
    uint32_t base, size, apps, parts;
    uint32_t token;       /* of the request it began with; 0: none */
    bool is_awaited;      /* that has no answer yet */
    bool is_kept;         /* also when who has asked for it is gone */
    uint8_t logs;         /* enum px_spawn_flag: what the user is told of */
    uint8_t forwards;     /* bits of channels that tools may have */
    uint32_t pull;        /* gets its output from the start; 0: none does */
    struct px_host *host; /* with hangup */
    struct event *hangup; /* owned: it is killed then; NULL: not asked to end */
    struct job_neighbours *places; /* owned [parts], with their strings; NULL
                                    for the run's own: it is asked for them */
    uint32_t cache_bytes; /* of each channel that it forwards are kept */
    bool is_over;         /* nothing more comes of it */
    bool is_done;         /* nor is anything asked: it goes once that is told */
    char nspace[PX_NSPACE_BYTES];
    uint8_t *redirected; /* [size]: those that only tools get */
    uint8_t *returning;  /* [size]: those that come back of tools */
    uint8_t *wanted;     /* [size]: bits of channels that tools get, */
    uint8_t *asked;      /* [size]: and of those that they will, too */
    int32_t *status;     /* [size]: of those that ended; -1: it runs */
    uint8_t *pids;       /* [size x 4]: little-endian; 0: not started */
    struct px_host_input in;
    uint64_t *dropped;        /* [size x 3]; NULL: none yet */
    uint8_t *ended;           /* [size]: bits of channels that have ended, */
    uint8_t *broken;          /* [size]: and of those that are not whole */
    bool *is_lost;            /* [size]: those of lost nodes */
    uint32_t started, exited; /* processes */
    uint8_t stage;            /* enum px_stage_name: what it has reached */
    uint64_t stage_s[3];      /* when, from STARTED on */
    struct job_failure failure;
    /* What the helper knows of it. */
    bool is_named; /* by START or JOB */
    uint32_t parts_told, pids_told, exits_told, broken_told;
    uint8_t stages_told;
};

/* The job of a process; NULL: there is none. O(jobs). */
struct px_host_job *px_job_of(const struct px_host *host, uint32_t number);
bool px_redirects(const struct px_host *host, uint32_t number, uint8_t channel);
bool px_returns(const struct px_host *host, uint32_t number, uint8_t channel);
/* Adds one behind the others; nothing of it is told yet. NULL when memory is
 * out. */
struct px_host_job *px_job_add(struct px_host *host,
                               const struct px_host_job *like);
/* Those that are done. */
void px_jobs_reap(struct px_host *host);
void px_jobs_close(struct px_host *host);
/* A helper begins: it knows of none. */
void px_jobs_begin(struct px_host *host);
/* Is each told of, as far as it is? */
bool px_jobs_are_told(const struct px_host *host);

#endif
