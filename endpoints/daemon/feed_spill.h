/* Spilled targets of a feed, and what is kept for them (feed_impl.h). */
#ifndef ENDPOINTS_DAEMON_FEED_SPILL_H
#define ENDPOINTS_DAEMON_FEED_SPILL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "endpoints/daemon/backlog.h"

struct ep_feed;
struct feed_target;
struct ov_buf;

TAILQ_HEAD(feed_targets, feed_target);

struct feed_spill {
    struct ep_backlog *backlog;                   /* owned; NULL: not the way */
    struct ov_buf *saving[EP_BACKLOG_PIECES_MAX]; /* owned references */
    unsigned saving_count;                        /* of them */
    uint32_t saving_frames;
    bool is_used; /* there is something in the backlog */
    bool is_saving;
    bool is_stale;  /* what is being saved is for nobody */
    bool is_broken; /* nothing can be saved until the backlog is empty */
    uint32_t targets;
    uint64_t saved;
    struct feed_span *spans; /* owned: [FEED_SPANS_MAX], a ring */
    uint32_t spans_first, spans_count;
    struct feed_targets fetches;
    struct feed_target *fetching; /* borrowed: whose bytes are being read */
    bool is_fetching;
    bool is_fetching_pushed;
};

/* 0, OV_ENOMEM or OV_ESYS. */
int ep_spill_open(struct ep_feed *feed);
void ep_spill_close(struct ep_feed *feed);
/* From now on its bytes go through the backlog. */
void ep_spill_begin(struct feed_target *target);
/* One turn of a spilled target. */
void ep_spill_turn(struct feed_target *target);
/* There are frames to save, or a target is done. */
void ep_spill_settle(struct ep_feed *feed);

#endif
