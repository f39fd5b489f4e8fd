/* A stream of stdin on one node: which job each frame is for, and which frames
 * are consumed. */
#include "config.h"

#include "endpoints/daemon/stdin_stream.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "endpoints/daemon/feed.h"
#include "overlay/base/err.h"
#include "overlay/base/panic.h"
#include "overlay/wire/frame.h"
#include "overlay/wire/push.h"

enum { NAME_FRAMES = 4, RING_MIN = 16 };

struct ep_inlet {
    TAILQ_ENTRY(ep_inlet) entry;
    struct ep_stdin_stream *stdin_stream; /* borrowed */
    struct ep_feed *feed;                 /* owned */
    struct topo_range procs;
    uint64_t done; /* frames that its feed has consumed */
    /* how many of these were counted as consumed in the stream */
    uint64_t passed;
};

struct ep_stdin_stream {
    struct event_base *base; /* borrowed */
    const struct ep_stdin_stream_events *events;
    void *arg;
    TAILQ_HEAD(, ep_inlet) inlets; /* owned */
    struct ep_inlet *last;         /* inlet of the frame before; may be NULL */
    /* Owned: the inlet of each frame that is not consumed; entries may be
     * NULL. */
    struct ep_inlet **ring;
    uint32_t ring_room; /* a power of two, or 0 */
    /* numbers of the next frame, and of the first one not consumed */
    uint64_t fed, consumed;
};

int ep_stdin_stream_open(struct event_base *base,
                         const struct ep_stdin_stream_events *events, void *arg,
                         struct ep_stdin_stream **out)
{
    struct ep_stdin_stream *stdin_stream = calloc(1, sizeof(*stdin_stream));

    if (stdin_stream == NULL)
        return OV_ENOMEM;
    stdin_stream->base = base;
    stdin_stream->events = events;
    stdin_stream->arg = arg;
    TAILQ_INIT(&stdin_stream->inlets);
    *out = stdin_stream;
    return 0;
}

static void free_inlet(struct ep_inlet *inlet)
{
    TAILQ_REMOVE(&inlet->stdin_stream->inlets, inlet, entry);
    ep_feed_close(inlet->feed);
    free(inlet);
}

void ep_stdin_stream_close(struct ep_stdin_stream *stdin_stream)
{
    if (stdin_stream == NULL)
        return;
    while (!TAILQ_EMPTY(&stdin_stream->inlets))
        free_inlet(TAILQ_FIRST(&stdin_stream->inlets));
    free(stdin_stream->ring);
    free(stdin_stream);
}

static struct ep_inlet **ring_at(const struct ep_stdin_stream *stdin_stream,
                                 uint64_t number)
{
    return &stdin_stream->ring[number & (stdin_stream->ring_room - 1)];
}

/* --- what is consumed */

static void tell_consumed(const struct ep_stdin_stream *stdin_stream)
{
    uint32_t proc = TOPO_NONE;
    uint64_t done;

    if (stdin_stream->consumed < stdin_stream->fed)
        ep_feed_holder((*ring_at(stdin_stream, stdin_stream->consumed))->feed,
                       &proc, &done);
    stdin_stream->events->on_consumed(stdin_stream->arg, stdin_stream->consumed,
                                      proc);
}

/* Counts frames as consumed, up to the first one that a feed has not
 * consumed. */
static void count_consumed(struct ep_stdin_stream *stdin_stream)
{
    uint64_t before = stdin_stream->consumed;

    for (; stdin_stream->consumed < stdin_stream->fed;
         stdin_stream->consumed++) {
        struct ep_inlet *inlet = *ring_at(stdin_stream, stdin_stream->consumed);

        if (inlet != NULL && inlet->passed == inlet->done)
            break;
        if (inlet != NULL)
            inlet->passed++;
    }
    if (stdin_stream->consumed != before)
        tell_consumed(stdin_stream);
}

static void on_consumed(void *arg, uint64_t frames_total)
{
    struct ep_inlet *inlet = arg;

    inlet->done = frames_total;
    count_consumed(inlet->stdin_stream);
}

/* --- inlets */

static void on_free(void *arg, struct ov_buf *buf)
{
    const struct ep_stdin_stream *stdin_stream =
        ((struct ep_inlet *)arg)->stdin_stream;

    stdin_stream->events->on_free(stdin_stream->arg, buf);
}

static void on_slow(void *arg, uint32_t proc, enum job_stdin_event what,
                    int err)
{
    const struct ep_stdin_stream *stdin_stream =
        ((struct ep_inlet *)arg)->stdin_stream;

    stdin_stream->events->on_slow(stdin_stream->arg, proc, what, err);
}

int ep_inlet_open(struct ep_stdin_stream *stdin_stream, struct topo_range procs,
                  struct ep_inlet **out)
{
    static const struct ep_feed_events events = {
        .on_consumed = on_consumed, .on_free = on_free, .on_slow = on_slow};
    struct ep_inlet *inlet = calloc(1, sizeof(*inlet));

    if (inlet == NULL)
        return OV_ENOMEM;
    if (ep_feed_open(stdin_stream->base, &events, inlet, &inlet->feed)) {
        free(inlet);
        return OV_ENOMEM;
    }
    inlet->stdin_stream = stdin_stream;
    inlet->procs = procs;
    TAILQ_INSERT_TAIL(&stdin_stream->inlets, inlet, entry);
    *out = inlet;
    return 0;
}

void ep_inlet_close(struct ep_inlet *inlet)
{
    struct ep_stdin_stream *stdin_stream;

    if (inlet == NULL)
        return;
    stdin_stream = inlet->stdin_stream;
    for (uint64_t i = stdin_stream->consumed; i < stdin_stream->fed; i++) {
        if (*ring_at(stdin_stream, i) == inlet)
            *ring_at(stdin_stream, i) = NULL;
    }
    if (stdin_stream->last == inlet)
        stdin_stream->last = NULL;
    free_inlet(inlet);
    count_consumed(stdin_stream);
}

struct ep_feed *ep_inlet_feed(const struct ep_inlet *inlet)
{
    return inlet->feed;
}

/* --- frames */

static struct ep_inlet *find_inlet(const struct ep_stdin_stream *stdin_stream,
                                   uint32_t proc)
{
    struct ep_inlet *inlet;

    TAILQ_FOREACH (inlet, &stdin_stream->inlets, entry) {
        if (inlet->procs.first <= proc && proc <= inlet->procs.last)
            return inlet;
    }
    return NULL;
}

/* Finds the inlet for a frame; returns NULL when there is none. */
static struct ep_inlet *inlet_of(const struct ep_stdin_stream *stdin_stream,
                                 const struct ov_slice *slice, uint32_t flags)
{
    struct ov_push push;

    if ((flags & OV_DOWN_SOME) == 0)
        return TAILQ_FIRST(&stdin_stream->inlets);
    if (ov_push_decode(slice->buf->mem + slice->off_bytes, slice->len_bytes,
                       &push) != 0 ||
        push.ranges == 0)
        return stdin_stream->last;
    return find_inlet(stdin_stream, ov_push_range(&push).first);
}

/* Asserts that there is memory: it is bounded by the window, and without this
 * little nothing works. */
static void ring_put(struct ep_stdin_stream *stdin_stream,
                     struct ep_inlet *inlet)
{
    if (stdin_stream->fed - stdin_stream->consumed == stdin_stream->ring_room) {
        uint32_t room = stdin_stream->ring_room > 0
                            ? stdin_stream->ring_room * 2
                            : RING_MIN;
        struct ep_inlet **ring = calloc(room, sizeof(struct ep_inlet *));

        OV_ASSERT(ring != NULL);
        for (uint64_t i = stdin_stream->consumed; i < stdin_stream->fed; i++)
            ring[i & (room - 1)] = *ring_at(stdin_stream, i);
        free(stdin_stream->ring);
        stdin_stream->ring = ring;
        stdin_stream->ring_room = room;
    }
    *ring_at(stdin_stream, stdin_stream->fed++) = inlet;
}

static void feed_inlet(struct ep_inlet *inlet, const struct ov_slice *slice,
                       uint32_t flags)
{
    (flags & OV_DOWN_SOME ? ep_feed_push_some : ep_feed_push)(
        inlet->feed, slice->buf, slice->off_bytes, slice->len_bytes);
    if (flags & OV_DOWN_END)
        ep_feed_end(inlet->feed);
}

void ep_stdin_stream_take(struct ep_stdin_stream *stdin_stream,
                          const struct ov_slice *slice, uint32_t flags)
{
    stdin_stream->last = inlet_of(stdin_stream, slice, flags);
    ring_put(stdin_stream, stdin_stream->last);
    if (stdin_stream->last != NULL)
        feed_inlet(stdin_stream->last, slice, flags);
    else
        count_consumed(stdin_stream);
    /* Reports a process that reads nothing while the window still has room. */
    if (stdin_stream->fed - stdin_stream->consumed == NAME_FRAMES)
        tell_consumed(stdin_stream);
}

void ep_stdin_stream_pause(struct ep_stdin_stream *stdin_stream, bool is_paused)
{
    struct ep_inlet *inlet;

    TAILQ_FOREACH (inlet, &stdin_stream->inlets, entry)
        ep_feed_pause(inlet->feed, is_paused);
}
