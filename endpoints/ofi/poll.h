/* Reads the provider's queues and calls the owner. */
#ifndef ENDPOINTS_OFI_POLL_H
#define ENDPOINTS_OFI_POLL_H

#include "endpoints/ofi/ofi.h"

/* Opens the event queue and the events of the loop. Returns 0, OV_EFABRIC or
 * OV_ENOMEM. */
int ep_poll_open(struct ep_transport *t);
void ep_poll_close(struct ep_transport *t);

/* Reads all queues that are not armed, calls back, tears down, arms. */
void ep_poll_pass(struct ep_transport *t);

/* Ends what has waited too long. Its timer runs only while there is something
 * to watch. */
void ep_poll_sweep(struct ep_transport *t);

/* Reads the events that are left, when no peer can connect any longer, and
 * refuses what they bring, until no socket is left that the provider would
 * forget with its listener. Outside of a pass, while the transport is
 * closing. */
void ep_poll_drain(struct ep_transport *t);

#endif
