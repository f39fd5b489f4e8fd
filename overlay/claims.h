/* Claims that wait for the root's answer, and words that wait for a link.
 *
 * An ask is one claim on its way to the root: a node that wants to be answered
 * for, with the members beneath it. It is kept until the answer comes, together
 * with the place of the link it came from. The members are cells in a list; so
 * are the words that are sent down a link in their order. Room for both is part
 * of the node's memory: when there is no room, a claim is refused, and a link
 * on which a word cannot be sent is ended.
 */
#ifndef OVERLAY_CLAIMS_H
#define OVERLAY_CLAIMS_H

#include <stdbool.h>
#include <stdint.h>

#include "overlay/base/buf.h"
#include "overlay/members.h"

struct ov_cell {
    union {
        uint64_t attach;
        struct ov_buf *address; /* where the node of a LOOK listens; one
                                   reference */
    };
    uint32_t node;
    uint32_t parent; /* a word: its reason; LOOK, SEEN: the link */
    uint32_t next;
    uint32_t list; /* a word: first of the nodes it strips */
    uint8_t kind;  /* a word: enum ov_item_kind */
    uint8_t flags; /* a word: enum ov_item_flag */
};

_Static_assert(sizeof(struct ov_cell) <= 32, "ov_cell outgrew its budget");

struct ov_cell_list {
    uint32_t first; /* OV_NONE: empty */
    uint32_t last;
};

enum ov_ask_state {
    OV_ASK_FREE,
    OV_ASK_COMING, /* parts of the claim are still to come */
    OV_ASK_DUE,    /* complete, not yet passed on */
    OV_ASK_ASKED,  /* waits for the answer */
};

struct ov_ask {
    uint64_t attach;
    uint32_t node;
    uint32_t parent;              /* the node that took the claimant in */
    struct ov_cell_list claimed;  /* members beneath it */
    struct ov_cell_list stripped; /* those that are not granted */
    uint32_t same;                /* next ask of the same node */
    uint32_t next;                /* due, or free */
    uint16_t place;               /* where it came from */
    uint8_t state;                /* enum ov_ask_state */
};

struct ov_claims {
    struct ov_cell *cells; /* borrowed from the node's memory */
    struct ov_ask *asks;
    uint32_t cells_free;
    uint32_t asks_free;
    uint32_t asks_used; /* asks in use are below this index */
    uint32_t due_first; /* asks to be passed on, oldest first */
    uint32_t due_last;
    uint32_t written; /* cell of the first due ask that is written next */
    uint64_t hold_ns; /* no hold needs a question before this */
    struct ov_cell_list missing; /* members that nodes below ask about */
    struct ov_cell_list asides;  /* LOOK and SEEN, each for one neighbour */
    uint32_t scan_at;            /* where to continue among the members of a
                                    hold, */
    uint16_t scan_place;         /* and the place of that hold */
    uint16_t lend_turn;          /* place that was lent a frame last */
    uint16_t wanting;            /* places that wait to be lent a frame */
    uint16_t addresses_due; /* places whose child's address is to be sent to
                               our parent */
    uint32_t lent; /* frames lent and not yet passed on (root: taken) */
};

/* The number of asks for a node with this many members. */
static inline uint32_t ov_claims_asks(uint32_t members)
{
    return members > 0 ? members + 4 : 0;
}

static inline uint32_t ov_claims_cells(uint32_t members)
{
    return members > 0 ? 2 * members + 64 : 0;
}

void ov_claims_init(struct ov_claims *claims, struct ov_cell *cells,
                    struct ov_ask *asks, uint32_t members);

/* Takes a cell, NULL when there is none; returns one cell, or a whole list. */
struct ov_cell *ov_cell_new(struct ov_claims *claims);
void ov_cell_free(struct ov_claims *claims, struct ov_cell *cell);
void ov_cells_free(struct ov_claims *claims, struct ov_cell_list *list);

void ov_cells_push(struct ov_claims *claims, struct ov_cell_list *list,
                   struct ov_cell *cell);
/* Removes the first cell; NULL when the list is empty. */
struct ov_cell *ov_cells_pop(struct ov_claims *claims,
                             struct ov_cell_list *list);

static inline struct ov_cell_list ov_cells_none(void)
{
    return (struct ov_cell_list){OV_NONE, OV_NONE};
}

static inline uint32_t ov_ask_index(const struct ov_claims *claims,
                                    const struct ov_ask *ask)
{
    return (uint32_t)(ask - claims->asks);
}

/* A zeroed ask in state COMING, or NULL when there is none. */
struct ov_ask *ov_ask_new(struct ov_claims *claims);
/* Frees an ask that is not due, with its cells. */
void ov_ask_free(struct ov_claims *claims, struct ov_ask *ask);

/* Notes that the ask is complete and must be passed on. */
void ov_ask_due(struct ov_claims *claims, struct ov_ask *ask);
/* Removes an ask from the due ones, wherever it is in their list. */
void ov_ask_not_due(struct ov_claims *claims, struct ov_ask *ask);

#endif
