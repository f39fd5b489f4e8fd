/* Dialling possible parents, one after another, until one accepts this node.
 *
 * A node that starts dials its planned parent for a while. An orphan dials its
 * grandparent, each higher ancestor up to the root, then its former parent, and
 * begins again.
 */
#ifndef OVERLAY_DIAL_H
#define OVERLAY_DIAL_H

#include "overlay/state.h"

/* Begins to dial: at once when the node starts, after a short random time when
 * it is an orphan. */
void ov_dial_begin(struct ov_node *node);

/* Notes that the dial has led to a link, on which a hello is now sent. */
void ov_dial_linked(struct ov_node *node);

/* Notes that a dial, or the link that it led to, has failed: the next dial
 * follows after a pause. */
void ov_dial_failed(struct ov_node *node);

/* Notes that the node that was dialled has asked its own parent about us
 * (ASKED): no other node is dialled until it answers. */
void ov_dial_asked(struct ov_node *node);

/* Notes that this node has a parent: the search is over. */
void ov_dial_done(struct ov_node *node);

/* Dials the next possible parent when it is time, and ends the node when it has
 * found no parent within the give-up time. Returns true when the current
 * attempt took too long: the caller must then close its link. */
bool ov_dial_on_time(struct ov_node *node, struct ov_out *out);

#endif
