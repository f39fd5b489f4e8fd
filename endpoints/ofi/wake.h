/* When the loop comes back to the transport.
 *
 * A provider wants fi_trywait() to agree before a process sleeps on a queue's
 * descriptor. libevent has no hook before it sleeps. So a queue is `armed` when
 * that call was the last thing done to it; whatever else is done disarms it,
 * and then a pass runs before the loop sleeps again.
 */
#ifndef ENDPOINTS_OFI_WAKE_H
#define ENDPOINTS_OFI_WAKE_H

#include "endpoints/ofi/ofi.h"

enum { EP_SWEEP_MS_MIN = 10 /* between two sweeps that look for strangers */ };

/* Makes an event of the loop for the descriptor of a queue; the caller frees
 * it. NULL: the provider has no descriptor, or memory is out. */
struct event *ep_wake_on(struct ep_transport *t, struct fid *fid,
                         event_callback_fn fn, void *arg);

/* Has a pass run before the loop sleeps. Does nothing inside a pass. */
void ep_wake_kick(struct ep_transport *t);

/* Says that something was done to the event queue. */
void ep_wake_disarm_eq(struct ep_transport *t);

/* Plans the next pass, at the end of a pass, for the case that nothing happens;
 * is_done says that the loop may sleep. The end of a pause is never put off,
 * however much goes on. */
void ep_wake_plan(struct ep_transport *t, bool is_done);

/* Makes the sweep run within `ms`. */
void ep_wake_sweep_in(struct ep_transport *t, int64_t ms);

/* The time between two looks at what has the limit unproved_ms. */
int64_t ep_wake_period_ms(const struct ep_transport *t);

#endif
