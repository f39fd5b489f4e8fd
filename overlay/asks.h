/* The asks of a node: claims that wait there for the root's answer. Each has
 * the members that it claims, and the place of the link on which it was
 * received. */
#ifndef OVERLAY_ASKS_H
#define OVERLAY_ASKS_H

#include "overlay/state.h"

/* Creates an ask when the first part of a claim is received. `who->node` is the
 * claiming node, `who->parent` the node that took it in, `place` that of the
 * link on which the claim arrives. NULL when there is no room. O(1). */
struct ov_ask *ov_asks_begin(struct ov_node *node, uint16_t place,
                             const struct ov_member_ref *who);

/* Adds one more member beneath the claiming node to the ask; false when there
 * is no room. O(1). */
bool ov_asks_claim(struct ov_node *node, struct ov_ask *ask,
                   const struct ov_member_ref *member);

/* Finds the ask of the node `who` with that attach number, or returns NULL.
 * O(asks of that node). */
struct ov_ask *ov_asks_find(const struct ov_node *node, uint32_t who,
                            uint64_t attach);

/* Frees the ask with the list of members that it claims. The caller must then
 * free the ask's place if it has become an empty hold (ov_place_tidy()).
 * O(members claimed). */
void ov_asks_drop(struct ov_node *node, struct ov_ask *ask);

#endif
