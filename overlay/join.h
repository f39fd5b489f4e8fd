/* Joining: the hello that a node sends to a parent, and the parent's
 * welcome. */
#ifndef OVERLAY_JOIN_H
#define OVERLAY_JOIN_H

#include "overlay/state.h"

/* Starts the node: the root is attached from the start, other nodes dial their
 * parents. `address` is where this node listens, or NULL; one reference
 * passes. */
void ov_join_start(struct ov_node *node, struct ov_buf *address,
                   struct ov_out *out);

/* Handles a new connection whose other end has proved the session key: to a
 * parent (ev->dialled) or from a child. */
void ov_join_on_link_up(struct ov_node *node, const struct ov_event *ev);

/* Each handles one received item and returns 0, or OV_EPROTO when the item
 * breaks the protocol: the caller then closes the link. */
int ov_join_on_asked(struct ov_node *node, struct ov_item *item);
int ov_join_on_welcome(struct ov_node *node, struct ov_item *item,
                       struct ov_out *out);
int ov_join_on_path(struct ov_node *node, struct ov_item *item);
int ov_join_on_refuse(struct ov_node *node, struct ov_item *item,
                      struct ov_out *out);

/* Root: reports to the driver, once, that every planned node has joined or was
 * given up (OV_ACT_JOINED). */
void ov_join_tell(struct ov_node *node, struct ov_out *out);

#endif
