/* DOWN: streams of frames from the root to the nodes that need them.
 *
 * A node keeps the frames from its base to its head. The base is the lowest
 * frame not yet consumed by all it answers for: its own targets and what each
 * child reports. Frames are forwarded as they came, buffer and all; a parent
 * sends a child nothing beyond the child's reported base plus the window.
 */
#ifndef OVERLAY_DOWN_H
#define OVERLAY_DOWN_H

#include "overlay/state.h"

/* Stream 0 exists from the start and goes everywhere. */
void ov_down_init(struct ov_node *node);

/* A DOWN frame from the parent; its reference passes. OV_EPROTO: it is not
 * the next of an open stream, or beyond the window. O(children). */
int ov_down_on_frame(struct ov_node *node, struct ov_buf *buf,
                     struct ov_out *out);

/* Root: one more frame of a stream. The room was checked. */
void ov_down_on_input(struct ov_node *node, const struct ov_event *ev,
                      struct ov_out *out);
uint32_t ov_down_room(const struct ov_node *node, uint32_t number);

/* Own targets have consumed everything before ev->seq. */
void ov_down_on_consumed(struct ov_node *node, const struct ov_event *ev,
                         struct ov_out *out);

/* A child's report. OV_EPROTO: it claims more than it was sent, or names a
 * holder that the plan does not have. */
int ov_down_on_base(struct ov_node *node, struct ov_place *place,
                    const struct ov_base *base, struct ov_out *out);

/* A child's flows begin: which of the open streams it needs. O(depth) for each
 * range of their node sets. */
void ov_down_place_opened(struct ov_node *node, struct ov_place *place);

/* Do we keep all that the claim's node has not had, from its heads on? What was
 * released here may be released everywhere above. */
bool ov_down_serves(const struct ov_node *node, const struct ov_claim *claim,
                    struct ov_rd cursors);

/* How far a child is (hello), or has come to be with those it takes in (ask).
 * OV_EPROTO for what cannot be. */
int ov_down_on_cursor(struct ov_node *node, struct ov_place *place,
                      const struct ov_cursor *cursor, bool is_hello);

/* How far we are in the stream of that slot, said to a parent; false when it is
 * not open. */
bool ov_down_cursor(struct ov_node *node, unsigned slot,
                    struct ov_cursor *cursor);

/* Works out all bases anew, after a place came or went. */
void ov_down_refresh(struct ov_node *node, struct ov_out *out);

/* Sends a child what it may have, as far as the transport takes it. */
void ov_down_send(struct ov_node *node, struct ov_place *place,
                  struct ov_out *out);

/* A base report to the parent is due: fills base. Call until false. */
bool ov_down_report(struct ov_node *node, struct ov_base *base);

/* Reports that waited long enough become due; stalls are told. */
void ov_down_on_time(struct ov_node *node, struct ov_out *out);

/* Has this node, with all beneath it, consumed the goodbye, and said so? */
bool ov_down_is_done(const struct ov_node *node);

/* Has a child reported that? Then its going is no loss. */
bool ov_down_child_is_done(const struct ov_node *node,
                           const struct ov_place *place);

/* Drops every kept frame. */
void ov_down_fini(struct ov_node *node, struct ov_out *out);

#endif
