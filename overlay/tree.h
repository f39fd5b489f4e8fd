/* A tree as one of its nodes sees it: parents, and places for the nodes
 * beneath.
 *
 * Everything about a tree is in a tree object, as a node may one day belong to
 * several. UP and control always use tree 0.
 *
 * A place counts members beneath a node: those behind the link to a child, or,
 * as a hold, those of a child that was lost. Both have the same fields, so a
 * place becomes a hold by losing its link.
 */
#ifndef OVERLAY_TREE_H
#define OVERLAY_TREE_H

#include "overlay/base/buf.h"
#include "overlay/claims.h"
#include "overlay/members.h"
#include "topo/tree.h"

enum { OV_ANCESTORS_MAX = 64 };

/* The state of one stream at one place. */
struct ov_flow {
    uint64_t base; /* reported base: everything before is consumed */
    uint64_t sent; /* next frame to send; may lie before a base that fell */
    uint32_t node; /* who holds the base back */
    uint32_t rank;
    bool is_needed; /* the stream has targets beneath this place */
};

enum ov_place_kind {
    OV_PLACE_FREE,
    OV_PLACE_LINK,         /* a child on a link, welcomed or on its way */
    OV_PLACE_HOLD_REFUSED, /* link lost, and its peer refuses dials */
    OV_PLACE_HOLD_UNCLEAR, /* link lost, nothing else is known */
    OV_PLACE_HOLD_SILENT,  /* link given up because of silence */
};

enum { OV_DISCARD = OV_NONE - 1 }; /* ov_place.coming: a refused claim */

struct ov_place {
    struct ov_flow *flows;      /* [streams_max], by stream slot */
    struct ov_buf **queue;      /* [up_frames]: UP frames not yet passed on */
    uint8_t *address;           /* [OV_ADDRESS_MAX]: where the child listens;
                                   root: none */
    struct ov_member_list acks; /* acknowledgements that are due */
    struct ov_cell_list words;  /* messages that are due, in this order */
    uint64_t attach;
    uint64_t since_ns;    /* hold: when it began */
    uint64_t question_ns; /* hold: when it is asked about next */
    uint64_t limit;       /* frames granted, as last told to the child */
    uint64_t received;
    uint64_t drained;  /* frames passed on (root: taken) */
    uint32_t child;    /* the node on the link */
    uint32_t members;  /* members confirmed beneath it, the child included */
    uint32_t asks;     /* asks that came by it and wait for an answer */
    uint32_t coming;   /* the ask that is being received; OV_NONE */
    uint32_t rec_off;  /* root: next record head of the first frame */
    uint32_t rec_data; /* root: the payload of that record */
    uint32_t leftover; /* frames of earlier links still held, charged here */
    uint32_t probe_at; /* hold: entry of members to probe from */
    uint16_t rec_left; /* root: records left in the first frame */
    uint16_t frame;    /* root: its entry in frames[] */
    uint16_t link;     /* OV_NO_LINK in a hold */
    uint16_t queue_at; /* first of the queue */
    uint16_t queue_len;
    uint8_t kind; /* enum ov_place_kind */
    uint8_t address_bytes;
    bool is_address_due; /* the address must be sent to our parent */
    bool is_lent;        /* the child must ask for each frame, */
    bool is_wanting;     /* and has asked */
    bool is_limit_due;
    bool is_asked_due;
    bool is_path_due;
    bool is_question_due; /* hold: its members must be asked about */
};

/* A tree as one of its nodes sees it. */
struct ov_tree {
    const struct topo_tree *plan; /* borrowed from the cfg */
    struct ov_members members;    /* members beneath; at the root: all nodes */
    struct ov_claims *claims;     /* NULL for a leaf */
    struct ov_place *places;      /* [places_max] */
    uint32_t *ancestors;          /* [OV_ANCESTORS_MAX at most], parent first */
    uint64_t attach;              /* raised with each dial */
    uint64_t orphan_ns;           /* since when there is no parent */
    uint64_t redial_ns;           /* OV_NEVER: not waiting to dial */
    uint64_t attempt_ns;          /* when the current attempt is over;
                                     OV_NEVER */
    uint32_t self;
    uint32_t joined;   /* root: members that joined, or were given up */
    uint32_t hello_at; /* entry of members where the hello continues */
    uint16_t dial_at;  /* which of the ancestors is dialled next */
    uint16_t ancestors_count;
    uint16_t ancestors_max;
    uint16_t places_used; /* places in use are below this index */
    uint16_t places_max;
    uint16_t parent; /* link to the parent; OV_NO_LINK */
    uint8_t number;
    bool is_attached;    /* welcomed by a parent, or the root */
    bool has_joined;     /* was welcomed once */
    bool is_turned_down; /* the planned parent cannot take us */
    bool has_let_go;     /* an orphan that has ended its children's links */
    bool has_changed; /* places were added or removed: bases must be computed */
    bool is_hello_due;
    bool is_dialling;
};

#endif
