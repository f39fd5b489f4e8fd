/* The second witness. A refused dial that only one node has seen is only a
 * hint, because a firewall between two hosts refuses, too. So the node that has
 * the hold asks its parent to dial the same address; the root, which has no
 * parent, asks one of its children. */
#ifndef OVERLAY_WITNESS_H
#define OVERLAY_WITNESS_H

#include "overlay/state.h"

/* A message to one neighbour: LOOK, the question, or SEEN, the answer. */
struct ov_aside {
    struct ov_buf *address; /* where the node listens that is to be dialled, one
                               reference; NULL in an answer */
    uint64_t attach;
    uint32_t node;
    bool is_refused;
};

/* Asks a neighbour to dial a member whose address refuses our dials; the
 * reference to its address passes. False when there is no neighbour that could
 * be asked. When there is no room for the message it is not sent: the holder
 * asks again later. O(places) at the root. */
bool ov_witness_ask(struct ov_node *node, const struct ov_member *member,
                    struct ov_buf *address, struct ov_out *out);

/* Handles LOOK, a neighbour's question: makes the driver dial the address.
 * Returns 0 or OV_EPROTO. */
int ov_witness_on_look(struct ov_node *node, uint16_t link,
                       struct ov_item *item, struct ov_buf *buf,
                       struct ov_out *out);
/* Queues the answer to the neighbour that asked for a dial, when the driver has
 * reported its result. False when this node has no queue of messages. */
bool ov_witness_on_probed(struct ov_node *node, const struct ov_event *ev);

/* Removes the next message for that link and copies it to *word; its reference
 * passes. False when there is no message. O(messages). */
bool ov_witness_next(struct ov_node *node, uint16_t link,
                     struct ov_aside *word);

/* Drops the messages that wait for a link that has ended; the second function
 * those for all links. */
void ov_witness_drop(struct ov_node *node, uint16_t link, struct ov_out *out);
void ov_witness_fini(struct ov_node *node, struct ov_out *out);

#endif
