/* Decides when the event loop runs the next pass of the transport.
 *
 * A provider requires that fi_trywait() succeeds before a process sleeps on a
 * queue's descriptor. libevent has no hook before it sleeps. So a
 * queue is `armed` when fi_trywait() was the last call for it; any other call
 * disarms it, and then a pass runs before the loop sleeps again.
 */
#ifndef ENDPOINTS_OFI_WAKE_H
#define ENDPOINTS_OFI_WAKE_H

#include "endpoints/ofi/ofi.h"

enum { EP_SWEEP_MS_MIN = 10 /* least time between two sweeps */ };

/* Makes an event of the loop for the descriptor of a queue; the caller frees
 * it. Returns NULL when the provider has no descriptor, or memory is out. */
struct event *ep_wake_on(struct ep_transport *t, struct fid *fid,
                         event_callback_fn fn, void *arg);

/* Has a pass run before the loop sleeps. Does nothing inside a pass. */
void ep_wake_kick(struct ep_transport *t);

/* Must be called when anything was done to the event queue. */
void ep_wake_disarm_eq(struct ep_transport *t);

/* Plans the next pass, at the end of a pass, in case nothing happens before;
 * is_done means that the loop may sleep. A pass that ends a pause is never put
 * off, however much happens. */
void ep_wake_plan(struct ep_transport *t, bool is_done);

/* Has the sweep run within `ms`. */
void ep_wake_sweep_in(struct ep_transport *t, int64_t ms);

/* Returns the time between two checks of everything that unproved_ms limits. */
int64_t ep_wake_period_ms(const struct ep_transport *t);

#endif
