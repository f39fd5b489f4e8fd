/* Sends what is due on a link: messages between neighbours first, then frames
 * of stream 0, then other frames. */
#ifndef OVERLAY_SERVE_H
#define OVERLAY_SERVE_H

#include "overlay/state.h"

/* Sends what is due on a link, as much as the transport and `out` accept. With
 * `beat`, sends a heartbeat (a frame without items) when nothing else is
 * due. */
void ov_serve_link(struct ov_node *node, uint16_t index, bool beat,
                   struct ov_out *out);

/* Answers a neighbour at once with the result of the dial for which it asked.
 * For a node that has no queue of messages; when the link accepts no frame the
 * answer is not sent. */
void ov_serve_seen(struct ov_node *node, const struct ov_event *ev,
                   struct ov_out *out);

#endif
