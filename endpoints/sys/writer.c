/* Sinks: each is a queue of a worker (endpoints/sys/worker.h), with callbacks
 * in the loop.
 *
 * Besides the positions `put` and `done` of a queue the loop has a third one:
 * how many jobs it has answered. A sink that leaves is removed from the
 * writer's list, and belongs to the thread, which frees it.
 */
#include "config.h"

#include "endpoints/sys/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#include "endpoints/sys/clock.h"
#include "endpoints/sys/waker.h"
#include "endpoints/sys/worker.h"
#include "overlay/base/err.h"
#include "overlay/base/panic.h"

_Static_assert((int)EP_SINK_JOBS_MAX == EP_QUEUE_JOBS_MAX, "a sink is a queue");
_Static_assert((int)EP_SINK_IOV_MAX == EP_QUEUE_IOV_MAX, "a write is a job");

struct ep_sink {
    struct ep_sink *next;
    struct ep_writer *w;
    const struct ep_sink_events *events;
    void *arg;
    void (*last)(void *arg); /* NULL until ep_sink_leave */
    void *last_arg;
    bool told_error;
    bool closed; /* freed after the present callbacks */
    uint32_t reaped;
    /* the worker of a sink that has a thread of its own */
    struct ep_worker own;
    struct ep_queue queue;
};

struct ep_writer {
    struct event *wake;
    struct ep_sink *sinks;   /* owned */
    struct ep_worker shared; /* the worker of all sinks for calls */
    int wake_fd;
    bool in_callbacks;
    bool has_left; /* a thread that could not be ended still uses the writer */
    atomic_bool is_woken;
};

static bool is_shared(const struct ep_sink *sink)
{
    return sink->queue.worker == &sink->w->shared;
}

/* Called in a thread. */
static void on_done(void *arg)
{
    struct ep_writer *w = arg;

    if (!atomic_exchange(&w->is_woken, true))
        ep_waker_wake(w->wake_fd);
}

/* Frees a sink that nothing else uses. Runs in the thread, or in the loop when
 * there is no thread. */
static void last_main(void *arg)
{
    struct ep_sink *sink = arg;

    sink->last(sink->last_arg);
    free(sink);
}

static void sink_unlink(struct ep_sink *sink)
{
    struct ep_sink **at = &sink->w->sinks;

    while (*at != sink)
        at = &(*at)->next;
    *at = sink->next;
}

/* Frees a sink that was closed, or lets it leave. */
static void sink_part(struct ep_sink *sink)
{
    sink_unlink(sink);
    if (sink->last != NULL) {
        ep_queue_go(&sink->queue, last_main, sink);
        return;
    }
    if (!is_shared(sink))
        ep_worker_fini(&sink->own);
    free(sink);
}

static void sink_answer(struct ep_sink *sink)
{
    int err;
    const uint32_t done = ep_queue_done(&sink->queue, &err);

    if (sink->reaped == done && (err == 0 || sink->told_error))
        return;
    while (!sink->closed && sink->reaped != done) {
        const struct ep_job *job = ep_queue_at(&sink->queue, sink->reaped);
        const uint64_t cookie = job->cookie;
        const int job_err = job->err;

        sink->reaped++;
        if (job_err == 0 && sink->events->on_written != NULL)
            sink->events->on_written(sink->arg, cookie);
        else if (job_err != 0 && sink->events->on_failed != NULL)
            sink->events->on_failed(sink->arg, cookie, job_err);
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
            sink_part(sink);
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
    ep_worker_init(&w->shared, on_done, w);
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
    bool is_joined;

    if (w == NULL)
        return;
    OV_ASSERT(!w->in_callbacks);
    is_joined = ep_worker_join(&w->shared, give_up);
    if (!is_joined)
        w->has_left = true;
    while (w->sinks != NULL) {
        if (!is_shared(w->sinks))
            ep_sink_close(w->sinks, give_up);
        else if (is_joined)
            sink_part(w->sinks);
        else
            sink_unlink(w->sinks);
    }
    if (w->wake != NULL)
        event_free(w->wake);
    if (w->has_left)
        return;
    ep_worker_fini(&w->shared);
    close(w->wake_fd);
    free(w);
}

bool ep_writer_is_idle(const struct ep_writer *w)
{
    for (const struct ep_sink *sink = w->sinks; sink != NULL;
         sink = sink->next) {
        /* Only the loop changes these, so no lock is needed. */
        if (sink->reaped != sink->queue.put)
            return false;
    }
    return true;
}

static struct ep_sink *sink_new(struct ep_writer *w,
                                const struct ep_sink_events *events, void *arg)
{
    struct ep_sink *sink = malloc(sizeof(*sink));

    if (sink == NULL)
        return NULL;
    sink->w = w;
    sink->events = events;
    sink->arg = arg;
    sink->last = NULL;
    sink->told_error = sink->closed = false;
    sink->reaped = 0;
    sink->next = w->sinks;
    w->sinks = sink;
    return sink;
}

int ep_sink_open(struct ep_writer *w, int fd,
                 const struct ep_sink_events *events, void *arg,
                 struct ep_sink **out)
{
    struct ep_sink *sink;
    int copy = -1;

    if (fd >= 0) {
        copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        if (copy < 0)
            return OV_ESYS;
    }
    sink = sink_new(w, events, arg);
    if (sink == NULL) {
        if (copy >= 0)
            close(copy);
        return OV_ENOMEM;
    }
    ep_worker_init(&sink->own, on_done, w);
    ep_queue_init(&sink->queue, &sink->own, copy);
    *out = sink;
    return 0;
}

int ep_sink_open_shared(struct ep_writer *w,
                        const struct ep_sink_events *events, void *arg,
                        struct ep_sink **out)
{
    struct ep_sink *sink = sink_new(w, events, arg);

    if (sink == NULL)
        return OV_ENOMEM;
    ep_queue_init(&sink->queue, &w->shared, -1);
    *out = sink;
    return 0;
}

bool ep_sink_close(struct ep_sink *sink, bool give_up)
{
    if (sink == NULL)
        return true;
    OV_ASSERT(!sink->closed && !is_shared(sink));
    if (!ep_worker_join(&sink->own, give_up)) {
        /* The thread still uses the sink, so the sink is unlinked and never
         * freed. */
        sink_unlink(sink);
        sink->w->has_left = true;
        return false;
    }
    if (sink->queue.fd >= 0)
        close(sink->queue.fd);
    sink->closed = true;
    if (!sink->w->in_callbacks)
        sink_part(sink);
    return true;
}

bool ep_sink_drop(struct ep_sink *sink)
{
    OV_ASSERT(!sink->closed && is_shared(sink));
    return ep_queue_drop(&sink->queue);
}

void ep_sink_leave(struct ep_sink *sink, void (*last)(void *arg), void *arg)
{
    (void)ep_sink_drop(sink);
    sink->last = last;
    sink->last_arg = arg;
    sink->closed = true;
    if (!sink->w->in_callbacks)
        sink_part(sink);
}

int ep_sink_write(struct ep_sink *sink, const struct iovec *iov, int n,
                  uint64_t cookie)
{
    struct ep_job *job;
    int rc;

    if (n < 0 || n > EP_SINK_IOV_MAX || sink->queue.fd < 0)
        return OV_EINVAL;
    job = ep_queue_next(&sink->queue, sink->reaped, &rc);
    if (job == NULL)
        return rc;
    if (n > 0)
        memcpy(job->iov, iov, (size_t)n * sizeof(*iov));
    job->n = n;
    job->fn = NULL;
    job->err = 0;
    job->cookie = cookie;
    return ep_queue_submit(&sink->queue);
}

int ep_sink_call(struct ep_sink *sink, ep_sink_fn fn, void *arg,
                 uint64_t cookie)
{
    struct ep_job *job;
    int rc;

    job = ep_queue_next(&sink->queue, sink->reaped, &rc);
    if (job == NULL)
        return rc;
    job->n = 0;
    job->fn = fn;
    job->fn_arg = arg;
    job->err = 0;
    job->cookie = cookie;
    return ep_queue_submit(&sink->queue);
}

bool ep_sink_wait(struct ep_sink *sink, unsigned wait_ms)
{
    const uint64_t limit_ns = ep_clock_ns() + wait_ms * UINT64_C(1000000);
    const struct timespec pause = {.tv_nsec = 1000000};
    int err;

    while (ep_queue_done(&sink->queue, &err) != sink->queue.put && err == 0) {
        if (ep_clock_ns() >= limit_ns)
            return false;
        nanosleep(&pause, NULL);
    }
    return err == 0;
}

int ep_sink_fd(const struct ep_sink *sink)
{
    return sink->queue.fd;
}

uint64_t ep_sink_progress(const struct ep_sink *sink)
{
    return atomic_load_explicit(&sink->queue.progress_bytes,
                                memory_order_relaxed);
}
