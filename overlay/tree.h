/* A tree as one of its nodes sees it: the node's ancestors, and places for the
 * nodes beneath it.
 *
 * Everything about a tree is in struct ov_tree, because a node may one day
 * belong to several trees. UP and control always use tree 0.
 *
 * A place counts members: those that a child with a link answers for, the child
 * included, or, as a hold, those that a lost child answered for. Both have the
 * same fields, so a place becomes a hold by losing its link.
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
    uint64_t base; /* base that the child last reported: all frames before it
                      are consumed */
    uint64_t sent; /* number of the next frame to send to the child */
    uint32_t node; /* node and process that hold the base back */
    uint32_t rank;
    bool is_needed; /* the stream has targets at or beneath the child of this
                       place */
};

enum ov_place_kind {
    OV_PLACE_FREE,
    OV_PLACE_LINK,         /* a child on a link, welcomed or still joining */
    OV_PLACE_HOLD_REFUSED, /* the link is lost, and the child's address refuses
                              dials */
    OV_PLACE_HOLD_UNCLEAR, /* the link is lost, and nothing else is known */
    OV_PLACE_HOLD_SILENT,  /* this node has ended the link because the child was
                              silent */
};

enum {
    OV_DISCARD = OV_NONE - 1
    /* A value of ov_place.coming: the claim whose parts arrive was refused, and
     * its remaining parts are ignored. */
};

struct ov_place {
    struct ov_flow *flows;      /* [streams_max], by stream slot */
    struct ov_buf **queue;      /* [up_frames]: the child's UP frames that are
                                   not yet passed on */
    uint8_t *address;           /* [OV_ADDRESS_MAX]: where the child listens;
                                   NULL at the root */
    struct ov_member_list acks; /* acknowledgements that are due to the child */
    struct ov_cell_list words;  /* messages that are due to the child, in this
                                   order */
    uint64_t attach;
    uint64_t since_ns;    /* hold: when it began */
    uint64_t question_ns; /* hold: when the parent is next asked about it */
    uint64_t limit;       /* how many frames the child may send in total, as
                             last told to it */
    uint64_t received;
    uint64_t drained; /* how many of the child's frames this node has passed on
                         (at the root: the sinks have taken) */
    uint32_t child;   /* the child; TOPO_NONE in a hold that was merged from
                         several */
    uint32_t members; /* how many members are confirmed here, the child
                         included */
    uint32_t asks;    /* how many asks from this child wait for an answer */
    uint32_t coming;  /* index of the ask of which a part was received; OV_NONE
                         when there is none */
    uint32_t rec_off; /* root: where the reader of the first frame is, as in
                         struct ov_up_at */
    uint32_t rec_data;
    uint32_t leftover; /* frames from earlier links of the child that this node
                          still keeps; they count against the child's limit */
    uint32_t probe_at; /* hold: entry of the member table from which the search
                          for members to probe goes on */
    uint16_t rec_left;
    uint16_t frame;    /* root: entry of the first frame in ov_root.frames */
    uint16_t link;     /* link to the child; OV_NO_LINK in a hold */
    uint16_t queue_at; /* index of the first frame in the queue */
    uint16_t queue_len;
    uint8_t kind; /* enum ov_place_kind */
    uint8_t address_bytes;
    bool is_address_due; /* the child's address must be sent to our parent */
    bool is_lent;        /* surplus child: it must ask for each frame */
    bool is_wanting;     /* the surplus child has asked for a frame and not yet
                            got it */
    bool is_limit_due;
    bool is_asked_due;
    bool is_path_due;
    bool is_question_due; /* hold: the parent must be asked about its members */
};

/* A tree as one of its nodes sees it. */
struct ov_tree {
    const struct topo_tree *plan; /* borrowed from the cfg */
    struct ov_members members;    /* the nodes beneath this one; at the root all
                                     nodes */
    struct ov_claims *claims;     /* NULL for a leaf, which has no members */
    struct ov_place *places;      /* [places_max] */
    uint32_t *ancestors;          /* [ancestors_max]: the parent first, the root
                                     last */
    uint64_t attach;              /* attach number of the last dial; each dial
                                     adds 1 */
    uint64_t orphan_ns;           /* time since which this node has had no
                                     parent */
    uint64_t redial_ns;           /* when the next dial begins; OV_NEVER when
                                     none is planned */
    uint64_t attempt_ns;          /* when the current attempt has taken too
                                     long; OV_NEVER when there is no attempt, or
                                     the node dialled has answered ASKED */
    uint32_t self;
    uint32_t joined;   /* root: how many members have joined or were given up */
    uint32_t hello_at; /* entry of the member table at which the next part of
                          the hello begins */
    uint16_t dial_at;  /* index of the ancestor that is dialled next */
    uint16_t ancestors_count;
    uint16_t ancestors_max;
    uint16_t places_used; /* all places in use have an index below this */
    uint16_t places_max;
    uint16_t parent; /* link to the parent, or OV_NO_LINK */
    uint8_t number;
    bool is_attached;    /* this node is welcomed by its parent, or is the
                            root */
    bool has_joined;     /* a parent has welcomed this node at least once */
    bool is_turned_down; /* the planned parent has refused this node */
    bool has_let_go;     /* this node, an orphan, has ended the links to its
                            children */
    bool has_changed;    /* places were added or removed, so the bases must be
                            computed again */
    bool is_hello_due;
    bool is_dialling;
};

#endif
