/* The life of a link, from its endpoint to its end. */
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

/* A dial was refused. A listener of ours always sends wire data with that: when
 * there is none the system has refused, because nobody listens. */
void ep_conn_refused(struct ep_conn *conn, const uint8_t *wire,
                     size_t len_bytes);

void ep_conn_drop(struct ep_conn *conn, bool flush);

/* In a pass only. Close ends a DEAD link's endpoint; free its memory, once
 * its queue holds nothing of it.
 */
void ep_conn_close(struct ep_conn *conn);
void ep_conn_free(struct ep_conn *conn);

/* Whether all that a FLUSHING link has sent is with the peer's system. */
bool ep_conn_is_flushed(struct ep_conn *conn);

/* Calls on_down and leaves the link DEAD. */
void ep_conn_report_down(struct ep_conn *conn);

/* Ends what has been in its state for too long: links that do not come up,
 * failing links whose end is not told, dropped links that cannot get rid of
 * their last frames. True when there are such links still.
 */
bool ep_conn_sweep(struct ep_transport *t, int64_t now_ms);

#endif
