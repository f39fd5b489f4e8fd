/* Sends and receives of a link. */
#ifndef ENDPOINTS_OFI_FRAMES_H
#define ENDPOINTS_OFI_FRAMES_H

#include "endpoints/ofi/ofi.h"

void ep_frames_init(struct ep_conn *conn);

/* Drops the buffers that the operations hold. The provider must no longer use
 * any of the operations. */
void ep_frames_fini(struct ep_conn *conn);

int ep_frames_send(struct ep_conn *conn, const struct ep_slice *slices,
                   unsigned count);

/* Posts receives and sends that wait. Returns false when some still wait,
 * because the provider is full or memory is out. */
bool ep_frames_push(struct ep_conn *conn);

/* Calls on_frame for the frames that came before the link was known to be
 * up. */
void ep_frames_deliver_held(struct ep_conn *conn);

/* Handle the completion of a receive with len_bytes, or of a send; and an
 * error. */
void ep_frames_on_done(struct ep_op *op, size_t len_bytes);
void ep_frames_on_error(struct ep_op *op, int fi_errno);

#endif
