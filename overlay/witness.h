/* The second witness. A refused dial that only one node has seen is only a
 * hint, because a firewall between two hosts refuses, too. So the node that has
 * the hold asks its parent to dial the same address; the root, which has no
 * parent, asks one of its children. */
#ifndef OVERLAY_WITNESS_H
#define OVERLAY_WITNESS_H

#include "overlay/state.h"

/* A message to one neighbour: a question or an answer. */
struct ov_aside {
    struct ov_buf *address; /* one reference; NULL: an answer */
    uint64_t attach;
    uint32_t node;
    bool is_refused;
};

/* Asks a neighbour to dial a member that refuses us; the reference to its
 * address passes. False when there is no neighbour that could be asked. Without
 * room nothing is sent: the holder asks again. O(places) at the root. */
bool ov_witness_ask(struct ov_node *node, const struct ov_member *member,
                    struct ov_buf *address, struct ov_out *out);

/* Handles a neighbour's question: the driver is told the address. Or
 * OV_EPROTO. */
int ov_witness_on_look(struct ov_node *node, uint16_t link,
                       struct ov_item *item, struct ov_buf *buf,
                       struct ov_out *out);
/* A dial has a result: the neighbour that asked for it is told. False: this
 * node keeps no queue of messages. */
bool ov_witness_on_probed(struct ov_node *node, const struct ov_event *ev);

/* Removes and returns the next message for that link; its reference passes.
 * O(messages). */
bool ov_witness_next(struct ov_node *node, uint16_t link,
                     struct ov_aside *word);

/* Drops what waits for a link that is gone, or for all links. */
void ov_witness_drop(struct ov_node *node, uint16_t link, struct ov_out *out);
void ov_witness_fini(struct ov_node *node, struct ov_out *out);

#endif
