/* The processes of one node, which belong to one job or several: they are
 * started here, get their stdin, and their output is read.
 *
 * Input 0 of the node carries the node's own messages (job/word.h), input 1
 * carries earlier output for tools that come late (job/replay.h). Each process
 * has three further inputs: stdout, stderr and stddiag; when it is over another
 * process gets them. The exit of a process is reported after its output: when
 * its channels have ended, or some time (linger) after its exit and its last
 * byte. OVER is reported whenever nothing runs here any longer.
 */
#ifndef ENDPOINTS_DAEMON_PROCESSES_H
#define ENDPOINTS_DAEMON_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "endpoints/daemon/binding.h"
#include "endpoints/sys/cache.h"
#include "endpoints/hub/hub.h"
#include "job/job.h"
#include "job/order.h"
#include "job/stall.h"
#include "job/word.h"

struct ep_processes;
struct ep_sieve_pool;
struct ep_spawner;
struct ep_tails;
struct ep_writer;

struct ep_processes_cfg {
    struct event_base *base; /* all pointers are borrowed */
    struct ep_hub *hub;
    struct ep_spawner *spawner;
    uint32_t index; /* index of the node in the hub */
    uint32_t node;
    uint32_t nodes;         /* number of nodes of this daemon */
    uint32_t inputs;        /* number of inputs of the node */
    uint32_t window_frames; /* window of a stream of stdin */
    struct ep_writer *writer;
    struct ep_tails *tails; /* unfinished lines of the daemon's processes */
    struct ep_sieve_pool *sieves; /* what filters of all of them share */
    struct ep_cache_pool *pool;   /* memory for output that is kept for tools */
    /* borrowed: the daemon's mark as "NAME=value"; "": it has none */
    const char *mark;
    /* Nothing runs on this node. Returns true when nothing runs on any node of
     * the daemon, with the daemon's usage, which this node then reports. */
    bool (*on_idle)(void *arg, struct job_usage *usage);
    /* A job is over on this node and waits for ep_processes_reap(). Never
     * called from within a call that the owner makes. */
    void (*on_over)(void *arg);
    void *arg;
};

enum { EP_PROCESSES_REPLAY_INPUT = 1, EP_PROCESSES_OWN_INPUTS };

/* Returns the number of inputs of a node with this many processes. */
static inline uint32_t ep_processes_inputs(uint32_t procs)
{
    return EP_PROCESSES_OWN_INPUTS + JOB_WORD_OUTPUTS * procs;
}

/* Makes a node without processes. Returns 0 or OV_ENOMEM. */
int ep_processes_open(const struct ep_processes_cfg *cfg,
                      struct ep_processes **out);
void ep_processes_close(struct ep_processes *local);

/* Starts the node's processes of a job, if it has some. The job and the binding
 * are borrowed until the job is reaped; the spawner knows the job's programs by
 * numbers from `program` on, and the processes by their numbers in the tree.
 * When a process cannot be started, the node sends a message (FAILED), and this
 * is no error. Returns 0 or OV_ENOMEM. */
int ep_processes_begin(struct ep_processes *local, const struct job *job,
                       const struct ep_binding *binding, uint32_t program);

/* Frees all that the node has of the job, except the output that is kept for
 * tools that come late. Returns false when the job is not over on this node. */
bool ep_processes_reap(struct ep_processes *local, const struct job *job);
/* True when the node has received a job and no process runs. */
bool ep_processes_is_idle(const struct ep_processes *local);

/* Reads an input below ep_processes_inputs(), as OV_ACT_READ asks. */
void ep_processes_read(struct ep_processes *local, uint16_t input,
                       uint32_t max_bytes, struct ov_read *read);

/* Takes a frame of stdin, from stream JOB_STREAM_STDIN or JOB_STREAM_PUSHED,
 * and one reference to its buffer. */
void ep_processes_feed(struct ep_processes *local, uint32_t stream,
                       const struct ov_slice *slice, uint32_t flags);

/* Follows a REPLAY order: a client wants what was written before. The channels
 * that the order names are not read until it is answered. O(processes *
 * ranges). */
void ep_processes_replay(struct ep_processes *local,
                         const struct job_order *order);

/* Follows a WANT order: output of some channels is wanted from now on, or no
 * longer. O(processes * ranges). */
void ep_processes_want(struct ep_processes *local,
                       const struct job_order *order);

/* Drops the kept output of a job that is over. `base` is the number of the
 * job's first process. */
void ep_processes_forget(struct ep_processes *local, uint32_t base);

/* Says that the processes are being stopped, or run again. */
void ep_processes_pause(struct ep_processes *local, bool is_paused);

/* Notes that a CLOCK order of the launcher has come. */
void ep_processes_clock(struct ep_processes *local, uint64_t sent_ns);

/* Has the node send a message. */
void ep_processes_say(struct ep_processes *local, const struct job_word *state);

/* Says that processes are being ended: what they wrote last need not be told
 * (LAST), as that is no failure of theirs. */
void ep_processes_ending(struct ep_processes *local);

/* True when the process is on this node and its job was not reaped. */
bool ep_processes_has(const struct ep_processes *local, uint32_t number);
/* Take events of the spawner for a process of this node. */
void ep_processes_started(struct ep_processes *local, uint32_t number,
                          int64_t pid);
void ep_processes_failed(struct ep_processes *local, uint32_t number,
                         const char *step, int err);
void ep_processes_exited(struct ep_processes *local, uint32_t number,
                         int status, uint64_t at_ns);

/* A process of the node that runs, or whose output is still open. */
struct ep_running {
    uint32_t number;
    bool has_ended;
    pid_t pid;             /* 0: it has ended, or does not run yet */
    uint64_t output_bytes; /* so far */
    /* its job is watched for progress (struct job); else NULL */
    struct job_stall *stall;
    struct job_stall_limit limit;
};

/* Calls back for each of them, in the order of their jobs and then of their
 * numbers. O(processes). */
void ep_processes_each(struct ep_processes *local,
                       void (*each)(void *arg, const struct ep_running *it),
                       void *arg);

/* Follows a SIGNAL order: sends it to the processes that run here. Those that
 * it stops are paused as far as their progress is watched (job/stall.h).
 * Returns true when it has let some go on that are watched. O(processes *
 * ranges). */
bool ep_processes_signal(struct ep_processes *local,
                         const struct job_order *order);

#endif
