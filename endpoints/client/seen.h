/* The jobs of a session as the clients at its door see them: what each is, and
 * of each process which channels have ended and whether it reads stdin.
 *
 * Memory: a byte for each process, and 32 for neighbours on one host.
 */
#ifndef ENDPOINTS_CLIENT_SEEN_H
#define ENDPOINTS_CLIENT_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job/failure.h"
#include "job/neighbours.h"

enum ep_seen_bit {
    /* 1 << channel for each that has ended, and: */
    EP_SEEN_READS = 16,  /* it has a stdin to which can be pushed */
    EP_SEEN_BEHIND = 32, /* nothing is to be pushed to its job for now */
    EP_SEEN_LOST = 64,   /* with its node */
    EP_SEEN_OVER = 128,
};

struct ep_seen_job {
    struct ep_seen_job *next;
    uint32_t base, size, parts, cache_bytes;
    uint8_t channels; /* 1 << channel each */
    char *name;       /* owned */
    /* Owned [parts]; of each only where it is, and the host is borrowed. */
    struct job_neighbours *places;
    uint8_t *state;  /* owned [size]: enum ep_seen_bit */
    uint32_t behind; /* processes */
    uint32_t users;  /* clients that look at it */
    struct job_failure failure;
    uint64_t kill_ns; /* it was asked to end, and is killed then; 0: it was
                         not, or that is done */
    bool is_started;  /* who reads stdin is known */
    bool is_over;     /* its processes have ended, */
    bool is_gone;     /* and nobody asks for it any more */
};

/* All zero: none. In the order in which they began. */
struct ep_seen {
    struct ep_seen_job *jobs; /* owned */
};

/* A job begins; what is owned is its own, and places are the caller's to fill
 * in. NULL: out of memory. */
struct ep_seen_job *ep_seen_add(struct ep_seen *seen,
                                const struct ep_seen_job *like);
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
