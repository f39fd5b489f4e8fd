/* What the files of a node's processes share.
 *
 * A node runs its share of each job that was begun and is not over. Process p
 * of a share has a lane: three inputs of the node, from 2 + 3 * lane on, which
 * are another process's when it is over. The files, each above those that
 * it calls: local_words  share  replay  local.
 */
#ifndef ENDPOINTS_DAEMON_LOCAL_IMPL_H
#define ENDPOINTS_DAEMON_LOCAL_IMPL_H

#include <sys/queue.h>

#include <event2/event.h>

#include "endpoints/sys/cache.h"
#include "endpoints/daemon/channel.h"
#include "endpoints/daemon/feed.h"
#include "endpoints/daemon/intake.h"
#include "endpoints/daemon/local.h"
#include "endpoints/spawn/spawner.h"

enum { OUTPUTS = JOB_WORD_OUTPUTS };

/* stdout, stderr or stddiag of a process. */
struct output {
    struct ep_channel *channel; /* NULL: it has none, or that has ended */
    struct proc *proc;
    struct job_tally tally; /* of what was read, every byte */
    struct ep_cache cache;  /* the same, for tools that come late */
    uint32_t replays;       /* orders before which it is not read */
    bool is_unwanted;       /* what comes is dropped here */
    bool is_held_back;      /* it is not read */
    bool has_ended;         /* that is still to be told */
    uint16_t input;
    uint8_t name; /* enum ov_channel */
};

struct proc {
    struct share *share;
    struct output outputs[OUTPUTS];
    struct event *linger; /* owned; made when the process has ended */
    uint64_t taken_bytes; /* of stdin, when it had ended */
    uint32_t rank;        /* in its job */
    uint32_t app;
    uint16_t lane; /* LANE_NONE: it has none */
    int status;
    bool is_running; /* not yet failed or exited */
    bool is_over;    /* its end was said */
};

enum { LANE_NONE = UINT16_MAX };

/* The processes of one job here. When they are over, what their output was may
 * be kept for some time: then it is past. */
struct share {
    TAILQ_ENTRY(share) entry;
    struct ep_local *local;
    const struct job *job; /* borrowed, with the binding; NULL: it is past */
    const struct ep_binding *binding;
    uint32_t base, size;     /* of the job */
    uint32_t cache_bytes;    /* of each of these channels is kept */
    uint32_t cache_channels; /* bits, 1 << channel */
    bool is_forgotten;       /* nobody asks for it any more */
    struct proc *procs;      /* owned, ascending ranks */
    uint32_t procs_count;    /* > 0 */
    struct ep_inlet *inlet;  /* borrowed; NULL: nobody here reads stdin */
    uint32_t program;        /* the spawner's number of the first program */
    uint32_t *pids;          /* owned: until all of them run; else NULL */
    uint32_t started;
    uint32_t over;
};

/* The streams of stdin: that of the run's own job, and that of all others. */
enum { INTAKE_OWN, INTAKE_PUSHED, INTAKES };

/* The argument of an intake's events. */
struct intake_of {
    struct ep_local *local;
    uint32_t stream; /* its number */
};

struct ep_local {
    struct ep_local_cfg cfg;
    struct ep_intake *intakes[INTAKES]; /* owned */
    struct intake_of intakes_of[INTAKES];
    struct ep_inlet *own;          /* the run's own job's */
    STAILQ_HEAD(, replay) replays; /* owned, as they came */
    TAILQ_HEAD(, share) shares;    /* owned, as begun */
    struct proc **lanes;           /* [lanes_count]; NULL: free */
    uint32_t lanes_count;
    struct ov_buf *block; /* output is read into it, then referenced */
    uint32_t block_used;
    uint32_t begun;  /* jobs that had processes here */
    uint32_t active; /* shares that are not over */
    bool has_begun;  /* a job was told */
    uint8_t *words;  /* [words_len]: said but not read; owned */
    size_t words_len, words_cap;
    bool is_ready_told; /* input 0 */
};

/* The number of a process in the tree, for the spawner, too. */
static inline uint32_t ep_proc_number(const struct proc *proc)
{
    return proc->share->base + proc->rank;
}

/* --- local_words.c */
/* Room in the block for max_bytes, or for as much as a block can have left
 * when half of it is still free. 0: memory is out. */
uint32_t ep_words_room(struct ep_local *local, uint32_t max_bytes);
/* So many bytes of it are what was read. */
void ep_words_took(struct ep_local *local, uint32_t len_bytes,
                   struct ov_read *read);
/* Input 0. */
void ep_words_read(struct ep_local *local, uint32_t max_bytes,
                   struct ov_read *read);
/* Output of that process is lost, as a file could not be read: an errno. */
void ep_words_lost(const struct proc *proc, int err);
/* Nothing runs here: the daemon's usage, then that it is so. */
void ep_words_over(struct ep_local *local);

/* --- share.c */
/* Makes the share and starts its processes; `program` is the spawner's number
 * of the job's first one. 0 or OV_ENOMEM. */
int ep_share_begin(struct ep_local *local, const struct job *job,
                   const struct ep_binding *binding, uint32_t program);
void ep_share_free(struct share *share);
/* All of its processes are over: it is past, or freed. */
void ep_share_end(struct share *share);
/* What is kept of a channel of one that is past goes when there is no room. */
void ep_share_retire(struct output *out);
/* Frees what is past and forgotten, and not being read. */
void ep_share_sweep(struct ep_local *local);
/* The process of that number, or NULL. O(shares + log processes). */
struct proc *ep_share_find(const struct ep_local *local, uint32_t number);
void ep_share_failed(struct proc *proc, const char *step, int err);
void ep_share_exited(struct proc *proc, int status);
/* The channel's output travels from now on, or not; or it stays in the pipe. */
void ep_share_want(struct output *out, bool is_wanted, bool is_held_back);
/* OV_ACT_READ, for an output. */
void ep_share_read(struct output *out, uint32_t max_bytes,
                   struct ov_read *read);

/* --- linger.c */
/* The process has ended: its output is read on until it is silent for long. */
void ep_linger_start(struct proc *proc, struct event_base *base);
/* Some of it was read. */
void ep_linger_restart(struct proc *proc);

/* --- replay.c */
/* EP_LOCAL_REPLAY_INPUT. */
void ep_replay_read(struct ep_local *local, uint32_t max_bytes,
                    struct ov_read *read);
/* No order is left. */
void ep_replay_close(struct ep_local *local);

#endif
