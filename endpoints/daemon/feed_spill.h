/* Spilled targets of a feed, and the store that keeps bytes for them
 * (feed_impl.h). */
#ifndef ENDPOINTS_DAEMON_FEED_SPILL_H
#define ENDPOINTS_DAEMON_FEED_SPILL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct ep_feed;
struct ep_tape;
struct feed_target;

TAILQ_HEAD(feed_targets, feed_target);

struct feed_spill {
    struct ep_tape *tape; /* owned; NULL: the policy does not spill */
    bool is_used;         /* bytes were put into the tape */
    uint32_t targets;
    uint64_t saved;
    struct feed_span *spans; /* owned: [FEED_SPANS_MAX], a ring */
    uint32_t spans_first, spans_count;
    struct feed_targets fetches;
    /* Borrowed: the target whose bytes are being read. */
    struct feed_target *fetching;
};

/* Opens the store of a feed that spills. Returns 0, OV_ENOMEM or OV_ESYS. */
int ep_spill_open(struct ep_feed *feed);
void ep_spill_close(struct ep_feed *feed);
/* Has the target get its bytes from the store from now on. */
void ep_spill_begin(struct feed_target *target);
/* Makes one write to a spilled target, whose turn it is. */
void ep_spill_turn(struct feed_target *target);
/* Saves the frames that must be saved, and after a target is done forgets bytes
 * that no target needs. */
void ep_spill_settle(struct ep_feed *feed);

#endif
