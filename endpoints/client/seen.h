/* The jobs of a session as the clients at its door see them: what each is and
 * how far, and of each process which channels have ended, whether it reads
 * stdin, its pid and how it has ended.
 *
 * Memory: 9 bytes for each process, 32 for neighbours on one host, and the name
 * of each program.
 */
#ifndef ENDPOINTS_CLIENT_SEEN_H
#define ENDPOINTS_CLIENT_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job/door.h"
#include "job/failure.h"
#include "job/neighbours.h"

enum ep_seen_bit {
    /* 1 << channel for each that has ended, and: */
    EP_SEEN_READS = 16,  /* it has a stdin to which can be pushed */
    EP_SEEN_BEHIND = 32, /* nothing is to be pushed to its job for now */
    EP_SEEN_LOST = 64,   /* with its node */
    EP_SEEN_OVER = 128,
    EP_SEEN_OUTPUT = 2 | 4 | 8, /* the channels that there are */
};

/* What the user is told of the job. */
enum ep_seen_says { EP_SEEN_SAYS_STAGES = 1, EP_SEEN_SAYS_END = 2 };

/* What tools get of its output where they do not say otherwise. */
struct ep_seen_wish {
    bool drops_oldest;    /* where one is too slow, and of what is kept */
    uint32_t cache_bytes; /* from before; JOB_CACHE_UNSAID */
    uint32_t buffer_bytes, buffer_s;
};

/* What a job runs. */
struct ep_seen_words {
    char **programs; /* owned [apps], with their strings */
    char *command;   /* owned: the words of all, the programs apart by " : ";
                        cut at what a message of the door can say */
};

struct ep_seen_job {
    struct ep_seen_job *next;
    uint32_t base, size, apps, parts, cache_bytes;
    uint8_t channels; /* 1 << channel each */
    uint8_t forwards; /* that tools may pull, as far as there are any */
    uint8_t says;     /* enum ep_seen_says */
    struct ep_seen_wish wish;
    char *name; /* owned */
    struct ep_seen_words words;
    /* Owned [parts]; the host is borrowed, and the program one of words. */
    struct job_neighbours *places;
    /* Owned [size], numbers as the door says them: pids, 0 where it was not
     * started, and statuses. */
    uint8_t *pids, *statuses;
    uint32_t started, exited;          /* processes */
    uint32_t open;                     /* channels that have not ended */
    uint8_t stage;                     /* enum job_door_stage; 0: none, */
    uint64_t stage_s[JOB_DOOR_STAGES]; /* when, since 1970 */
    uint8_t *state;                    /* owned [size]: enum ep_seen_bit */
    uint32_t behind;                   /* processes */
    uint32_t users;                    /* clients that look at it */
    struct job_failure failure;
    uint64_t kill_ns; /* it was asked to end, and is killed then; 0: it was
                         not, or that is done */
    bool is_started;  /* who reads stdin is known */
    bool is_known;    /* to those that watch */
    bool is_daemons;  /* its processes are those of the dvm: no job */
    bool is_over;     /* its processes have ended, */
    bool is_gone;     /* and nobody asks for it any more */
};

/* All zero: none. In the order in which they began. */
struct ep_seen {
    struct ep_seen_job *jobs; /* owned */
};

/* A job begins; what is owned is its own, and ep_seen_place() is to follow for
 * each part. NULL: out of memory. */
struct ep_seen_job *ep_seen_add(struct ep_seen *seen,
                                const struct ep_seen_job *like);
/* Where part `index` is; the program is copied. Returns 0 or OV_ENOMEM. */
int ep_seen_place(struct ep_seen_job *job, uint32_t index,
                  const struct job_neighbours *part);
/* Processes from this rank on were started; others than it has are ignored. */
void ep_seen_started(struct ep_seen_job *job, uint32_t rank,
                     const uint32_t *pids, uint32_t count);
/* A process has ended; once. */
void ep_seen_exit(struct ep_seen_job *job, uint32_t rank, uint32_t status);
/* The one with this process; NULL: there is none. O(jobs). */
struct ep_seen_job *ep_seen_of(const struct ep_seen *seen, uint32_t number);
/* The one of this name; of "" the only one that is not over. NULL: `why`
 * (size_bytes) says what is wrong. O(jobs). */
struct ep_seen_job *ep_seen_find(const struct ep_seen *seen, const char *name,
                                 char *why, size_t size_bytes);
/* It is not found any more; freed when nobody looks at it. */
void ep_seen_forget(struct ep_seen *seen, struct ep_seen_job *job);
/* Another client looks at it, or one less. */
void ep_seen_hold(struct ep_seen_job *job);
void ep_seen_let_go(struct ep_seen *seen, struct ep_seen_job *job);
void ep_seen_clear(struct ep_seen *seen);

#endif
