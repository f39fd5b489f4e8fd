/* One end of a link: its state, its frames at the transport, its silence.
 *
 * A link never has more than send_slots frames at the transport, and at most
 * data_slots of these are not link-local, so that a few messages between
 * neighbours always find a slot.
 */
#ifndef OVERLAY_LINK_H
#define OVERLAY_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "overlay/cfg.h"

enum ov_link_state {
    OV_LINK_FREE,    /* the slot is not in use */
    OV_LINK_OPEN,    /* connected and authenticated; no hello yet */
    OV_LINK_JOINING, /* hello sent or received, no welcome yet */
    OV_LINK_UP,      /* welcomed */
    OV_LINK_STATES
};

struct ov_link {
    uint64_t heard_ns; /* last frame received */
    uint64_t spoke_ns; /* last frame handed to the transport */
    uint64_t attach;   /* the dialler's attach number */
    uint32_t peer;
    uint32_t data_bits; /* bit i: the i-th frame in flight is data */
    uint16_t place;     /* place of the child; OV_NO_PLACE: this is the
                           parent */
    uint8_t state;      /* enum ov_link_state */
    uint8_t in_flight;
    uint8_t data_in_flight;
    uint8_t refuse; /* ov_refuse_reason to send before the end */
    bool is_queued; /* in the node's queue of links to serve */
    bool is_ending; /* this side ends it; received frames are ignored */
    bool is_paused; /* the peer may be silent */
    bool is_pausing, is_pause_due; /* what the peer must be told about us; is
                                      it due? */
    uint16_t next;                 /* next in that queue */
};

_Static_assert(sizeof(struct ov_link) <= 56, "ov_link outgrew its budget");

enum { OV_NO_LINK = UINT16_MAX, OV_NO_PLACE = UINT16_MAX };

/* A new connection in a free slot. */
void ov_link_open(struct ov_link *link, uint32_t peer, uint16_t place,
                  uint64_t now_ns);

/* Moves to another state; an illegal move is a bug. */
void ov_link_move(struct ov_link *link, enum ov_link_state next);

bool ov_link_can_send(const struct ov_link *link, const struct ov_cfg *cfg,
                      bool is_data);

/* Notes a frame that was handed to the transport. */
void ov_link_on_send(struct ov_link *link, bool is_data, uint64_t now_ns);
/* Notes that the transport is done with `count` frames, oldest first. False
 * when there were fewer: a bug of the driver. */
bool ov_link_on_sent(struct ov_link *link, unsigned count);

/* When this end must send something, and when it judges the peer's silence. */
static inline uint64_t ov_link_beat_ns(const struct ov_link *link,
                                       const struct ov_cfg *cfg)
{
    return link->spoke_ns + ov_times_beat_ns(&cfg->times);
}

static inline uint64_t ov_link_silence_ns(const struct ov_link *link,
                                          const struct ov_cfg *cfg)
{
    return link->is_paused ? UINT64_MAX
                           : link->heard_ns + cfg->times.heartbeat_ns;
}

#endif
