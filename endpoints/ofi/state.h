/* The states of a link, and the lists on which a pass finds it by them. */
#ifndef ENDPOINTS_OFI_STATE_H
#define ENDPOINTS_OFI_STATE_H

#include "endpoints/ofi/ofi.h"

enum { EP_LOSS_WAIT_MS = 1000 /* for the rest that a failing link delivers */ };

/* Changes a link's state, and is the only place that does; the move must be a
 * legal one. */
void ep_conn_move(struct ep_conn *conn, enum ep_conn_state next);

/* Puts the link on the list of those that are looked at later in the pass. */
void ep_conn_touch(struct ep_conn *conn);

/* Notes that the link is gone: on_down follows when its queue has been read.
 * Harmless in every state. */
void ep_conn_lose(struct ep_conn *conn, enum ep_down_why why);

/* Notes that a send failed. What the peer sent before it went is still to be
 * read, so the loss is declared when the provider says so, or after a
 * second. */
void ep_conn_fail(struct ep_conn *conn);

/* Ends the link without a callback. */
void ep_conn_kill(struct ep_conn *conn);

#endif
