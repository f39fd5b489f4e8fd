/* A thread that does the jobs of queues: of one, or of many in turn.
 *
 * The jobs of a queue sit in a ring with two positions that only grow: `put` by
 * the loop, `done` by the thread. The thread owns the jobs between them, so
 * neither side allocates or copies. They are done in order. A turn is one call,
 * or the writes that fit one writev(); then it is the next queue's.
 *
 * All but the thread itself happens in one other thread, that of the loop, and
 * is O(1) but for ep_worker_join.
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
    uint64_t cookie; /* of who has put it */
    int n;           /* pieces */
    int err;         /* what fn returned */
};

struct ep_queue;

struct ep_worker {
    pthread_t thread;
    bool has_thread; /* made with the first job */
    /* A turn is over: from the thread. */
    void (*on_done)(void *arg);
    void *arg;
    pthread_mutex_t lock; /* guards what follows, and as much of its queues */
    pthread_cond_t more;
    TAILQ_HEAD(ep_turns, ep_queue) turns; /* those that have jobs, but for */
    struct ep_queue *served;              /* this one */
    bool is_waiting;
    bool quit;
    atomic_bool drop; /* with quit: at once */
};

struct ep_queue {
    struct ep_worker *worker; /* borrowed */
    int fd;                   /* of its writes; borrowed */
    bool is_used;             /* it has had a job */
    _Atomic uint64_t progress_bytes;
    void (*last)(void *arg);
    void *last_arg;
    TAILQ_ENTRY(ep_queue) turn; /* guarded by the worker's lock, */
    bool is_due;                /* as are these: it is in turns, or served */
    bool is_gone;
    uint32_t put;
    uint32_t done;
    int err; /* of the first failed write; final */
    struct ep_job jobs[EP_QUEUE_JOBS_MAX];
};

/* The caller's memory. */
void ep_worker_init(struct ep_worker *worker, void (*on_done)(void *arg),
                    void *arg);

/* Tells the thread to end and waits until it has done all there is; with
 * `give_up` it ends what it is at and drops the rest. Returns false when the
 * system does not let it go for a second: all that it may touch must stay. What
 * is gone has had its last call otherwise. */
bool ep_worker_join(struct ep_worker *worker, bool give_up);

/* After that, when it was true. */
void ep_worker_fini(struct ep_worker *worker);

/* All but the jobs; the caller's memory. */
void ep_queue_init(struct ep_queue *queue, struct ep_worker *worker, int fd);

/* The place of the next job, to be filled and submitted. `reaped`: jobs that
 * need their place no longer, of `done`. Returns NULL with *rc: OV_EFULL, or
 * OV_ESYS when the thread could not be made. */
struct ep_job *ep_queue_next(struct ep_queue *queue, uint32_t reaped, int *rc);

/* Returns 0, or OV_ECLOSED after a failed write. */
int ep_queue_submit(struct ep_queue *queue);

/* The job at a position that is done. */
const struct ep_job *ep_queue_at(const struct ep_queue *queue, uint32_t pos);

/* Jobs done so far, and the errno of the first failed write. */
uint32_t ep_queue_done(struct ep_queue *queue, int *err);

/* Drops the jobs that were not begun. Returns whether one is being done. For
 * queues of calls. */
bool ep_queue_drop(struct ep_queue *queue);

/* Nobody but the thread knows the queue any more. Calls last(arg), which may
 * free the queue: in the thread behind what that is at, or here, where it has
 * never had a job. */
void ep_queue_go(struct ep_queue *queue, void (*last)(void *arg), void *arg);

#endif
