/* The parent's side of joining and adopting.
 *
 * A hello is a claim: a node, its attach number, the members beneath it and how
 * far it is in each stream. A node that can serve it takes it in tentatively
 * and asks its own parent, and so on up to the root, whose answer comes back
 * the same way. A claim is split into as many items as it needs.
 */
#ifndef OVERLAY_ADOPT_H
#define OVERLAY_ADOPT_H

#include "overlay/state.h"

/* Each handles one item and returns 0, or OV_EPROTO: the link is then
 * closed. */
int ov_adopt_on_hello(struct ov_node *node, uint16_t link,
                      struct ov_item *item);
int ov_adopt_on_ask(struct ov_node *node, uint16_t link, struct ov_item *item);
int ov_adopt_on_answer(struct ov_node *node, struct ov_item *item);

#endif
