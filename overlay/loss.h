/* The end of a link, and what follows from it. */
#ifndef OVERLAY_LOSS_H
#define OVERLAY_LOSS_H

#include "overlay/state.h"

/* A link is gone. If it led to the parent, this node is an orphan and looks for
 * another parent, and asks that wait for an answer are refused. If it led to a
 * child that has not consumed the goodbye, its place becomes a hold of that
 * kind. O(children), and O(asks) for the parent. */
void ov_loss_on_down(struct ov_node *node, uint16_t link,
                     enum ov_place_kind hold, struct ov_out *out);

/* Ends a link from this side: the driver is told, and the same follows. */
void ov_loss_close(struct ov_node *node, uint16_t link, enum ov_place_kind hold,
                   struct ov_out *out);

/* Dials when it is time. After the let-go time without a parent it ends the
 * links of the children, so that they look for a parent themselves. */
void ov_loss_on_time(struct ov_node *node, struct ov_out *out);

#endif
