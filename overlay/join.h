/* Joining: the hello to a parent, and its welcome. */
#ifndef OVERLAY_JOIN_H
#define OVERLAY_JOIN_H

#include "overlay/state.h"

/* Starts the node: the root is attached, other nodes dial their parents.
 * `address`: where this node listens, one reference passes; or NULL. */
void ov_join_start(struct ov_node *node, struct ov_buf *address,
                   struct ov_out *out);

/* Handles a new, authenticated connection, to a parent (dialled) or from a
 * child. */
void ov_join_on_link_up(struct ov_node *node, const struct ov_event *ev);

/* Each handles one item and returns 0, or OV_EPROTO: the link is then
 * closed. */
int ov_join_on_asked(struct ov_node *node, struct ov_item *item);
int ov_join_on_welcome(struct ov_node *node, struct ov_item *item,
                       struct ov_out *out);
int ov_join_on_path(struct ov_node *node, struct ov_item *item);
int ov_join_on_refuse(struct ov_node *node, struct ov_item *item,
                      struct ov_out *out);

/* Root: reports once that every planned node has joined or was given up. */
void ov_join_tell(struct ov_node *node, struct ov_out *out);

#endif
