/* Holds: the members beneath a lost child, for which this node answers until
 * another node does so or the root gives them up. Nothing else ends a hold: the
 * node that has it can only ask its parent about the members. */
#ifndef OVERLAY_HOLD_H
#define OVERLAY_HOLD_H

#include "overlay/state.h"

/* Notes that a dial to a former child, or to a member beneath it, was refused:
 * nobody listens there any longer. `address` is where it listened, in the
 * driver's encoding; its reference passes. When it is NULL no other node can be
 * asked to dial it, too. O(places). */
void ov_hold_on_refused(struct ov_node *node, uint32_t who,
                        struct ov_buf *address, struct ov_out *out);

/* Handles SEEN: what a second witness has found out about a member that we
 * asked it to dial. Returns 0 or OV_EPROTO. */
int ov_hold_on_seen(struct ov_node *node, struct ov_item *item);

/* Makes questions to the parent due about holds whose time has come; the root
 * itself decides about them. The root also gives up nodes that have not joined
 * in time. O(members) for each hold. */
void ov_hold_on_time(struct ov_node *node, struct ov_out *out);

/* Finds the next member to ask the parent about (MISSING); false when there is
 * none. */
bool ov_hold_question(struct ov_node *node, struct ov_member_ref *ref);

/* Handles MISSING, a child's question about members of its holds: answers LEFT
 * for members that this node does not count beneath the child, ignores members
 * whose ask is on its way, and passes the rest on to the parent. Returns 0 or
 * OV_EPROTO. */
int ov_hold_on_missing(struct ov_node *node, uint16_t link,
                       struct ov_item *item);

/* Handles LEFT, the parent's message that members are beneath another node now,
 * or lost. Returns 0 or OV_EPROTO. */
int ov_hold_on_left(struct ov_node *node, struct ov_item *item);

#endif
