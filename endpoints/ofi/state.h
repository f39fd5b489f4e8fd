/* The states of a link, and the lists in which a pass finds links by their
 * states. */
#ifndef ENDPOINTS_OFI_STATE_H
#define ENDPOINTS_OFI_STATE_H

#include "endpoints/ofi/ofi.h"

enum { EP_LOSS_WAIT_MS = 1000 /* wait for frames on a failing link */ };

/* Changes a link's state; no other function does. The move must be a legal
 * one. */
void ep_conn_move(struct ep_conn *conn, enum ep_conn_state next);

/* Puts the link on the list of links that the pass handles at its end. */
void ep_conn_touch(struct ep_conn *conn);

/* Notes that the link has ended: on_down is called when its queue has been
 * read. Harmless in every state. */
void ep_conn_lose(struct ep_conn *conn, enum ep_down_why why);

/* Notes that a send failed. Frames that the peer sent before it ended can still
 * be read, so the link is lost only when the provider reports it, or after a
 * second. */
void ep_conn_fail(struct ep_conn *conn);

/* Ends the link without a callback. */
void ep_conn_kill(struct ep_conn *conn);

#endif
