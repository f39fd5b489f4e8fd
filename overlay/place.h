/* The places of a node: takes one for a child, grants the child frames, and
 * makes the place a hold when its link is lost. */
#ifndef OVERLAY_PLACE_H
#define OVERLAY_PLACE_H

#include "overlay/state.h"

/* Takes a free place for a child on a link and resets it; all its streams begin
 * at frame 0. OV_NO_PLACE when no place is free. When merging two holds makes a
 * place free this is O(members), else O(places). */
uint16_t ov_place_take(struct ov_node *node, uint32_t child, uint16_t link);

/* Finds the place of a child that has a link; OV_NO_PLACE when there is
 * none. */
uint16_t ov_place_find(const struct ov_node *node, uint32_t child);

/* How many children have a link to this node. */
uint16_t ov_place_children(const struct ov_node *node);

/* The place of the link through which a member is reached; NULL when it is in a
 * hold or beneath no place. */
static inline struct ov_place *ov_place_of(const struct ov_node *node,
                                           const struct ov_member *member)
{
    struct ov_place *place;

    if (member->place == OV_NO_PLACE)
        return NULL;
    place = &node->tree.places[member->place];
    return place->kind == OV_PLACE_LINK ? place : NULL;
}

static inline uint16_t ov_place_index(const struct ov_node *node,
                                      const struct ov_place *place)
{
    return (uint16_t)(place - node->tree.places);
}

/* Tells the child a higher limit when that is worth a message: when half of its
 * frames are free again, or it may send no more. A surplus child, which asks
 * for each frame, gets one when it has asked and not all frames that can be
 * lent are lent. */
void ov_place_grant(struct ov_node *node, struct ov_place *place);

/* Adds a frame received from the child to its queue. False when the child was
 * not allowed to send it. */
bool ov_place_queue(const struct ov_node *node, struct ov_place *place,
                    struct ov_buf *buf);

/* Handles WANT, by which a child asks for a frame. Returns OV_EPROTO when the
 * child need not ask, or has asked already. */
int ov_place_on_want(struct ov_node *node, struct ov_place *place);

/* Handles an UP frame without records, by which a child gives back a frame that
 * it was lent. False when the child was lent none. */
bool ov_place_given_back(struct ov_node *node, struct ov_place *place);

/* The first frame of the queue; ov_place_pop() removes it, and its reference
 * passes to the caller. */
static inline struct ov_buf *ov_place_first(const struct ov_place *place)
{
    OV_ASSERT(place->queue_len > 0);
    return place->queue[place->queue_at];
}

struct ov_buf *ov_place_pop(const struct ov_node *node, struct ov_place *place);

/* Notes that a frame which was taken from the queue has been sent (at the root:
 * that its sinks have taken it), and so no longer counts against the child's
 * limit. */
void ov_place_drained(struct ov_node *node, struct ov_place *place);

/* Makes the acknowledgement for a member due at the place through which the
 * member is reached. */
void ov_place_ack(struct ov_node *node, struct ov_member *member, bool at_once);

/* Removes and returns the next member whose acknowledgement is due at this
 * place. */
struct ov_member *ov_place_ack_pop(struct ov_node *node,
                                   struct ov_place *place);

/* A message for the child. ov_place_say() adds it to those that wait to be
 * sent. *stripped has the nodes that the message strips, and is empty
 * afterwards; it may be NULL. When there is no room for the message the link is
 * ended. */
struct ov_word {
    enum ov_item_kind kind;
    uint8_t flags;
    uint32_t node;
    uint32_t reason;
    uint64_t attach;
};
void ov_place_say(struct ov_node *node, struct ov_place *place,
                  const struct ov_word *word, struct ov_cell_list *stripped);

/* Ends a link from this side: what is still received on it is ignored, and the
 * driver closes it when the link is next served. The place becomes a hold. */
void ov_place_end_link(struct ov_node *node, struct ov_place *place);

/* Turns the place into a hold of that kind, after its link has ended: what was
 * due on the link is dropped, while the members and the asks that came by the
 * link stay with the place. Frames of the child that this node still keeps stay
 * in the queue. */
void ov_place_to_hold(struct ov_node *node, struct ov_place *place,
                      enum ov_place_kind kind);

/* Notes that our parent must be told where the child listens; the message is
 * sent when the link to the parent is served. Does nothing for a child that has
 * not told its address, and at the root. */
void ov_place_tell_address(struct ov_node *node, struct ov_place *place);

/* Frees a hold that has no members and no frames left. */
void ov_place_tidy(struct ov_node *node, struct ov_place *place);

#endif
