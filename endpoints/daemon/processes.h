/* The processes of one node, of one job or several: started, fed, read, ended.
 *
 * Input 0 of the node has the node's own words (job/word.h), input 1 has
 * earlier output, for tools that come late (job/replay.h). Three further inputs
 * are stdout, stderr and stddiag of a process, and of another process when that
 * is over. The exit of a process is said after its output: when its channels
 * have ended, or some time (linger) after its exit and its last byte. OVER
 * follows whenever nothing runs here any longer.
 */
#ifndef ENDPOINTS_DAEMON_PROCESSES_H
#define ENDPOINTS_DAEMON_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/daemon/binding.h"
#include "endpoints/sys/cache.h"
#include "endpoints/hub/hub.h"
#include "job/job.h"
#include "job/order.h"
#include "job/word.h"

struct ep_processes;
struct ep_spawner;
struct ep_tails;
struct ep_writer;

struct ep_processes_cfg {
    struct event_base *base; /* all borrowed */
    struct ep_hub *hub;
    struct ep_spawner *spawner;
    uint32_t index; /* of the node in the hub */
    uint32_t node;
    uint32_t nodes;         /* of this daemon */
    uint32_t inputs;        /* of the node */
    uint32_t window_frames; /* of a stream of stdin */
    struct ep_writer *writer;
    struct ep_tails *tails;     /* of the daemon */
    struct ep_cache_pool *pool; /* of the daemon */
    const char *mark; /* borrowed: the daemon's mark, a setting; "": none */
    /* Nothing runs here. Return true when that holds for the whole daemon: this
     * node then speaks for it and says what the daemon has used. */
    bool (*on_idle)(void *arg, struct job_usage *usage);
    /* A job is over here and waits for ep_processes_reap(). Never called from
     * within a call that the owner makes. */
    void (*on_over)(void *arg);
    void *arg;
};

enum { EP_PROCESSES_REPLAY_INPUT = 1, EP_PROCESSES_OWN_INPUTS };

/* The number of inputs of a node with this many processes. */
static inline uint32_t ep_processes_inputs(uint32_t procs)
{
    return EP_PROCESSES_OWN_INPUTS + JOB_WORD_OUTPUTS * procs;
}

/* Returns 0 or OV_ENOMEM. */
int ep_processes_open(const struct ep_processes_cfg *cfg,
                      struct ep_processes **out);
void ep_processes_close(struct ep_processes *local);

/* Starts the node's processes of a job, if it has some. The job and the binding
 * are borrowed until it is reaped; its programs were announced to the spawner
 * by numbers from `program` on. The spawner knows the processes by their
 * numbers in the tree. A process that cannot be started is a word (FAILED), not
 * an error. Returns 0 or OV_ENOMEM. */
int ep_processes_begin(struct ep_processes *local, const struct job *job,
                       const struct ep_binding *binding, uint32_t program);

/* Frees what the node has of the job, except the output that is kept for tools
 * that come late. Returns false when the job is not over here. */
bool ep_processes_reap(struct ep_processes *local, const struct job *job);
/* True when a job was told and nothing runs. */
bool ep_processes_is_idle(const struct ep_processes *local);

/* Serves OV_ACT_READ for an input below ep_processes_inputs(). */
void ep_processes_read(struct ep_processes *local, uint16_t input,
                       uint32_t max_bytes, struct ov_read *read);

/* Takes a frame of stdin, of JOB_STREAM_STDIN or _PUSHED, and one reference
 * with it. */
void ep_processes_feed(struct ep_processes *local, uint32_t stream,
                       const struct ov_slice *slice, uint32_t flags);

/* A client wants what was written before: a REPLAY. The channels that it names
 * stand still until it is answered. O(processes * ranges). */
void ep_processes_replay(struct ep_processes *local,
                         const struct job_order *order);

/* Output of some channels is wanted from now on, or no longer: a WANT.
 * O(processes * ranges). */
void ep_processes_want(struct ep_processes *local,
                       const struct job_order *order);

/* Drops the kept output of a job that is over, the one whose first process has
 * this number. */
void ep_processes_forget(struct ep_processes *local, uint32_t base);

/* Says that the processes are being stopped, or go on. */
void ep_processes_pause(struct ep_processes *local, bool is_paused);

/* Has the node say a word. */
void ep_processes_say(struct ep_processes *local, const struct job_word *state);

/* True for a process of this node, of a job that was not reaped. */
bool ep_processes_has(const struct ep_processes *local, uint32_t number);
/* Events of the spawner for a process of this node. */
void ep_processes_started(struct ep_processes *local, uint32_t number,
                          int64_t pid);
void ep_processes_failed(struct ep_processes *local, uint32_t number,
                         const char *step, int err);
void ep_processes_exited(struct ep_processes *local, uint32_t number,
                         int status);

/* Sends a SIGNAL to the processes that run here. O(processes * ranges). */
void ep_processes_signal(struct ep_processes *local,
                         const struct job_order *order);

#endif
