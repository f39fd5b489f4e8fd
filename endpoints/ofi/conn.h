/* The life of a link, from its endpoint to its end. */
#ifndef ENDPOINTS_OFI_CONN_H
#define ENDPOINTS_OFI_CONN_H

#include "endpoints/ofi/ofi.h"

/* Makes a link with an endpoint for info (borrowed) and posted receives, in
 * state DIALING or ACCEPTING. Returns 0, OV_EFABRIC or OV_ENOMEM; `*has_ep` is
 * true when the provider owns info->handle now. */
int ep_conn_new(struct ep_transport *t, struct fi_info *info,
                enum ep_conn_state state, void *user, struct ep_conn **out,
                bool *has_ep);

int ep_conn_dial(struct ep_transport *t, const char *address, const uint8_t *cm,
                 size_t len_bytes, void *user, struct ep_conn **out);

/* Called when the event queue reports that the link is up. */
void ep_conn_on_up(struct ep_conn *conn, const uint8_t *wire, size_t len_bytes);

/* Called when a dial was refused. A listener of ours always sends wire data
 * with a refusal: without it the system has refused, because nothing listens
 * there. */
void ep_conn_refused(struct ep_conn *conn, const uint8_t *wire,
                     size_t len_bytes);

void ep_conn_drop(struct ep_conn *conn, bool flush);

/* Called only in a pass. The first closes the endpoint of a DEAD link; the
 * second frees the link's memory, once the completion queue holds no part of
 * it. */
void ep_conn_close(struct ep_conn *conn);
void ep_conn_free(struct ep_conn *conn);

/* True when all bytes that a FLUSHING link has sent have reached the peer's
 * system. */
bool ep_conn_is_flushed(struct ep_conn *conn);

/* Calls on_down and sets the state DEAD. */
void ep_conn_report_down(struct ep_conn *conn);

/* Ends links that have been in their state for too long: links that do not come
 * up, failing links whose end is not reported, dropped links that cannot send
 * their last frames. True when links in these states are left. */
bool ep_conn_sweep(struct ep_transport *t, int64_t now_ms);

#endif
