/* The asks of a node: the members that each claims, and the place it came
 * by. */
#ifndef OVERLAY_ASKS_H
#define OVERLAY_ASKS_H

#include "overlay/state.h"

/* A claim of `who` begins to arrive by that place; `parent` is the node that
 * took it in. NULL when there is no room. O(1). */
struct ov_ask *ov_asks_begin(struct ov_node *node, uint16_t place,
                             const struct ov_member_ref *who);

/* Adds one more member beneath the claiming node; false when there is no room.
 * O(1). */
bool ov_asks_claim(struct ov_node *node, struct ov_ask *ask,
                   const struct ov_member_ref *member);

/* The ask with that attach number, or NULL. O(asks of that node). */
struct ov_ask *ov_asks_find(const struct ov_node *node, uint32_t who,
                            uint64_t attach);

/* Ends the wait for an answer: the ask no longer claims anybody. The caller
 * tidies the place. O(members claimed). */
void ov_asks_drop(struct ov_node *node, struct ov_ask *ask);

#endif
