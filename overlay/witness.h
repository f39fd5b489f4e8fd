/* The second witness: a refusal that one has seen is only a hint, as a firewall
 * between two hosts refuses, too. So the holder asks its parent to dial the
 * same address, and the root, which has none, one of its children.
 */
#ifndef OVERLAY_WITNESS_H
#define OVERLAY_WITNESS_H

#include "overlay/state.h"

/* Asks a neighbour to look for a member that is refused to us; the reference to
 * its address passes. False when there is nobody who could be asked. A word
 * that finds no room is not said: the holder asks again. O(places) at the root.
 */
bool ov_witness_ask(struct ov_node *node, const struct ov_member *member,
                    struct ov_buf *address, struct ov_out *out);

/* The question of a neighbour, whose address the driver learns. OV_EPROTO. */
int ov_witness_on_look(struct ov_node *node, uint16_t link,
                       struct ov_item *item, struct ov_buf *buf,
                       struct ov_out *out);
/* What became of the dial: the neighbour that asked is told. */
void ov_witness_on_probed(struct ov_node *node, const struct ov_event *ev);

/* The word is written, or nobody is there any more to hear it. */
void ov_witness_drop(struct ov_node *node, struct ov_out *out);

#endif
