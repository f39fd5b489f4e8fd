/* Feeds the standard input of one node's processes.
 *
 * A feed is one stream on one node: a sequence of frames, pushed once, and
 * written to the pipe of every target at the target's own pace. Frames are
 * references to shared buffers and are never copied; a frame is released when
 * the last target has received it. The feed reports how many frames all targets
 * have received, and the caller stops pushing when its window is full.
 *
 * The policy (ep_feed_slow) says what happens with a slow target: the feed's
 * count of consumed frames waits for it, or its bytes are kept in a file and
 * the count does not wait, or its stdin is closed.
 *
 * A target that closes its stdin, or is dropped, counts as having consumed
 * everything. Writing to such a pipe raises SIGPIPE, which the program must
 * ignore.
 */
#ifndef ENDPOINTS_DAEMON_FEED_H
#define ENDPOINTS_DAEMON_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include "job/job.h"
#include "job/word.h"
#include "overlay/base/buf.h"

struct event_base;
struct ep_feed;
struct ep_writer;

enum { EP_FEED_FRAMES_MAX = 65536 };

struct ep_feed_events {
    /* Every remaining target has received the first frames_total frames
     * completely. The number only grows. Called from the event loop, never from
     * within a call; may call anything below. */
    void (*on_consumed)(void *arg, uint64_t frames_total);
    /* The feed has released the last reference to buf; the owner returns buf to
     * its pool. Also called from within push, drop and close. Must not call any
     * function of the feed. */
    void (*on_free)(void *arg, struct ov_buf *buf);
    /* Reports what happened with a slow target. FULL, UNSAVED and UNREAD come
     * at most once per target. In a shared stream BEHIND and FREE alternate,
     * and UNREAD comes when the policy does not close the target; in any other
     * stream UNREAD comes with policy wait. SHUT: the target has closed its
     * stdin itself, and nobody dropped it within a tenth of a second, or two at
     * most. After LOST the target gets no more bytes. Also called from within
     * push. Must not close the feed. */
    void (*on_slow)(void *arg, uint32_t proc, enum job_stdin_event what,
                    int err);
};

/* What happens with a slow target; feed_slow.c says which targets are slow.
 *
 * When other feeds get the same stream (is_shared), no frame may wait for a
 * single target. Bytes that a slow target has not read are then kept in the
 * file, whatever the policy is. The sender is told to stop when the target is
 * behind by more than its policy allows: 0 bytes, or spill_bytes with policy
 * spill. With policy close the target is closed when it has not read anything
 * for unread_ms after the sender was told.
 */
struct ep_feed_slow {
    enum job_slow_policy policy;
    bool is_shared;
    uint32_t window_frames; /* window of the stream: never more frames wait */
    /* A target that is behind for this many milliseconds is slow; at least
     * 1. */
    uint32_t after_ms;
    /* Shared streams: the limit for not reading after the sender was told to
     * stop. Policy wait: a target that is behind and has not read anything for
     * this long is reported. */
    uint32_t unread_ms;
    uint64_t spill_bytes;  /* how many bytes a target may be behind (spill) */
    const char *spill_dir; /* copied; folder as in ep_spool_file_init */
    struct ep_writer *writer; /* borrowed, outlives the feed */
};

/* Makes a feed without targets. base and events are borrowed. Returns 0 or
 * OV_ENOMEM. */
int ep_feed_open(struct event_base *base, const struct ep_feed_events *events,
                 void *arg, struct ep_feed **out);

/* Sets the policy. Call it once, before there are targets or frames. Without a
 * policy the feed waits for slow targets. Returns 0, OV_ENOMEM or OV_ESYS. */
int ep_feed_slow(struct ep_feed *feed, const struct ep_feed_slow *slow);

/* Says that processes may be stopped (is_paused): no target then counts as slow
 * until this is called with false. */
void ep_feed_pause(struct ep_feed *feed, bool is_paused);

/* Drops all frames and closes all targets, without calling on_consumed. NULL is
 * allowed. */
void ep_feed_close(struct ep_feed *feed);

/* Adds the process `proc` as a target that gets the stream from its first byte,
 * even when frames are already under way. Takes fd, the write end of its pipe,
 * and makes it non-blocking. Returns 0, OV_EINVAL (frames were released
 * already, or some frames were for some targets only, or proc is a target
 * already), OV_ESYS or OV_ENOMEM; after an error fd is still the caller's. */
int ep_feed_target(struct ep_feed *feed, int fd, uint32_t proc);

/* Adds a process that gets only what is pushed from now on. Returns 0,
 * OV_EINVAL (proc is a target already), OV_ESYS or OV_ENOMEM. */
int ep_feed_join(struct ep_feed *feed, int fd, uint32_t proc);

/* Closes the target's pipe, if it is open, and removes the target. A process
 * that is not a target is ignored. */
void ep_feed_drop_target(struct ep_feed *feed, uint32_t proc);

/* Appends len_bytes of buf, from off_bytes on, as the next frame, and adds a
 * reference to buf. When no target reads any longer, the frame is consumed at
 * once. Returns 0, OV_EINVAL after ep_feed_end, OV_EFULL (EP_FEED_FRAMES_MAX
 * frames are kept) or OV_ENOMEM. */
int ep_feed_push(struct ep_feed *feed, struct ov_buf *buf, uint32_t off_bytes,
                 uint32_t len_bytes);

/* Like ep_feed_push, for a message of overlay/wire/push.h: its bytes are only
 * for the targets that it names. A message that does not decode counts as a
 * frame of no bytes. */
int ep_feed_push_some(struct ep_feed *feed, struct ov_buf *buf,
                      uint32_t off_bytes, uint32_t len_bytes);

/* Says that no frame follows: each target's stdin is closed when the target has
 * received everything. */
void ep_feed_end(struct ep_feed *feed);

/* Finds the target that is furthest behind, and how many frames it has received
 * completely or has in its file. Returns false when no target is behind. Cost:
 * O(targets). */
bool ep_feed_holder(const struct ep_feed *feed, uint32_t *proc,
                    uint64_t *frames_done);

/* Returns how many bytes of frames for all targets the process has read from
 * its pipe: those written less those that still lie in it. This also works
 * after its stdin was closed by the end or by the process. (Without /proc, what
 * lay in the pipe at the end counts as read.) Returns 0 for an unknown proc. */
uint64_t ep_feed_taken(const struct ep_feed *feed, uint32_t proc);

#endif
