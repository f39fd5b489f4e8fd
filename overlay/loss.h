/* Handles the end of a link: the node becomes an orphan, or a child's place a
 * hold. */
#ifndef OVERLAY_LOSS_H
#define OVERLAY_LOSS_H

#include "overlay/state.h"

/* Handles the end of a link. If it led to the parent, this node is an orphan:
 * it looks for another parent, and refuses all claims that wait for an answer.
 * If it led to a child that has not consumed the goodbye, the child's place
 * becomes a hold of the kind `hold`. O(children), and O(asks) for the
 * parent. */
void ov_loss_on_down(struct ov_node *node, uint16_t link,
                     enum ov_place_kind hold, struct ov_out *out);

/* Ends a link from this side, and then does the same as ov_loss_on_down(). */
void ov_loss_close(struct ov_node *node, uint16_t link, enum ov_place_kind hold,
                   struct ov_out *out);

/* Dials a possible parent when it is time. When this node has had no parent for
 * the let-go time, it ends the links to its children, so that they look for
 * another parent themselves. */
void ov_loss_on_time(struct ov_node *node, struct ov_out *out);

#endif
