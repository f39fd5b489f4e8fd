/* Feeding the standard input of one node's processes.
 *
 * A feed is one stream on one node: a sequence of frames, pushed once, written
 * to the pipe of every target at the target's own pace. Frames are references
 * to shared buffers and are never copied; a frame is let go when the last
 * target has it. How far the slowest target is behind is the caller's matter:
 * it stops pushing when its window is full.
 *
 * A target that closes its stdin, or is dropped, counts as having consumed
 * everything. Writing to such a pipe raises SIGPIPE, which the program must
 * ignore.
 */
#ifndef ENDPOINTS_DAEMON_FEED_H
#define ENDPOINTS_DAEMON_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include "overlay/base/buf.h"

struct event_base;
struct ep_feed;

enum { EP_FEED_FRAMES_MAX = 65536 };

struct ep_feed_events {
    /* Every remaining target has the first frames_total frames whole. Only
     * grows. Comes from the event loop, never from within a call; may call
     * anything below. */
    void (*on_consumed)(void *arg, uint64_t frames_total);
    /* The feed held the last reference of buf: give it back to its pool.
     * Also called from within push, drop and close. Must not call back. */
    void (*on_free)(void *arg, struct ov_buf *buf);
};

/* Makes a feed without targets. base and events are borrowed. Returns 0 or
 * OV_ENOMEM. */
int ep_feed_open(struct event_base *base, const struct ep_feed_events *events,
                 void *arg, struct ep_feed **out);

/* Drops all frames and closes all targets, without callbacks to on_consumed.
 * NULL is allowed. */
void ep_feed_close(struct ep_feed *feed);

/* Adds the process `proc`, which gets the stream from its first byte, also
 * when frames are already under way. Takes fd, the write end of its pipe, and
 * makes it non-blocking.
 * Returns 0, OV_EINVAL (frames are gone already, or proc is a target),
 * OV_ESYS or OV_ENOMEM; fd is then still the caller's.
 */
int ep_feed_target(struct ep_feed *feed, int fd, uint32_t proc);

/* Closes the target's pipe, if open, and forgets it. Unknown ones are
 * ignored. */
void ep_feed_drop_target(struct ep_feed *feed, uint32_t proc);

/* Appends len_bytes of buf, from off_bytes, as the next frame, and takes a
 * reference of its own. Without targets that still read it is consumed at
 * once. Returns 0, OV_EINVAL after ep_feed_end, OV_EFULL (EP_FEED_FRAMES_MAX
 * are kept) or OV_ENOMEM.
 */
int ep_feed_push(struct ep_feed *feed, struct ov_buf *buf, uint32_t off_bytes,
                 uint32_t len_bytes);

/* No more frames: each target's stdin is closed when it has everything. */
void ep_feed_end(struct ep_feed *feed);

/* The target that is furthest behind, and how many frames it has whole. False
 * when nobody is behind. Cost: O(targets). */
bool ep_feed_holder(const struct ep_feed *feed, uint32_t *proc,
                    uint64_t *frames_done);

/* Bytes the process took from its pipe: what was written less what lies there
 * still, also after its stdin was closed by the end or by itself. (Where there
 * is no /proc, what lay there at the end counts as taken.) 0 for an unknown
 * proc. */
uint64_t ep_feed_taken(const struct ep_feed *feed, uint32_t proc);

#endif
