/* DOWN: streams of frames from the root to the nodes that need them.
 *
 * A node keeps the frames from its base to its head. The base is the lowest
 * frame that has not been consumed by everybody the node answers for: its own
 * targets, and the base of each child as reported. Frames are forwarded in the
 * buffers in which they came; a parent sends a child nothing beyond the child's
 * reported base plus the window.
 */
#ifndef OVERLAY_DOWN_H
#define OVERLAY_DOWN_H

#include "overlay/state.h"

/* Stream 0 exists from the start and goes everywhere. */
void ov_down_init(struct ov_node *node);

/* Handles a DOWN frame from the parent, whose reference passes. OV_EPROTO: it
 * is not the next frame of an open stream, or it is beyond the window.
 * O(children). */
int ov_down_on_frame(struct ov_node *node, struct ov_buf *buf,
                     struct ov_out *out);

/* Root: adds one more frame to a stream, after the room was checked. */
void ov_down_on_input(struct ov_node *node, const struct ov_event *ev,
                      struct ov_out *out);
uint32_t ov_down_room(const struct ov_node *node, uint32_t number);

/* The node's own targets have consumed everything before ev->seq. */
void ov_down_on_consumed(struct ov_node *node, const struct ov_event *ev,
                         struct ov_out *out);

/* Handles a child's base report. OV_EPROTO: it claims more than was sent to the
 * child, or names a holder that is not in the plan. */
int ov_down_on_base(struct ov_node *node, struct ov_place *place,
                    const struct ov_base *base, struct ov_out *out);

/* Starts a child's flows: decides which of the open streams it needs. O(depth)
 * for each range of their node sets. */
void ov_down_place_opened(struct ov_node *node, struct ov_place *place);

/* True when everything is kept that the claiming node has not received, from
 * its heads on. A frame that was released here may be released everywhere
 * above. */
bool ov_down_serves(const struct ov_node *node, const struct ov_claim *claim,
                    struct ov_rd cursors);

/* Notes how far a child is (hello), or has become by nodes that it takes in
 * (ask). OV_EPROTO for impossible values. */
int ov_down_on_cursor(struct ov_node *node, struct ov_place *place,
                      const struct ov_cursor *cursor, bool is_hello);

/* How far this node is in the stream of that slot, to tell a parent. False when
 * the stream is not open. */
bool ov_down_cursor(struct ov_node *node, unsigned slot,
                    struct ov_cursor *cursor);

/* Computes all bases anew, after a place was added or removed. */
void ov_down_refresh(struct ov_node *node, struct ov_out *out);

/* Sends a child what it may have, as much as the transport accepts. */
void ov_down_send(struct ov_node *node, struct ov_place *place,
                  struct ov_out *out);

/* Fills `base` with a base report that is due to the parent. To be called until
 * it returns false. */
bool ov_down_report(struct ov_node *node, struct ov_base *base);

/* Makes reports due that have waited long enough, and reports stalls. */
void ov_down_on_time(struct ov_node *node, struct ov_out *out);

/* True when this node and all beneath it have consumed the goodbye, and it has
 * reported so. */
bool ov_down_is_done(const struct ov_node *node);

/* True when a child has reported that: then its end is no loss. */
bool ov_down_child_is_done(const struct ov_node *node,
                           const struct ov_place *place);

/* Drops every kept frame. */
void ov_down_fini(struct ov_node *node, struct ov_out *out);

#endif
