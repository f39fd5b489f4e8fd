/* The end of a link, and what is lost with it. */
#ifndef OVERLAY_LOSS_H
#define OVERLAY_LOSS_H

#include "overlay/state.h"

/* A link is gone: the parent's ends us, a child's is told unless it had said
 * goodbye or never joined. Its place becomes a hold of that kind and streams
 * are worked out anew. O(children). */
void ov_loss_on_down(struct ov_node *node, uint16_t link,
                     enum ov_place_kind hold, struct ov_out *out);

/* Ends a link of ours: the driver is told, and the same follows. */
void ov_loss_close(struct ov_node *node, uint16_t link, enum ov_place_kind hold,
                   struct ov_out *out);

#endif
