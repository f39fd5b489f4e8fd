/* Sinks and their threads.
 *
 * A sink's tasks sit in a ring with three positions that only grow: `put` by
 * the loop, `done` by the thread, `reaped` by the loop again. The thread owns
 * the tasks from done to put, so neither side allocates or copies.
 *
 * To give up, the thread is told so (`drop`) and nudged out of its system call
 * (endpoints/sys/thread.h).
 */
#include "config.h"

#include "endpoints/sys/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "endpoints/sys/thread.h"
#include "endpoints/sys/waker.h"
#include "overlay/base/err.h"
#include "overlay/base/panic.h"

enum {
    WRITE_IOV_MAX = 256,       /* pieces of one writev, below IOV_MAX */
    WRITE_BYTES_MAX = 1 << 18, /* of one writev: answers must keep coming */
    WRITE_PIECES = EP_SINK_IOV_MAX,
};

_Static_assert(WRITE_IOV_MAX >= WRITE_PIECES, "a task must fit one writev");

struct task {
    struct iovec iov[EP_SINK_IOV_MAX]; /* borrowed */
    ep_sink_fn fn;                     /* NULL: a write */
    void *fn_arg;
    uint64_t cookie;
    int n;
    int err;
};

struct ep_sink {
    struct ep_sink *next;
    struct ep_writer *w;
    const struct ep_sink_events *events;
    void *arg;
    int fd;
    bool has_thread;
    bool told_error;
    bool closed; /* freed at the end of the round of callbacks */
    pthread_t thread;
    uint32_t reaped;
    pthread_mutex_t lock; /* guards the next five */
    pthread_cond_t more;
    uint32_t put;
    uint32_t done;
    int err; /* of the first failed write; final */
    bool is_waiting;
    bool quit;
    atomic_bool drop; /* with quit: at once */
    _Atomic uint64_t progress_bytes;
    struct task tasks[EP_SINK_JOBS_MAX]; /* from reaped to put, round */
};

struct ep_writer {
    struct event *wake;
    struct ep_sink *sinks; /* owned */
    int wake_fd;
    bool in_callbacks;
    bool has_left; /* a thread that could not be ended still knows us */
    atomic_bool is_woken;
};

static struct task *task_at(struct ep_sink *sink, uint32_t pos)
{
    return &sink->tasks[pos % EP_SINK_JOBS_MAX];
}

/* ---- the thread ---- */

static void wake_loop(struct ep_writer *w)
{
    if (!atomic_exchange(&w->is_woken, true))
        ep_waker_wake(w->wake_fd);
}

static void jobs_finish(struct ep_sink *sink, uint32_t done, int err)
{
    pthread_mutex_lock(&sink->lock);
    sink->done = done;
    if (sink->err == 0)
        sink->err = err;
    pthread_mutex_unlock(&sink->lock);
    wake_loop(sink->w);
}

/* writev(); where somebody else made the description non-blocking, waits. */
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

/* Takes `bytes` off the front of iov; returns the pieces left. */
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

/* Writes everything. Returns 0 or an errno, ECANCELED when told to end. */
static int write_all(struct ep_sink *sink, struct iovec *iov, int n)
{
    n = iov_advance(&iov, n, 0); /* pieces of no length at the front */
    while (n > 0) {
        ssize_t got;

        if (atomic_load(&sink->drop))
            return ECANCELED;
        got = write_some(sink->fd, iov, n);
        if (got == 0)
            return EIO;
        if (got < 0 && errno != EINTR)
            return errno;
        if (got < 0)
            continue;
        atomic_fetch_add_explicit(&sink->progress_bytes, (uint64_t)got,
                                  memory_order_relaxed);
        n = iov_advance(&iov, n, (size_t)got);
    }
    return 0;
}

/* Does the writes from `pos` on that fit one writev(). Returns the position
 * behind them. */
static uint32_t run_writes(struct ep_sink *sink, uint32_t pos, uint32_t end)
{
    struct iovec iov[WRITE_IOV_MAX];
    size_t bytes = 0;
    int n = 0;
    int err;

    for (; pos != end; pos++) {
        const struct task *task = task_at(sink, pos);

        if (task->fn != NULL || n + task->n > WRITE_IOV_MAX ||
            bytes >= WRITE_BYTES_MAX)
            break;
        for (int i = 0; i < task->n; i++) {
            iov[n++] = task->iov[i];
            bytes += task->iov[i].iov_len;
        }
    }
    err = write_all(sink, iov, n);
    if (err == 0)
        jobs_finish(sink, pos, 0);
    else
        jobs_finish(sink, sink->done, err);
    return pos;
}

static uint32_t run_call(struct ep_sink *sink, uint32_t pos)
{
    struct task *task = task_at(sink, pos);

    task->err = task->fn(task->fn_arg);
    jobs_finish(sink, pos + 1, 0);
    return pos + 1;
}

/* Waits for tasks. Returns false when the thread has to end. */
static bool jobs_wait(struct ep_sink *sink, uint32_t *pos, uint32_t *end)
{
    bool more;

    pthread_mutex_lock(&sink->lock);
    while ((sink->done == sink->put || sink->err != 0) && !sink->quit) {
        sink->is_waiting = true;
        pthread_cond_wait(&sink->more, &sink->lock);
        sink->is_waiting = false;
    }
    more =
        !atomic_load(&sink->drop) && sink->err == 0 && sink->done != sink->put;
    *pos = sink->done;
    *end = sink->put;
    pthread_mutex_unlock(&sink->lock);
    return more;
}

static void *sink_main(void *arg)
{
    struct ep_sink *sink = arg;
    uint32_t pos;
    uint32_t end;

    while (jobs_wait(sink, &pos, &end)) {
        if (task_at(sink, pos)->fn != NULL)
            run_call(sink, pos);
        else
            run_writes(sink, pos, end);
    }
    return NULL;
}

/* ---- the loop ---- */

static void sink_free(struct ep_sink *sink)
{
    struct ep_sink **at = &sink->w->sinks;

    while (*at != sink)
        at = &(*at)->next;
    *at = sink->next;
    pthread_cond_destroy(&sink->more);
    pthread_mutex_destroy(&sink->lock);
    free(sink);
}

static void sink_answer(struct ep_sink *sink)
{
    uint32_t done;
    int err;

    pthread_mutex_lock(&sink->lock);
    done = sink->done;
    err = sink->err;
    pthread_mutex_unlock(&sink->lock);
    if (sink->reaped == done && (err == 0 || sink->told_error))
        return;
    while (!sink->closed && sink->reaped != done) {
        const struct task *task = task_at(sink, sink->reaped);
        const uint64_t cookie = task->cookie;
        const int task_err = task->err;

        sink->reaped++;
        if (task_err == 0 && sink->events->on_written != NULL)
            sink->events->on_written(sink->arg, cookie);
        else if (task_err != 0 && sink->events->on_failed != NULL)
            sink->events->on_failed(sink->arg, cookie, task_err);
    }
    if (!sink->closed && err != 0 && !sink->told_error) {
        sink->told_error = true;
        if (sink->events->on_error != NULL)
            sink->events->on_error(sink->arg, err);
    }
    if (!sink->closed && sink->events->on_batch_end != NULL)
        sink->events->on_batch_end(sink->arg);
}

static void on_wake(evutil_socket_t fd, short what, void *arg)
{
    struct ep_writer *w = arg;
    struct ep_sink *next;

    (void)what;
    ep_waker_hear(fd);
    atomic_store(&w->is_woken, false);
    w->in_callbacks = true;
    for (struct ep_sink *sink = w->sinks; sink != NULL; sink = sink->next) {
        if (!sink->closed)
            sink_answer(sink);
    }
    w->in_callbacks = false;
    for (struct ep_sink *sink = w->sinks; sink != NULL; sink = next) {
        next = sink->next;
        if (sink->closed)
            sink_free(sink);
    }
}

int ep_writer_open(struct event_base *base, struct ep_writer **out)
{
    struct ep_writer *w = calloc(1, sizeof(*w));

    if (w == NULL)
        return OV_ENOMEM;
    w->wake_fd = ep_waker_open();
    if (w->wake_fd < 0) {
        free(w);
        return OV_ESYS;
    }
    w->wake = ep_waker_event(base, w->wake_fd, on_wake, w);
    if (w->wake == NULL) {
        ep_writer_close(w, true);
        return OV_ENOMEM;
    }
    *out = w;
    return 0;
}

void ep_writer_close(struct ep_writer *w, bool give_up)
{
    if (w == NULL)
        return;
    OV_ASSERT(!w->in_callbacks);
    while (w->sinks != NULL)
        ep_sink_close(w->sinks, give_up);
    if (w->wake != NULL)
        event_free(w->wake);
    if (w->has_left)
        return;
    close(w->wake_fd);
    free(w);
}

bool ep_writer_is_idle(const struct ep_writer *w)
{
    for (const struct ep_sink *sink = w->sinks; sink != NULL;
         sink = sink->next) {
        if (sink->reaped != sink->put) /* ours both: no lock */
            return false;
    }
    return true;
}

int ep_sink_open(struct ep_writer *w, int fd,
                 const struct ep_sink_events *events, void *arg,
                 struct ep_sink **out)
{
    struct ep_sink *sink = malloc(sizeof(*sink));

    if (sink == NULL)
        return OV_ENOMEM;
    memset(sink, 0, offsetof(struct ep_sink, tasks));
    sink->fd = -1;
    if (fd >= 0) {
        sink->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        if (sink->fd < 0) {
            free(sink);
            return OV_ESYS;
        }
    }
    sink->w = w;
    sink->events = events;
    sink->arg = arg;
    pthread_mutex_init(&sink->lock, NULL);
    pthread_cond_init(&sink->more, NULL);
    sink->next = w->sinks;
    w->sinks = sink;
    *out = sink;
    return 0;
}

/* Returns false when the thread is stuck in the system. */
static bool sink_join(struct ep_sink *sink, bool give_up)
{
    if (!sink->has_thread)
        return true;
    pthread_mutex_lock(&sink->lock);
    sink->quit = true;
    atomic_store(&sink->drop, give_up);
    pthread_cond_signal(&sink->more);
    pthread_mutex_unlock(&sink->lock);
    return ep_thread_join(sink->thread, give_up);
}

bool ep_sink_close(struct ep_sink *sink, bool give_up)
{
    struct ep_sink **at;

    if (sink == NULL)
        return true;
    OV_ASSERT(!sink->closed);
    if (!sink_join(sink, give_up)) {
        /* The thread still uses it: out of the list, and leaked. */
        for (at = &sink->w->sinks; *at != sink; at = &(*at)->next)
            ;
        *at = sink->next;
        sink->w->has_left = true;
        return false;
    }
    if (sink->fd >= 0)
        close(sink->fd);
    sink->closed = true;
    if (!sink->w->in_callbacks)
        sink_free(sink);
    return true;
}

/* A free place for a task, or NULL with the reason in *rc. */
static struct task *task_put(struct ep_sink *sink, int *rc)
{
    *rc = 0;
    if (!sink->has_thread) {
        if (ep_thread_start(&sink->thread, sink_main, sink) != 0) {
            *rc = OV_ESYS;
            return NULL;
        }
        sink->has_thread = true;
    }
    if (sink->put - sink->reaped == EP_SINK_JOBS_MAX) {
        *rc = OV_EFULL;
        return NULL;
    }
    return task_at(sink, sink->put);
}

static int task_submit(struct ep_sink *sink)
{
    bool is_waiting;
    int rc = 0;

    pthread_mutex_lock(&sink->lock);
    if (sink->err != 0)
        rc = OV_ECLOSED;
    else
        sink->put++;
    is_waiting = sink->is_waiting;
    pthread_mutex_unlock(&sink->lock);
    /* Not before: the thread would wake to find the lock held. */
    if (is_waiting)
        pthread_cond_signal(&sink->more);
    return rc;
}

int ep_sink_write(struct ep_sink *sink, const struct iovec *iov, int n,
                  uint64_t cookie)
{
    struct task *task;
    int rc;

    if (n < 0 || n > EP_SINK_IOV_MAX || sink->fd < 0)
        return OV_EINVAL;
    task = task_put(sink, &rc);
    if (task == NULL)
        return rc;
    if (n > 0)
        memcpy(task->iov, iov, (size_t)n * sizeof(*iov));
    task->n = n;
    task->fn = NULL;
    task->err = 0;
    task->cookie = cookie;
    return task_submit(sink);
}

int ep_sink_call(struct ep_sink *sink, ep_sink_fn fn, void *arg,
                 uint64_t cookie)
{
    struct task *task;
    int rc;

    task = task_put(sink, &rc);
    if (task == NULL)
        return rc;
    task->n = 0;
    task->fn = fn;
    task->fn_arg = arg;
    task->err = 0;
    task->cookie = cookie;
    return task_submit(sink);
}

uint64_t ep_sink_progress(const struct ep_sink *sink)
{
    return atomic_load_explicit(&sink->progress_bytes, memory_order_relaxed);
}
