/* UP: records of this node and of its children, on their way to the parent.
 *
 * Data is pulled: a node reads nothing from a local input, and removes nothing
 * from a child's queue, before the link to its parent can take a frame. So
 * back-pressure reaches the pipes of the processes, and small writes gather
 * there while the link is busy. On an idle link they are sent at once.
 */
#ifndef OVERLAY_UP_H
#define OVERLAY_UP_H

#include "overlay/state.h"

/* Notes that a local input has something to read. O(1). */
void ov_up_on_ready(struct ov_node *node, uint16_t input);

/* Handles the driver's answer to OV_ACT_READ. The reference in ev->read passes
 * to the node. */
void ov_up_on_read(struct ov_node *node, const struct ov_event *ev,
                   struct ov_out *out);

/* Notes that a frame from a child was added to the queue of its place. */
void ov_up_on_queued(struct ov_node *node, uint16_t place);

/* Handles LIMIT, which says how many frames the parent accepts in total.
 * is_lent: this node must ask for each further frame. Returns OV_EPROTO when
 * the limit is lower than before. */
int ov_up_on_limit(struct ov_node *node, uint64_t limit, bool is_lent);

/* Handles the root's acknowledgement of our own records. Returns OV_EPROTO when
 * it covers records that were never sent. O(records released). */
int ov_up_on_ack(struct ov_node *node, const struct ov_ack *ack,
                 struct ov_out *out);

/* Starts on a new link to a parent: nothing is sent or granted on it yet, and
 * everything after the last accepted record is sent again. */
void ov_up_restart(struct ov_node *node);

/* Sends everything after the last accepted record again, because the path from
 * our parent to the root has changed. */
void ov_up_resend(struct ov_node *node);

/* Sends as many records as the parent, the transport and `out` accept. */
void ov_up_send(struct ov_node *node, struct ov_out *out);

/* Drops all own records that the node keeps. */
void ov_up_fini(struct ov_node *node, struct ov_out *out);

#endif
