/* Tells that a process has made no progress for some time. Pure.
 *
 * A process makes progress when it computes, when it writes output, and when
 * bytes go into it or out of it by system calls; and so does all that it has
 * started. A process that only computes makes no progress where computing does
 * not count. Waking up without one of these, as a process does that looks at
 * something once a second, is no progress.
 */
#ifndef JOB_STALL_H
#define JOB_STALL_H

#include <stdbool.h>
#include <stdint.h>

#include "job/doing.h"

enum {
    JOB_STALL_LOOK_MS = 250, /* the time between two looks at processes */
    /* or more, as looks take one part of this many of a processor at most */
    JOB_STALL_COST_SHARE = 10,
    /* Words about processes that come within this time are told together. As
     * all nodes look within JOB_STALL_LOOK_MS, it is a little more. */
    JOB_STALL_GATHER_MS = 300,
};

/* What was seen of a process and all that it has started. Each number is
 * compared with the same of the sample before, so it may fall, as it does when
 * one of them ends. */
struct job_stall_sample {
    uint64_t cpu_ticks;   /* processor time */
    uint64_t moved_bytes; /* how many bytes they have read and written by system
                           * calls */
    uint64_t output_bytes;
    uint64_t members; /* changes when other processes belong to it */
    enum job_doing doing;
};

struct job_stall_limit {
    uint64_t ns; /* the time without progress to report; 0: never report */
    bool counts_compute; /* a process that computes makes progress */
};

/* All members are zero before the first sample. */
struct job_stall {
    struct job_stall_sample last;
    uint64_t since_ns; /* when the first sample since the last progress was
                        * taken */
    bool is_told;
    bool is_paused; /* the user has stopped it: no time passes for it */
};

/* Takes a sample at this time, which does not go back. Returns what the process
 * is doing when it has made no progress for as long as the limit, once for each
 * time; JOB_DOING_GOES_ON at the first progress after that; else, and while it
 * is paused, JOB_DOING_UNKNOWN. O(1). */
enum job_doing job_stall_step(struct job_stall *stall,
                              const struct job_stall_limit *limit,
                              const struct job_stall_sample *sample,
                              uint64_t now_ns);

/* The user has stopped the process, or has let it go on, which is no progress:
 * its time begins anew. */
void job_stall_pause(struct job_stall *stall, bool is_paused);

/* Returns how long after the begin of a look, which took `took_ns` of a
 * processor, the next one is to begin. due_ns: when after that begin a process
 * is to be told unless it makes progress; UINT64_MAX: none is. O(1). */
uint64_t job_stall_pace(uint64_t took_ns, uint64_t due_ns);

#endif
