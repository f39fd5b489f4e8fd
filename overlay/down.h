/* DOWN: streams of frames from the root to the nodes that need them.
 *
 * A node keeps the frames from its base to its head. The base is the lowest
 * frame that is not yet consumed by the node's own targets (its processes that
 * read the stream) or by one of its children, as they report. A node forwards
 * frames in the buffers in which it received them, and sends a child no frame
 * beyond the child's reported base plus the window.
 */
#ifndef OVERLAY_DOWN_H
#define OVERLAY_DOWN_H

#include "overlay/state.h"

/* Sets up stream 0, which exists from the start and goes to every node. */
void ov_down_init(struct ov_node *node);

/* Handles a DOWN frame from the parent; its reference passes to the node.
 * Returns OV_EPROTO when it is not the next frame of an open stream, or is
 * beyond the window. O(children). */
int ov_down_on_frame(struct ov_node *node, struct ov_buf *buf,
                     struct ov_out *out);

/* Root: adds one more frame to a stream. The caller has checked with
 * ov_down_room(), which says how many more frames the stream can take. */
void ov_down_on_input(struct ov_node *node, const struct ov_event *ev,
                      struct ov_out *out);
uint32_t ov_down_room(const struct ov_node *node, uint32_t number);

/* Notes that the node's own targets have consumed all frames before ev->seq. */
void ov_down_on_consumed(struct ov_node *node, const struct ov_event *ev,
                         struct ov_out *out);

/* Handles a child's base report. Returns OV_EPROTO when the base is beyond what
 * this node has sent to the child, or the node named as holding it back is not
 * in the plan. */
int ov_down_on_base(struct ov_node *node, struct ov_place *place,
                    const struct ov_base *base, struct ov_out *out);

/* Sets up the streams for a new child: decides which of the open streams it
 * needs. O(depth) for each range of their node sets. */
void ov_down_place_opened(struct ov_node *node, struct ov_place *place);

/* True when this node still keeps all frames that the claiming node has not
 * received, in each stream from the head that its cursor names. A node that has
 * released one of these frames cannot serve the claim, because all its
 * ancestors may have released it, too. */
bool ov_down_serves(const struct ov_node *node, const struct ov_claim *claim,
                    struct ov_rd cursors);

/* Takes over a child's cursor, which is its base and head in one stream: in a
 * hello (is_hello) its own, in an ask a lower one, which it has since it
 * adopted another node. Returns OV_EPROTO for impossible values. */
int ov_down_on_cursor(struct ov_node *node, struct ov_place *place,
                      const struct ov_cursor *cursor, bool is_hello);

/* Fills `cursor` with the base and head of this node in the stream of that
 * slot, to be sent to a parent. False when no stream is open there. */
bool ov_down_cursor(struct ov_node *node, unsigned slot,
                    struct ov_cursor *cursor);

/* Computes the bases of all streams again, after a place was added or
 * removed. */
void ov_down_refresh(struct ov_node *node, struct ov_out *out);

/* Sends a child the frames that it may have, as many as the transport
 * accepts. */
void ov_down_send(struct ov_node *node, struct ov_place *place,
                  struct ov_out *out);

/* Fills `base` with the next base report that is due to the parent; the caller
 * repeats this until it returns false. */
bool ov_down_report(struct ov_node *node, struct ov_base *base);

/* Makes base reports due that have waited long enough, and at the root reports
 * streams that are held up (OV_ACT_STALL). */
void ov_down_on_time(struct ov_node *node, struct ov_out *out);

/* True when this node and all nodes beneath it have consumed the goodbye, and
 * this node has reported so to its parent. */
bool ov_down_is_done(const struct ov_node *node);

/* True when a child has reported that it and all nodes beneath it have consumed
 * the goodbye: the end of its link is then no loss. */
bool ov_down_child_is_done(const struct ov_node *node,
                           const struct ov_place *place);

/* Drops every kept frame. */
void ov_down_fini(struct ov_node *node, struct ov_out *out);

#endif
