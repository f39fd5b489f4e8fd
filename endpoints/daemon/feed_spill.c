/* Spilled targets: they get their bytes from the store. */
#include "config.h"

#include "endpoints/daemon/feed_spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "endpoints/daemon/feed_impl.h"
#include "endpoints/sys/tape.h"
#include "overlay/base/err.h"

enum {
    /* Size of a block of the store. Few blocks are in memory: frames that the
     * store does not take yet wait in the stream's window. */
    BLOCK_BYTES = 256 * 1024,
    SHARED_BLOCK_BYTES = 64 * 1024,
    MEM_BLOCKS = 2,
    ON_ITS_WAY_BYTES = 64 << 20,
    /* The least number of bytes that is fetched. A pipe that has room takes
     * this many, even when the way its bytes lie in it makes the room look
     * smaller. */
    FETCH_MIN = 4096,
    FETCH_MAX = 64 * 1024,
};

/* --- saving
 * */

/* Reports, once, about the target that is furthest behind, that the store is
 * full. In a shared stream that was reported before, at the target's bound. */
static void tell_full(struct ep_feed *feed)
{
    int full = feed->slow.is_shared ? EFBIG : 0;
    int err = ep_tape_errno(feed->spill.tape);
    struct feed_target *target, *last = NULL;

    TAILQ_FOREACH (target, &feed->all, all) {
        if (target->is_spilled &&
            (last == NULL || target->place_bytes < last->place_bytes))
            last = target;
    }
    if (last == NULL || last->is_told)
        return;
    last->is_told = true;
    if (err == 0)
        err = full;
    feed->events->on_slow(feed->arg, last->proc,
                          err != 0 ? JOB_STDIN_UNSAVED : JOB_STDIN_FULL, err);
}

/* Puts the rest of a frame into the store, which may have some of its bytes
 * already. */
static int put_frame(struct ep_feed *feed, const struct feed_frame *frame)
{
    uint64_t begun = ep_tape_end(feed->spill.tape) - frame->at_bytes;

    return ep_tape_put(feed->spill.tape,
                       frame->buf->mem + frame->off_bytes + begun,
                       frame->len_bytes - (uint32_t)begun);
}

/* Saves frames until the store refuses one. */
static void save_frames(struct ep_feed *feed)
{
    int rc = 0;

    if (feed->spill.targets == 0)
        return;
    while (rc == 0 && feed->spill.saved < feed->head &&
           ep_span_room(feed) > 0) {
        rc = put_frame(feed, feed_frame_at(feed, feed->spill.saved));
        if (rc == 0)
            ep_span_save(feed, feed->spill.saved++);
    }
    if (feed->spill.saved < feed->head && rc != OV_EAGAIN)
        tell_full(feed);
    ep_target_base_move(feed);
}

/* Empties the store and begins it again at a frame, when no target needs its
 * bytes. */
static void restart(struct ep_feed *feed, uint64_t number)
{
    ep_tape_start(feed->spill.tape, ep_feed_bytes_at(feed, number));
    ep_span_clear(feed);
    feed->spill.saved = number;
}

void ep_spill_begin(struct feed_target *target)
{
    struct ep_feed *feed = target->feed;

    /* The store begins at `base`, for further targets that are only a little
     * faster. */
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

/* Makes a target that has all saved bytes an ordinary one again. */
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

/* Reports that a target's bytes cannot be read back. The owner decides what has
 * to end because of it. */
static void lose_target(struct feed_target *target, int err)
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

/* Writes the bytes that were read to the target. After a short write the pipe
 * is full. */
static void deliver(struct feed_target *target, const uint8_t *mem,
                    uint32_t len_bytes, bool is_pushed)
{
    struct iovec iov = {.iov_base = (uint8_t *)mem, .iov_len = len_bytes};
    size_t written;

    if (!ep_target_put(target, &iov, 1, &written))
        return;
    target->place_bytes += written;
    ep_target_note(target, written, is_pushed);
    ep_target_state_set(target,
                        written < len_bytes ? TARGET_BLOCKED : TARGET_RUNNABLE);
}

/* Reads bytes for a target from the store: at most len_bytes, and no more than
 * its pipe has room for. Returns false when they are still being read. */
static bool fetch(struct feed_target *target, uint64_t len_bytes,
                  bool is_pushed)
{
    struct ep_feed *feed = target->feed;
    uint64_t room = pipe_room(target);
    uint32_t len = (uint32_t)(len_bytes < FETCH_MAX ? len_bytes : FETCH_MAX);
    const uint8_t *mem;
    int rc;

    if (len > room)
        len = (uint32_t)room;
    rc = ep_tape_get(feed->spill.tape, target->place_bytes, &len, &mem);
    feed->spill.fetching = rc == OV_EAGAIN ? target : NULL;
    if (rc == OV_EAGAIN)
        return false;
    if (rc == 0)
        deliver(target, mem, len, is_pushed);
    else
        lose_target(target, errno);
    ep_tape_let_go(feed->spill.tape);
    return true;
}

/* Reads bytes for the waiting targets, one target after the other; those of the
 * first may be being read already. */
static void fetch_all(struct ep_feed *feed)
{
    struct feed_target *target;
    bool goes_on = true, is_pushed;
    uint64_t len_bytes;

    while (goes_on && (target = TAILQ_FIRST(&feed->spill.fetches)) != NULL) {
        switch (ep_span_next(target, &len_bytes, &is_pushed)) {
        case FEED_PLACE_BYTES:
            goes_on = fetch(target, len_bytes, is_pushed);
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

void ep_spill_turn(struct feed_target *target)
{
    ep_target_state_set(target, TARGET_FETCHING);
    fetch_all(target->feed);
}

/* --- the store
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
    ep_tape_forget(feed->spill.tape, needed);
    save_frames(feed);
}

/* Returns the limit of the file. In a shared stream it is above the target's
 * bound, because frames are still coming when the sender is told to stop. */
static uint64_t limit_bytes(const struct ep_feed_slow *slow)
{
    uint64_t bytes = slow->policy == JOB_SLOW_SPILL ? slow->spill_bytes : 0;

    return slow->is_shared ? bytes + ON_ITS_WAY_BYTES : bytes;
}

static void on_change(void *arg)
{
    struct ep_feed *feed = arg;

    fetch_all(feed);
    ep_spill_settle(feed);
}

int ep_spill_open(struct ep_feed *feed)
{
    bool is_asked_for = feed->slow.policy == JOB_SLOW_SPILL;
    struct ep_spool_cfg cfg = {
        .limit_bytes = limit_bytes(&feed->slow),
        .block_bytes = BLOCK_BYTES,
        .mem_blocks = MEM_BLOCKS,
        .dir = feed->slow.spill_dir,
        .may_lie_in_memory = !is_asked_for,
        .on_change = on_change,
        .arg = feed,
    };

    feed->spill.spans = calloc(FEED_SPANS_MAX, sizeof(*feed->spill.spans));
    if (feed->spill.spans == NULL)
        return OV_ENOMEM;
    if (feed->slow.is_shared) /* there may be many such feeds */
        cfg.block_bytes = SHARED_BLOCK_BYTES;
    return ep_tape_open(feed->slow.writer, &cfg, &feed->spill.tape);
}

void ep_spill_close(struct ep_feed *feed)
{
    ep_tape_close(feed->spill.tape);
    ep_span_clear(feed);
    free(feed->spill.spans);
}
