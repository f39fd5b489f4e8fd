/* The state of a node, shared by the files of the core and by no others. */
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

/* A DOWN stream. The frames first .. head-1 are kept; base is not above
 * head. */
struct ov_stream {
    struct ov_buf **ring; /* [window] */
    struct ov_buf *set;   /* the message that opened it, with its node set */
    uint64_t first;       /* first kept frame */
    uint64_t head;        /* next frame to arrive */
    uint64_t local;       /* consumed by this node's own targets */
    uint64_t base;        /* consumed by everybody the node answers for; may
                             fall */
    uint64_t reported;    /* base as last told to the parent */
    uint64_t report_ns;   /* when a waiting report is due; OV_NEVER */
    uint64_t opened_at;   /* frames of stream 0 up to and including the OPEN */
    uint32_t number;
    uint32_t local_rank;  /* this node's process that is last */
    uint32_t holder_node; /* who holds the base back */
    uint32_t holder_rank;
    uint32_t reported_node; /* the same, as last told to the parent */
    uint32_t reported_rank;
    uint16_t window;
    uint8_t state;
    bool is_target; /* this node has targets */
    bool has_ended;
    bool is_report_due;
};

/* A piece of the UP frame that is being put together. */
struct ov_piece {
    struct ov_buf *buf;         /* frame of a child; NULL: own records */
    const struct ov_kept *kept; /* own records: the first one, */
    uint64_t seq;               /* its number, */
    uint32_t count;             /* and how many they are */
    uint16_t place;             /* place at which a child's frame counts */
};

struct ov_up {
    struct ov_drr drr;         /* places, then local inputs */
    struct ov_kept_pool *pool; /* borrowed from the driver */
    struct ov_kept_list kept;
    struct ov_kept *at_cursor; /* the record at `cursor`; NULL: none yet */
    struct ov_piece *pieces;
    uint64_t next_seq;   /* of the next own record */
    uint64_t cursor;     /* number of the next own record to send */
    uint64_t unsent;     /* number of the next own record that was never sent */
    uint64_t accepted;   /* own records that the root has accepted */
    uint64_t taken;      /* own records that were taken and freed */
    uint64_t taken_told; /* own records that were taken, as acknowledged */
    uint64_t limit;      /* how many frames the parent lets us send, in total */
    uint64_t sent;
    uint32_t kept_bytes;
    uint32_t batch_bytes; /* bytes of the frame being built, head included, */
    uint16_t batch_records;
    uint16_t batch_slices;
    uint16_t batch_pieces;
    uint16_t reading; /* input being read; OV_DRR_NONE */
};

struct ov_node {
    const struct ov_cfg *cfg; /* borrowed */
    struct ov_tree tree;
    struct ov_up up;
    struct ov_root *root;      /* NULL elsewhere */
    struct ov_link *links;     /* [links_max] */
    struct ov_stream *streams; /* [streams_max], slot 0 is stream 0 */
    struct ov_buf *address;    /* where we listen, for parents; may be NULL */
    uint64_t now_ns;
    uint64_t links_ns; /* no link needs attention before this */
    uint64_t goodbye;  /* frames of stream 0 up to and including it; 0: none */
    uint32_t random;   /* state of the generator for jitter */
    uint16_t inputs;
    uint16_t links_max;
    uint16_t serve_first; /* queue of links to serve */
    uint16_t serve_last;
    bool has_left;  /* LEAVE or END was reported */
    bool is_lent;   /* the parent lends frames one by one: we must ask, */
    bool has_asked; /* and have asked */
    bool is_want_due;
};

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

/* True when a claim can be passed on, now or once this node has joined. */
static inline bool ov_node_asks(const struct ov_node *node)
{
    return node->tree.is_attached ||
           (!node->tree.has_joined && !node->tree.has_let_go);
}

#endif
