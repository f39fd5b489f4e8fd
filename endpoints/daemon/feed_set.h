/* Which targets a frame is for: sets of targets, and what is kept of them
 * beside the store. */
#ifndef ENDPOINTS_DAEMON_FEED_SET_H
#define ENDPOINTS_DAEMON_FEED_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "overlay/wire/push.h"

struct ep_feed;
struct feed_target;

enum { FEED_SPANS_MAX = 1024 };

/* A set of targets. */
struct feed_set {
    uint32_t refs;
    uint32_t bits; /* the number of targets when it was made */
    uint64_t bit[];
};

/* Like frames in the store, from `frame` on. */
struct feed_span {
    uint64_t frame;
    uint64_t at_bytes;
    struct feed_set *set; /* this and the rest as in a frame */
    bool is_pushed;
    bool closes; /* in this case it is a single frame */
};

struct feed_set *ep_set_ref(struct feed_set *set);
void ep_set_unref(struct feed_set *set);
bool ep_set_has(const struct feed_set *set, const struct feed_target *target);
/* Makes feed->set what the message says. OV_EPROTO: the message names no
 * target. */
int ep_set_apply(struct ep_feed *feed, struct ov_push *push);

/* Notes that a frame is in the store. There must be room for it:
 * ep_span_room(). */
void ep_span_save(struct ep_feed *feed, uint64_t number);
uint32_t ep_span_room(const struct ep_feed *feed);
/* Forgets what is before that frame, as no target needs it. */
void ep_span_forget(struct ep_feed *feed, uint64_t number);
void ep_span_clear(struct ep_feed *feed);

enum feed_place {
    FEED_PLACE_BYTES,  /* there are bytes for it */
    FEED_PLACE_CLOSED, /* its stdin ends here */
    FEED_PLACE_SAVED,  /* it has passed all that is saved */
};
/* Moves a spilled target past what it has and past what is for others. */
enum feed_place ep_span_next(struct feed_target *target, uint64_t *len_bytes,
                             bool *is_pushed);

#endif
