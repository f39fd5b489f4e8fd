/* What the files of a node's processes node_job.
 *
 * A node runs its node_job of each job that has begun and is not over. Process
 * p of a node_job has a lane: three inputs of the node, from 2 + 3 * lane on,
 * which another process gets when this one is over. The files, each above those
 * that it calls: local_words  node_job  replay  local.
 */
#ifndef ENDPOINTS_DAEMON_PROCESSES_IMPL_H
#define ENDPOINTS_DAEMON_PROCESSES_IMPL_H

#include <sys/queue.h>

#include <event2/event.h>

#include "endpoints/sys/cache.h"
#include "endpoints/daemon/channel.h"
#include "endpoints/daemon/feed.h"
#include "endpoints/daemon/stdin_stream.h"
#include "endpoints/daemon/processes.h"
#include "endpoints/spawn/spawner.h"

enum { OUTPUTS = JOB_WORD_OUTPUTS };

/* stdout, stderr or stddiag of a process. */
struct output {
    struct ep_channel *channel; /* NULL: it has none, or it has ended */
    struct proc *proc;
    struct job_tally tally; /* of every byte that was read */
    struct ep_cache cache;  /* the last bytes, for tools that come late */
    uint32_t replays;       /* orders that must be answered before it is read */
    bool is_unwanted;       /* what comes is read and dropped here */
    bool is_held_back;      /* what comes stays in the pipe */
    bool has_ended;         /* its end is still to be told */
    uint16_t input;
    uint8_t name; /* enum ov_channel */
};

struct proc {
    struct node_job *node_job;
    struct output outputs[OUTPUTS];
    struct event *linger; /* owned; made when the process has ended */
    uint64_t taken_bytes; /* of stdin, as of its end */
    uint32_t rank;        /* in its job */
    uint32_t app;
    uint16_t lane; /* LANE_NONE: it has none */
    int status;
    bool is_running; /* neither failed nor exited yet */
    bool is_over;    /* its end was said */
};

enum { LANE_NONE = UINT16_MAX };

/* The processes of one job here. When they are over, their output may be kept
 * for some time: the node_job is then past. */
struct node_job {
    TAILQ_ENTRY(node_job) entry;
    struct ep_processes *local;
    const struct job *job; /* borrowed, as is the binding; NULL: it is past */
    const struct ep_binding *binding;
    uint32_t base, size;     /* of the job */
    uint32_t cache_bytes;    /* kept of each of these channels */
    uint32_t cache_channels; /* bits, 1 << channel */
    bool is_forgotten;       /* its output is asked for no longer */
    struct proc *procs;      /* owned, ascending ranks */
    uint32_t procs_count;    /* > 0 */
    struct ep_inlet *inlet;  /* borrowed; NULL: no process here reads stdin */
    uint32_t program;        /* the spawner's number of the first program */
    uint32_t *pids;          /* owned, until all of them run; then NULL */
    uint32_t started;
    uint32_t over;
};

/* The streams of stdin: one for the run's own job, one for all others. */
enum { STDIN_STREAM_OWN, STDIN_STREAM_PUSHED, STDIN_STREAMS };

/* What the callbacks of an stdin_stream get as their argument. */
struct stdin_stream_of {
    struct ep_processes *local;
    uint32_t stream; /* number of the stream */
};

struct ep_processes {
    struct ep_processes_cfg cfg;
    struct ep_stdin_stream *stdin_streams[STDIN_STREAMS]; /* owned */
    struct stdin_stream_of stdin_streams_of[STDIN_STREAMS];
    struct ep_inlet *own;          /* of the run's own job */
    STAILQ_HEAD(, replay) replays; /* owned, in the order in which they came */
    TAILQ_HEAD(, node_job)
    node_jobs;           /* owned, in the order in which they began */
    struct proc **lanes; /* [lanes_count]; NULL: free */
    uint32_t lanes_count;
    struct ov_buf *block; /* output is read into it and sent from it */
    uint32_t block_used;
    uint32_t begun;  /* jobs that had processes here */
    uint32_t active; /* node_jobs that are not over */
    bool has_begun;  /* a job was told */
    uint8_t *words;  /* [words_len]: said but not read; owned */
    size_t words_len, words_cap;
    bool is_ready_told; /* the hub knows of words on input 0 */
};

/* The number of a process in the tree, which is also the spawner's. */
static inline uint32_t ep_proc_number(const struct proc *proc)
{
    return proc->node_job->base + proc->rank;
}

/* --- local_words.c */
/* Makes room in the block for max_bytes, or for as much as a block has left
 * when half of it is free. Returns the room; 0: memory is out. */
uint32_t ep_words_room(struct ep_processes *local, uint32_t max_bytes);
/* Makes so many bytes of that room the result of the read. */
void ep_words_took(struct ep_processes *local, uint32_t len_bytes,
                   struct ov_read *read);
/* Reads input 0. */
void ep_words_read(struct ep_processes *local, uint32_t max_bytes,
                   struct ov_read *read);
/* Says that output of that process is lost, as a file could not be read: an
 * errno. */
void ep_words_lost(const struct proc *proc, int err);
/* Says that nothing runs here, after the daemon's usage. */
void ep_words_over(struct ep_processes *local);

/* --- node_job.c */
/* Makes the node_job and starts its processes; `program` is the spawner's
 * number of the job's first program. Returns 0 or OV_ENOMEM. */
int ep_node_job_begin(struct ep_processes *local, const struct job *job,
                      const struct ep_binding *binding, uint32_t program);
void ep_node_job_free(struct node_job *node_job);
/* Makes a node_job whose processes are all over past, or frees it. */
void ep_node_job_end(struct node_job *node_job);
/* For a past node_job: lets the kept output of a channel go when there is no
 * room. */
void ep_node_job_retire(struct output *out);
/* Frees node_jobs that are past, forgotten, and not being read. */
void ep_node_job_sweep(struct ep_processes *local);
/* The process of that number; NULL: there is none. O(node_jobs + log
 * processes). */
struct proc *ep_node_job_find(const struct ep_processes *local,
                              uint32_t number);
void ep_node_job_failed(struct proc *proc, const char *step, int err);
void ep_node_job_exited(struct proc *proc, int status);
/* Says whether the channel's output is wanted from now on, and whether it stays
 * in the pipe. */
void ep_node_job_want(struct output *out, bool is_wanted, bool is_held_back);
/* Serves OV_ACT_READ for an output. */
void ep_node_job_read(struct output *out, uint32_t max_bytes,
                      struct ov_read *read);

/* --- linger.c */
/* Begins to wait, after the end of a process, until its output has been silent
 * long enough. */
void ep_linger_start(struct proc *proc, struct event_base *base);
/* Begins the wait anew, as some of the output was read. */
void ep_linger_restart(struct proc *proc);

/* --- replay.c */
/* Reads EP_PROCESSES_REPLAY_INPUT. */
void ep_replay_read(struct ep_processes *local, uint32_t max_bytes,
                    struct ov_read *read);
/* Frees all orders. */
void ep_replay_close(struct ep_processes *local);

#endif
