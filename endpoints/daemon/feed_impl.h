/* What the files of a feed share.
 *
 * Frames are kept in a ring from `base` to `head`. These are numbers of frames,
 * counted from the start of the stream. Each frame counts the targets that have
 * not passed it yet; `base` moves over frames whose count is 0. A target is
 * idle (it has everything), runnable (queued for the pump), blocked (its pipe
 * is full), or fetching (queued for the store). The pump is a timer of zero: it
 * gives each runnable target one write in turn, up to a bound, and then lets
 * other events of the loop run.
 *
 * A spilled target gets its bytes from the store, and no frame counts that
 * target. The store holds all bytes before frame `saved`. While there are
 * spilled targets, every frame is saved before `base` moves over it, so frames
 * are consumed without waiting for spilled targets. A spilled target that has
 * been given all that is saved becomes an ordinary target again, from frame
 * `saved` on.
 *
 * A frame may be for some targets only. All other targets pass it as if it had
 * no bytes. Such a frame differs from other frames in only one more thing: it
 * may end the stdin of its targets.
 *
 * The files, each above those that it calls:
 *
 *     feed_set  feed_target  feed_spill  feed_slow  feed
 */
#ifndef ENDPOINTS_DAEMON_FEED_IMPL_H
#define ENDPOINTS_DAEMON_FEED_IMPL_H

#include <stddef.h>
#include <sys/queue.h>

#include <event2/event.h>

#include "endpoints/daemon/feed.h"
#include "endpoints/daemon/feed_set.h"
#include "endpoints/daemon/feed_spill.h"

enum { FEED_RUNS_MAX = 16 };

enum target_state {
    TARGET_IDLE,
    TARGET_RUNNABLE,
    TARGET_BLOCKED,
    TARGET_FETCHING,
    TARGET_DONE,
};

/* How long we have known that a target has closed its stdin. */
enum shut_state {
    SHUT_NOT, /* it has not, or its owner was told already */
    SHUT_NEW,
    SHUT_OLD, /* known for a tenth of a second: tell its owner now */
};

struct feed_frame {
    struct ov_buf *buf; /* one reference owned */
    uint32_t off_bytes;
    uint32_t len_bytes;
    uint64_t at_bytes;    /* position of its first byte in the stream */
    uint32_t waiting;     /* number of targets that have not passed it */
    struct feed_set *set; /* one reference owned; NULL: for all targets */
    bool is_pushed; /* pushed by a client; false: from the launcher's stdin */
    bool closes;    /* the stdin of its targets ends after it */
};

/* Bytes written to a target one after another, all from clients or all from the
 * launcher's stdin. */
struct feed_run {
    uint64_t bytes;
    bool is_pushed;
};

struct feed_target {
    TAILQ_ENTRY(feed_target) all;
    TAILQ_ENTRY(feed_target) turn; /* entry in the list for its state */
    struct ep_feed *feed;          /* borrowed */
    struct event *writable;        /* owned */
    int fd;                        /* owned; -1 when the target is done */
    int look_fd; /* owned: read end, to see what is left in it; or -1 */
    uint32_t proc;
    uint32_t index; /* position among all targets that the feed ever had */
    enum target_state state;
    uint64_t next;        /* number of the first frame that it has not passed */
    uint32_t begun_bytes; /* bytes of frame `next` that are written */
    uint64_t place_bytes; /* while spilled: its position in the stream */
    uint64_t written_bytes; /* bytes written to its pipe */
    uint64_t own_bytes; /* part of these that is from the launcher's stdin */
    struct feed_run runs[FEED_RUNS_MAX]; /* the last ones, newest first */
    uint32_t left_bytes; /* bytes in its pipe that nobody can read now */
    uint32_t looks;      /* how many looks in a row found it behind */
    uint64_t seen_bytes; /* bytes that it had read at the last look */
    bool is_spilled;
    bool was_spilled;
    bool is_told; /* the owner was told that the spool of the target is full */
    bool is_behind;   /* it is behind, so the owner was told to stop sending */
    bool is_closing;  /* all frames for it are written: close its pipe */
    bool is_doubtful; /* its pipe may have lost its reader: check that */
    uint8_t shut;     /* enum shut_state */
    uint32_t unread;  /* looks in a row, while behind, that saw no read */
};

struct ep_feed {
    struct event_base *loop; /* borrowed */
    const struct ep_feed_events *events;
    void *arg;
    struct event *pump; /* owned */
    struct event *shut; /* owned: for targets that have closed their stdin */
    struct feed_targets all;
    struct feed_targets turns;
    uint32_t targets_count; /* number of targets that the feed ever had */
    uint32_t reading;       /* number of targets that are not done */
    struct feed_frame *ring;
    uint32_t ring_room; /* a power of two, or 0 */
    uint64_t base;
    uint64_t head;
    uint64_t head_bytes; /* bytes of the stream up to `head` */
    uint64_t told;       /* the number given in the last on_consumed */
    bool has_ended;
    bool *closed; /* borrowed: set to true when a callback closes the feed */
    struct feed_set *set; /* one reference: targets of the last push */
    bool set_goes_on;     /* more messages will add to `set` */
    /* One reference to the set before `set`, until `set` is complete; may be
     * NULL. */
    struct feed_set *set_before;

    /* Detection of slow targets. */
    struct ep_feed_slow slow;
    struct event *look; /* owned: looks for slow targets; NULL: none does */
    /* While this many frames wait for a target, it counts as behind; 0: no
     * target ever does. */
    uint32_t behind_frames;
    bool is_paused;

    struct feed_spill spill;
};

static inline struct feed_frame *feed_frame_at(const struct ep_feed *feed,
                                               uint64_t number)
{
    return &feed->ring[number & (feed->ring_room - 1)];
}

/* True when bytes that a slow target has not read yet are kept in a file. */
static inline bool ep_feed_spills(const struct ep_feed *feed)
{
    return feed->slow.policy == JOB_SLOW_SPILL || feed->slow.is_shared;
}

/* Returns where a frame that is kept begins in the stream; for `head`, where
 * the stream ends. */
static inline uint64_t ep_feed_bytes_at(const struct ep_feed *feed,
                                        uint64_t number)
{
    return number < feed->head ? feed_frame_at(feed, number)->at_bytes
                               : feed->head_bytes;
}

/* --- feed_target.c */
void ep_target_pump_wake(struct ep_feed *feed);
void ep_target_base_move(struct ep_feed *feed);
/* Returns the number of bytes in a pipe; 0 when that cannot be known. */
uint32_t ep_target_pipe_bytes(int fd);
/* Return how many bytes the target has read from its pipe, and how many of them
 * were from the launcher's stdin. */
uint64_t ep_target_taken(const struct feed_target *target);
uint64_t ep_target_own_taken(const struct feed_target *target);
/* Notes that this many more bytes were written to the target's pipe. */
void ep_target_note(struct feed_target *target, size_t bytes, bool is_pushed);
/* Makes a target that is idle and has received nothing. Returns 0, OV_ESYS or
 * OV_ENOMEM. */
int ep_target_open(struct ep_feed *feed, int fd, uint32_t proc,
                   struct feed_target **out);
void ep_target_free(struct feed_target *target);
void ep_target_state_set(struct feed_target *target, enum target_state state);
/* Chooses the next state of a target that is idle or has just had its turn. */
void ep_target_settle(struct feed_target *target);
/* Tells the owner when a target is behind, and when it no longer is. */
void ep_target_tell_behind(struct feed_target *target);
/* Tells the owner which targets have closed their stdin. */
void ep_target_tell_shut(struct ep_feed *feed);
/* Closes the stdin of a target that will get no more bytes. */
void ep_target_end(struct feed_target *target);
/* Writes to the target's pipe. Returns false when the reader has closed it; the
 * target is then done. */
bool ep_target_put(struct feed_target *target, const struct iovec *iov,
                   unsigned count, size_t *written);
/* Makes one write to a target that is not spilled, whose turn it is. */
void ep_target_turn(struct feed_target *target);

/* --- feed_slow.c */
/* Prepares the detection of slow targets. Returns 0 or OV_ENOMEM. */
int ep_slow_open(struct ep_feed *feed);
/* Checks whether a target is slow: call it when the target becomes blocked, and
 * when frames are added while it is blocked. */
void ep_slow_check(struct feed_target *target);
void ep_slow_pause(struct ep_feed *feed, bool is_paused);

#endif
