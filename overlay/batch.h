/* The batch: the next UP frame of a node, built piece by piece. */
#ifndef OVERLAY_BATCH_H
#define OVERLAY_BATCH_H

#include "overlay/state.h"

/* Empties the batch without dropping references. */
void ov_batch_reset(struct ov_node *node);

/* How many bytes still fit into the frame; whether these bytes fit, with the
 * heads of these records. */
uint32_t ov_batch_room(const struct ov_node *node);
bool ov_batch_takes(const struct ov_node *node, uint32_t bytes,
                    uint32_t records);

/* Adds own records that were not yet sent on this parent link, as far as there
 * is room. */
void ov_batch_own(struct ov_node *node);

/* The number of records of an UP frame. */
uint32_t ov_batch_records(const struct ov_buf *buf);

/* Adds a child's small frame; its reference passes to the batch. The frame
 * still counts at its place, because the batch may have to wait for the link:
 * another message may meanwhile use the slot for which the batch was begun. */
void ov_batch_frame(struct ov_node *node, struct ov_buf *buf, uint32_t records,
                    uint16_t place);

/* Removes own records from the batch, because they are to be sent again. */
void ov_batch_drop_own(struct ov_node *node);

/* Makes a SEND to the parent. */
struct ov_act *ov_batch_act(struct ov_node *node, struct ov_out *out);

/* Sends a child's frame as it is. */
void ov_batch_send_frame(struct ov_node *node, struct ov_buf *buf,
                         struct ov_out *out);

/* Sends the batch, or, where lines are folded, as much as goes into a frame. */
void ov_batch_send(struct ov_node *node, struct ov_out *out);

#endif
