/* Waking a thread that waits in poll() or in an event loop, from any other.
 *
 * A wake is an eventfd. Those that were not heard yet count as one. All is
 * O(1).
 */
#ifndef ENDPOINTS_SYS_WAKER_H
#define ENDPOINTS_SYS_WAKER_H

#include <event2/event.h>

/* Returns the descriptor, to be closed, or -1 with errno. */
int ep_waker_open(void);
/* Makes it readable. From any thread, also in a signal handler. */
void ep_waker_wake(int fd);
/* Whoever was woken calls this before he looks for what there is to do. Does
 * not block where nobody has woken him. */
void ep_waker_hear(int fd);

/* The event of a loop that is woken by it, added and to be freed; NULL: memory
 * is out. */
struct event *ep_waker_event(struct event_base *base, int fd,
                             event_callback_fn on_wake, void *arg);

#endif
