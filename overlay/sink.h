/* The root's end of UP: accepts each record once, hands it to the sinks, and
 * acknowledges the records that the sinks have taken. */
#ifndef OVERLAY_SINK_H
#define OVERLAY_SINK_H

#include "overlay/state.h"

void ov_sink_init(struct ov_node *node);

/* Hands records from the queues of the places to the sinks, as far as `out` and
 * the number of records that the sinks already have allow. To be called after a
 * frame was added to a queue, or when there is room again. */
void ov_sink_pump(struct ov_node *node, struct ov_out *out);

/* Notes that a sink has taken the record with this cookie. O(1) amortised. */
void ov_sink_on_taken(struct ov_node *node, uint32_t cookie,
                      struct ov_out *out);

/* Makes acknowledgements due that have waited long enough. */
void ov_sink_on_time(struct ov_node *node, struct ov_out *out);

#endif
