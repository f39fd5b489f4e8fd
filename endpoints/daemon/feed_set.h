/* Which targets a frame is for: sets of targets, and the sets of those frames
 * that are in the store. */
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
    uint32_t bits; /* number of targets when the set was made */
    uint64_t bit[];
};

/* Consecutive frames in the store that have the same set, from `frame` on. */
struct feed_span {
    uint64_t frame;
    uint64_t at_bytes;
    /* `set`, is_pushed and closes mean the same as in a frame */
    struct feed_set *set;
    bool is_pushed;
    /* the stdin of its targets ends; the span then has only one frame */
    bool closes;
};

struct feed_set *ep_set_ref(struct feed_set *set);
void ep_set_unref(struct feed_set *set);
bool ep_set_has(const struct feed_set *set, const struct feed_target *target);
/* Sets feed->set to the targets that the message names. Returns OV_EPROTO when
 * the message names no target. */
int ep_set_apply(struct ep_feed *feed, struct ov_push *push);

/* Notes the set of a frame that is put into the store. ep_span_room() must have
 * returned that there is room. */
void ep_span_save(struct ep_feed *feed, uint64_t number);
uint32_t ep_span_room(const struct ep_feed *feed);
/* Forgets the spans before that frame, as no target needs them. */
void ep_span_forget(struct ep_feed *feed, uint64_t number);
void ep_span_clear(struct ep_feed *feed);

enum feed_place {
    FEED_PLACE_BYTES,  /* bytes for the target come next */
    FEED_PLACE_CLOSED, /* the stdin of the target ends here */
    FEED_PLACE_SAVED,  /* the target has passed all that is saved */
};
/* Moves a spilled target past bytes that it has received and past bytes for
 * other targets. */
enum feed_place ep_span_next(struct feed_target *target, uint64_t *len_bytes,
                             bool *is_pushed);

#endif
