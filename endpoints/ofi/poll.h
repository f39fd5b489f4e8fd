/* Reads the provider's queues and makes the callbacks. */
#ifndef ENDPOINTS_OFI_POLL_H
#define ENDPOINTS_OFI_POLL_H

#include "endpoints/ofi/ofi.h"

/* Opens the event queue and the events of the loop. Returns 0, OV_EFABRIC or
 * OV_ENOMEM. */
int ep_poll_open(struct ep_transport *t);
void ep_poll_close(struct ep_transport *t);

/* One pass: reads all queues that are not armed, makes callbacks, closes links
 * that have ended, and arms the queues. */
void ep_poll_pass(struct ep_transport *t);

/* Ends links and requests that have waited too long. Its timer runs only while
 * there are any. */
void ep_poll_sweep(struct ep_transport *t);

/* Called outside of a pass, while the transport is closing, when no peer can
 * connect any longer. Reads the events that are left and refuses their
 * requests, until no socket is left that the provider would forget when its
 * listener is closed. */
void ep_poll_drain(struct ep_transport *t);

#endif
