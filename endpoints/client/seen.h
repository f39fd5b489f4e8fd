/* The jobs of a session as the clients at its door see them: what each job is
 * and how far it is, and for each process which channels have ended, whether it
 * reads stdin, its pid and how it ended.
 *
 * Memory: 9 bytes for each process, 32 for each run of neighbours on one host,
 * and the name of each program.
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
    /* 1 << channel for each channel that has ended, and: */
    EP_SEEN_READS = 16,  /* it has a stdin that can be written to */
    EP_SEEN_BEHIND = 32, /* for now nothing is to be pushed to its job */
    EP_SEEN_LOST = 64,   /* it was lost with its node */
    EP_SEEN_OVER = 128,
    EP_SEEN_OUTPUT = 2 | 4 | 8, /* all channels of output */
};

/* What the user is told about the job. */
enum ep_seen_says { EP_SEEN_SAYS_STAGES = 1, EP_SEEN_SAYS_END = 2 };

/* What tools get of the job's output unless they ask for something else. */
struct ep_seen_wish {
    bool drops_oldest;    /* when a tool is too slow, and in what is kept */
    uint32_t cache_bytes; /* output from before a tool came; JOB_CACHE_UNSAID */
    uint32_t buffer_bytes, buffer_s;
};

/* What a job runs. */
struct ep_seen_words {
    char **programs; /* owned [apps], with their strings */
    /* Owned: the words of all programs, joined by " : " and cut to what a
     * message of the door can carry. */
    char *command;
};

struct ep_seen_job {
    struct ep_seen_job *next;
    uint32_t base, size, apps, parts, cache_bytes;
    uint8_t channels; /* 1 << channel each */
    uint8_t forwards; /* channels that tools may pull, if there are any tools */
    uint8_t says;     /* enum ep_seen_says */
    struct ep_seen_wish wish;
    char *name; /* owned */
    struct ep_seen_words words;
    /* Owned [parts]; the host is borrowed, the program is one of `words`. */
    struct job_neighbours *places;
    /* Owned [size], numbers as the door encodes them: pids (0: not started) and
     * statuses. */
    uint8_t *pids, *statuses;
    uint32_t started, exited;          /* processes */
    uint32_t open;                     /* channels that have not ended */
    uint8_t stage;                     /* enum job_door_stage; 0: none yet */
    uint64_t stage_s[JOB_DOOR_STAGES]; /* when reached, since 1970 */
    uint8_t *state;                    /* owned [size]: enum ep_seen_bit */
    uint32_t behind;                   /* processes */
    uint32_t users;                    /* clients that look at the job */
    struct job_failure failure;
    /* When it is killed, having been asked to end; 0: it was not asked, or that
     * is done. */
    uint64_t kill_ns;
    bool is_started; /* it is known which processes read stdin */
    bool is_known;   /* to the clients that watch */
    bool is_daemons; /* not a job: its processes are the dvm's daemons */
    bool is_over;    /* its processes have ended */
    bool is_gone;    /* it is no longer found by its name */
};

/* All zero: no jobs. They are in the order in which they began. */
struct ep_seen {
    struct ep_seen_job *jobs; /* owned */
};

/* Adds a job that begins. What it owns is its own copy; ep_seen_place() is to
 * follow for each part. Returns NULL when memory is out. */
struct ep_seen_job *ep_seen_add(struct ep_seen *seen,
                                const struct ep_seen_job *like);
/* Says where part `index` is; the program is copied. Returns 0 or OV_ENOMEM. */
int ep_seen_place(struct ep_seen_job *job, uint32_t index,
                  const struct job_neighbours *part);
/* Processes from this rank on were started. Ranks that the job does not have
 * are ignored. */
void ep_seen_started(struct ep_seen_job *job, uint32_t rank,
                     const uint32_t *pids, uint32_t count);
/* A process has ended. To be called once for each. */
void ep_seen_exit(struct ep_seen_job *job, uint32_t rank, uint32_t status);
/* Finds the job with this process; NULL: there is none. O(jobs). */
struct ep_seen_job *ep_seen_of(const struct ep_seen *seen, uint32_t number);
/* Finds the job of this name; "" finds the only job that is not over. NULL:
 * there is none, and `why` (size_bytes) says what is wrong. O(jobs). */
struct ep_seen_job *ep_seen_find(const struct ep_seen *seen, const char *name,
                                 char *why, size_t size_bytes);
/* The job is over and no longer found by its name. It is freed once no client
 * looks at it. */
void ep_seen_forget(struct ep_seen *seen, struct ep_seen_job *job);
/* One more client looks at the job, or (let_go) one less. */
void ep_seen_hold(struct ep_seen_job *job);
void ep_seen_let_go(struct ep_seen *seen, struct ep_seen_job *job);
void ep_seen_clear(struct ep_seen *seen);

#endif
