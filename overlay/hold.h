/* Holds: the members beneath a lost child, until somebody else answers for them
 * or the root gives them up. Nothing else ends a hold: the node that has it
 * only asks. */
#ifndef OVERLAY_HOLD_H
#define OVERLAY_HOLD_H

#include "overlay/state.h"

/* Nobody accepts our dials any longer where that former child, or a member
 * beneath it, listened: at `address`, in the driver's encoding, whose reference
 * passes. NULL: then nobody else can be asked to dial it. O(places). */
void ov_hold_on_refused(struct ov_node *node, uint32_t who,
                        struct ov_buf *address, struct ov_out *out);

/* What a second witness has found out about a member that we asked it about. Or
 * OV_EPROTO. */
int ov_hold_on_seen(struct ov_node *node, struct ov_item *item);

/* Asks about holds whose time has come, or judges them at the root. The root
 * also gives up nodes that have not joined in time. O(members) for each. */
void ov_hold_on_time(struct ov_node *node, struct ov_out *out);

/* The next member to ask the parent about; false when there is none. */
bool ov_hold_question(struct ov_node *node, struct ov_member_ref *ref);

/* A child's question about members of its holds: answers LEFT for members that
 * are elsewhere, ignores members whose ask is on its way, and passes the rest
 * on to the parent. Or OV_EPROTO. */
int ov_hold_on_missing(struct ov_node *node, uint16_t link,
                       struct ov_item *item);

/* The parent's message that members are elsewhere, or lost. Or OV_EPROTO. */
int ov_hold_on_left(struct ov_node *node, struct ov_item *item);

#endif
