/* Whose a frame is: sets of targets, and what is kept of them beside the
 * store. */
#ifndef ENDPOINTS_DAEMON_FEED_SET_H
#define ENDPOINTS_DAEMON_FEED_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "overlay/wire/push.h"

struct ep_feed;
struct feed_target;

enum { FEED_SPANS_MAX = 1024 };

/* Some of the targets. */
struct feed_set {
    uint32_t refs;
    uint32_t bits; /* targets there were */
    uint64_t bit[];
};

/* Frames in the store, from `frame` on, that are alike. */
struct feed_span {
    uint64_t frame;
    uint64_t at_bytes;
    struct feed_set *set; /* as of a frame, as is the rest */
    bool is_pushed;
    bool closes; /* then it is one frame */
};

struct feed_set *ep_set_ref(struct feed_set *set);
void ep_set_unref(struct feed_set *set);
bool ep_set_has(const struct feed_set *set, const struct feed_target *target);
/* Makes feed->set what the message says. OV_EPROTO: it names nobody. */
int ep_set_apply(struct ep_feed *feed, struct ov_push *push);

/* A frame is in the store. There is room for each: ep_span_room(). */
void ep_span_save(struct ep_feed *feed, uint64_t number);
uint32_t ep_span_room(const struct ep_feed *feed);
/* Nobody needs what is before that frame. */
void ep_span_forget(struct ep_feed *feed, uint64_t number);
void ep_span_clear(struct ep_feed *feed);

enum feed_place {
    FEED_PLACE_BYTES,  /* bytes are for it */
    FEED_PLACE_CLOSED, /* its stdin ends here */
    FEED_PLACE_SAVED,  /* it is past all that is saved */
};
/* Moves a spilled target past what it has and what is not for it. */
enum feed_place ep_span_next(struct feed_target *target, uint64_t *len_bytes,
                             bool *is_pushed);

#endif
