/* Decides which node answers for which: the only place where that changes.
 *
 * An ask ends with the root's answer, with a refusal, or with the loss of the
 * parent link. Granted members are counted where the ask came from and nowhere
 * else; where they were counted before, LEFT is sent down.
 */
#ifndef OVERLAY_SETTLE_H
#define OVERLAY_SETTLE_H

#include "overlay/state.h"

/* Grants the ask, except for the nodes in ask->stripped, and frees the claim.
 * Whoever waits at its place is told: the child that said hello is welcomed,
 * another gets the answer to pass on. O(members claimed). */
void ov_settle_grant(struct ov_node *node, struct ov_ask *ask);

/* Refuses the ask. O(members claimed). */
void ov_settle_refuse(struct ov_node *node, struct ov_ask *ask,
                      enum ov_refuse_reason reason);

/* Refuses all asks, because our parent is gone and no answer can come.
 * O(asks). */
void ov_settle_refuse_all(struct ov_node *node);

/* A member is no longer beneath us (OV_MEMBER_ABSENT), or lost for ever. LEFT
 * is sent down where it was; if it is the child itself its link ends. O(1). */
void ov_settle_remove(struct ov_node *node, struct ov_member *member,
                      enum ov_member_state state);

/* Root: decides about an ask, and does what follows from that. */
void ov_settle_judge(struct ov_node *node, struct ov_ask *ask);

#endif
