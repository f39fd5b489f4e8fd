/* Who answers for whom: the one place where that moves.
 *
 * An ask ends with the root's answer, with a refusal, or with the loss of the
 * parent link. Granted members are counted where the ask came from and
 * nowhere else; where they were counted before, LEFT goes down.
 */
#ifndef OVERLAY_SETTLE_H
#define OVERLAY_SETTLE_H

#include "overlay/state.h"

/* The ask is granted, but for those in ask->stripped. The claim goes; whoever
 * waits at its place is told: the child that said hello is welcomed, others get
 * the answer to pass on. O(members claimed). */
void ov_settle_grant(struct ov_node *node, struct ov_ask *ask);

/* The ask is refused. O(members claimed). */
void ov_settle_refuse(struct ov_node *node, struct ov_ask *ask,
                      enum ov_refuse_reason reason);

/* Our parent is gone: no answer can come. O(asks). */
void ov_settle_refuse_all(struct ov_node *node);

/* A member is no longer beneath us (OV_MEMBER_ABSENT), or lost for ever. LEFT
 * goes down where it was; when it is the child itself its link ends. O(1). */
void ov_settle_remove(struct ov_node *node, struct ov_member *member,
                      enum ov_member_state state);

/* Root: the answer to an ask, and what follows from it. */
void ov_settle_judge(struct ov_node *node, struct ov_ask *ask);

#endif
