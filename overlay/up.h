/* UP: records of this node and of its children, on their way to the parent.
 *
 * Data is pulled: nothing is read from a local input, and nothing is taken from
 * a child's queue, before the uplink can take a frame. So back-pressure reaches
 * the pipes of the processes, and small writes gather there exactly while the
 * uplink is busy. An idle uplink sends at once.
 */
#ifndef OVERLAY_UP_H
#define OVERLAY_UP_H

#include "overlay/state.h"

/* A local input has something to read. O(1). */
void ov_up_on_ready(struct ov_node *node, uint16_t input);

/* Handles the driver's answer to OV_ACT_READ. The reference in ev->read
 * passes. */
void ov_up_on_read(struct ov_node *node, const struct ov_event *ev,
                   struct ov_out *out);

/* A frame from a child was added to its queue. */
void ov_up_on_queued(struct ov_node *node, uint16_t place);

/* Handles the parent's limit. is_lent: for further frames we must ask.
 * OV_EPROTO when the limit falls. */
int ov_up_on_limit(struct ov_node *node, uint64_t limit, bool is_lent);

/* Handles the root's acknowledgement of our own records. OV_EPROTO when it
 * covers records that were never sent. O(records released). */
int ov_up_on_ack(struct ov_node *node, const struct ov_ack *ack,
                 struct ov_out *out);

/* There is a new parent link: nothing was sent or granted on it yet, and
 * everything after the last accepted record is sent again. */
void ov_up_restart(struct ov_node *node);

/* The path to the root has changed above us: everything after the last accepted
 * record is sent again. */
void ov_up_resend(struct ov_node *node);

/* Sends as much as the parent, the transport and `out` accept. */
void ov_up_send(struct ov_node *node, struct ov_out *out);

/* Drops every kept record. */
void ov_up_fini(struct ov_node *node, struct ov_out *out);

#endif
