/* Places: taking one for a child, granting frames to it, losing its link. */
#ifndef OVERLAY_PLACE_H
#define OVERLAY_PLACE_H

#include "overlay/state.h"

/* Takes a place for a child on a link and resets it; the flows of its streams
 * begin at 0. OV_NO_PLACE when there is none. When merging two holds makes room
 * this is O(members), else O(places). */
uint16_t ov_place_take(struct ov_node *node, uint32_t child, uint16_t link);

/* The place of a child that is on a link, or OV_NO_PLACE. */
uint16_t ov_place_find(const struct ov_node *node, uint32_t child);

/* How many children are on links. */
uint16_t ov_place_children(const struct ov_node *node);

/* The place that leads to a member; NULL when there is none. */
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

/* Tells the child a higher limit when it is worth a message: half of the frames
 * are free again, or it has none left. A child that asks for each frame gets
 * one when it has asked and not all are lent. */
void ov_place_grant(struct ov_node *node, struct ov_place *place);

/* Adds a received frame to the queue. False when the child was not granted
 * it. */
bool ov_place_queue(const struct ov_node *node, struct ov_place *place,
                    struct ov_buf *buf);

/* The child asks for a frame. OV_EPROTO: it need not ask, or has asked
 * already. */
int ov_place_on_want(struct ov_node *node, struct ov_place *place);

/* The child returns a frame that it was lent, as one without records. False
 * when the child was not granted it. */
bool ov_place_given_back(struct ov_node *node, struct ov_place *place);

/* The first frame of the queue, and its removal, which passes the reference. */
static inline struct ov_buf *ov_place_first(const struct ov_place *place)
{
    OV_ASSERT(place->queue_len > 0);
    return place->queue[place->queue_at];
}

struct ov_buf *ov_place_pop(const struct ov_node *node, struct ov_place *place);

/* A frame that was taken from the queue was sent (root: taken): it no longer
 * counts. */
void ov_place_drained(struct ov_node *node, struct ov_place *place);

/* Makes the acknowledgement for a member due at its place. */
void ov_place_ack(struct ov_node *node, struct ov_member *member, bool at_once);

/* Removes and returns the next member whose acknowledgement is due here. */
struct ov_member *ov_place_ack_pop(struct ov_node *node,
                                   struct ov_place *place);

/* A message for the child, to be sent after earlier ones. Its list of stripped
 * nodes is taken from *stripped (may be NULL). When there is no room for it the
 * link ends. */
struct ov_word {
    enum ov_item_kind kind;
    uint8_t flags;
    uint32_t node;
    uint32_t reason;
    uint64_t attach;
};
void ov_place_say(struct ov_node *node, struct ov_place *place,
                  const struct ov_word *word, struct ov_cell_list *stripped);

/* Ends a link from this side: what still comes on it is ignored, and the driver
 * is told when the link is served. The place becomes a hold. */
void ov_place_end_link(struct ov_node *node, struct ov_place *place);

/* The link and everything due on it are gone: the place becomes a hold of that
 * kind, with its members and the asks that came by it. Frames of the child that
 * are still kept stay in the queue. */
void ov_place_to_hold(struct ov_node *node, struct ov_place *place,
                      enum ov_place_kind kind);

/* Our parent is to be told where the child listens, when its link is served.
 * Does nothing for a child that has not told its address, and at the root. */
void ov_place_tell_address(struct ov_node *node, struct ov_place *place);

/* Frees a hold that has no members and no frames left. */
void ov_place_tidy(struct ov_node *node, struct ov_place *place);

#endif
