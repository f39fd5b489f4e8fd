/* The state of a node. Only the files of the core include it. */
#ifndef OVERLAY_STATE_H
#define OVERLAY_STATE_H

#include "overlay/cfg.h"
#include "overlay/drr.h"
#include "overlay/kept.h"
#include "overlay/link.h"
#include "overlay/out.h"
#include "overlay/root.h"
#include "overlay/tree.h"
#include "overlay/wire/item.h"

struct ov_node;

enum ov_stream_state {
    OV_STREAM_FREE,
    OV_STREAM_OPEN,
};

/* A DOWN stream. The node keeps the frames first .. head - 1; base is at most
 * head. */
struct ov_stream {
    struct ov_buf **ring; /* [window]: frame n is at n % window */
    struct ov_buf *set;   /* the OPEN message of the stream, with its node
                             set */
    uint64_t first;       /* number of the first frame that is kept */
    uint64_t head;        /* number of the next frame to arrive */
    uint64_t local;       /* the node's own targets have consumed all frames
                             before this one */
    uint64_t base;        /* this node's targets and all nodes for which it
                             answers have consumed all frames before this one;
                             may fall */
    uint64_t reported;    /* the base that was last reported to the parent */
    uint64_t report_ns;   /* when the report that waits is sent; OV_NEVER when
                             no report waits */
    uint64_t opened_at;   /* number of frames of stream 0 up to the OPEN of this
                             stream, inclusive */
    uint32_t number;
    uint32_t local_rank;  /* this node's process that is furthest behind */
    uint32_t holder_node; /* node and process that are furthest behind, and so
                             hold the base back */
    uint32_t holder_rank;
    uint32_t reported_node; /* holder_node and holder_rank, as last reported to
                               the parent */
    uint32_t reported_rank;
    uint16_t window;
    uint8_t state;
    bool is_target; /* this node has processes that read the stream */
    bool has_ended;
    bool is_report_due;
};

/* A piece of the UP frame that is being put together. */
struct ov_piece {
    struct ov_buf *buf;         /* frame of a child; NULL when the piece is own
                                   records */
    const struct ov_kept *kept; /* own records: the first one of the piece */
    uint64_t seq;               /* own records: number of the first one */
    uint32_t count;             /* own records: how many they are */
    uint16_t place;             /* a child's frame: the place of that child */
    uint16_t slices;            /* where lines are folded: stretches of memory
                                   that its payloads are in */
};

enum { OV_NO_PIECE = UINT16_MAX };

/* What a node where lines are folded knows of its batch, besides the pieces. It
 * lies before them, so that other nodes need no room for it. */
struct ov_share {
    uint64_t until_ns;  /* the batch waits for more until then; OV_NEVER while
                           nothing in it is to wait */
    uint32_t bytes;     /* of all pieces, before they are folded */
    uint32_t own_bytes; /* of the piece that own records are added to */
    uint32_t dropped_bytes; /* of own records that are no longer kept, but whose
                               buffer is, for those behind them */
    uint16_t own;           /* that piece, or OV_NO_PIECE */
    bool is_vain; /* the last frame was hardly shorter for being folded */
};

struct ov_up {
    struct ov_drr drr;         /* whose turn it is to send; the inputs are the
                                  places, then the local inputs */
    struct ov_kept_pool *pool; /* borrowed from the driver */
    struct ov_kept_list kept;
    struct ov_kept *at_cursor; /* the kept record with the number `cursor`; NULL
                                  when there is no such record yet */
    struct ov_piece *pieces;
    uint64_t next_seq;   /* number of the next own record to be made */
    uint64_t cursor;     /* number of the next own record to send */
    uint64_t unsent;     /* number of the first own record that was never
                            sent */
    uint64_t accepted;   /* how many own records the root has accepted */
    uint64_t taken;      /* how many own records the root's sinks have taken and
                            this node has freed */
    uint64_t taken_told; /* how many own records the root has acknowledged as
                            taken; the node may still have to free some of
                            them */
    uint64_t limit;      /* how many frames the parent lets us send in total,
                            counted from the beginning of the link */
    uint64_t sent;
    uint32_t kept_bytes;
    uint32_t batch_bytes; /* bytes of the frame that is being put together, head
                             included */
    uint16_t batch_records;
    uint16_t batch_slices;
    uint16_t batch_pieces;
    uint16_t reading; /* local input whose OV_ACT_READ is not yet answered, or
                         OV_DRR_NONE */
};

struct ov_node {
    const struct ov_cfg *cfg; /* borrowed */
    struct ov_tree tree;
    struct ov_up up;
    struct ov_root *root;      /* NULL unless this node is the root */
    struct ov_link *links;     /* [links_max] */
    struct ov_stream *streams; /* [streams_max], slot 0 is stream 0 */
    struct ov_buf *address;    /* address where this node listens, to be sent to
                                  its parents; may be NULL */
    uint64_t now_ns;
    uint64_t links_ns; /* no link needs a heartbeat or a check of its silence
                          before this time */
    uint64_t goodbye;  /* number of frames of stream 0 up to the GOODBYE,
                          inclusive; 0 before it was received */
    uint32_t random;   /* state of the generator of random times before dials */
    uint16_t inputs;
    uint16_t links_max;
    uint16_t serve_first; /* first and last of the queue of links to serve */
    uint16_t serve_last;
    bool has_left;  /* this node has returned OV_ACT_LEAVE or OV_ACT_END */
    bool is_lent;   /* this node is a surplus child of its parent: it must ask
                       for each UP frame */
    bool has_asked; /* this node has asked its parent for a frame and not yet
                       received one */
    bool is_want_due;
};

static inline struct ov_share *ov_share_of(const struct ov_node *node)
{
    return (struct ov_share *)(void *)node->up.pieces - 1;
}

static inline bool ov_node_is_root(const struct ov_node *node)
{
    return node->tree.self == 0;
}

/* Queues a link that has something due or data to send. */
void ov_node_serve(struct ov_node *node, uint16_t link);

/* Queues the parent's link, when there is one. */
static inline void ov_node_serve_parent(struct ov_node *node)
{
    if (node->tree.parent != OV_NO_LINK)
        ov_node_serve(node, node->tree.parent);
}

/* True when a claim can be sent to the parent, now or after this node has
 * joined. */
static inline bool ov_node_asks(const struct ov_node *node)
{
    return node->tree.is_attached ||
           (!node->tree.has_joined && !node->tree.has_let_go);
}

#endif
