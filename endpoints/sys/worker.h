/* A thread that does the jobs of one queue, or of many queues in turn.
 *
 * The jobs of a queue lie in a ring with two positions that only grow: the loop
 * moves `put`, the thread moves `done`. The thread owns the jobs between them,
 * so neither side allocates or copies. Jobs are done in order. A turn is one
 * call, or the writes that fit into one writev(); then the next queue has its
 * turn.
 *
 * All functions are called in one other thread, that of the loop, and are O(1)
 * except ep_worker_join.
 */
#ifndef ENDPOINTS_SYS_WORKER_H
#define ENDPOINTS_SYS_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/uio.h>

enum {
    EP_QUEUE_JOBS_MAX = 256,
    EP_QUEUE_IOV_MAX = 4, /* most pieces of one write */
};

struct ep_job {
    struct iovec iov[EP_QUEUE_IOV_MAX]; /* borrowed */
    int (*fn)(void *arg);               /* a call; NULL: the job is a write */
    void *fn_arg;
    uint64_t cookie; /* chosen by the caller that puts the job */
    int n;           /* number of pieces in iov */
    int err;         /* the result of fn */
};

struct ep_queue;

struct ep_worker {
    pthread_t thread;
    bool has_thread; /* the thread exists: the first job makes it */
    /* A turn is over. Called in the thread. */
    void (*on_done)(void *arg);
    void *arg;
    /* guards the members below, and `turn` and is_due of queues */
    pthread_mutex_t lock;
    pthread_cond_t more;
    /* queues that have jobs, except `served` */
    TAILQ_HEAD(ep_turns, ep_queue) turns;
    struct ep_queue *served; /* the queue that has its turn */
    bool is_waiting;
    bool quit;
    atomic_bool drop; /* with `quit`: end at once, without the remaining jobs */
};

struct ep_queue {
    struct ep_worker *worker; /* borrowed */
    int fd;                   /* borrowed: the target of its writes */
    bool is_used;             /* the queue has had at least one job */
    _Atomic uint64_t progress_bytes;
    void (*last)(void *arg);
    void *last_arg;
    TAILQ_ENTRY(ep_queue) turn; /* guarded by the worker's lock */
    bool is_due; /* guarded by the lock, too: the queue is in `turns`, or is
                  * `served` */
    bool is_gone;
    uint32_t put;
    uint32_t done;
    int err; /* errno of the first failed write; no job is done after it */
    struct ep_job jobs[EP_QUEUE_JOBS_MAX];
};

/* Prepares a worker in memory of the caller. */
void ep_worker_init(struct ep_worker *worker, void (*on_done)(void *arg),
                    void *arg);

/* Has the thread end when it has done all jobs, and waits for that; with
 * `give_up` the thread interrupts its present job and drops the rest. Returns
 * false when the thread is still in a system call after a second: all memory
 * that it may use must then stay. Otherwise last(arg) was called for the queues
 * of ep_queue_go. */
bool ep_worker_join(struct ep_worker *worker, bool give_up);

/* Frees the worker after ep_worker_join has returned true. */
void ep_worker_fini(struct ep_worker *worker);

/* Prepares a queue in memory of the caller; the jobs are not initialised. */
void ep_queue_init(struct ep_queue *queue, struct ep_worker *worker, int fd);

/* Returns the place for the next job, which the caller fills in and submits.
 * `reaped` is the number of done jobs whose places may be used again. Returns
 * NULL with *rc: OV_EFULL, or OV_ESYS when the thread cannot be made. */
struct ep_job *ep_queue_next(struct ep_queue *queue, uint32_t reaped, int *rc);

/* Submits the job that ep_queue_next has returned. Returns 0, or OV_ECLOSED
 * after a failed write. */
int ep_queue_submit(struct ep_queue *queue);

/* Returns the job at a position; the job must be done. */
const struct ep_job *ep_queue_at(const struct ep_queue *queue, uint32_t pos);

/* Returns the number of jobs done so far, with the errno of the first failed
 * write. */
uint32_t ep_queue_done(struct ep_queue *queue, int *err);

/* Drops the jobs that are not begun. Returns true when a job is being done. For
 * queues of calls. */
bool ep_queue_drop(struct ep_queue *queue);

/* Leaves the queue to the thread. last(arg), which may free the queue, is
 * called once: in the thread after its present job, or from within when the
 * queue has never had a job. */
void ep_queue_go(struct ep_queue *queue, void (*last)(void *arg), void *arg);

#endif
