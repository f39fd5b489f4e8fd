/* Serving a link: link-local words first, then stream 0, then the rest. */
#ifndef OVERLAY_SERVE_H
#define OVERLAY_SERVE_H

#include "overlay/state.h"

/* Sends what is due on a link, as far as the transport and `out` take it.
 * With `beat` an empty frame goes when nothing else does. */
void ov_serve_link(struct ov_node *node, uint16_t index, bool beat,
                   struct ov_out *out);

/* Says what became of a dial that a neighbour asked for, at once: for a node
 * that keeps no words. Where the link takes no frame it is not said. */
void ov_serve_seen(struct ov_node *node, const struct ov_event *ev,
                   struct ov_out *out);

#endif
