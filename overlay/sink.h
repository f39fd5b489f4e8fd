/* The root's end of UP: accepts each record once, hands it to the sinks, and
 * acknowledges what they have taken. */
#ifndef OVERLAY_SINK_H
#define OVERLAY_SINK_H

#include "overlay/state.h"

void ov_sink_init(struct ov_node *node);

/* Hands records on, as far as `out` and the number of records at the sinks
 * allow. To be called after a frame was queued at a place, or when there is
 * room again. */
void ov_sink_pump(struct ov_node *node, struct ov_out *out);

/* A sink has taken a record. O(1) amortised. */
void ov_sink_on_taken(struct ov_node *node, uint32_t cookie,
                      struct ov_out *out);

/* Sends acknowledgements that have waited long enough. */
void ov_sink_on_time(struct ov_node *node, struct ov_out *out);

#endif
