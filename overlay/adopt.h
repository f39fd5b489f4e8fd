/* The parent's side of joining and adopting.
 *
 * A HELLO is a claim: a node asks to be adopted, and names its attach number,
 * the members beneath it and its position in each stream. A parent that can
 * serve the claim counts the node tentatively and asks its own parent by ASK,
 * which does the same, up to the root. The root's ANSWER comes back the same
 * way. A claim that is too long for one item is split into several.
 */
#ifndef OVERLAY_ADOPT_H
#define OVERLAY_ADOPT_H

#include "overlay/state.h"

/* Each handles one received item and returns 0, or OV_EPROTO when the item
 * breaks the protocol: the caller then closes the link. */
int ov_adopt_on_hello(struct ov_node *node, uint16_t link,
                      struct ov_item *item);
int ov_adopt_on_ask(struct ov_node *node, uint16_t link, struct ov_item *item);
int ov_adopt_on_answer(struct ov_node *node, struct ov_item *item);

#endif
