/* Places: taking one for a child, granting it frames, losing its link. */
#ifndef OVERLAY_PLACE_H
#define OVERLAY_PLACE_H

#include "overlay/state.h"

/* The place of a child on a link: the hold that was kept for it, or a free
 * one, reset; OV_NO_PLACE when there is none. O(places). */
uint16_t ov_place_take(struct ov_node *node, uint32_t child, uint16_t link);

/* The place of a child that is on a link, or OV_NO_PLACE. */
uint16_t ov_place_find(const struct ov_node *node, uint32_t child);

/* Is this a child whose base counts? Holds of lost nodes do not in this
 * release: a loss ends the job, and nobody waits for what cannot come. A child
 * that was asked for and has not been welcomed comes back. */
static inline bool ov_place_counts(const struct ov_place *place)
{
    return place->kind == OV_PLACE_LINK || place->kind == OV_PLACE_HOLD_ASKED;
}

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

/* Tells the child a higher limit when that is worth a word: half the frames
 * have come free, or it has none left. */
void ov_place_grant(struct ov_node *node, struct ov_place *place);

/* Adds a received frame to the queue; false when the child was not granted
 * it. */
bool ov_place_queue(const struct ov_node *node, struct ov_place *place,
                    struct ov_buf *buf);

/* The first frame of the queue, and its removal: the reference passes. */
static inline struct ov_buf *ov_place_first(const struct ov_place *place)
{
    return place->queue[place->queue_at];
}

struct ov_buf *ov_place_pop(const struct ov_node *node, struct ov_place *place);

/* A frame that was popped (root: taken) no longer counts. Frees a hold whose
 * last leftover this was. */
void ov_place_drained(struct ov_node *node, struct ov_place *place);

/* The link is gone, and what was due on it: the place becomes a hold of that
 * kind. What the child sent and we still keep stays in the queue. O(members
 * beneath) when nothing is left. */
void ov_place_to_hold(struct ov_node *node, struct ov_place *place,
                      enum ov_place_kind kind);

/* Frees a place; the members in it have none then. O(members beneath). */
void ov_place_free(struct ov_node *node, struct ov_place *place);

#endif
