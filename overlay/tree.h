/* A tree as one of its nodes has it: parents, and places of those beneath.
 *
 * What belongs to a tree hangs off a tree object: a node may come to belong to
 * several. UP and control always run on tree 0.
 *
 * A place is where members beneath a node are counted: a link to a child, or
 * a hold for those of a child that was lost. Both have the same fields, so a
 * link's place becomes a hold by losing its link.
 */
#ifndef OVERLAY_TREE_H
#define OVERLAY_TREE_H

#include "overlay/base/buf.h"
#include "overlay/claims.h"
#include "overlay/members.h"
#include "topo/tree.h"

enum { OV_ANCESTORS_MAX = 64 };

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
    OV_PLACE_HOLD_REFUSED, /* link lost, and a dial to its peer is refused */
    OV_PLACE_HOLD_UNCLEAR, /* link lost, no more is known */
    OV_PLACE_HOLD_SILENT,  /* link judged by silence */
};

enum { OV_DISCARD = OV_NONE - 1 }; /* ov_place.coming: a refused claim */

struct ov_place {
    struct ov_flow *flows;      /* [streams_max], by stream slot */
    struct ov_buf **queue;      /* [up_frames]: UP frames not yet passed on */
    uint8_t *address;           /* [OV_ADDRESS_MAX] of the child; root: none */
    struct ov_member_list acks; /* due */
    struct ov_cell_list words;  /* due, in this order */
    uint64_t attach;
    uint64_t since_ns;    /* hold: when it began */
    uint64_t question_ns; /* hold: when it is asked about next */
    uint64_t limit;       /* frames granted, as last told */
    uint64_t received;
    uint64_t drained;  /* of these, passed on (root: taken) */
    uint32_t child;    /* the node on the link */
    uint32_t members;  /* confirmed beneath, itself included */
    uint32_t asks;     /* that came by it and wait for an answer */
    uint32_t coming;   /* the one that is being received; OV_NONE */
    uint32_t rec_off;  /* root: next record head of the first frame */
    uint32_t rec_data; /* root: its payload */
    uint32_t leftover; /* frames of earlier links still held, charged here */
    uint32_t probe_at; /* hold: entry of members to probe from */
    uint16_t rec_left; /* root: records left in it */
    uint16_t frame;    /* root: its entry in frames[] */
    uint16_t link;     /* OV_NO_LINK in a hold */
    uint16_t queue_at; /* first of the queue */
    uint16_t queue_len;
    uint8_t kind; /* enum ov_place_kind */
    uint8_t address_bytes;
    bool is_address_due; /* to our parent */
    bool is_lent;        /* the child asks for each frame, */
    bool is_wanting;     /* and has */
    bool is_limit_due;
    bool is_asked_due;
    bool is_path_due;
    bool is_question_due; /* hold: its members are to be asked about */
};

/* A tree as one of its nodes sees it. */
struct ov_tree {
    const struct topo_tree *plan; /* borrowed from the cfg */
    struct ov_members members;    /* beneath; at the root: all */
    struct ov_claims *claims;     /* NULL for a leaf */
    struct ov_place *places;      /* [places_max] */
    uint32_t *ancestors;          /* [OV_ANCESTORS_MAX at most], parent first */
    uint64_t attach;              /* raised with every dial */
    uint64_t orphan_ns;           /* since when there is no parent */
    uint64_t redial_ns;           /* OV_NEVER: not waiting to dial */
    uint64_t attempt_ns;          /* the try going on is over; OV_NEVER */
    uint32_t self;
    uint32_t joined;   /* root: members confirmed once, or given up */
    uint32_t hello_at; /* entry of members from which the hello goes on */
    uint16_t dial_at;  /* whose turn it is among the ancestors */
    uint16_t ancestors_count;
    uint16_t ancestors_max;
    uint16_t places_used; /* all in use are below this */
    uint16_t places_max;
    uint16_t parent; /* link; OV_NO_LINK */
    uint8_t number;
    bool is_attached;    /* welcomed, or the root */
    bool has_joined;     /* was welcomed once */
    bool is_turned_down; /* the planned parent cannot take us */
    bool has_let_go;  /* an orphan for long: its children's links are ended */
    bool has_changed; /* places came or went: streams are worked out anew */
    bool is_hello_due;
    bool is_dialling;
};

#endif
