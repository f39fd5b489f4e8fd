/* One target: its pipe, and how much it has read. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "endpoints/daemon/feed_impl.h"
#include "endpoints/sys/tape.h"
#include "overlay/base/err.h"

enum {
    FRAMES_PER_WRITE = 16,
    BYTES_PER_WRITE = 64 * 1024, /* usual capacity of a pipe */
    SHUT_US = 100 * 1000,
};

void ep_target_pump_wake(struct ep_feed *feed)
{
    static const struct timeval now = {0};

    /* Not event_active(): the loop would run it before it looks for other
     * events. */
    if (!evtimer_pending(feed->pump, NULL))
        event_add(feed->pump, &now);
}

void ep_target_base_move(struct ep_feed *feed)
{
    uint64_t end = feed->spill.targets > 0 ? feed->spill.saved : feed->head;

    while (feed->base < end && feed_frame_at(feed, feed->base)->waiting == 0) {
        struct ov_buf *buf = feed_frame_at(feed, feed->base)->buf;

        ep_set_unref(feed_frame_at(feed, feed->base)->set);
        feed->base++;
        if (ov_buf_unref(buf))
            feed->events->on_free(feed->arg, buf);
    }
    if (feed->base != feed->told)
        ep_target_pump_wake(feed);
}

void ep_target_state_set(struct feed_target *target, enum target_state state)
{
    struct ep_feed *feed = target->feed;

    if (target->state == TARGET_RUNNABLE)
        TAILQ_REMOVE(&feed->turns, target, turn);
    if (target->state == TARGET_FETCHING)
        TAILQ_REMOVE(&feed->spill.fetches, target, turn);
    if (state == TARGET_RUNNABLE) {
        TAILQ_INSERT_TAIL(&feed->turns, target, turn);
        ep_target_pump_wake(feed);
    }
    if (state == TARGET_FETCHING)
        TAILQ_INSERT_TAIL(&feed->spill.fetches, target, turn);
    target->state = state;
}

uint32_t ep_target_pipe_bytes(int fd)
{
    int bytes = 0;

    if (fd < 0 || ioctl(fd, FIONREAD, &bytes) != 0 || bytes < 0)
        return 0;
    return (uint32_t)bytes;
}

uint64_t ep_target_taken(const struct feed_target *target)
{
    int fd = target->fd >= 0 ? target->fd : target->look_fd;

    return target->written_bytes - target->left_bytes -
           ep_target_pipe_bytes(fd);
}

void ep_target_note(struct feed_target *target, size_t bytes, bool is_pushed)
{
    struct feed_run *runs = target->runs;

    if (bytes == 0)
        return;
    target->written_bytes += bytes;
    if (!is_pushed)
        target->own_bytes += bytes;
    if (runs[0].is_pushed != is_pushed) {
        memmove(runs + 1, runs, (FEED_RUNS_MAX - 1) * sizeof(runs[0]));
        runs[0] = (struct feed_run){.is_pushed = is_pushed};
    }
    runs[0].bytes += bytes;
}

/* The bytes in the pipe were written last. If these alternated between launcher
 * and clients more often than `runs` can hold, older bytes count as read: so no
 * process gets a byte twice. */
uint64_t ep_target_own_taken(const struct feed_target *target)
{
    uint64_t left = target->written_bytes - ep_target_taken(target);
    uint64_t own_left = 0;

    for (unsigned i = 0; i < FEED_RUNS_MAX && left > 0; i++) {
        const struct feed_run *run = &target->runs[i];
        uint64_t part = run->bytes < left ? run->bytes : left;

        if (!run->is_pushed)
            own_left += part;
        left -= part;
    }
    return target->own_bytes - own_left;
}

/* Returns how many bytes a target may be behind. */
static uint64_t bound_of(const struct ep_feed_slow *slow)
{
    return slow->policy == JOB_SLOW_SPILL ? slow->spill_bytes : 0;
}

static uint64_t left_bytes(const struct feed_target *target)
{
    return target->feed->head_bytes - target->place_bytes;
}

/* True when a target is behind by more bytes, or by more spans, than it may be.
 * It stays so until it has read half of them. */
static bool is_far_behind(const struct feed_target *target)
{
    const struct ep_feed *feed = target->feed;
    uint64_t bytes = bound_of(&feed->slow);
    uint32_t room = FEED_SPANS_MAX / 2;

    if (target->is_behind) {
        bytes /= 2;
        room += room / 2;
    }
    return left_bytes(target) > bytes || ep_span_room(feed) < room;
}

static void tell_slow(const struct feed_target *target,
                      enum job_stdin_event what)
{
    target->feed->events->on_slow(target->feed->arg, target->proc, what, 0);
}

/* Reports, once, that a target has reached the bound that the user has set. */
static void tell_bound(struct feed_target *target)
{
    const struct ep_feed_slow *slow = &target->feed->slow;

    if (target->is_told || slow->policy != JOB_SLOW_SPILL ||
        left_bytes(target) <= slow->spill_bytes)
        return;
    target->is_told = true;
    tell_slow(target, JOB_STDIN_FULL);
}

void ep_target_tell_behind(struct feed_target *target)
{
    bool is_behind = target->is_spilled && is_far_behind(target);

    if (!target->feed->slow.is_shared || is_behind == target->is_behind)
        return;
    target->is_behind = is_behind;
    tell_slow(target, is_behind ? JOB_STDIN_BEHIND : JOB_STDIN_FREE);
    if (is_behind)
        tell_bound(target);
}

static void leave_store(struct feed_target *target)
{
    struct ep_feed *feed = target->feed;

    if (!target->is_spilled)
        return;
    target->is_spilled = false;
    target->next = feed->head;
    feed->spill.targets--;
    if (feed->spill.fetching == target) {
        feed->spill.fetching = NULL;
        ep_tape_let_go(feed->spill.tape);
    }
    ep_target_tell_behind(target);
}

/* Ends a target that no longer reads, and does not need the bytes it lacks. */
static void finish(struct feed_target *target)
{
    struct ep_feed *feed = target->feed;

    if (target->state == TARGET_DONE)
        return;
    ep_target_state_set(target, TARGET_DONE);
    event_del(target->writable);
    close(target->fd);
    target->fd = -1;
    feed->reading--;
    leave_store(target);
    for (uint64_t i = target->next; i < feed->head; i++)
        feed_frame_at(feed, i)->waiting--;
    target->next = feed->head;
    ep_target_base_move(feed);
}

static void wait_for_shut(struct ep_feed *feed)
{
    static const struct timeval wait = {.tv_usec = SHUT_US};

    if (!evtimer_pending(feed->shut, NULL))
        event_add(feed->shut, &wait);
}

/* Notes that the pipe no longer has a reader. When the process has ended, the
 * owner soon learns that and drops the target: then this need not be
 * reported. */
static void note_shut(struct feed_target *target)
{
    target->left_bytes = ep_target_pipe_bytes(target->fd);
    finish(target);
    target->shut = SHUT_NEW;
    wait_for_shut(target->feed);
}

void ep_target_tell_shut(struct ep_feed *feed)
{
    struct feed_target *target;

    TAILQ_FOREACH (target, &feed->all, all) {
        if (target->shut == SHUT_OLD)
            tell_slow(target, JOB_STDIN_SHUT);
        if (target->shut == SHUT_NEW)
            wait_for_shut(feed);
        target->shut = target->shut == SHUT_NEW ? SHUT_OLD : SHUT_NOT;
    }
}

/* After the end, ep_feed_taken is asked how much the process reads of the bytes
 * that are in its pipe. A read end of our own lets us find out, and does not
 * keep the process from seeing the end of its stdin. */
void ep_target_end(struct feed_target *target)
{
    char path[32];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", target->fd);
    target->look_fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    finish(target);
}

static bool has_no_reader(int fd)
{
    struct pollfd poll_fd = {.fd = fd};

    return poll(&poll_fd, 1, 0) == 1 && (poll_fd.revents & POLLERR) != 0;
}

/* Ends or idles a target for which nothing is left to write. */
static void rest(struct feed_target *target)
{
    bool is_doubtful = target->is_doubtful;

    target->is_doubtful = false;
    if (target->feed->has_ended)
        ep_target_end(target);
    else if (is_doubtful && has_no_reader(target->fd))
        note_shut(target);
    else
        ep_target_state_set(target, TARGET_IDLE);
}

void ep_target_settle(struct feed_target *target)
{
    if (target->next < target->feed->head)
        ep_target_state_set(target, TARGET_RUNNABLE);
    else
        rest(target);
}

/* Returns how many bytes of a frame are for a target. */
static uint32_t its_bytes(const struct feed_target *target,
                          const struct feed_frame *frame)
{
    return ep_set_has(frame->set, target) ? frame->len_bytes : 0;
}

static bool is_last(const struct feed_target *target,
                    const struct feed_frame *frame)
{
    return frame->closes && ep_set_has(frame->set, target);
}

/* Notes written bytes, and passes frames that have no bytes for the target. */
static void advance_target(struct feed_target *target, size_t written)
{
    struct ep_feed *feed = target->feed;

    while (target->next < feed->head && !target->is_closing) {
        struct feed_frame *frame = feed_frame_at(feed, target->next);
        uint32_t left = its_bytes(target, frame) - target->begun_bytes;

        if (written < left) {
            ep_target_note(target, written, frame->is_pushed);
            target->begun_bytes += (uint32_t)written;
            break;
        }
        ep_target_note(target, left, frame->is_pushed);
        written -= left;
        target->begun_bytes = 0;
        target->is_closing = is_last(target, frame);
        target->next++;
        frame->waiting--;
    }
    if (feed->head - target->next < feed->behind_frames)
        target->looks = 0;
    ep_target_base_move(feed);
}

/* Collects what the next turn writes: slices of frames, and their bytes in
 * *total. */
static unsigned slices_fill(const struct feed_target *target, struct iovec *iov,
                            size_t *total)
{
    uint64_t number = target->next;
    uint32_t begun = target->begun_bytes;
    unsigned count = 0;

    *total = 0;
    while (number < target->feed->head && count < FRAMES_PER_WRITE &&
           *total < BYTES_PER_WRITE) {
        const struct feed_frame *frame = feed_frame_at(target->feed, number++);

        iov[count].iov_base = frame->buf->mem + frame->off_bytes + begun;
        iov[count].iov_len = its_bytes(target, frame) - begun;
        *total += iov[count++].iov_len;
        begun = 0;
        if (is_last(target, frame))
            break;
    }
    return count;
}

bool ep_target_put(struct feed_target *target, const struct iovec *iov,
                   unsigned count, size_t *written)
{
    ssize_t put;

    *written = 0;
    do {
        put = writev(target->fd, iov, (int)count);
    } while (put < 0 && errno == EINTR);
    if (put < 0 && errno != EAGAIN) {
        /* EPIPE: the reader has closed the pipe */
        note_shut(target);
        return false;
    }
    if (put > 0)
        *written = (size_t)put;
    return true;
}

void ep_target_turn(struct feed_target *target)
{
    struct iovec iov[FRAMES_PER_WRITE];
    size_t total, written = 0;
    unsigned count = slices_fill(target, iov, &total);

    if (total > 0 && !ep_target_put(target, iov, count, &written))
        return;
    advance_target(target, written);
    if (target->is_closing)
        ep_target_end(target);
    /* After a short write the pipe is full. */
    else if (written < total)
        ep_target_state_set(target, TARGET_BLOCKED);
    else
        ep_target_settle(target);
}

/* The event is edge-triggered: it comes whenever the pipe gets room again or
 * loses its reader, and needs no system call to be rearmed. A target that has
 * something to write notices a lost reader when it writes. */
static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct feed_target *target = arg;

    (void)what;
    if (target->state == TARGET_BLOCKED)
        ep_target_state_set(target, TARGET_RUNNABLE);
    else if (target->state != TARGET_IDLE)
        target->is_doubtful = true;
    else if (has_no_reader(fd))
        note_shut(target);
}

int ep_target_open(struct ep_feed *feed, int fd, uint32_t proc,
                   struct feed_target **out)
{
    struct feed_target *target;
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0)
        return OV_ESYS;
    target = calloc(1, sizeof(*target));
    if (target == NULL)
        return OV_ENOMEM;
    target->feed = feed;
    target->fd = fd;
    target->look_fd = -1;
    target->proc = proc;
    target->index = feed->targets_count++;
    target->writable = event_new(feed->loop, fd, EV_WRITE | EV_ET | EV_PERSIST,
                                 on_writable, target);
    if (target->writable == NULL || event_add(target->writable, NULL) != 0) {
        if (target->writable != NULL)
            event_free(target->writable);
        free(target);
        return OV_ENOMEM;
    }
    *out = target;
    return 0;
}

void ep_target_free(struct feed_target *target)
{
    finish(target);
    TAILQ_REMOVE(&target->feed->all, target, all);
    if (target->look_fd >= 0)
        close(target->look_fd);
    event_free(target->writable);
    free(target);
}
