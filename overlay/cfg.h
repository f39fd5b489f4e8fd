/* Sizes and times of one session; they are equal in all its nodes.
 *
 * Counts of frames bound memory: every received frame holds one buffer of
 * frame_bytes, however little is in it.
 */
#ifndef OVERLAY_CFG_H
#define OVERLAY_CFG_H

#include <stdint.h>

#include "overlay/times.h"
#include "topo/tree.h"

struct ov_cfg {
    struct topo_tree plan;
    uint32_t frame_bytes;     /* largest frame; OV_FRAME_BYTES_MIN.._MAX */
    uint32_t up_window_bytes; /* own records kept until acknowledged */
    uint16_t kept_max;        /* how many of these at most */
    uint16_t batch_pieces;    /* pieces put together in one UP frame; 1:
                                 never */
    uint16_t up_frames;       /* frames of one child held by its parent */
    uint16_t standing_max;    /* children that may send up_frames unasked */
    uint16_t lent_frames;     /* frames held of all other children together;
                                 these ask for each frame */
    uint16_t down_frames;     /* window of a stream in frames */
    uint16_t control_frames;  /* window of stream 0 in frames */
    uint16_t streams_max;     /* open at once, stream 0 included */
    uint16_t children_max;    /* of a node other than the root */
    uint16_t send_slots;      /* frames handed to the transport, per link */
    uint16_t data_slots;  /* how many of these may be data, not link-local */
    uint32_t records_max; /* root: records at its sinks */
    struct ov_times times;
};

enum {
    OV_SEND_SLOTS_MAX = 32,  /* as many as a link can count */
    OV_PIECES_MAX = 16,      /* limit of batch_pieces */
    OV_STREAMS_MAX = 16,     /* limit of streams_max */
    OV_KEPT_RESERVE = 4,     /* records and bytes that stay free for */
    OV_RESERVE_BYTES = 4096, /* states and exits */
};

/* The usual sizes and times for a plan; the caller may change every field. */
struct ov_cfg ov_cfg_default(struct topo_tree plan);

/* Checks ranges, and times as ov_times_fault() does. Returns 0, or OV_EINVAL;
 * *why then names the rule that is broken. */
int ov_cfg_check(const struct ov_cfg *cfg, const char **why);

#endif
