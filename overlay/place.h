/* Places: taking one for a child, granting it frames, losing its link. */
#ifndef OVERLAY_PLACE_H
#define OVERLAY_PLACE_H

#include "overlay/state.h"

/* A free place, reset, for a child on a link; OV_NO_PLACE when there is none.
 * Two holds become one when that makes room: then O(members), else O(places).
 * The streams' flows begin at 0. */
uint16_t ov_place_take(struct ov_node *node, uint32_t child, uint16_t link);

/* The place of a child that is on a link, or OV_NO_PLACE. */
uint16_t ov_place_find(const struct ov_node *node, uint32_t child);

/* Children on links. */
uint16_t ov_place_children(const struct ov_node *node);

/* The place beneath which a member can be told things, or NULL. */
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

/* Tells the child a higher limit when that is worth a word: half the frames
 * have come free, or it has none left. One that asks for each frame gets one
 * when it has asked and not all are lent. */
void ov_place_grant(struct ov_node *node, struct ov_place *place);

/* Adds a received frame to the queue; false when the child was not granted
 * it. */
bool ov_place_queue(const struct ov_node *node, struct ov_place *place,
                    struct ov_buf *buf);

/* The child asks for a frame. OV_EPROTO: it has to wait for none. */
int ov_place_on_want(struct ov_node *node, struct ov_place *place);

/* A frame without records: the child has no use for what it was lent. False
 * when the child was not granted it. */
bool ov_place_given_back(struct ov_node *node, struct ov_place *place);

/* The first frame of the queue, and its removal: the reference passes. */
static inline struct ov_buf *ov_place_first(const struct ov_place *place)
{
    OV_ASSERT(place->queue_len > 0);
    return place->queue[place->queue_at];
}

struct ov_buf *ov_place_pop(const struct ov_node *node, struct ov_place *place);

/* A frame that was popped is sent (root: taken): it no longer counts. */
void ov_place_drained(struct ov_node *node, struct ov_place *place);

/* The acknowledgement for a member is due, down its place. */
void ov_place_ack(struct ov_node *node, struct ov_member *member, bool at_once);

/* The next member whose acknowledgement is due here, taken off. */
struct ov_member *ov_place_ack_pop(struct ov_node *node,
                                   struct ov_place *place);

/* A word for the child, behind those before it; its strip list passes from
 * *stripped (may be NULL). When there is no room for it the link ends. */
struct ov_word {
    enum ov_item_kind kind;
    uint8_t flags;
    uint32_t node;
    uint32_t reason;
    uint64_t attach;
};
void ov_place_say(struct ov_node *node, struct ov_place *place,
                  const struct ov_word *word, struct ov_cell_list *stripped);

/* The link is ours to end: nothing more is heard on it, and the driver is told
 * when the link is served. Its place becomes a hold. */
void ov_place_end_link(struct ov_node *node, struct ov_place *place);

/* The link is gone, and what was due on it: the place becomes a hold of that
 * kind, with its members and the asks that came by it. What the child sent and
 * we still keep stays in the queue. */
void ov_place_to_hold(struct ov_node *node, struct ov_place *place,
                      enum ov_place_kind kind);

/* Our parent is to know where the child listens; it is told when its link is
 * served. Nothing for a child that has not said it, and at the root. */
void ov_place_tell_address(struct ov_node *node, struct ov_place *place);

/* Frees a hold in which nobody is counted and nothing is left. */
void ov_place_tidy(struct ov_node *node, struct ov_place *place);

#endif
