/* Dialling possible parents, one after another, until one accepts this node.
 *
 * A node that starts dials its planned parent for a while. An orphan dials its
 * grandparent, each higher ancestor up to the root, then its former parent, and
 * begins again.
 */
#ifndef OVERLAY_DIAL_H
#define OVERLAY_DIAL_H

#include "overlay/state.h"

/* Begins to dial: at once when the node starts, after some jitter when it is an
 * orphan. */
void ov_dial_begin(struct ov_node *node);

/* The dial has led to a link; a hello is sent on it. */
void ov_dial_linked(struct ov_node *node);

/* A dial, or the link that it led to, has failed: the next one follows after a
 * while. */
void ov_dial_failed(struct ov_node *node);

/* The node that was dialled has asked its own parent about us: nothing else is
 * tried meanwhile. */
void ov_dial_asked(struct ov_node *node);

/* This node has a parent. */
void ov_dial_done(struct ov_node *node);

/* Dials next when it is time, and ends the search when time is up. Returns true
 * when the current attempt took too long: its link must be closed. */
bool ov_dial_on_time(struct ov_node *node, struct ov_out *out);

#endif
