/* Wakes a thread that waits in poll() or in an event loop, from any other
 * thread.
 *
 * A wake is an eventfd. Several wakes that were not heard yet count as one. All
 * is O(1).
 */
#ifndef ENDPOINTS_SYS_WAKER_H
#define ENDPOINTS_SYS_WAKER_H

#include <event2/event.h>

/* Returns the descriptor, to be closed, or -1 with errno. */
int ep_waker_open(void);
/* Makes the descriptor readable. From any thread, even in a signal handler. */
void ep_waker_wake(int fd);
/* Makes the descriptor unreadable again. Call it before looking for what there
 * is to do. Does not block when there was no wake. */
void ep_waker_hear(int fd);

/* Makes the event of a loop that is woken by the descriptor, added already; the
 * caller frees it. NULL: memory is out. */
struct event *ep_waker_event(struct event_base *base, int fd,
                             event_callback_fn on_wake, void *arg);

#endif
