/* What the files of a feed share.
 *
 * Frames are kept in a ring from `base` to `head` (numbers of frames since
 * the start). Each counts the targets that do not have it yet; base moves over
 * frames whose count is 0. A target is idle (it has everything), runnable
 * (queued for the pump), blocked (its pipe is full), or fetching (queued for
 * the store). The pump is a timer of zero: it gives each runnable target one
 * write in turn, up to a bound, and then lets other events have theirs.
 *
 * A spilled target has its bytes from the store, whose last one is before
 * frame `saved`, and no frame counts it. While there are such targets every
 * frame is saved before base moves over it, and so consumed without them. One
 * that has all that is saved is a target like others again, from frame `saved`
 * on.
 *
 * A frame may be for some targets only. The others pass it as one of no length
 * when they come to it; so nothing else is different about it, but for one
 * thing: it may end the stdin of its targets.
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

/* How far it is known that a target has closed its stdin. */
enum shut_state {
    SHUT_NOT, /* or it was told */
    SHUT_NEW,
    SHUT_OLD, /* for a tenth of a second: it is to be told */
};

struct feed_frame {
    struct ov_buf *buf; /* one reference owned */
    uint32_t off_bytes;
    uint32_t len_bytes;
    uint64_t at_bytes;    /* where it begins in the stream */
    uint32_t waiting;     /* targets that are not past it */
    struct feed_set *set; /* one reference owned; NULL: it is for all */
    bool is_pushed;       /* and not of the launcher's stdin */
    bool closes;          /* stdin of its targets ends with it */
};

/* Bytes of one kind that were written one after another. */
struct feed_run {
    uint64_t bytes;
    bool is_pushed;
};

struct feed_target {
    TAILQ_ENTRY(feed_target) all;
    TAILQ_ENTRY(feed_target) turn; /* while runnable or fetching */
    struct ep_feed *feed;          /* borrowed */
    struct event *writable;        /* owned */
    int fd;                        /* owned; -1 when done */
    int look_fd; /* owned: into the pipe when done; -1: none */
    uint32_t proc;
    uint32_t index; /* among the targets that there ever were */
    enum target_state state;
    uint64_t next;          /* first frame it is not past */
    uint32_t begun_bytes;   /* of that frame, written already */
    uint64_t place_bytes;   /* while spilled: its place in the stream */
    uint64_t written_bytes; /* to its pipe */
    uint64_t own_bytes;     /* of these, of the launcher's stdin */
    struct feed_run runs[FEED_RUNS_MAX]; /* the last ones, newest first */
    uint32_t left_bytes; /* in a pipe that nobody reads any more */
    uint32_t looks;      /* in a row at which it was slow */
    uint64_t seen_bytes; /* taken by it, when last looked at */
    bool is_spilled;
    bool was_spilled;
    bool is_told;     /* that its spool can take no more */
    bool is_behind;   /* no more is to come for it, as was told */
    bool is_closing;  /* it has all that there is for it */
    bool is_doubtful; /* its pipe may have no reader, which is to be seen */
    uint8_t shut;     /* enum shut_state */
    uint32_t unread;  /* looks in a row while behind that saw nothing read */
};

struct ep_feed {
    struct event_base *loop; /* borrowed */
    const struct ep_feed_events *events;
    void *arg;
    struct event *pump; /* owned */
    struct event *shut; /* owned: some have closed their stdin */
    struct feed_targets all;
    struct feed_targets turns;
    uint32_t targets_count; /* that there ever were */
    uint32_t reading;       /* targets not done */
    struct feed_frame *ring;
    uint32_t ring_room; /* a power of two, or 0 */
    uint64_t base;
    uint64_t head;
    uint64_t head_bytes; /* of the stream, pushed */
    uint64_t told;       /* last on_consumed */
    bool has_ended;
    bool *closed;         /* borrowed: set when closed during a callback */
    struct feed_set *set; /* one reference: named last; NULL: none was */
    bool set_goes_on;     /* it is not whole yet */
    struct feed_set *set_before; /* one reference, until it is; may be NULL */

    /* slow targets */
    struct ep_feed_slow slow;
    struct event *look;     /* owned; NULL: no look at them is needed */
    uint32_t behind_frames; /* waiting for one that is behind; 0: no look */
    bool is_paused;

    struct feed_spill spill;
};

static inline struct feed_frame *feed_frame_at(const struct ep_feed *feed,
                                               uint64_t number)
{
    return &feed->ring[number & (feed->ring_room - 1)];
}

/* Says whether what a slow target lacks goes to a file. */
static inline bool ep_feed_spills(const struct ep_feed *feed)
{
    return feed->slow.policy == JOB_SLOW_SPILL || feed->slow.is_shared;
}

/* Where a frame that is kept begins; at the head: where the stream ends. */
static inline uint64_t ep_feed_bytes_at(const struct ep_feed *feed,
                                        uint64_t number)
{
    return number < feed->head ? feed_frame_at(feed, number)->at_bytes
                               : feed->head_bytes;
}

/* --- feed_target.c */
void ep_target_pump_wake(struct ep_feed *feed);
void ep_target_base_move(struct ep_feed *feed);
/* Bytes that lie in a pipe; 0 when that cannot be known. */
uint32_t ep_target_pipe_bytes(int fd);
/* Bytes it took from its pipe; and of these the launcher's. */
uint64_t ep_target_taken(const struct feed_target *target);
uint64_t ep_target_own_taken(const struct feed_target *target);
/* So many bytes more are in its pipe. */
void ep_target_note(struct feed_target *target, size_t bytes, bool is_pushed);
/* Makes a target that is idle and has nothing. 0, OV_ESYS or OV_ENOMEM. */
int ep_target_open(struct ep_feed *feed, int fd, uint32_t proc,
                   struct feed_target **out);
void ep_target_free(struct feed_target *target);
void ep_target_state_set(struct feed_target *target, enum target_state state);
/* Looks what is to be done for a target that is idle or had its turn. */
void ep_target_settle(struct feed_target *target);
/* Tells the owner when a target is behind, and when it no longer is. */
void ep_target_tell_behind(struct feed_target *target);
/* Tells the owner which targets have closed their stdin. */
void ep_target_tell_shut(struct ep_feed *feed);
/* Its stdin is closed, and it wants no more. */
void ep_target_end(struct feed_target *target);
/* Writes to the pipe: false when it was closed, and the target is done. */
bool ep_target_put(struct feed_target *target, const struct iovec *iov,
                   unsigned count, size_t *written);
/* One turn of a target that is not spilled: one write. */
void ep_target_turn(struct feed_target *target);

/* --- feed_slow.c */
/* 0 or OV_ENOMEM. */
int ep_slow_open(struct ep_feed *feed);
/* A target was blocked, or is while the stream goes on. */
void ep_slow_check(struct feed_target *target);
void ep_slow_pause(struct ep_feed *feed, bool is_paused);

#endif
