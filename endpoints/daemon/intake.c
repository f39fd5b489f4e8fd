/* A stream of stdin on one node: which job each frame is for, and which frames
 * are consumed. */
#include "config.h"

#include "endpoints/daemon/intake.h"

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
    struct ep_intake *intake; /* borrowed */
    struct ep_feed *feed;     /* owned */
    struct topo_range procs;
    uint64_t done;   /* frames that its feed has consumed, */
    uint64_t passed; /* and those of them that count in the stream */
};

struct ep_intake {
    struct event_base *base; /* borrowed */
    const struct ep_intake_events *events;
    void *arg;
    TAILQ_HEAD(, ep_inlet) inlets; /* owned */
    struct ep_inlet *last;         /* inlet of the last frame; may be NULL */
    /* Owned: inlets of the frames not consumed; may be NULL. */
    struct ep_inlet **ring;
    uint32_t ring_room;     /* a power of two, or 0 */
    uint64_t fed, consumed; /* numbers of frames */
};

int ep_intake_open(struct event_base *base,
                   const struct ep_intake_events *events, void *arg,
                   struct ep_intake **out)
{
    struct ep_intake *intake = calloc(1, sizeof(*intake));

    if (intake == NULL)
        return OV_ENOMEM;
    intake->base = base;
    intake->events = events;
    intake->arg = arg;
    TAILQ_INIT(&intake->inlets);
    *out = intake;
    return 0;
}

static void free_inlet(struct ep_inlet *inlet)
{
    TAILQ_REMOVE(&inlet->intake->inlets, inlet, entry);
    ep_feed_close(inlet->feed);
    free(inlet);
}

void ep_intake_close(struct ep_intake *intake)
{
    if (intake == NULL)
        return;
    while (!TAILQ_EMPTY(&intake->inlets))
        free_inlet(TAILQ_FIRST(&intake->inlets));
    free(intake->ring);
    free(intake);
}

static struct ep_inlet **ring_at(const struct ep_intake *intake,
                                 uint64_t number)
{
    return &intake->ring[number & (intake->ring_room - 1)];
}

/* --- what is consumed */

static void tell_consumed(const struct ep_intake *intake)
{
    uint32_t proc = TOPO_NONE;
    uint64_t done;

    if (intake->consumed < intake->fed)
        ep_feed_holder((*ring_at(intake, intake->consumed))->feed, &proc,
                       &done);
    intake->events->on_consumed(intake->arg, intake->consumed, proc);
}

/* Counts frames as consumed, up to the first one for which a job waits. */
static void count_consumed(struct ep_intake *intake)
{
    uint64_t before = intake->consumed;

    for (; intake->consumed < intake->fed; intake->consumed++) {
        struct ep_inlet *inlet = *ring_at(intake, intake->consumed);

        if (inlet != NULL && inlet->passed == inlet->done)
            break;
        if (inlet != NULL)
            inlet->passed++;
    }
    if (intake->consumed != before)
        tell_consumed(intake);
}

static void on_consumed(void *arg, uint64_t frames_total)
{
    struct ep_inlet *inlet = arg;

    inlet->done = frames_total;
    count_consumed(inlet->intake);
}

/* --- inlets */

static void on_free(void *arg, struct ov_buf *buf)
{
    const struct ep_intake *intake = ((struct ep_inlet *)arg)->intake;

    intake->events->on_free(intake->arg, buf);
}

static void on_slow(void *arg, uint32_t proc, enum job_stdin_event what,
                    int err)
{
    const struct ep_intake *intake = ((struct ep_inlet *)arg)->intake;

    intake->events->on_slow(intake->arg, proc, what, err);
}

int ep_inlet_open(struct ep_intake *intake, struct topo_range procs,
                  struct ep_inlet **out)
{
    static const struct ep_feed_events events = {
        .on_consumed = on_consumed, .on_free = on_free, .on_slow = on_slow};
    struct ep_inlet *inlet = calloc(1, sizeof(*inlet));

    if (inlet == NULL)
        return OV_ENOMEM;
    if (ep_feed_open(intake->base, &events, inlet, &inlet->feed)) {
        free(inlet);
        return OV_ENOMEM;
    }
    inlet->intake = intake;
    inlet->procs = procs;
    TAILQ_INSERT_TAIL(&intake->inlets, inlet, entry);
    *out = inlet;
    return 0;
}

void ep_inlet_close(struct ep_inlet *inlet)
{
    struct ep_intake *intake;

    if (inlet == NULL)
        return;
    intake = inlet->intake;
    for (uint64_t i = intake->consumed; i < intake->fed; i++) {
        if (*ring_at(intake, i) == inlet)
            *ring_at(intake, i) = NULL;
    }
    if (intake->last == inlet)
        intake->last = NULL;
    free_inlet(inlet);
    count_consumed(intake);
}

struct ep_feed *ep_inlet_feed(const struct ep_inlet *inlet)
{
    return inlet->feed;
}

/* --- frames */

static struct ep_inlet *find_inlet(const struct ep_intake *intake,
                                   uint32_t proc)
{
    struct ep_inlet *inlet;

    TAILQ_FOREACH (inlet, &intake->inlets, entry) {
        if (inlet->procs.first <= proc && proc <= inlet->procs.last)
            return inlet;
    }
    return NULL;
}

/* Finds the inlet that a frame is for; NULL: there is none. */
static struct ep_inlet *inlet_of(const struct ep_intake *intake,
                                 const struct ov_slice *slice, uint32_t flags)
{
    struct ov_push push;

    if ((flags & OV_DOWN_SOME) == 0)
        return TAILQ_FIRST(&intake->inlets);
    if (ov_push_decode(slice->buf->mem + slice->off_bytes, slice->len_bytes,
                       &push) != 0 ||
        push.ranges == 0)
        return intake->last;
    return find_inlet(intake, ov_push_range(&push).first);
}

/* Asserts memory: it is bounded by the window, and without this little nothing
 * works. */
static void ring_put(struct ep_intake *intake, struct ep_inlet *inlet)
{
    if (intake->fed - intake->consumed == intake->ring_room) {
        uint32_t room =
            intake->ring_room > 0 ? intake->ring_room * 2 : RING_MIN;
        struct ep_inlet **ring = calloc(room, sizeof(struct ep_inlet *));

        OV_ASSERT(ring != NULL);
        for (uint64_t i = intake->consumed; i < intake->fed; i++)
            ring[i & (room - 1)] = *ring_at(intake, i);
        free(intake->ring);
        intake->ring = ring;
        intake->ring_room = room;
    }
    *ring_at(intake, intake->fed++) = inlet;
}

static void feed_inlet(struct ep_inlet *inlet, const struct ov_slice *slice,
                       uint32_t flags)
{
    (flags & OV_DOWN_SOME ? ep_feed_push_some : ep_feed_push)(
        inlet->feed, slice->buf, slice->off_bytes, slice->len_bytes);
    if (flags & OV_DOWN_END)
        ep_feed_end(inlet->feed);
}

void ep_intake_take(struct ep_intake *intake, const struct ov_slice *slice,
                    uint32_t flags)
{
    intake->last = inlet_of(intake, slice, flags);
    ring_put(intake, intake->last);
    if (intake->last != NULL)
        feed_inlet(intake->last, slice, flags);
    else
        count_consumed(intake);
    /* A process that reads nothing is named before the window is full. */
    if (intake->fed - intake->consumed == NAME_FRAMES)
        tell_consumed(intake);
}

void ep_intake_pause(struct ep_intake *intake, bool is_paused)
{
    struct ep_inlet *inlet;

    TAILQ_FOREACH (inlet, &intake->inlets, entry)
        ep_feed_pause(inlet->feed, is_paused);
}
