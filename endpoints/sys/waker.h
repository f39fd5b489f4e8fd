/* Wakes a thread that waits in poll() or in an event loop, from any other
 * thread.
 *
 * A waker is an eventfd. Several wakes before one ep_waker_hear count as one.
 * Every call is O(1).
 */
#ifndef ENDPOINTS_SYS_WAKER_H
#define ENDPOINTS_SYS_WAKER_H

#include <event2/event.h>

/* Returns the descriptor, which the caller closes, or -1 with errno. */
int ep_waker_open(void);
/* Makes the descriptor readable. May be called in any thread, even in a signal
 * handler. */
void ep_waker_wake(int fd);
/* Makes the descriptor unreadable again. Call it before looking for what there
 * is to do. Does not block when there was no wake. */
void ep_waker_hear(int fd);

/* Makes and adds an event that calls on_wake when the descriptor is readable;
 * the caller frees it. Returns NULL when memory is out. */
struct event *ep_waker_event(struct event_base *base, int fd,
                             event_callback_fn on_wake, void *arg);

#endif
