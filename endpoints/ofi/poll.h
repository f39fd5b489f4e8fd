/* Reads the provider's queues and calls the owner.
 *
 * A provider wants fi_trywait() to agree before anybody sleeps on a queue's
 * descriptor. libevent has no hook before it sleeps, so a queue is `armed`
 * when that was the last thing done to it; whatever else is done disarms it,
 * and then a pass runs before the loop sleeps again.
 */
#ifndef ENDPOINTS_OFI_POLL_H
#define ENDPOINTS_OFI_POLL_H

#include "endpoints/ofi/ofi.h"

/* Events of the loop and the event queue. OV_EFABRIC or OV_ENOMEM. */
int ep_poll_open(struct ep_transport *t);
void ep_poll_close(struct ep_transport *t);

/* Reads all queues that are not armed, calls back, tears down, arms. */
void ep_poll_pass(struct ep_transport *t);

/* A pass before the loop sleeps. Free inside a pass. */
void ep_poll_kick(struct ep_transport *t);
void ep_poll_disarm_eq(struct ep_transport *t);
void ep_poll_disarm_cq(struct ep_cq *cq);

/* A completion queue with room for one more link, opened when there is
 * none. The caller counts its link. OV_EFABRIC or OV_ENOMEM.
 */
int ep_poll_find_cq(struct ep_transport *t, struct ep_cq **out);

/* Handles the events that are there. In a pass only. */
void ep_poll_read_eq(struct ep_transport *t);

#endif
