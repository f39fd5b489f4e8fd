/* One stream of frames to many pipes.
 *
 * Frames are kept in a ring from `base` to `head` (numbers of frames since
 * the start). Each counts the targets that do not have it yet; base moves over
 * frames whose count is 0. A target is idle (it has everything), runnable
 * (queued for the pump) or blocked (its pipe is full). The pump is a timer of
 * zero: it gives each runnable target one write in turn, up to a bound, and
 * then lets other events have theirs.
 */
#include "config.h"

#include "endpoints/daemon/feed.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/queue.h>
#include <sys/uio.h>
#include <unistd.h>

#include <event2/event.h>

#include "overlay/base/err.h"

enum {
    TURNS_PER_PUMP = 32,
    FRAMES_PER_WRITE = 16,
    BYTES_PER_WRITE = 64 * 1024, /* what a pipe holds as a rule */
    RING_MIN = 16,
};

enum target_state { TARGET_IDLE, TARGET_RUNNABLE, TARGET_BLOCKED, TARGET_DONE };

struct frame {
    struct ov_buf *buf; /* one reference owned */
    uint32_t off_bytes;
    uint32_t len_bytes;
    uint32_t waiting; /* targets that do not have it whole */
};

struct target {
    TAILQ_ENTRY(target) all;
    TAILQ_ENTRY(target) turn; /* while runnable */
    struct ep_feed *feed;     /* borrowed */
    struct event *writable;   /* owned */
    int fd;                   /* owned; -1 when done */
    int look_fd;              /* owned: into the pipe when done; -1: none */
    uint32_t proc;
    enum target_state state;
    uint64_t next;        /* first frame it does not have whole */
    uint32_t begun_bytes; /* of that frame, written already */
    uint64_t written_bytes;
    uint32_t left_bytes; /* in a pipe that nobody reads any more */
};

TAILQ_HEAD(targets, target);

struct ep_feed {
    struct event_base *loop; /* borrowed */
    const struct ep_feed_events *events;
    void *arg;
    struct event *pump; /* owned */
    struct targets all;
    struct targets turns;
    uint32_t reading; /* targets not done */
    struct frame *ring;
    uint32_t ring_room; /* a power of two, or 0 */
    uint64_t base;
    uint64_t head;
    uint64_t told; /* last on_consumed */
    bool has_ended;
    bool *closed; /* borrowed: set when closed during a callback */
};

static struct frame *frame_at(const struct ep_feed *feed, uint64_t number)
{
    return &feed->ring[number & (feed->ring_room - 1)];
}

static void pump_wake(struct ep_feed *feed)
{
    static const struct timeval now = {0};

    /* Not event_active: that runs before other events are looked for. */
    if (!evtimer_pending(feed->pump, NULL))
        event_add(feed->pump, &now);
}

/* After the callback that brought a frame, while it is in the cache. */
static void pump_now(struct ep_feed *feed)
{
    event_active(feed->pump, EV_WRITE, 0);
}

static void base_move(struct ep_feed *feed)
{
    while (feed->base < feed->head &&
           frame_at(feed, feed->base)->waiting == 0) {
        struct ov_buf *buf = frame_at(feed, feed->base)->buf;

        feed->base++;
        if (ov_buf_unref(buf))
            feed->events->on_free(feed->arg, buf);
    }
    if (feed->base != feed->told)
        pump_wake(feed);
}

static void target_state_set(struct target *target, enum target_state state)
{
    struct ep_feed *feed = target->feed;

    if (target->state == TARGET_RUNNABLE)
        TAILQ_REMOVE(&feed->turns, target, turn);
    if (state == TARGET_RUNNABLE) {
        TAILQ_INSERT_TAIL(&feed->turns, target, turn);
        pump_wake(feed);
    }
    target->state = state;
}

static uint32_t pipe_bytes(int fd)
{
    int bytes = 0;

    if (fd < 0 || ioctl(fd, FIONREAD, &bytes) != 0 || bytes < 0)
        return 0;
    return (uint32_t)bytes;
}

/* The target reads no more: what it does not have, it does not want. */
static void target_finish(struct target *target)
{
    struct ep_feed *feed = target->feed;

    if (target->state == TARGET_DONE)
        return;
    target_state_set(target, TARGET_DONE);
    event_del(target->writable);
    close(target->fd);
    target->fd = -1;
    feed->reading--;
    for (uint64_t i = target->next; i < feed->head; i++)
        frame_at(feed, i)->waiting--;
    target->next = feed->head;
    base_move(feed);
}

/* It has everything, or gets no more. What it takes of that we shall be asked:
 * a read end of our own lets us look, and keeps nobody from seeing the end. */
static void target_end(struct target *target)
{
    char path[32];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", target->fd);
    target->look_fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    target_finish(target);
}

/* It has closed its stdin. */
static void target_break(struct target *target)
{
    target->left_bytes = pipe_bytes(target->fd);
    target_finish(target);
}

/* Looks what is to be done for a target that is idle or had its turn. */
static void target_settle(struct target *target)
{
    if (target->next < target->feed->head)
        target_state_set(target, TARGET_RUNNABLE);
    else if (target->feed->has_ended)
        target_end(target);
    else
        target_state_set(target, TARGET_IDLE);
}

/* Notes written bytes; frames of no length pass by. */
static void target_advance(struct target *target, size_t written)
{
    struct ep_feed *feed = target->feed;

    target->written_bytes += written;
    while (target->next < feed->head) {
        struct frame *frame = frame_at(feed, target->next);
        uint32_t left = frame->len_bytes - target->begun_bytes;

        if (written < left) {
            target->begun_bytes += (uint32_t)written;
            break;
        }
        written -= left;
        target->begun_bytes = 0;
        target->next++;
        frame->waiting--;
    }
    base_move(feed);
}

/* What the next turn shall write: frames and, in *total, bytes. */
static unsigned slices_fill(const struct target *target, struct iovec *iov,
                            size_t *total)
{
    uint64_t number = target->next;
    uint32_t begun = target->begun_bytes;
    unsigned count = 0;

    *total = 0;
    while (number < target->feed->head && count < FRAMES_PER_WRITE &&
           *total < BYTES_PER_WRITE) {
        const struct frame *frame = frame_at(target->feed, number++);

        iov[count].iov_base = frame->buf->mem + frame->off_bytes + begun;
        iov[count].iov_len = frame->len_bytes - begun;
        *total += iov[count++].iov_len;
        begun = 0;
    }
    return count;
}

/* One turn: one write. */
static void target_write(struct target *target)
{
    struct iovec iov[FRAMES_PER_WRITE];
    size_t total;
    unsigned count = slices_fill(target, iov, &total);
    ssize_t written;

    do {
        written = writev(target->fd, iov, (int)count);
    } while (written < 0 && errno == EINTR);
    if (written < 0 && errno != EAGAIN) {
        target_break(target); /* EPIPE */
        return;
    }
    if (written >= 0)
        target_advance(target, (size_t)written);
    /* A short write means that the pipe is full. */
    if (written < (ssize_t)total)
        target_state_set(target, TARGET_BLOCKED);
    else
        target_settle(target);
}

/* Edge-triggered: it comes whenever the pipe gets room again, and costs no
 * system call for being asked. */
static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct target *target = arg;

    (void)fd;
    (void)what;
    if (target->state == TARGET_BLOCKED)
        target_state_set(target, TARGET_RUNNABLE);
}

static void on_pump(evutil_socket_t fd, short what, void *arg)
{
    struct ep_feed *feed = arg;
    struct target *target;
    bool closed = false;

    (void)fd;
    (void)what;
    for (unsigned i = 0; i < TURNS_PER_PUMP; i++) {
        target = TAILQ_FIRST(&feed->turns);
        if (target == NULL)
            break;
        target_write(target);
    }
    if (feed->told != feed->base) {
        feed->told = feed->base;
        feed->closed = &closed;
        feed->events->on_consumed(feed->arg, feed->told);
        if (closed)
            return;
        feed->closed = NULL;
    }
    if (!TAILQ_EMPTY(&feed->turns))
        pump_wake(feed);
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
    feed->pump = evtimer_new(base, on_pump, feed);
    if (feed->pump == NULL) {
        free(feed);
        return OV_ENOMEM;
    }
    *out = feed;
    return 0;
}

static void target_free(struct target *target)
{
    target_finish(target);
    TAILQ_REMOVE(&target->feed->all, target, all);
    if (target->look_fd >= 0)
        close(target->look_fd);
    event_free(target->writable);
    free(target);
}

void ep_feed_close(struct ep_feed *feed)
{
    struct target *target;

    if (feed == NULL)
        return;
    if (feed->closed != NULL)
        *feed->closed = true;
    while ((target = TAILQ_FIRST(&feed->all)) != NULL)
        target_free(target);
    event_free(feed->pump);
    free(feed->ring);
    free(feed);
}

static struct target *target_find(const struct ep_feed *feed, uint32_t proc)
{
    struct target *target;

    TAILQ_FOREACH (target, &feed->all, all) {
        if (target->proc == proc)
            return target;
    }
    return NULL;
}

int ep_feed_target(struct ep_feed *feed, int fd, uint32_t proc)
{
    struct target *target;
    int flags = fcntl(fd, F_GETFL);

    if (feed->base > 0 || target_find(feed, proc) != NULL)
        return OV_EINVAL;
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0)
        return OV_ESYS;
    target = calloc(1, sizeof(*target));
    if (target == NULL)
        return OV_ENOMEM;
    target->feed = feed;
    target->fd = fd;
    target->look_fd = -1;
    target->proc = proc;
    target->writable = event_new(feed->loop, fd, EV_WRITE | EV_ET | EV_PERSIST,
                                 on_writable, target);
    if (target->writable == NULL || event_add(target->writable, NULL) != 0) {
        if (target->writable != NULL)
            event_free(target->writable);
        free(target);
        return OV_ENOMEM;
    }
    TAILQ_INSERT_TAIL(&feed->all, target, all);
    feed->reading++;
    for (uint64_t i = 0; i < feed->head; i++)
        frame_at(feed, i)->waiting++;
    target_settle(target);
    return 0;
}

void ep_feed_drop_target(struct ep_feed *feed, uint32_t proc)
{
    struct target *target = target_find(feed, proc);

    if (target != NULL)
        target_free(target);
}

static int ring_grow(struct ep_feed *feed)
{
    uint32_t room = feed->ring_room > 0 ? feed->ring_room * 2 : RING_MIN;
    struct frame *ring;

    if (feed->head - feed->base < feed->ring_room)
        return 0;
    if (room > EP_FEED_FRAMES_MAX)
        return OV_EFULL;
    ring = calloc(room, sizeof(*ring));
    if (ring == NULL)
        return OV_ENOMEM;
    for (uint64_t i = feed->base; i < feed->head; i++)
        ring[i & (room - 1)] = *frame_at(feed, i);
    free(feed->ring);
    feed->ring = ring;
    feed->ring_room = room;
    return 0;
}

int ep_feed_push(struct ep_feed *feed, struct ov_buf *buf, uint32_t off_bytes,
                 uint32_t len_bytes)
{
    struct target *target;
    int rc;

    if (feed->has_ended || off_bytes > buf->cap_bytes ||
        len_bytes > buf->cap_bytes - off_bytes)
        return OV_EINVAL;
    rc = ring_grow(feed);
    if (rc != 0)
        return rc;
    *frame_at(feed, feed->head++) = (struct frame){
        .buf = ov_buf_ref(buf),
        .off_bytes = off_bytes,
        .len_bytes = len_bytes,
        .waiting = feed->reading,
    };
    TAILQ_FOREACH (target, &feed->all, all) {
        if (target->state != TARGET_IDLE)
            continue;
        target_settle(target);
        pump_now(feed);
    }
    base_move(feed);
    return 0;
}

void ep_feed_end(struct ep_feed *feed)
{
    struct target *target;

    feed->has_ended = true;
    TAILQ_FOREACH (target, &feed->all, all) {
        if (target->state == TARGET_IDLE)
            target_settle(target);
    }
}

bool ep_feed_holder(const struct ep_feed *feed, uint32_t *proc,
                    uint64_t *frames_done)
{
    const struct target *target;
    uint64_t least = feed->head;

    TAILQ_FOREACH (target, &feed->all, all) {
        if (target->state == TARGET_DONE || target->next >= least)
            continue;
        least = target->next;
        *proc = target->proc;
        *frames_done = least;
    }
    return least < feed->head;
}

uint64_t ep_feed_taken(const struct ep_feed *feed, uint32_t proc)
{
    const struct target *target = target_find(feed, proc);

    if (target == NULL)
        return 0;
    return target->written_bytes - target->left_bytes -
           pipe_bytes(target->fd >= 0 ? target->fd : target->look_fd);
}
