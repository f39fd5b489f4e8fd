/* Changes which members a node answers for. No other file changes that.
 *
 * An ask ends with the root's answer, with a refusal, or with the loss of the
 * parent link. When the root grants the claim, its members are counted at the
 * place from which the ask came, and at no other; when another place counted a
 * member before, LEFT is sent to the child there.
 */
#ifndef OVERLAY_SETTLE_H
#define OVERLAY_SETTLE_H

#include "overlay/state.h"

/* Grants the ask, except for the nodes in ask->stripped, and frees it. The
 * child at its place is welcomed if the claim is its own hello, else it gets
 * the answer to pass on. O(members claimed). */
void ov_settle_grant(struct ov_node *node, struct ov_ask *ask);

/* Refuses the ask and frees it. A child at its place gets the refusal.
 * O(members claimed). */
void ov_settle_refuse(struct ov_node *node, struct ov_ask *ask,
                      enum ov_refuse_reason reason);

/* Refuses all asks, because our parent is gone and no answer can come.
 * O(asks). */
void ov_settle_refuse_all(struct ov_node *node);

/* Removes a member, which is no longer beneath us (OV_MEMBER_ABSENT) or lost
 * for ever (OV_MEMBER_LOST). LEFT is sent to the child beneath which it was;
 * when the member is that child itself, its link is ended. O(1). */
void ov_settle_remove(struct ov_node *node, struct ov_member *member,
                      enum ov_member_state state);

/* Root: grants or refuses an ask, and does what follows from that. */
void ov_settle_judge(struct ov_node *node, struct ov_ask *ask);

#endif
