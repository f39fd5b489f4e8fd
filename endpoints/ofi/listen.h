/* The listener, and the requests for links that come to it. */
#ifndef ENDPOINTS_OFI_LISTEN_H
#define ENDPOINTS_OFI_LISTEN_H

#include "endpoints/ofi/ofi.h"

/* Listens at t->addr on the first free port of the range and fills in
 * t->addr and t->address. Returns 0, OV_EINVAL or OV_EFABRIC with `why`.
 */
int ep_listen_open(struct ep_transport *t, char *why);

/* Handles a connect request that was read from the event queue. Owns info from
 * now on. */
void ep_listen_on_request(struct ep_transport *t, struct fi_info *info,
                          const uint8_t *wire, size_t len_bytes);

int ep_request_accept(struct ep_request *req, const uint8_t *cm,
                      size_t len_bytes, void *user, struct ep_conn **out);
void ep_request_reject(struct ep_request *req, const uint8_t *cm,
                       size_t len_bytes);

/* Refuses the requests that their owner has not answered in time; accept() then
 * returns OV_ECLOSED. True when unanswered requests are left. */
bool ep_listen_sweep(struct ep_transport *t, int64_t now_ms);

/* Refuses all requests and closes the listener, if there is one. */
void ep_listen_close(struct ep_transport *t);

#endif
