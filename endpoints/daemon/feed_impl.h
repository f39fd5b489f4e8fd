/* What the files of a feed node_job.
 *
 * Frames are kept in a ring from `base` to `head` (numbers of frames since the
 * start). Each frame counts the targets that do not have it yet; base moves
 * over frames whose count is 0. A target is idle (it has everything), runnable
 * (queued for the pump), blocked (its pipe is full), or fetching (queued for
 * the store). The pump is a timer of zero: it gives each runnable target one
 * write in turn, up to a bound, and then lets other events have theirs.
 *
 * A spilled target gets its bytes from the store, which holds all bytes before
 * frame `saved`, and no frame counts it. While there are such targets every
 * frame is saved before base moves over it, and so is consumed without them. A
 * spilled target that has all that is saved becomes an ordinary one again, from
 * frame `saved` on.
 *
 * A frame may be for some targets only. The others pass it like one of no
 * length when they come to it. It differs in only one other thing: it may end
 * the stdin of its targets.
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

/* How long it has been known that a target has closed its stdin. */
enum shut_state {
    SHUT_NOT, /* or its owner was told */
    SHUT_NEW,
    SHUT_OLD, /* for a tenth of a second: its owner is to be told */
};

struct feed_frame {
    struct ov_buf *buf; /* one reference owned */
    uint32_t off_bytes;
    uint32_t len_bytes;
    uint64_t at_bytes;    /* where the frame begins in the stream */
    uint32_t waiting;     /* targets that have not passed it */
    struct feed_set *set; /* one reference owned; NULL: for all targets */
    bool is_pushed;       /* pushed by a client: not the launcher's stdin */
    bool closes;          /* the stdin of its targets ends with it */
};

/* Bytes of one kind that were written one after another. */
struct feed_run {
    uint64_t bytes;
    bool is_pushed;
};

struct feed_target {
    TAILQ_ENTRY(feed_target) all;
    TAILQ_ENTRY(feed_target) turn; /* used while runnable or fetching */
    struct ep_feed *feed;          /* borrowed */
    struct event *writable;        /* owned */
    int fd;                        /* owned; -1 when the target is done */
    int look_fd; /* owned: looks into the pipe when done; -1: none */
    uint32_t proc;
    uint32_t index; /* of all targets that there ever were */
    enum target_state state;
    uint64_t next;          /* the first frame that it has not passed */
    uint32_t begun_bytes;   /* bytes of that frame that are written */
    uint64_t place_bytes;   /* while spilled: its place in the stream */
    uint64_t written_bytes; /* to its pipe */
    uint64_t own_bytes;     /* of these, from the launcher's stdin */
    struct feed_run runs[FEED_RUNS_MAX]; /* the last runs, newest first */
    uint32_t left_bytes; /* left in a pipe that has no reader any longer */
    uint32_t looks;      /* looks in a row at which it was behind */
    uint64_t seen_bytes; /* taken by it, as of the last look */
    bool is_spilled;
    bool was_spilled;
    bool is_told;     /* the owner knows that its spool is full */
    bool is_behind;   /* the owner knows that it is behind: send no more */
    bool is_closing;  /* it has all that there is for it */
    bool is_doubtful; /* its pipe may have no reader: check that */
    uint8_t shut;     /* enum shut_state */
    uint32_t unread;  /* looks in a row, while behind, without any read */
};

struct ep_feed {
    struct event_base *loop; /* borrowed */
    const struct ep_feed_events *events;
    void *arg;
    struct event *pump; /* owned */
    struct event *shut; /* owned: for targets that have closed their stdin */
    struct feed_targets all;
    struct feed_targets turns;
    uint32_t targets_count; /* all targets that there ever were */
    uint32_t reading;       /* targets that are not done */
    struct feed_frame *ring;
    uint32_t ring_room; /* a power of two, or 0 */
    uint64_t base;
    uint64_t head;
    uint64_t head_bytes; /* bytes of the stream that were pushed */
    uint64_t told;       /* the number in the last on_consumed */
    bool has_ended;
    bool *closed;         /* borrowed: set when closed during a callback */
    struct feed_set *set; /* one reference: targets named last; NULL: none */
    bool set_goes_on;     /* that set is not complete yet */
    /* One reference, until it is complete; may be NULL. */
    struct feed_set *set_before;

    /* Slow targets. */
    struct ep_feed_slow slow;
    struct event *look; /* owned; NULL: targets are not looked at */
    /* Frames that wait for a target which is behind; 0: no looks. */
    uint32_t behind_frames;
    bool is_paused;

    struct feed_spill spill;
};

static inline struct feed_frame *feed_frame_at(const struct ep_feed *feed,
                                               uint64_t number)
{
    return &feed->ring[number & (feed->ring_room - 1)];
}

/* True when what a slow target lacks goes to a file. */
static inline bool ep_feed_spills(const struct ep_feed *feed)
{
    return feed->slow.policy == JOB_SLOW_SPILL || feed->slow.is_shared;
}

/* Where a kept frame begins in the stream; for the head, where the stream
 * ends. */
static inline uint64_t ep_feed_bytes_at(const struct ep_feed *feed,
                                        uint64_t number)
{
    return number < feed->head ? feed_frame_at(feed, number)->at_bytes
                               : feed->head_bytes;
}

/* --- feed_target.c */
void ep_target_pump_wake(struct ep_feed *feed);
void ep_target_base_move(struct ep_feed *feed);
/* The bytes that lie in a pipe; 0 when that cannot be known. */
uint32_t ep_target_pipe_bytes(int fd);
/* The bytes that it took from its pipe; and those of them that are from the
 * launcher's stdin. */
uint64_t ep_target_taken(const struct feed_target *target);
uint64_t ep_target_own_taken(const struct feed_target *target);
/* Notes that this many bytes more are in its pipe. */
void ep_target_note(struct feed_target *target, size_t bytes, bool is_pushed);
/* Makes a target that is idle and has nothing. Returns 0, OV_ESYS or
 * OV_ENOMEM. */
int ep_target_open(struct ep_feed *feed, int fd, uint32_t proc,
                   struct feed_target **out);
void ep_target_free(struct feed_target *target);
void ep_target_state_set(struct feed_target *target, enum target_state state);
/* Finds out what is to be done for a target that is idle or had its turn. */
void ep_target_settle(struct feed_target *target);
/* Tells the owner when a target is behind, and when it no longer is. */
void ep_target_tell_behind(struct feed_target *target);
/* Tells the owner which targets have closed their stdin. */
void ep_target_tell_shut(struct ep_feed *feed);
/* Closes the stdin of a target that gets nothing more. */
void ep_target_end(struct feed_target *target);
/* Writes to the pipe. Returns false when it was closed, and then the target is
 * done. */
bool ep_target_put(struct feed_target *target, const struct iovec *iov,
                   unsigned count, size_t *written);
/* Gives a target that is not spilled its turn: one write. */
void ep_target_turn(struct feed_target *target);

/* --- feed_slow.c */
/* Returns 0 or OV_ENOMEM. */
int ep_slow_open(struct ep_feed *feed);
/* Checks a target that became blocked, or is blocked while the stream goes
 * on. */
void ep_slow_check(struct feed_target *target);
void ep_slow_pause(struct ep_feed *feed, bool is_paused);

#endif
