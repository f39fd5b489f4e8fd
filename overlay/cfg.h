/* Sizes and times of one session; all its nodes have the same ones.
 *
 * Counts of frames bound memory: every received frame holds one buffer of
 * frame_bytes, however little is in it.
 */
#ifndef OVERLAY_CFG_H
#define OVERLAY_CFG_H

#include <stdbool.h>
#include <stdint.h>

#include "overlay/times.h"
#include "topo/tree.h"

struct ov_cfg {
    struct topo_tree plan;
    uint32_t frame_bytes;     /* largest frame; OV_FRAME_BYTES_MIN.._MAX */
    uint32_t up_window_bytes; /* bytes of its own records that a node keeps
                                 until the root has acknowledged them */
    uint16_t kept_max;        /* how many of its own records a node keeps at
                                 most */
    uint16_t batch_pieces;    /* at most this many frames and records are put
                                 together in one UP frame; 1: each is sent in a
                                 frame of its own */
    uint16_t up_frames;       /* UP frames of one child that its parent keeps at
                                 most */
    uint16_t standing_max;    /* how many children of a node may send up_frames
                                 frames without asking for each */
    uint16_t lent_frames;     /* frames that a node keeps at most of all its
                                 other children together, which must ask for
                                 each frame (WANT) */
    uint16_t down_frames;     /* window of each stream but stream 0, in
                                 frames */
    uint16_t control_frames;  /* window of stream 0 in frames */
    uint16_t streams_max;     /* streams open at the same time, stream 0
                                 included */
    uint16_t children_max;    /* how many children a node has at most; the root
                                 may have more */
    uint16_t send_slots;      /* the transport has at most this many frames of a
                                 link at a time */
    uint16_t data_slots;      /* how many of the send_slots may have data (UP,
                                 DOWN); the others stay free for messages
                                 between neighbours */
    uint32_t records_max; /* root: the sinks have at most this many records that
                             they have not yet taken */
    uint32_t share_ns; /* where it folds: how long a line waits in the tree at
                          most for lines that are equal */
    bool folds;        /* equal lines are shown once, so they travel once:
                          each line is a record, and records that are equal
                          share a frame (overlay/fold.h) */
    struct ov_times times;
};

enum {
    OV_SEND_SLOTS_MAX = 32,  /* upper limit of send_slots: a link has a bit for
                                each */
    OV_PIECES_MAX = 16,      /* upper limit of batch_pieces */
    OV_STREAMS_MAX = 16,     /* upper limit of streams_max */
    OV_KEPT_FOLDED = 4096,   /* kept_max where each line is a record */
    OV_KEPT_RESERVE = 4,     /* records of a node's window that only states and
                                exits may use */
    OV_RESERVE_BYTES = 4096, /* bytes of a node's window that only states and
                                exits may use */
};

/* The default sizes and times for a plan; the caller may change every field. */
struct ov_cfg ov_cfg_default(struct topo_tree plan);

/* Checks that the fields are in their ranges, and the times as ov_times_fault()
 * does. Returns 0, or OV_EINVAL; then *why names the rule that is broken. */
int ov_cfg_check(const struct ov_cfg *cfg, const char **why);

#endif
