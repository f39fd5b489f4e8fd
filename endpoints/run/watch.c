/* A look every so often while something waits. */
#include "endpoints/run/watch.h"

#include <stdlib.h>

#include <event2/event.h>

#include "overlay/base/err.h"

struct run_watch {
    struct event *timer; /* owned */
    struct timeval every;
    void (*look)(void *arg);
    void *arg;
};

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct run_watch *watch = arg;

    (void)fd;
    (void)what;
    watch->look(watch->arg);
}

int ep_watch_open(struct event_base *base, unsigned every_ms,
                  void (*look)(void *arg), void *arg, struct run_watch **out)
{
    struct run_watch *watch = calloc(1, sizeof(*watch));

    *out = NULL;
    if (watch == NULL)
        return OV_ENOMEM;
    watch->every = (struct timeval){.tv_sec = every_ms / 1000,
                                    .tv_usec = every_ms % 1000 * 1000};
    watch->look = look;
    watch->arg = arg;
    watch->timer = evtimer_new(base, on_timer, watch);
    if (watch->timer == NULL) {
        free(watch);
        return OV_ENOMEM;
    }
    *out = watch;
    return 0;
}

void ep_watch_close(struct run_watch *watch)
{
    if (watch != NULL)
        event_free(watch->timer);
    free(watch);
}

void ep_watch_soon(struct run_watch *watch)
{
    if (watch != NULL && !evtimer_pending(watch->timer, NULL))
        evtimer_add(watch->timer, &watch->every);
}
