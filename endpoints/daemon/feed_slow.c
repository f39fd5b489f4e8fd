/* Decides when a target is too slow.
 *
 * A target is behind when its pipe is full and at least half of the stream's
 * window waits for it. That alone says little: of several equal readers one
 * always is behind for a moment. So the feed looks several times, at intervals.
 * A target is slow when every look without a break found it behind (policy
 * spill), or when it has not read a byte in all that time (policy close). Looks
 * are counted and not time, so that a daemon that was delayed itself does not
 * blame a target.
 *
 * A node knows its own targets only, and not what waits on other nodes. But
 * when one target determines the pace of the stream, the window of that target
 * is full all the time; faster targets reach the end of the window again and
 * again.
 *
 * In a shared stream (feed.h) one frame that waits is enough, as the rest of
 * the window may be full of frames for other jobs. A target there is closed
 * only when it has read nothing since its owner was told that it is behind.
 *
 * With policy wait nothing is done about a slow target, except in a shared
 * stream. Its owner is told when it has been behind for unread_ms and has not
 * read a byte in that time.
 *
 * A target that was spilled once is spilled without looks the next time. All
 * targets wait while the feed looks at a slow one, and this way they wait only
 * once. A target is closed only when the whole window waits for it: then no
 * frame can come for any target.
 */
#include "config.h"

#include "endpoints/daemon/feed_impl.h"
#include "overlay/base/err.h"

enum { LOOKS = 10 };

static uint64_t left_frames(const struct feed_target *target)
{
    return target->feed->head - target->next;
}

static bool is_behind(const struct feed_target *target)
{
    return target->state == TARGET_BLOCKED && !target->is_spilled &&
           left_frames(target) >= target->feed->behind_frames;
}

/* Tells whether slow targets are reported, and left alone. */
static bool only_tells(const struct ep_feed *feed)
{
    return feed->slow.policy == JOB_SLOW_WAIT && !feed->slow.is_shared;
}

static bool holds_all(const struct feed_target *target)
{
    const struct ep_feed *feed = target->feed;

    return !feed->has_ended && left_frames(target) >= feed->slow.window_frames;
}

static void look_again(struct ep_feed *feed)
{
    uint64_t us = feed->slow.after_ms * UINT64_C(1000) / LOOKS;
    struct timeval wait = {(time_t)(us / 1000000), (suseconds_t)(us % 1000000)};

    if (!feed->is_paused && !evtimer_pending(feed->look, NULL))
        event_add(feed->look, &wait);
}

static void act(struct feed_target *target)
{
    struct ep_feed *feed = target->feed;

    if (ep_feed_spills(feed)) {
        ep_spill_begin(target);
        if (feed->slow.is_shared)
            look_again(feed); /* find out whether it reads at all */
    } else if (holds_all(target) &&
               ep_target_taken(target) == target->seen_bytes) {
        ep_target_end(target);
        feed->events->on_slow(feed->arg, target->proc, JOB_STDIN_CLOSED, 0);
    }
}

void ep_slow_check(struct feed_target *target)
{
    struct ep_feed *feed = target->feed;
    bool was_spilled =
        target->was_spilled && (!target->is_told || feed->slow.is_shared);
    bool is_known = target->looks >= LOOKS || was_spilled;

    if (feed->look == NULL || !is_behind(target))
        return;
    if (is_known && !feed->is_paused && !only_tells(feed))
        act(target);
    else
        look_again(feed);
}

/* Finds out whether the target has read anything since the last look. */
static bool has_read_since(struct feed_target *target)
{
    uint64_t before = target->seen_bytes;

    target->seen_bytes = ep_target_taken(target);
    return target->seen_bytes != before;
}

/* One look at a target. Returns true when another look is needed. */
static bool look_at(struct feed_target *target, bool has_read)
{
    if (only_tells(target->feed))
        return false;
    if (!is_behind(target) || (has_read && !ep_feed_spills(target->feed))) {
        target->looks = 0;
    } else if (target->looks < LOOKS) {
        target->looks++;
    }
    if (target->looks == LOOKS)
        act(target);
    return is_behind(target);
}

static void act_unread(struct feed_target *target)
{
    struct ep_feed *feed = target->feed;
    bool closes = feed->slow.policy == JOB_SLOW_CLOSE;

    if (closes)
        ep_target_end(target);
    feed->events->on_slow(feed->arg, target->proc,
                          closes ? JOB_STDIN_CLOSED : JOB_STDIN_UNREAD, 0);
}

/* Counts the looks at which a target that is behind has read nothing. Returns
 * true when another look is needed. */
static bool look_if_unread(struct feed_target *target, bool has_read)
{
    const struct ep_feed *feed = target->feed;
    bool is_held = only_tells(feed) ? is_behind(target) : target->is_behind;
    uint64_t looks =
        (uint64_t)feed->slow.unread_ms * LOOKS / feed->slow.after_ms;

    /* the owner has been told that it does not read */
    if (target->unread > looks)
        return false;
    target->unread = has_read || !is_held ? 0 : target->unread + 1;
    if (target->unread > looks) {
        act_unread(target);
        return false;
    }
    return only_tells(feed) ? is_held
                            : target->is_spilled && feed->slow.is_shared;
}

static void on_look(evutil_socket_t fd, short what, void *arg)
{
    struct ep_feed *feed = arg;
    struct feed_target *target;
    bool is_any = false;

    (void)fd;
    (void)what;
    TAILQ_FOREACH (target, &feed->all, all) {
        bool has_read = has_read_since(target);

        is_any |= look_at(target, has_read);
        is_any |= look_if_unread(target, has_read);
    }
    if (is_any)
        look_again(feed);
}

int ep_slow_open(struct ep_feed *feed)
{
    uint32_t half = feed->slow.window_frames / 2;

    /* In a shared stream the rest of the window may be for other jobs. */
    feed->behind_frames = half > 0 && !feed->slow.is_shared ? half : 1;
    feed->look = evtimer_new(feed->loop, on_look, feed);
    return feed->look != NULL ? 0 : OV_ENOMEM;
}

void ep_slow_pause(struct ep_feed *feed, bool is_paused)
{
    struct feed_target *target;

    feed->is_paused = is_paused;
    if (feed->look == NULL)
        return;
    event_del(feed->look);
    TAILQ_FOREACH (target, &feed->all, all)
        target->looks = 0;
    if (!is_paused)
        look_again(feed);
}
