/* The life of a link: endpoint, states, end. */
#ifndef ENDPOINTS_OFI_CONN_H
#define ENDPOINTS_OFI_CONN_H

#include "endpoints/ofi/ofi.h"

/* An endpoint for info (borrowed) with its receives posted, in state DIALING
 * or ACCEPTING. Returns 0, OV_EFABRIC or OV_ENOMEM; `*has_ep` tells whether
 * the provider got as far as to take over info->handle.
 */
int ep_conn_new(struct ep_transport *t, struct fi_info *info,
                enum ep_conn_state state, void *user, struct ep_conn **out,
                bool *has_ep);

int ep_conn_dial(struct ep_transport *t, const char *address, const uint8_t *cm,
                 size_t len_bytes, void *user, struct ep_conn **out);

/* The event queue says that the link is up. */
void ep_conn_on_up(struct ep_conn *conn, const uint8_t *wire, size_t len_bytes);

/* The link is gone: on_down follows when its queue has been read. Harmless
 * in every state.
 */
/* A dial was refused. A listener of ours always sends wire data with that: when
 * there is none the system has refused, because nobody listens. */
void ep_conn_refused(struct ep_conn *conn, const uint8_t *wire,
                     size_t len_bytes);

void ep_conn_lose(struct ep_conn *conn, enum ep_down_why why);

/* A send failed. What the peer sent before it went is still to be read, so
 * the loss is declared when the provider says so, or after a second.
 */
void ep_conn_fail(struct ep_conn *conn);

void ep_conn_drop(struct ep_conn *conn, bool flush);

/* Ends the link without a word. */
void ep_conn_kill(struct ep_conn *conn);

/* In a pass only. Close ends a DEAD link's endpoint; free its memory, once
 * its queue holds nothing of it.
 */
void ep_conn_close(struct ep_conn *conn);
void ep_conn_free(struct ep_conn *conn);

/* Whether all that a FLUSHING link has sent is with the peer's system. */
bool ep_conn_is_flushed(struct ep_conn *conn);

/* Calls on_down and leaves the link DEAD. */
void ep_conn_report_down(struct ep_conn *conn);

/* Puts the link on the list of those to look at later in the pass. */
void ep_conn_touch(struct ep_conn *conn);

/* The reason for the owner that belongs to a provider's error. */
enum ep_down_why ep_conn_why(int fi_errno);

#endif
