/* The second witness: a refusal that one has seen is only a hint, as a firewall
 * between two hosts refuses, too. So the holder asks its parent to dial the
 * same address, and the root, which has none, one of its children.
 */
#ifndef OVERLAY_WITNESS_H
#define OVERLAY_WITNESS_H

#include "overlay/state.h"

/* A word to one neighbour: a question, or an answer. */
struct ov_aside {
    struct ov_buf *address; /* one reference; NULL: an answer */
    uint64_t attach;
    uint32_t node;
    bool is_refused;
};

/* Asks a neighbour to look for a member that is refused to us; the reference to
 * its address passes. False when there is nobody who could be asked. Without
 * room it is not said: the holder asks again. O(places) at the root. */
bool ov_witness_ask(struct ov_node *node, const struct ov_member *member,
                    struct ov_buf *address, struct ov_out *out);

/* The question of a neighbour, whose address the driver learns. OV_EPROTO. */
int ov_witness_on_look(struct ov_node *node, uint16_t link,
                       struct ov_item *item, struct ov_buf *buf,
                       struct ov_out *out);
/* What became of the dial: the neighbour that asked is told. False: we keep no
 * words. */
bool ov_witness_on_probed(struct ov_node *node, const struct ov_event *ev);

/* The next word for that link, taken off; its reference passes. O(words). */
bool ov_witness_next(struct ov_node *node, uint16_t link,
                     struct ov_aside *word);

/* Nobody is at that link any more to hear it; or at any. */
void ov_witness_drop(struct ov_node *node, uint16_t link, struct ov_out *out);
void ov_witness_fini(struct ov_node *node, struct ov_out *out);

#endif
