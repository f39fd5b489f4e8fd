/* Dialling the parent, until it answers or time is up. */
#ifndef OVERLAY_DIAL_H
#define OVERLAY_DIAL_H

#include "overlay/state.h"

void ov_dial_parent(struct ov_node *node, struct ov_out *out);

/* A dial failed: another try after a while, or the parent is lost. */
void ov_dial_failed(struct ov_node *node, struct ov_out *out);

/* The next try, when its time has come. */
void ov_dial_on_time(struct ov_node *node, struct ov_out *out);

#endif
