/* The root's end of UP: accept each record once, hand it to the sinks,
 * acknowledge what they have taken.
 */
#ifndef OVERLAY_SINK_H
#define OVERLAY_SINK_H

#include "overlay/state.h"

void ov_sink_init(struct ov_node *node);

/* A frame was queued at a place, or room came free: hands records on as far as
 * `out` and the records at the sinks allow. */
void ov_sink_pump(struct ov_node *node, struct ov_out *out);

/* A sink has a record for good. O(1) amortised. */
void ov_sink_on_taken(struct ov_node *node, uint32_t cookie,
                      struct ov_out *out);

/* Acknowledgements that waited long enough go out. */
void ov_sink_on_time(struct ov_node *node, struct ov_out *out);

#endif
