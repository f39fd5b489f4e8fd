/* The end of a link, and what follows from it. */
#ifndef OVERLAY_LOSS_H
#define OVERLAY_LOSS_H

#include "overlay/state.h"

/* A link is gone. The parent's: we are an orphan and look for another; those
 * who wait for its answer are refused. A child's, unless it had said goodbye:
 * its place becomes a hold of that kind. O(children), and O(asks) for the
 * parent. */
void ov_loss_on_down(struct ov_node *node, uint16_t link,
                     enum ov_place_kind hold, struct ov_out *out);

/* Ends a link of ours: the driver is told, and the same follows. */
void ov_loss_close(struct ov_node *node, uint16_t link, enum ov_place_kind hold,
                   struct ov_out *out);

/* Dials, and after the let-go time without a parent ends the links of our
 * children, so that they find their own way. */
void ov_loss_on_time(struct ov_node *node, struct ov_out *out);

#endif
