/* Gives queues their turns.
 *
 * A queue that has jobs is in the worker's list, and after each turn moves to
 * the list's end. To give up, the loop sets `drop` and interrupts the thread's
 * system call (endpoints/sys/thread.h).
 */
#include "config.h"

#include "endpoints/sys/worker.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>

#include "endpoints/sys/thread.h"
#include "overlay/base/err.h"

enum {
    WRITE_IOV_MAX = 256, /* most pieces of one writev(), below IOV_MAX */
    /* most bytes of one writev(): answers must keep coming */
    WRITE_BYTES_MAX = 1 << 18,
    WRITE_PIECES = EP_QUEUE_IOV_MAX,
};

_Static_assert(WRITE_IOV_MAX >= WRITE_PIECES, "a job must fit one writev");

/* The part of a queue that one turn handles. */
struct turn {
    uint32_t pos; /* position of the first job */
    uint32_t end; /* position after the last job */
    bool is_last; /* there is no job, but the call of `last` */
};

/* Returns the place of the job at a position. */
static struct ep_job *ring(struct ep_queue *queue, uint32_t pos)
{
    return &queue->jobs[pos % EP_QUEUE_JOBS_MAX];
}

/* Adds a queue to the turns. The caller has the lock. */
static void make_due(struct ep_queue *queue)
{
    queue->is_due = true;
    TAILQ_INSERT_TAIL(&queue->worker->turns, queue, turn);
}

/* ---- the thread ---- */

/* Ends a turn, in which the jobs before `done` were done. */
static void turn_end(struct ep_queue *queue, uint32_t done, int err)
{
    struct ep_worker *worker = queue->worker;

    pthread_mutex_lock(&worker->lock);
    worker->served = NULL;
    queue->is_due = false;
    queue->done = done;
    queue->err = err;
    if ((done != queue->put && err == 0) || queue->is_gone)
        make_due(queue);
    pthread_mutex_unlock(&worker->lock);
    worker->on_done(worker->arg);
}

/* Calls writev(). Waits when another program has made the descriptor
 * non-blocking. */
static ssize_t write_some(int fd, const struct iovec *iov, int n)
{
    ssize_t got = writev(fd, iov, n);

    if (got < 0 && errno == EAGAIN) {
        struct pollfd pfd = {.fd = fd, .events = POLLOUT};

        poll(&pfd, 1, -1);
        errno = EINTR;
    }
    return got;
}

/* Removes `bytes` from the front of iov; returns the number of pieces left. */
static int iov_advance(struct iovec **iov, int n, size_t bytes)
{
    while (n > 0 && bytes >= (*iov)->iov_len) {
        bytes -= (*iov)->iov_len;
        (*iov)++;
        n--;
    }
    if (n > 0) {
        (*iov)->iov_base = (uint8_t *)(*iov)->iov_base + bytes;
        (*iov)->iov_len -= bytes;
    }
    return n;
}

/* Writes everything. Returns 0 or an errno; ECANCELED: the thread has to
 * end. */
static int write_all(struct ep_queue *queue, struct iovec *iov, int n)
{
    n = iov_advance(&iov, n, 0); /* removes empty pieces at the front */
    while (n > 0) {
        ssize_t got;

        if (atomic_load(&queue->worker->drop))
            return ECANCELED;
        got = write_some(queue->fd, iov, n);
        if (got == 0)
            return EIO;
        if (got < 0 && errno != EINTR)
            return errno;
        if (got < 0)
            continue;
        atomic_fetch_add_explicit(&queue->progress_bytes, (uint64_t)got,
                                  memory_order_relaxed);
        n = iov_advance(&iov, n, (size_t)got);
    }
    return 0;
}

/* Does the writes from position `pos` on, as many as fit into one writev(). */
static void run_writes(struct ep_queue *queue, uint32_t pos, uint32_t end)
{
    struct iovec iov[WRITE_IOV_MAX];
    const uint32_t begin = pos;
    size_t bytes = 0;
    int n = 0;
    int err;

    for (; pos != end; pos++) {
        const struct ep_job *job = ring(queue, pos);

        if (job->fn != NULL || n + job->n > WRITE_IOV_MAX ||
            bytes >= WRITE_BYTES_MAX)
            break;
        for (int i = 0; i < job->n; i++) {
            iov[n++] = job->iov[i];
            bytes += job->iov[i].iov_len;
        }
    }
    err = write_all(queue, iov, n);
    turn_end(queue, err == 0 ? pos : begin, err);
}

static void run_call(struct ep_queue *queue, uint32_t pos)
{
    struct ep_job *job = ring(queue, pos);

    job->err = job->fn(job->fn_arg);
    turn_end(queue, pos + 1, 0);
}

/* Waits for the next queue that has its turn. Returns NULL when the thread has
 * to end. */
static struct ep_queue *turn_wait(struct ep_worker *worker, struct turn *turn)
{
    struct ep_queue *queue = NULL;

    pthread_mutex_lock(&worker->lock);
    while (TAILQ_EMPTY(&worker->turns) && !worker->quit) {
        worker->is_waiting = true;
        pthread_cond_wait(&worker->more, &worker->lock);
        worker->is_waiting = false;
    }
    if (!atomic_load(&worker->drop))
        queue = TAILQ_FIRST(&worker->turns);
    if (queue != NULL) {
        TAILQ_REMOVE(&worker->turns, queue, turn);
        *turn = (struct turn){queue->done, queue->put, queue->is_gone};
        worker->served = queue->is_gone ? NULL : queue;
    }
    pthread_mutex_unlock(&worker->lock);
    return queue;
}

static void *worker_main(void *arg)
{
    struct ep_worker *worker = arg;
    struct ep_queue *queue;
    struct turn turn;

    while ((queue = turn_wait(worker, &turn)) != NULL) {
        if (turn.is_last)
            queue->last(queue->last_arg);
        else if (ring(queue, turn.pos)->fn != NULL)
            run_call(queue, turn.pos);
        else
            run_writes(queue, turn.pos, turn.end);
    }
    return NULL;
}

/* ---- the loop ---- */

void ep_worker_init(struct ep_worker *worker, void (*on_done)(void *arg),
                    void *arg)
{
    memset(worker, 0, sizeof(*worker));
    worker->on_done = on_done;
    worker->arg = arg;
    pthread_mutex_init(&worker->lock, NULL);
    pthread_cond_init(&worker->more, NULL);
    TAILQ_INIT(&worker->turns);
}

bool ep_worker_join(struct ep_worker *worker, bool give_up)
{
    struct ep_queue *queue;

    if (!worker->has_thread)
        return true;
    pthread_mutex_lock(&worker->lock);
    worker->quit = true;
    atomic_store(&worker->drop, give_up);
    pthread_cond_signal(&worker->more);
    pthread_mutex_unlock(&worker->lock);
    if (!ep_thread_join(worker->thread, give_up))
        return false;
    while ((queue = TAILQ_FIRST(&worker->turns)) != NULL) {
        TAILQ_REMOVE(&worker->turns, queue, turn);
        if (queue->is_gone)
            queue->last(queue->last_arg);
    }
    return true;
}

void ep_worker_fini(struct ep_worker *worker)
{
    pthread_cond_destroy(&worker->more);
    pthread_mutex_destroy(&worker->lock);
}

void ep_queue_init(struct ep_queue *queue, struct ep_worker *worker, int fd)
{
    memset(queue, 0, offsetof(struct ep_queue, jobs));
    queue->worker = worker;
    queue->fd = fd;
}

struct ep_job *ep_queue_next(struct ep_queue *queue, uint32_t reaped, int *rc)
{
    struct ep_worker *worker = queue->worker;

    *rc = 0;
    if (!worker->has_thread) {
        if (ep_thread_start(&worker->thread, worker_main, worker) != 0) {
            *rc = OV_ESYS;
            return NULL;
        }
        worker->has_thread = true;
    }
    if (queue->put - reaped == EP_QUEUE_JOBS_MAX) {
        *rc = OV_EFULL;
        return NULL;
    }
    return ring(queue, queue->put);
}

/* Unlocks after a queue was added to the turns, and wakes the thread. */
static void wake(struct ep_worker *worker)
{
    bool is_waiting = worker->is_waiting;

    pthread_mutex_unlock(&worker->lock);
    /* The thread is not woken before, because it would find the lock taken. */
    if (is_waiting)
        pthread_cond_signal(&worker->more);
}

int ep_queue_submit(struct ep_queue *queue)
{
    int rc = 0;

    queue->is_used = true;
    pthread_mutex_lock(&queue->worker->lock);
    if (queue->err != 0)
        rc = OV_ECLOSED;
    else
        queue->put++;
    if (rc == 0 && !queue->is_due)
        make_due(queue);
    wake(queue->worker);
    return rc;
}

const struct ep_job *ep_queue_at(const struct ep_queue *queue, uint32_t pos)
{
    return &queue->jobs[pos % EP_QUEUE_JOBS_MAX];
}

uint32_t ep_queue_done(struct ep_queue *queue, int *err)
{
    uint32_t done;

    pthread_mutex_lock(&queue->worker->lock);
    done = queue->done;
    *err = queue->err;
    pthread_mutex_unlock(&queue->worker->lock);
    return done;
}

bool ep_queue_drop(struct ep_queue *queue)
{
    struct ep_worker *worker = queue->worker;
    bool is_served;

    pthread_mutex_lock(&worker->lock);
    is_served = worker->served == queue;
    if (queue->is_due && !is_served) {
        TAILQ_REMOVE(&worker->turns, queue, turn);
        queue->is_due = false;
    }
    queue->put = queue->done + is_served;
    pthread_mutex_unlock(&worker->lock);
    return is_served;
}

void ep_queue_go(struct ep_queue *queue, void (*last)(void *arg), void *arg)
{
    struct ep_worker *worker = queue->worker;

    if (!queue->is_used) {
        last(arg);
        return;
    }
    queue->last = last;
    queue->last_arg = arg;
    pthread_mutex_lock(&worker->lock);
    queue->is_gone = true;
    if (!queue->is_due)
        make_due(queue);
    wake(worker);
}
