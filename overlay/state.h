/* The state of a node, shared by the files of the core and by nobody else.
 *
 * What belongs to a tree hangs off a tree object: a node may come to belong to
 * several. UP and control always run on tree 0.
 *
 * A place is where members beneath a node are counted: a link to a child, or
 * a hold for those of a child that was lost. Both have the same fields, so a
 * link's place becomes a hold by losing its link.
 */
#ifndef OVERLAY_STATE_H
#define OVERLAY_STATE_H

#include "overlay/cfg.h"
#include "overlay/drr.h"
#include "overlay/kept.h"
#include "overlay/link.h"
#include "overlay/members.h"
#include "overlay/out.h"
#include "overlay/root.h"
#include "overlay/wire/item.h"
#include "topo/tree.h"

struct ov_node;

/* Position of one stream beneath one place. */
struct ov_flow {
    uint64_t base; /* reported: everything before is consumed */
    uint64_t sent; /* next frame to send; may lie before a base that fell */
    uint32_t node; /* who holds the base back */
    uint32_t rank;
    bool is_needed; /* the stream has targets beneath this place */
};

enum ov_place_kind {
    OV_PLACE_FREE,
    OV_PLACE_LINK,         /* a child on a link, welcomed or on its way */
    OV_PLACE_HOLD_ASKED,   /* link lost before the welcome: it dials again */
    OV_PLACE_HOLD_REFUSED, /* link lost, and a dial to its peer is refused */
    OV_PLACE_HOLD_UNCLEAR, /* link lost, no more is known */
    OV_PLACE_HOLD_SILENT,  /* link judged by silence */
    OV_PLACE_HOLD_ABSENT,  /* has not joined yet (root only) */
};

struct ov_place {
    struct ov_flow *flows;     /* [streams_max], by stream slot */
    struct ov_buf **queue;     /* [up_frames]: UP frames not yet passed on */
    struct ov_member_list due; /* answers and acknowledgements */
    uint64_t attach;
    uint64_t since_ns; /* hold: when it began */
    uint64_t limit;    /* frames granted, as last told */
    uint64_t received;
    uint64_t drained;   /* of these, passed on (root: taken) */
    uint32_t child;     /* the node on the link */
    uint32_t members;   /* confirmed beneath, itself included */
    uint32_t tentative; /* asks pending beneath */
    uint32_t rec_off;   /* root: next record head of the first frame */
    uint32_t rec_data;  /* root: its payload */
    uint32_t leftover;  /* frames of earlier links still held, charged here */
    uint16_t rec_left;  /* root: records left in it */
    uint16_t frame;     /* root: its entry in frames[] */
    uint16_t link;      /* OV_NO_LINK in a hold */
    uint16_t queue_at;  /* first of the queue */
    uint16_t queue_len;
    uint8_t kind; /* enum ov_place_kind */
    bool is_limit_due;
    bool is_welcome_due;
};

/* A tree as one of its nodes sees it. */
struct ov_tree {
    struct topo_tree plan;
    struct ov_members members; /* beneath; at the root: all */
    struct ov_member_list asks;
    struct ov_place *places; /* [children_max] */
    uint32_t *ancestors;     /* [OV_ANCESTORS_MAX at most], parent first */
    uint64_t attach;         /* raised with every dial */
    uint64_t orphan_ns;      /* since when there is no parent */
    uint64_t redial_ns;      /* OV_NEVER: not waiting to dial */
    uint64_t hold_ns;        /* no asked hold is over before; OV_NEVER */
    uint32_t self;
    uint32_t joined; /* root: members confirmed so far */
    uint16_t ancestors_count;
    uint16_t ancestors_max;
    uint16_t places_used; /* all in use are below this */
    uint16_t parent;      /* link; OV_NO_LINK */
    uint8_t number;
    bool is_attached; /* welcomed, or the root */
    bool is_hello_due;
    bool is_dialling;
};

enum ov_stream_state {
    OV_STREAM_FREE,
    OV_STREAM_OPEN,
};

/* A DOWN stream: the frames first .. head-1 are kept, base is below head. */
struct ov_stream {
    struct ov_buf **ring; /* [window] */
    struct ov_buf *set;   /* the message that opened it: its node set */
    uint64_t first;       /* first kept frame */
    uint64_t head;        /* next frame to arrive */
    uint64_t local;       /* consumed by this node's own targets */
    uint64_t base;        /* consumed by all it answers for; may fall */
    uint64_t reported;    /* base as last told to the parent */
    uint64_t report_ns;   /* when a waiting report is due; OV_NEVER */
    uint64_t opened_at;   /* frames of stream 0 up to the OPEN included */
    uint32_t number;
    uint32_t local_rank;  /* who is last here */
    uint32_t holder_node; /* who holds the base back */
    uint32_t holder_rank;
    uint32_t reported_node; /* and as last told to the parent */
    uint32_t reported_rank;
    uint16_t window;
    uint8_t state;
    bool is_target; /* this node has targets */
    bool has_ended;
    bool is_report_due;
};

/* A piece of the UP frame that is being put together. */
struct ov_piece {
    struct ov_buf *buf;         /* a child's frame; NULL: own records */
    const struct ov_kept *kept; /* own: the first, */
    uint64_t seq;               /* its number */
    uint32_t count;             /* and how many */
};

enum { OV_ANCESTORS_MAX = 64 };

struct ov_up {
    struct ov_drr drr;         /* places, then local inputs */
    struct ov_kept_pool *pool; /* borrowed from the driver */
    struct ov_kept_list kept;
    struct ov_kept *at_cursor; /* the record at the cursor; NULL: none yet */
    struct ov_piece *pieces;
    uint64_t next_seq; /* of the next own record */
    uint64_t cursor;   /* next own record to send */
    uint64_t unsent;   /* next own record that never was */
    uint64_t accepted; /* own records, as acknowledged */
    uint64_t taken;
    uint64_t limit; /* frames the parent lets us have sent */
    uint64_t sent;
    uint32_t kept_bytes;
    uint32_t batch_bytes; /* the batch: frame bytes, head included, */
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
    uint64_t now_ns;
    uint64_t links_ns; /* no link needs a look before */
    uint64_t goodbye;  /* frames of stream 0 up to it included; 0: none */
    uint32_t random;   /* jitter */
    uint16_t inputs;
    uint16_t links_max;
    uint16_t serve_first; /* queue of links to serve */
    uint16_t serve_last;
    bool has_left; /* LEAVE was said */
};

static inline bool ov_node_is_root(const struct ov_node *node)
{
    return node->tree.self == 0;
}

/* Queues a link whose due things or data want service. */
void ov_node_serve(struct ov_node *node, uint16_t link);

/* Queues the parent's link, when there is one. */
static inline void ov_node_serve_parent(struct ov_node *node)
{
    if (node->tree.parent != OV_NO_LINK)
        ov_node_serve(node, node->tree.parent);
}

#endif
