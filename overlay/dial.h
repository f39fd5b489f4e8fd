/* Dialling a parent, one after another, until one takes us in.
 *
 * A node that starts dials its planned parent for a while. An orphan dials its
 * grandparent, each higher ancestor up to the root, then its old parent, and
 * round again.
 */
#ifndef OVERLAY_DIAL_H
#define OVERLAY_DIAL_H

#include "overlay/state.h"

/* Begins: at once when the node starts, with some jitter for an orphan. */
void ov_dial_begin(struct ov_node *node);

/* The dial has led to a link, on which we say hello. */
void ov_dial_linked(struct ov_node *node);

/* A dial, or the link that it led to, has failed: the next one after a while.
 */
void ov_dial_failed(struct ov_node *node);

/* The one we dialled has asked for us: nothing is tried meanwhile. */
void ov_dial_asked(struct ov_node *node);

/* We have a parent. */
void ov_dial_done(struct ov_node *node);

/* The next try, when its time has come; the end when time is up. Returns true
 * when the try going on took too long: its link is to be closed. */
bool ov_dial_on_time(struct ov_node *node, struct ov_out *out);

#endif
