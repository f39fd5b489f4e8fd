/* A thread that does the jobs of queues: of one, or of many in turn.
 *
 * The jobs of a queue lie in a ring with two positions that only grow: `put` by
 * the loop, `done` by the thread. The thread owns the jobs between them, so
 * neither side allocates or copies. They are done in order. A turn is one call,
 * or the writes that fit into one writev(); then the next queue has its turn.
 *
 * All except the thread itself happens in one other thread, that of the loop,
 * and is O(1) except ep_worker_join.
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
    EP_QUEUE_IOV_MAX = 4, /* pieces of one write */
};

struct ep_job {
    struct iovec iov[EP_QUEUE_IOV_MAX]; /* borrowed */
    int (*fn)(void *arg);               /* NULL: a write */
    void *fn_arg;
    uint64_t cookie; /* of the caller that has put the job */
    int n;           /* number of pieces */
    int err;         /* what fn returned */
};

struct ep_queue;

struct ep_worker {
    pthread_t thread;
    bool has_thread; /* made with the first job */
    /* A turn is over. Called from the thread. */
    void (*on_done)(void *arg);
    void *arg;
    pthread_mutex_t lock; /* guards what follows, and as much of its queues */
    pthread_cond_t more;
    TAILQ_HEAD(ep_turns, ep_queue) turns; /* queues that have jobs, except */
    struct ep_queue *served;              /* this one, which has its turn */
    bool is_waiting;
    bool quit;
    atomic_bool drop; /* with quit: end at once */
};

struct ep_queue {
    struct ep_worker *worker; /* borrowed */
    int fd;                   /* for its writes; borrowed */
    bool is_used;             /* it has had a job */
    _Atomic uint64_t progress_bytes;
    void (*last)(void *arg);
    void *last_arg;
    TAILQ_ENTRY(ep_queue) turn; /* guarded by the worker's lock, */
    bool is_due;                /* likewise: it is in turns, or being served */
    bool is_gone;
    uint32_t put;
    uint32_t done;
    int err; /* of the first failed write; then final */
    struct ep_job jobs[EP_QUEUE_JOBS_MAX];
};

/* Prepares a worker in the caller's memory. */
void ep_worker_init(struct ep_worker *worker, void (*on_done)(void *arg),
                    void *arg);

/* Tells the thread to end and waits until it has done all jobs; with `give_up`
 * it breaks off its present job and drops the rest. Returns false when the
 * system does not let the thread go for a second: all that it may touch must
 * stay. Otherwise queues that have gone have had their last call. */
bool ep_worker_join(struct ep_worker *worker, bool give_up);

/* Frees the worker after ep_worker_join has returned true. */
void ep_worker_fini(struct ep_worker *worker);

/* Prepares a queue in the caller's memory, all except the jobs. */
void ep_queue_init(struct ep_queue *queue, struct ep_worker *worker, int fd);

/* The place for the next job, to be filled and submitted. `reaped` is how many
 * of the done jobs need their place no longer. Returns NULL with *rc: OV_EFULL,
 * or OV_ESYS when the thread could not be made. */
struct ep_job *ep_queue_next(struct ep_queue *queue, uint32_t reaped, int *rc);

/* Submits that job. Returns 0, or OV_ECLOSED after a failed write. */
int ep_queue_submit(struct ep_queue *queue);

/* The job at a position; the job must be done. */
const struct ep_job *ep_queue_at(const struct ep_queue *queue, uint32_t pos);

/* The number of jobs done so far, and the errno of the first failed write. */
uint32_t ep_queue_done(struct ep_queue *queue, int *err);

/* Drops the jobs that were not begun. Returns whether one is being done. For
 * queues of calls. */
bool ep_queue_drop(struct ep_queue *queue);

/* Leaves the queue to the thread. Calls last(arg), which may free the queue: in
 * the thread after its present job, or here when the queue has never had a
 * job. */
void ep_queue_go(struct ep_queue *queue, void (*last)(void *arg), void *arg);

#endif
