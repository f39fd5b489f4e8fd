/* Wakes a thread by an eventfd. */
#include "config.h"

#include "endpoints/sys/waker.h"

#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

int ep_waker_open(void)
{
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

void ep_waker_wake(int fd)
{
    static const uint64_t one = 1;
    int saved = errno;

    while (write(fd, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
    errno = saved;
}

void ep_waker_hear(int fd)
{
    uint64_t count;

    while (read(fd, &count, sizeof(count)) < 0 && errno == EINTR)
        ;
}

struct event *ep_waker_event(struct event_base *base, int fd,
                             event_callback_fn on_wake, void *arg)
{
    struct event *wakes =
        event_new(base, fd, EV_READ | EV_PERSIST, on_wake, arg);

    if (wakes != NULL && event_add(wakes, NULL) != 0) {
        event_free(wakes);
        wakes = NULL;
    }
    return wakes;
}
