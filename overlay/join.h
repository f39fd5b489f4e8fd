/* Joining: hello, the ask that climbs to the root, welcome.
 *
 * A node answers for another only after the root has judged: the hello of a
 * child becomes an ask, every node on the way takes it in tentatively and
 * passes it on, the root's answer confirms it on the way back, and only then
 * is the child welcomed. In this release a claim is one node that starts: a
 * hello with more is refused, and a lost parent ends a node.
 */
#ifndef OVERLAY_JOIN_H
#define OVERLAY_JOIN_H

#include "overlay/state.h"

/* The node begins: the root is attached, others dial their parent. */
void ov_join_start(struct ov_node *node, struct ov_out *out);

/* A proved connection to the parent (dialled) or from a child. */
void ov_join_on_link_up(struct ov_node *node, const struct ov_event *ev);

/* Items. Each returns 0, or OV_EPROTO: the link is then closed. */
int ov_join_on_hello(struct ov_node *node, uint16_t link, struct ov_item *item,
                     struct ov_out *out);
int ov_join_on_ask(struct ov_node *node, uint16_t link, struct ov_item *item);
int ov_join_on_answer(struct ov_node *node, struct ov_item *item);
int ov_join_on_welcome(struct ov_node *node, struct ov_item *item);
int ov_join_on_path(struct ov_node *node, struct ov_item *item);
int ov_join_on_refuse(struct ov_node *node, struct ov_item *item,
                      struct ov_out *out);

/* Root: says once that every planned node has joined. */
void ov_join_tell(struct ov_node *node, struct ov_out *out);

#endif
