/* One end of a link: its state, its frames that the transport has, and when its
 * other end was last heard.
 *
 * The transport has at most send_slots frames of a link. At most data_slots of
 * these are data frames (UP and DOWN), so that messages between the two
 * neighbours always find a slot.
 */
#ifndef OVERLAY_LINK_H
#define OVERLAY_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "overlay/cfg.h"

enum ov_link_state {
    OV_LINK_FREE,    /* the slot has no connection */
    OV_LINK_OPEN,    /* connected, and the peer has proved the session key; no
                        hello yet */
    OV_LINK_JOINING, /* hello sent or received, no welcome yet */
    OV_LINK_UP,      /* the parent has welcomed the child */
    OV_LINK_STATES
};

struct ov_link {
    uint64_t heard_ns; /* when this end received the last frame */
    uint64_t spoke_ns; /* when this end gave the transport the last frame */
    uint64_t attach;   /* attach number of the node that dialled */
    uint32_t peer;
    uint32_t data_bits; /* bit i: the i-th oldest frame that the transport has
                           is data */
    uint16_t place;     /* place of the child; OV_NO_PLACE when the link leads
                           to the parent */
    uint8_t state;      /* enum ov_link_state */
    uint8_t in_flight;
    uint8_t data_in_flight;
    uint8_t refuse; /* enum ov_refuse_reason that this end sends before it ends
                       the link */
    bool is_queued; /* the link is in the node's queue of links to serve */
    bool is_ending; /* this end is ending the link: frames that it still
                       receives are ignored */
    bool is_paused; /* the peer has said that it may be silent for a time
                       (PAUSE) */
    bool is_pausing, is_pause_due; /* whether this end is pausing, and whether
                                      it must still tell the peer so */
    uint16_t next;                 /* next link in the queue of links to
                                      serve */
};

_Static_assert(sizeof(struct ov_link) <= 56, "ov_link outgrew its budget");

enum { OV_NO_LINK = UINT16_MAX, OV_NO_PLACE = UINT16_MAX };

/* Sets up a free slot for a new connection. */
void ov_link_open(struct ov_link *link, uint32_t peer, uint16_t place,
                  uint64_t now_ns);

/* Moves the link to another state. A move that is not allowed is a bug, and
 * ends the program. */
void ov_link_move(struct ov_link *link, enum ov_link_state next);

bool ov_link_can_send(const struct ov_link *link, const struct ov_cfg *cfg,
                      bool is_data);

/* Notes that the transport has been given a frame. */
void ov_link_on_send(struct ov_link *link, bool is_data, uint64_t now_ns);
/* Notes that the transport is done with `count` frames, the oldest first. False
 * when it had fewer, which is a bug of the driver. */
bool ov_link_on_sent(struct ov_link *link, unsigned count);

/* The time at which this end must send a heartbeat. The next function is the
 * time at which it takes the peer for lost if it has heard nothing until
 * then. */
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
