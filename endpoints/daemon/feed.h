/* Feeding the standard input of one node's processes.
 *
 * A feed is one stream on one node: a sequence of frames, pushed once, written
 * to the pipe of every target at the target's own pace. Frames are references
 * to shared buffers and are never copied; a frame is let go when the last
 * target has it. How far the slowest target is behind is the caller's matter:
 * it stops pushing when its window is full.
 *
 * A slow one is treated as the policy says (ep_feed_slow): it holds the count
 * back, or its bytes wait in a file and it does not, or its stdin is closed.
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
    /* Every remaining target has the first frames_total frames whole. Only
     * grows. Comes from the event loop, never from within a call; may call
     * anything below. */
    void (*on_consumed)(void *arg, uint64_t frames_total);
    /* The feed held the last reference of buf: give it back to its pool.
     * Also called from within push, drop and close. Must not call back. */
    void (*on_free)(void *arg, struct ov_buf *buf);
    /* A slow target was treated so; told once for FULL, UNSAVED or UNREAD.
     * Where the stream is shared BEHIND and FREE come in turn; UNREAD comes
     * when it is not closed. SHUT: it has closed its stdin itself, and was not
     * dropped within a tenth of a second; after two at most. After LOST it gets
     * nothing more. Also called from within push. May not close the feed. */
    void (*on_slow)(void *arg, uint32_t proc, enum job_stdin_event what,
                    int err);
};

/* What becomes of a slow target; feed_slow.c says which ones are slow.
 *
 * Where the stream is not for this feed alone, nothing is to wait in it for one
 * of its targets (is_shared). What a slow one lacks is then in the file under
 * each policy, and whoever sends is told when no more is to come, as it is
 * behind by more than its policy lets it be: 0, or with spill spill_bytes. With
 * close it is closed when it has not read for so long after that.
 */
struct ep_feed_slow {
    enum job_slow_policy policy;
    bool is_shared;
    uint32_t window_frames;   /* of the stream: not more are ever waiting */
    uint32_t after_ms;        /* it has been slow for so long, at least 1 */
    uint32_t unread_ms;       /* shared: and has not read for so long */
    uint64_t spill_bytes;     /* that one may be behind, in MiB */
    const char *spill_dir;    /* copied; as of ep_spool_file_init */
    struct ep_writer *writer; /* borrowed, outlives the feed */
};

/* Makes a feed without targets. base and events are borrowed. Returns 0 or
 * OV_ENOMEM. */
int ep_feed_open(struct event_base *base, const struct ep_feed_events *events,
                 void *arg, struct ep_feed **out);

/* Sets the policy: once, before there are targets or frames; without it they
 * are waited for. Returns 0, OV_ENOMEM or OV_ESYS. */
int ep_feed_slow(struct ep_feed *feed, const struct ep_feed_slow *slow);

/* Processes may be stopped: nobody is slow until they go on. */
void ep_feed_pause(struct ep_feed *feed, bool is_paused);

/* Drops all frames and closes all targets, without callbacks to on_consumed.
 * NULL is allowed. */
void ep_feed_close(struct ep_feed *feed);

/* Adds the process `proc`, which gets the stream from its first byte, also
 * when frames are already under way. Takes fd, the write end of its pipe, and
 * makes it non-blocking.
 * Returns 0, OV_EINVAL (frames are gone already, or there were some for some
 * targets only, or proc is a target),
 * OV_ESYS or OV_ENOMEM; fd is then still the caller's.
 */
int ep_feed_target(struct ep_feed *feed, int fd, uint32_t proc);

/* The same for a process that gets what is appended from now on. 0, OV_EINVAL
 * (proc is a target), OV_ESYS or OV_ENOMEM. */
int ep_feed_join(struct ep_feed *feed, int fd, uint32_t proc);

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

/* As ep_feed_push, with a message as of overlay/wire/push.h: its bytes are for
 * the targets that it names, and the others pass them by. What is no such
 * message counts as a frame of no bytes. */
int ep_feed_push_some(struct ep_feed *feed, struct ov_buf *buf,
                      uint32_t off_bytes, uint32_t len_bytes);

/* No more frames: each target's stdin is closed when it has everything. */
void ep_feed_end(struct ep_feed *feed);

/* The target that is furthest behind, and how many frames it has whole or in
 * its file. False when nobody is behind. Cost: O(targets). */
bool ep_feed_holder(const struct ep_feed *feed, uint32_t *proc,
                    uint64_t *frames_done);

/* Bytes of frames for all that the process took from its pipe: what was written
 * less what lies there still, also after its stdin was closed by the end or by
 * itself. (Where there is no /proc, what lay there at the end counts as taken.)
 * 0 for an unknown proc. */
uint64_t ep_feed_taken(const struct ep_feed *feed, uint32_t proc);

#endif
