/* One stream of frames to many pipes: the frames, and which target writes next.
 * feed_impl.h explains the data structures. */
#include "config.h"

#include "endpoints/daemon/feed.h"

#include <stdlib.h>

#include <event2/event.h>

#include "endpoints/daemon/feed_impl.h"
#include "overlay/base/err.h"
#include "overlay/wire/push.h"

enum {
    TURNS_PER_PUMP = 32,
    RING_MIN = 16,
};

/* Runs right after the callback that brought a frame, while the frame is still
 * in the processor's cache. */
static void pump_now(struct ep_feed *feed)
{
    event_active(feed->pump, EV_WRITE, 0);
}

static void on_pump(evutil_socket_t fd, short what, void *arg)
{
    struct ep_feed *feed = arg;
    struct feed_target *target;
    bool closed = false;

    (void)fd;
    (void)what;
    for (unsigned i = 0; i < TURNS_PER_PUMP; i++) {
        target = TAILQ_FIRST(&feed->turns);
        if (target == NULL)
            break;
        if (target->is_spilled)
            ep_spill_turn(target);
        else
            ep_target_turn(target);
        /* The window may be full; no further frame then comes to cause this
         * check. */
        if (target->state == TARGET_BLOCKED)
            ep_slow_check(target);
    }
    ep_spill_settle(feed);
    if (feed->told != feed->base) {
        feed->told = feed->base;
        feed->closed = &closed;
        feed->events->on_consumed(feed->arg, feed->told);
        if (closed)
            return;
        feed->closed = NULL;
    }
    if (!TAILQ_EMPTY(&feed->turns))
        ep_target_pump_wake(feed);
}

static void on_shut(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    ep_target_tell_shut(arg);
}

int ep_feed_open(struct event_base *base, const struct ep_feed_events *events,
                 void *arg, struct ep_feed **out)
{
    struct ep_feed *feed = calloc(1, sizeof(*feed));

    if (feed == NULL)
        return OV_ENOMEM;
    feed->loop = base;
    feed->events = events;
    feed->arg = arg;
    TAILQ_INIT(&feed->all);
    TAILQ_INIT(&feed->turns);
    TAILQ_INIT(&feed->spill.fetches);
    feed->pump = evtimer_new(base, on_pump, feed);
    feed->shut = evtimer_new(base, on_shut, feed);
    if (feed->pump == NULL || feed->shut == NULL) {
        ep_feed_close(feed);
        return OV_ENOMEM;
    }
    *out = feed;
    return 0;
}

int ep_feed_slow(struct ep_feed *feed, const struct ep_feed_slow *slow)
{
    int rc = 0;

    feed->slow = *slow;
    if (ep_feed_spills(feed))
        rc = ep_spill_open(feed);
    return rc == 0 ? ep_slow_open(feed) : rc;
}

void ep_feed_pause(struct ep_feed *feed, bool is_paused)
{
    ep_slow_pause(feed, is_paused);
}

void ep_feed_close(struct ep_feed *feed)
{
    struct feed_target *target;

    if (feed == NULL)
        return;
    if (feed->closed != NULL)
        *feed->closed = true;
    feed->slow.is_shared = false; /* no callback is made from now on */
    while ((target = TAILQ_FIRST(&feed->all)) != NULL)
        ep_target_free(target);
    ep_spill_close(feed);
    if (feed->look != NULL)
        event_free(feed->look);
    if (feed->shut != NULL)
        event_free(feed->shut);
    if (feed->pump != NULL)
        event_free(feed->pump);
    ep_set_unref(feed->set);
    ep_set_unref(feed->set_before);
    free(feed->ring);
    free(feed);
}

static struct feed_target *target_find(const struct ep_feed *feed,
                                       uint32_t proc)
{
    struct feed_target *target;

    TAILQ_FOREACH (target, &feed->all, all) {
        if (target->proc == proc)
            return target;
    }
    return NULL;
}

int ep_feed_target(struct ep_feed *feed, int fd, uint32_t proc)
{
    struct feed_target *target;
    int rc;

    if (feed->base > 0 || feed->set != NULL || target_find(feed, proc) != NULL)
        return OV_EINVAL;
    rc = ep_target_open(feed, fd, proc, &target);
    if (rc != 0)
        return rc;
    TAILQ_INSERT_TAIL(&feed->all, target, all);
    feed->reading++;
    for (uint64_t i = 0; i < feed->head; i++)
        feed_frame_at(feed, i)->waiting++;
    ep_target_settle(target);
    return 0;
}

int ep_feed_join(struct ep_feed *feed, int fd, uint32_t proc)
{
    struct feed_target *target;
    int rc;

    if (target_find(feed, proc) != NULL)
        return OV_EINVAL;
    rc = ep_target_open(feed, fd, proc, &target);
    if (rc != 0)
        return rc;
    target->next = feed->head;
    TAILQ_INSERT_TAIL(&feed->all, target, all);
    feed->reading++;
    ep_target_settle(target);
    return 0;
}

void ep_feed_drop_target(struct ep_feed *feed, uint32_t proc)
{
    struct feed_target *target = target_find(feed, proc);

    if (target == NULL)
        return;
    ep_target_free(target);
    ep_spill_settle(feed);
}

static int ring_grow(struct ep_feed *feed)
{
    uint32_t room = feed->ring_room > 0 ? feed->ring_room * 2 : RING_MIN;
    struct feed_frame *ring;

    if (feed->head - feed->base < feed->ring_room)
        return 0;
    if (room > EP_FEED_FRAMES_MAX)
        return OV_EFULL;
    ring = calloc(room, sizeof(*ring));
    if (ring == NULL)
        return OV_ENOMEM;
    for (uint64_t i = feed->base; i < feed->head; i++)
        ring[i & (room - 1)] = *feed_frame_at(feed, i);
    free(feed->ring);
    feed->ring = ring;
    feed->ring_room = room;
    return 0;
}

/* Appends one more frame with the members of `what` and a reference to its
 * buffer. */
static int append_frame(struct ep_feed *feed, const struct feed_frame *what)
{
    struct feed_target *target;
    int rc = ring_grow(feed);

    if (rc != 0)
        return rc;
    ov_buf_ref(what->buf);
    ep_set_ref(what->set);
    *feed_frame_at(feed, feed->head) = *what;
    feed_frame_at(feed, feed->head)->at_bytes = feed->head_bytes;
    feed_frame_at(feed, feed->head++)->waiting =
        feed->reading - feed->spill.targets;
    feed->head_bytes += what->len_bytes;
    TAILQ_FOREACH (target, &feed->all, all) {
        if (target->state == TARGET_IDLE) {
            ep_target_settle(target);
            pump_now(feed);
        } else if (target->state == TARGET_BLOCKED) {
            ep_slow_check(target);
        }
    }
    ep_spill_settle(feed);
    ep_target_base_move(feed);
    return 0;
}

static bool may_push(const struct ep_feed *feed, const struct ov_buf *buf,
                     uint32_t off_bytes, uint32_t len_bytes)
{
    return !feed->has_ended && off_bytes <= buf->cap_bytes &&
           len_bytes <= buf->cap_bytes - off_bytes;
}

int ep_feed_push(struct ep_feed *feed, struct ov_buf *buf, uint32_t off_bytes,
                 uint32_t len_bytes)
{
    struct feed_frame frame = {
        .buf = buf, .off_bytes = off_bytes, .len_bytes = len_bytes};

    if (!may_push(feed, buf, off_bytes, len_bytes))
        return OV_EINVAL;
    return append_frame(feed, &frame);
}

int ep_feed_push_some(struct ep_feed *feed, struct ov_buf *buf,
                      uint32_t off_bytes, uint32_t len_bytes)
{
    struct feed_frame frame = {.buf = buf, .is_pushed = true};
    struct ov_push push;

    if (!may_push(feed, buf, off_bytes, len_bytes))
        return OV_EINVAL;
    if (ov_push_decode(buf->mem + off_bytes, len_bytes, &push) == 0 &&
        ep_set_apply(feed, &push) == 0) {
        frame.off_bytes = off_bytes + push.off_bytes;
        frame.len_bytes = push.len_bytes;
        frame.set = feed->set;
        frame.closes = (push.flags & OV_PUSH_CLOSE) != 0;
    }
    return append_frame(feed, &frame);
}

void ep_feed_end(struct ep_feed *feed)
{
    struct feed_target *target;

    feed->has_ended = true;
    TAILQ_FOREACH (target, &feed->all, all) {
        if (target->state == TARGET_IDLE)
            ep_target_settle(target);
    }
}

/* Returns how many frames the target has passed, or need not wait for it. */
static uint64_t frames_done(const struct feed_target *target)
{
    return target->is_spilled ? target->feed->spill.saved : target->next;
}

bool ep_feed_holder(const struct ep_feed *feed, uint32_t *proc, uint64_t *done)
{
    const struct feed_target *target, *last = NULL;

    TAILQ_FOREACH (target, &feed->all, all) {
        if (target->state == TARGET_DONE || frames_done(target) >= feed->head)
            continue;
        if (last == NULL || frames_done(target) < frames_done(last) ||
            (frames_done(target) == frames_done(last) &&
             target->written_bytes < last->written_bytes))
            last = target;
    }
    if (last == NULL)
        return false;
    *proc = last->proc;
    *done = frames_done(last);
    return true;
}

uint64_t ep_feed_taken(const struct ep_feed *feed, uint32_t proc)
{
    const struct feed_target *target = target_find(feed, proc);

    return target == NULL ? 0 : ep_target_own_taken(target);
}
