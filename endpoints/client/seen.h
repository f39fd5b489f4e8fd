/* The jobs of a session as the clients at its door see them: what each job is,
 * and its stage; and for each process which channels have ended, whether it
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
    /* The state of a process: 1 << channel for each channel that has ended, and
     * the bits below. */
    EP_SEEN_READS = 16, /* clients can write to the process's stdin */
    /* the process is slow to read stdin: its job gets no pushes now */
    EP_SEEN_BEHIND = 32,
    EP_SEEN_LOST = 64, /* the process was lost with its node */
    EP_SEEN_OVER = 128,
    EP_SEEN_OUTPUT = 2 | 4 | 8, /* mask: all channels of output */
};

/* Which messages about the job the user wants to see. */
enum ep_seen_says { EP_SEEN_SAYS_STAGES = 1, EP_SEEN_SAYS_END = 2 };

/* What tools get of the job unless they ask for something else. */
struct ep_seen_wish {
    /* when there is too much output, drop the oldest output, not the newest */
    bool drops_oldest;
    /* How many bytes of output from before the tool connects; JOB_CACHE_UNSAID
     * when the request does not say. */
    uint32_t cache_bytes;
    uint32_t buffer_bytes, buffer_s;
    bool notes_end; /* the tool gets an event only when the job ends */
};

/* The programs of a job. */
struct ep_seen_words {
    char **programs; /* owned [apps], and so are the strings */
    /* Owned: the command lines of all programs, joined by " : " and cut to what
     * a message of the door can carry. */
    char *command;
};

struct ep_seen_job {
    struct ep_seen_job *next;
    uint32_t base, size, apps, parts, cache_bytes;
    uint8_t
        channels; /* the channels of the job's processes, 1 << channel each */
    uint8_t forwards; /* channels that tools may pull, if any tools are there */
    uint8_t says;     /* bits of enum ep_seen_says */
    struct ep_seen_wish wish;
    char *name; /* owned */
    struct ep_seen_words words;
    /* Owned [parts]. The host of each is borrowed, and the program is one of
     * `words`. */
    struct job_neighbours *places;
    /* Owned, with `size` numbers each, encoded as in messages of the door: the
     * pids, where 0 is for a process that was not started, and the exit
     * statuses. */
    uint8_t *pids, *statuses;
    /* how many processes were started, and have ended */
    uint32_t started, exited;
    uint32_t open; /* how many channels have not ended */
    uint8_t stage; /* enum job_door_stage; 0 before the first one */
    /* When the job reached each stage, in seconds since 1970; stage 0 is when
     * it began. */
    uint64_t stage_s[JOB_DOOR_STAGES];
    uint8_t *state;  /* owned [size]: bits of enum ep_seen_bit */
    uint32_t behind; /* how many processes are EP_SEEN_BEHIND */
    uint32_t users;  /* how many clients look at the job */
    struct job_failure failure;
    /* When to kill the job, which a signal has asked to end; 0: the job need
     * not be killed, or was killed already. */
    uint64_t kill_ns;
    bool is_started; /* whether it is known which processes read stdin */
    bool is_known;   /* whether clients that watch know the job */
    bool is_daemons; /* the entry is no job, but the daemons of a dvm */
    bool is_over;    /* whether the job's processes have ended */
    bool is_gone;    /* whether the job can no longer be found by its name */
};

/* The jobs, in the order in which they began. A struct of zeroes has no
 * jobs. */
struct ep_seen {
    struct ep_seen_job *jobs; /* owned */
};

/* Adds a job that begins. Everything that `like` points to is copied; call
 * ep_seen_place() for each part next. Returns NULL when memory is out. */
struct ep_seen_job *ep_seen_add(struct ep_seen *seen,
                                const struct ep_seen_job *like);
/* Sets where part `index` of the job runs; the program's name is copied.
 * Returns 0 or OV_ENOMEM. */
int ep_seen_place(struct ep_seen_job *job, uint32_t index,
                  const struct job_neighbours *part);
/* Notes that `count` processes from this rank on were started. Ranks that the
 * job does not have are ignored. */
void ep_seen_started(struct ep_seen_job *job, uint32_t rank,
                     const uint32_t *pids, uint32_t count);
/* Notes that a process has ended. To be called once for each process. */
void ep_seen_exit(struct ep_seen_job *job, uint32_t rank, uint32_t status);
/* Finds the job with the process of this number. Returns NULL when there is
 * none. O(jobs). */
struct ep_seen_job *ep_seen_of(const struct ep_seen *seen, uint32_t number);
/* Finds the job of this name; "" finds the only job that is not over. Returns
 * NULL when there is no such job, with a sentence in `why` (size_bytes).
 * O(jobs). */
struct ep_seen_job *ep_seen_find(const struct ep_seen *seen, const char *name,
                                 char *why, size_t size_bytes);
/* Notes that the job is over and is no longer to be found by its name. The job
 * is freed once no client looks at it. */
void ep_seen_forget(struct ep_seen *seen, struct ep_seen_job *job);
/* ep_seen_hold() counts one more client that looks at the job; ep_seen_let_go()
 * one less. */
void ep_seen_hold(struct ep_seen_job *job);
void ep_seen_let_go(struct ep_seen *seen, struct ep_seen_job *job);
void ep_seen_clear(struct ep_seen *seen);

#endif
