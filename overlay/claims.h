/* Claims that wait for the root's answer, and messages that wait until a link
 * can send them.
 *
 * An ask is one claim on its way to the root: a node asks to be adopted, and
 * names the members beneath it. Each node on the way keeps the ask until the
 * answer comes, together with the place of the link from which it received it.
 * The members of an ask are cells in a list; the messages that a node is going
 * to send on a link are cells in another list, in their order. The memory of a
 * node has room for a fixed number of cells and asks: when there is no room,
 * the node refuses a claim, and ends a link for which it has no cell for a
 * message.
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
        struct ov_buf *address; /* LOOK: where the node listens that is to be
                                   dialled; one reference */
    };
    uint32_t node;
    uint32_t parent; /* of a message: its reason; LOOK, SEEN: the link to send
                        it on */
    uint32_t next;
    uint32_t list; /* of a message: first cell of the list of nodes that it
                      strips */
    uint8_t kind;  /* of a message: enum ov_item_kind */
    uint8_t flags; /* of a message: enum ov_item_flag */
};

_Static_assert(sizeof(struct ov_cell) <= 32, "ov_cell outgrew its budget");

struct ov_cell_list {
    uint32_t first; /* first cell; OV_NONE when the list is empty */
    uint32_t last;
};

enum ov_ask_state {
    OV_ASK_FREE,
    OV_ASK_COMING, /* the node has received a part of the claim and waits for
                      the rest */
    OV_ASK_DUE,    /* the claim is complete, but not yet sent to the parent */
    OV_ASK_ASKED,  /* sent to the parent, whose answer it waits for */
};

struct ov_ask {
    uint64_t attach;
    uint32_t node;
    uint32_t parent;              /* the node that took the claimant in */
    struct ov_cell_list claimed;  /* members beneath the claiming node */
    struct ov_cell_list stripped; /* nodes among these that are not granted */
    uint32_t same;                /* next ask in the list of those about the
                                     same node */
    uint32_t next;                /* next ask in the list of due ones, or of
                                     free ones */
    uint16_t place;               /* place of the link on which this node
                                     received the ask */
    uint8_t state;                /* enum ov_ask_state */
};

struct ov_claims {
    struct ov_cell *cells; /* [cells] borrowed from the node's memory */
    struct ov_ask *asks;
    uint32_t cells_free;
    uint32_t asks_free;
    uint32_t asks_used; /* all asks in use have an index below this */
    uint32_t due_first; /* first and last ask to send to the parent, the oldest
                           first */
    uint32_t due_last;
    uint32_t written; /* cell of the first due ask with which its next item
                         begins */
    uint64_t hold_ns; /* no member of a hold has to be asked about before this
                         time */
    struct ov_cell_list missing; /* members about which nodes beneath this one
                                    ask (MISSING), to be sent to the parent */
    struct ov_cell_list asides;  /* LOOK and SEEN messages, each for one
                                    neighbour */
    uint32_t scan_at;            /* index of the member at which the search
                                    among the members of a hold continues */
    uint16_t scan_place;         /* the place of the hold that scan_at is
                                    about */
    uint16_t lend_turn;          /* place of the surplus child to which this
                                    node lent a frame last */
    uint16_t wanting;            /* how many places have a surplus child that
                                    waits to be lent a frame */
    uint16_t addresses_due; /* how many places have a child whose address is
                               still to be sent to our parent */
    uint32_t lent; /* frames that are lent to surplus children and that this
                      node has not yet passed on (at the root: that its sinks
                      have not yet taken) */
};

/* How many asks a node has memory for, when `members` nodes are planned beneath
 * it. */
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

/* Takes a cell from the free ones, or returns NULL when there is none. The next
 * two functions put back one cell, and all cells of a list. */
struct ov_cell *ov_cell_new(struct ov_claims *claims);
void ov_cell_free(struct ov_claims *claims, struct ov_cell *cell);
void ov_cells_free(struct ov_claims *claims, struct ov_cell_list *list);

void ov_cells_push(struct ov_claims *claims, struct ov_cell_list *list,
                   struct ov_cell *cell);
/* Removes and returns the first cell; NULL when the list is empty. */
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

/* Takes a zeroed ask in state OV_ASK_COMING, or returns NULL when no ask is
 * free. */
struct ov_ask *ov_ask_new(struct ov_claims *claims);
/* Frees an ask, with its cells. The ask must not be in the list of due ones. */
void ov_ask_free(struct ov_claims *claims, struct ov_ask *ask);

/* Notes that the ask is complete: appends it to the list of those to send to
 * the parent. */
void ov_ask_due(struct ov_claims *claims, struct ov_ask *ask);
/* Removes an ask from the list of due ones, wherever it stands there. */
void ov_ask_not_due(struct ov_claims *claims, struct ov_ask *ask);

#endif
