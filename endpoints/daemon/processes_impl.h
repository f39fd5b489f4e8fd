/* What the files of a node's processes share.
 *
 * The node_job of a job is the part that runs on this node; it exists from the
 * job's begin on until the job is over. Process p of a node_job has a lane:
 * three inputs of the node, from 2 + 3 * lane on, which another process gets
 * when p is over.
 *
 * The files, each above those that it calls:
 *
 *     processes_words  linger  outputs  node_job  replay  processes
 */
#ifndef ENDPOINTS_DAEMON_PROCESSES_IMPL_H
#define ENDPOINTS_DAEMON_PROCESSES_IMPL_H

#include <sys/queue.h>

#include <event2/event.h>

#include "endpoints/sys/cache.h"
#include "endpoints/daemon/channel.h"
#include "endpoints/daemon/feed.h"
#include "endpoints/daemon/last.h"
#include "endpoints/daemon/sieve.h"
#include "endpoints/daemon/stdin_stream.h"
#include "endpoints/daemon/processes.h"
#include "endpoints/spawn/spawner.h"
#include "job/clock.h"
#include "job/stall.h"

enum { OUTPUTS = JOB_WORD_OUTPUTS };

/* One output of a process: stdout, stderr or stddiag. */
struct output {
    struct ep_channel *channel; /* NULL: it has ended, or was never there */
    struct proc *proc;
    struct ep_sieve *sieve; /* owned; NULL: all of it is sent */
    uint64_t lost_bytes;    /* bytes that could not be read back from a file */
    struct job_tally tally; /* tally of every byte that is sent, or was lost */
    struct ep_cache cache;  /* the last of them, for tools that come late */
    uint32_t replays;       /* REPLAY orders to be answered before it is read */
    bool is_unwanted;  /* output is read and dropped here, as nobody wants it */
    bool is_held_back; /* output is left in the pipe */
    bool has_ended; /* the hub still has to be told that the output has ended */
    uint16_t input;
    uint8_t name; /* enum ov_channel */
};

struct proc {
    struct node_job *node_job;
    struct output outputs[OUTPUTS];
    struct event *linger; /* owned; made when the process has ended */
    uint64_t taken_bytes; /* bytes of stdin that it had read when it ended */
    uint64_t exit_ns;     /* when it ended, as its spawner says */
    struct ep_last last;  /* with filters: what it wrote last */
    uint64_t left_ns;     /* when it was last told what was left out */
    uint32_t pid;         /* 0: not known yet */
    uint32_t rank;        /* its rank in its job */
    uint32_t app;
    uint16_t lane; /* LANE_NONE: the process has none */
    int status;
    bool is_running; /* it has neither failed nor exited */
    bool is_over;    /* its end was reported */
    bool is_first;   /* it was the first here that failed */
    bool has_left;   /* bytes of its output were left out */
};

enum { LANE_NONE = UINT16_MAX };

/* The processes of one job on this node. When all are over, their output may be
 * kept for some time: the node_job is then past. */
struct node_job {
    TAILQ_ENTRY(node_job) entry;
    struct ep_processes *local;
    /* borrowed, like the binding; NULL when the node_job is past */
    const struct job *job;
    const struct ep_binding *binding;
    /* first process number, and number of processes, of the job */
    uint32_t base, size;
    /* bytes of output kept of each channel in cache_channels */
    uint32_t cache_bytes;
    uint32_t cache_channels; /* bits, 1 << channel */
    bool is_forgotten;       /* nobody will ask for its output again */
    struct proc *procs;      /* owned, in ascending order of ranks */
    uint32_t procs_count;    /* greater than 0 */
    /* borrowed; NULL when no process here reads stdin */
    struct ep_inlet *inlet;
    uint32_t program; /* the spawner's number of the job's first program */
    /* owned, by index of the process; NULL: none is watched */
    struct job_stall *stalls;
    struct text_filter_rules rules; /* owned */
    bool has_rules;                 /* lines are left out */
    bool has_failed;                /* a process has, or all are being ended */
    uint32_t started;
    uint32_t over;
};

/* The streams of stdin: one for the run's own job, one for all further jobs. */
enum { STDIN_STREAM_OWN, STDIN_STREAM_PUSHED, STDIN_STREAMS };

/* The argument of an stdin_stream's callbacks. */
struct stdin_stream_of {
    struct ep_processes *local;
    uint32_t stream; /* number of the stream */
};

struct ep_processes {
    struct ep_processes_cfg cfg;
    struct ep_stdin_stream *stdin_streams[STDIN_STREAMS]; /* owned */
    struct stdin_stream_of stdin_streams_of[STDIN_STREAMS];
    struct ep_inlet *own; /* borrowed: the inlet of the run's own job */
    STAILQ_HEAD(, replay) replays; /* owned, in the order in which they came */
    TAILQ_HEAD(, node_job)
    node_jobs; /* owned, in the order in which they began */
    /* [lanes_count]; an entry is NULL when the lane is free */
    struct proc **lanes;
    uint32_t lanes_count;
    struct job_clock clock; /* what is known of the launcher's clock */
    struct ov_buf *block;   /* buffer that output is read into and sent from */
    uint32_t block_used;
    uint32_t begun;  /* jobs that have had processes here */
    uint32_t active; /* node_jobs whose processes are not all over */
    bool has_begun;  /* a job was received */
    uint8_t *words;  /* owned [words_len]: messages not yet read by the hub */
    size_t words_len, words_cap;
    bool is_ready_told; /* the hub knows that messages wait on input 0 */
};

/* Returns the number of a process in the tree, which is also its number in the
 * spawner. */
static inline uint32_t ep_proc_number(const struct proc *proc)
{
    return proc->node_job->base + proc->rank;
}

/* --- processes_words.c */
/* Makes room in the block for max_bytes; or, when the block has less left but
 * half of it is free, takes what is left. Returns the room in bytes; 0: memory
 * is out. */
uint32_t ep_words_room(struct ep_processes *local, uint32_t max_bytes);
/* Makes the first len_bytes of that room the result of the read. */
void ep_words_took(struct ep_processes *local, uint32_t len_bytes,
                   struct ov_read *read);
/* Tallies what was read as the records that the node makes of it. */
void ep_words_tally(const struct ov_read *read, struct job_tally *tally);
/* Reads messages of the node: input 0. */
void ep_words_read(struct ep_processes *local, uint32_t max_bytes,
                   struct ov_read *read);
/* Reports that output of the process is lost because a file could not be read;
 * err is the errno. */
void ep_words_lost(const struct proc *proc, int err);
/* Reports what was left out of the process's output so far, if anything. */
void ep_words_left(struct proc *proc);
/* Reports how the process has ended, and what it has written and read; and of
 * the first one that fails its last lines, where some were left out. */
void ep_words_exit(struct proc *proc);
/* Reports that nothing runs on this node, after the daemon's usage. */
void ep_words_over(struct ep_processes *local);

/* --- node_job.c */
/* Makes a node_job and starts its processes; `program` is the spawner's number
 * of the job's first program. Returns 0 or OV_ENOMEM. */
int ep_node_job_begin(struct ep_processes *local, const struct job *job,
                      const struct ep_binding *binding, uint32_t program);
void ep_node_job_free(struct node_job *node_job);
/* Makes a node_job past when its output is kept, or else frees it. All its
 * processes must be over. */
void ep_node_job_end(struct node_job *node_job);
/* Lets the kept output of a channel be dropped when others need the room. Does
 * nothing unless the node_job is past. */
void ep_node_job_retire(struct output *out);
/* Frees node_jobs that are past, forgotten, and not being read. */
void ep_node_job_sweep(struct ep_processes *local);
/* Finds the process with that number; returns NULL when there is none.
 * O(node_jobs + log processes). */
struct proc *ep_node_job_find(const struct ep_processes *local,
                              uint32_t number);
void ep_node_job_failed(struct proc *proc, const char *step, int err);
void ep_node_job_exited(struct proc *proc, int status, uint64_t at_ns);
/* Sets whether the channel's output is wanted from now on, and whether it is
 * left in the pipe. */
void ep_node_job_want(struct output *out, bool is_wanted, bool is_held_back);
/* Reads an output, as OV_ACT_READ asks. */
void ep_node_job_read(struct output *out, uint32_t max_bytes,
                      struct ov_read *read);

/* --- linger.c */
/* Begins to wait until the output of a process that has ended has been silent
 * long enough. */
void ep_linger_start(struct proc *proc, struct event_base *base);
/* Begins the wait again, because some output was read. */
void ep_linger_restart(struct proc *proc);

/* --- replay.c */
/* Reads answers to REPLAY orders: EP_PROCESSES_REPLAY_INPUT. */
void ep_replay_read(struct ep_processes *local, uint32_t max_bytes,
                    struct ov_read *read);
/* Frees all orders of replays. */
void ep_replay_close(struct ep_processes *local);

#endif
