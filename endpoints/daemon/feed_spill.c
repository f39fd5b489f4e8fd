/* Targets that have their bytes from the backlog. */
#include "config.h"

#include "endpoints/daemon/feed_spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "endpoints/daemon/feed_impl.h"
#include "overlay/base/err.h"

enum {
    SAVE_BYTES = 1 << 20, /* of one append, if a frame is no larger */
    ON_ITS_WAY_BYTES = 64 << 20,
    /* A pipe that has room takes so much, though its bytes may lie in it so
     * that it seems to have less. */
    FETCH_MIN = 4096,
};

/* --- saving
 * */

/* The one that is furthest behind hears of it, once. */
static void tell(struct ep_feed *feed, enum job_stdin_event what, int err)
{
    struct feed_target *target, *last = NULL;

    TAILQ_FOREACH (target, &feed->all, all) {
        if (target->is_spilled &&
            (last == NULL || target->place_bytes < last->place_bytes))
            last = target;
    }
    if (last == NULL || last->is_told)
        return;
    last->is_told = true;
    feed->events->on_slow(feed->arg, last->proc, what, err);
}

static void break_saving(struct ep_feed *feed, int err)
{
    feed->spill.is_broken = true;
    tell(feed, JOB_STDIN_UNSAVED, err);
}

static void references_put(struct ep_feed *feed)
{
    while (feed->spill.saving_count > 0) {
        struct ov_buf *buf = feed->spill.saving[--feed->spill.saving_count];

        if (ov_buf_unref(buf))
            feed->events->on_free(feed->arg, buf);
    }
}

/* The next frames that fit the backlog: pieces and, in *bytes, their size. */
static void pieces_fill(struct ep_feed *feed, struct iovec *iov,
                        uint64_t *bytes)
{
    uint64_t room = ep_backlog_room(feed->spill.backlog);
    uint32_t spans = ep_span_room(feed);

    *bytes = 0;
    feed->spill.saving_frames = 0;
    for (uint64_t i = feed->spill.saved; i < feed->head; i++) {
        const struct feed_frame *frame = feed_frame_at(feed, i);
        unsigned n = feed->spill.saving_count;

        if (n == EP_BACKLOG_PIECES_MAX || *bytes >= SAVE_BYTES ||
            *bytes + frame->len_bytes > room ||
            feed->spill.saving_frames == spans)
            break;
        feed->spill.saving_frames++;
        if (frame->len_bytes == 0)
            continue;
        iov[n].iov_base = frame->buf->mem + frame->off_bytes;
        iov[n].iov_len = frame->len_bytes;
        feed->spill.saving[feed->spill.saving_count++] = ov_buf_ref(frame->buf);
        *bytes += frame->len_bytes;
    }
}

static void save_done(struct ep_feed *feed)
{
    for (uint32_t i = 0; i < feed->spill.saving_frames; i++)
        ep_span_save(feed, feed->spill.saved + i);
    feed->spill.saved += feed->spill.saving_frames;
    ep_target_base_move(feed);
}

static void save_more(struct ep_feed *feed)
{
    struct iovec iov[EP_BACKLOG_PIECES_MAX];
    uint64_t bytes;
    int err;

    if (feed->spill.targets == 0 || feed->spill.is_saving ||
        feed->spill.is_broken || feed->spill.saved == feed->head)
        return;
    pieces_fill(feed, iov, &bytes);
    if (feed->spill.saving_frames == 0) {
        /* In a shared stream the bound was told before. */
        if (feed->slow.is_shared)
            tell(feed, JOB_STDIN_UNSAVED, EFBIG);
        else
            tell(feed, JOB_STDIN_FULL, 0);
        return;
    }
    if (bytes == 0) {
        save_done(feed);
        return;
    }
    err = ep_backlog_append(feed->spill.backlog, iov, feed->spill.saving_count);
    feed->spill.is_saving = err == 0;
    if (err == 0)
        return;
    references_put(feed);
    break_saving(feed, err);
}

static void on_saved(void *arg, int err)
{
    struct ep_feed *feed = arg;
    bool is_stale = feed->spill.is_stale;

    feed->spill.is_saving = false;
    feed->spill.is_stale = false;
    references_put(feed);
    if (!is_stale && err != 0)
        break_saving(feed, err);
    else if (!is_stale)
        save_done(feed);
    ep_spill_settle(feed);
}

/* Nothing of what is in the backlog is needed: it begins anew, at a frame. */
static void restart(struct ep_feed *feed, uint64_t number)
{
    ep_backlog_start(feed->spill.backlog, ep_feed_bytes_at(feed, number));
    ep_span_clear(feed);
    feed->spill.saved = number;
    feed->spill.is_stale = feed->spill.is_saving;
    feed->spill.is_broken = false;
}

void ep_spill_begin(struct feed_target *target)
{
    struct ep_feed *feed = target->feed;

    /* From the base on, for others who are not much faster. */
    if (feed->spill.targets == 0)
        restart(feed, feed->base);
    for (uint64_t i = target->next; i < feed->head; i++)
        feed_frame_at(feed, i)->waiting--;
    target->is_spilled = true;
    target->was_spilled = true;
    target->place_bytes =
        ep_feed_bytes_at(feed, target->next) + target->begun_bytes;
    feed->spill.targets++;
    feed->spill.is_used = true;
    ep_spill_settle(feed);
}

/* --- reading
 * */

/* It has all that is saved: the rest comes from memory. */
static void rejoin(struct feed_target *target)
{
    struct ep_feed *feed = target->feed;

    target->is_spilled = false;
    feed->spill.targets--;
    ep_target_tell_behind(target);
    for (uint64_t i = target->next; i < feed->head; i++)
        feed_frame_at(feed, i)->waiting++;
    ep_target_settle(target);
}

/* Its bytes cannot be read back. The owner ends what must not go on. */
static void lose(struct feed_target *target, int err)
{
    struct ep_feed *feed = target->feed;

    ep_target_state_set(target, TARGET_BLOCKED);
    feed->events->on_slow(feed->arg, target->proc, JOB_STDIN_LOST, err);
}

static uint64_t pipe_room(const struct feed_target *target)
{
    int size = fcntl(target->fd, F_GETPIPE_SZ);
    uint32_t used = ep_target_pipe_bytes(target->fd);

    if (size < 0 || (uint32_t)size < used + FETCH_MIN)
        return FETCH_MIN;
    return (uint32_t)size - used;
}

/* Asks for bytes of it: at most len_bytes, and what its pipe has room for. */
static void fetch(struct feed_target *target, uint64_t len_bytes)
{
    struct ep_feed *feed = target->feed;
    uint64_t room = pipe_room(target);
    int err = ep_backlog_fetch(feed->spill.backlog, target->place_bytes,
                               (uint32_t)(room < len_bytes ? room : len_bytes));

    if (err != 0) {
        lose(target, err);
        return;
    }
    feed->spill.is_fetching = true;
    feed->spill.fetching = target;
}

static void fetch_next(struct ep_feed *feed)
{
    struct feed_target *target;
    uint64_t len_bytes;

    while (!feed->spill.is_fetching &&
           (target = TAILQ_FIRST(&feed->spill.fetches)) != NULL) {
        switch (
            ep_span_next(target, &len_bytes, &feed->spill.is_fetching_pushed)) {
        case FEED_PLACE_BYTES:
            fetch(target, len_bytes);
            break;
        case FEED_PLACE_CLOSED:
            ep_target_end(target);
            break;
        case FEED_PLACE_SAVED:
            rejoin(target);
            break;
        }
    }
}

static void on_fetched(void *arg, const uint8_t *mem, uint32_t len_bytes,
                       int err)
{
    struct ep_feed *feed = arg;
    struct feed_target *target = feed->spill.fetching;
    struct iovec iov = {.iov_base = (uint8_t *)mem, .iov_len = len_bytes};
    size_t written;

    feed->spill.is_fetching = false;
    feed->spill.fetching = NULL;
    if (target != NULL && err != 0) {
        lose(target, err);
    } else if (target != NULL && ep_target_put(target, &iov, 1, &written)) {
        target->place_bytes += written;
        ep_target_note(target, written, feed->spill.is_fetching_pushed);
        /* A short write means that the pipe is full. */
        ep_target_state_set(target, written < len_bytes ? TARGET_BLOCKED
                                                        : TARGET_FETCHING);
    }
    fetch_next(feed);
    ep_spill_settle(feed);
}

void ep_spill_turn(struct feed_target *target)
{
    struct ep_feed *feed = target->feed;

    ep_target_state_set(target, TARGET_FETCHING);
    fetch_next(feed);
}

/* --- the backlog
 * */

void ep_spill_settle(struct ep_feed *feed)
{
    struct feed_target *target;
    uint64_t needed, frame = feed->base;

    if (!feed->spill.is_used)
        return;
    if (feed->spill.targets == 0) {
        feed->spill.is_used = false;
        restart(feed, feed->head);
        ep_target_base_move(feed);
        return;
    }
    needed = ep_feed_bytes_at(feed, feed->base);
    TAILQ_FOREACH (target, &feed->all, all) {
        if (target->is_spilled && target->place_bytes < needed)
            needed = target->place_bytes;
        if (target->is_spilled && target->next < frame)
            frame = target->next;
    }
    ep_span_forget(feed, frame);
    TAILQ_FOREACH (target, &feed->all, all)
        ep_target_tell_behind(target);
    ep_backlog_forget(feed->spill.backlog, needed);
    save_more(feed);
}

/* In a shared stream frames are still on their way when the bound is told. */
static uint64_t limit_bytes(const struct ep_feed_slow *slow)
{
    uint64_t bytes = slow->policy == JOB_SLOW_SPILL ? slow->spill_bytes : 0;

    return slow->is_shared ? bytes + ON_ITS_WAY_BYTES : bytes;
}

int ep_spill_open(struct ep_feed *feed)
{
    static const struct ep_backlog_events events = {.on_saved = on_saved,
                                                    .on_fetched = on_fetched};
    struct ep_backlog_cfg cfg = {
        .writer = feed->slow.writer,
        .dir = feed->slow.spill_dir,
        /* Where the user has not asked for it the file is small. */
        .may_lie_in_memory = feed->slow.policy != JOB_SLOW_SPILL,
        .limit_bytes = limit_bytes(&feed->slow),
        .events = &events,
        .arg = feed,
    };

    feed->spill.spans = calloc(FEED_SPANS_MAX, sizeof(*feed->spill.spans));
    if (feed->spill.spans == NULL)
        return OV_ENOMEM;
    return ep_backlog_open(&cfg, &feed->spill.backlog);
}

void ep_spill_close(struct ep_feed *feed)
{
    if (ep_backlog_close(feed->spill.backlog))
        references_put(feed);
    ep_span_clear(feed);
    free(feed->spill.spans);
}
