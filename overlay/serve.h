/* Serving a link: link-local items are sent first, then stream 0, then the
 * rest. */
#ifndef OVERLAY_SERVE_H
#define OVERLAY_SERVE_H

#include "overlay/state.h"

/* Sends what is due on a link, as much as the transport and `out` accept. With
 * `beat` an empty frame is sent when there is nothing else. */
void ov_serve_link(struct ov_node *node, uint16_t index, bool beat,
                   struct ov_out *out);

/* Tells at once what a dial that a neighbour asked for has shown: for a node
 * that keeps no queue of messages. When the link accepts no frame it is not
 * sent. */
void ov_serve_seen(struct ov_node *node, const struct ov_event *ev,
                   struct ov_out *out);

#endif
