/* The end of a link, and what is lost with it. */
#ifndef OVERLAY_LOSS_H
#define OVERLAY_LOSS_H

#include "overlay/state.h"

/* A link is gone: the parent's ends us, a child's is told unless it had said
 * goodbye. Its place becomes a hold of that kind and streams are worked out
 * anew. The answer for a child that was not welcomed yet may be on its way: we
 * go on answering for it, until it dials again. O(children), and O(members
 * beneath) when a child is lost. */
void ov_loss_on_down(struct ov_node *node, uint16_t link,
                     enum ov_place_kind hold, struct ov_out *out);

/* Ends a link of ours: the driver is told, and the same follows. */
void ov_loss_close(struct ov_node *node, uint16_t link, enum ov_place_kind hold,
                   struct ov_out *out);

/* A child that was asked for and has not come back within the give-up time is
 * lost. */
void ov_loss_on_time(struct ov_node *node, struct ov_out *out);

#endif
