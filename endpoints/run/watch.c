/* A timer for checks that are repeated while something waits. */
#include "endpoints/run/watch.h"

#include <stdlib.h>

#include <event2/event.h>

#include "overlay/base/err.h"

struct run_watch {
    struct event *timer; /* owned */
    unsigned first_ms, most_ms;
    unsigned next_ms;
    void (*look)(void *arg);
    void *arg;
};

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct run_watch *watch = arg;

    (void)fd;
    (void)what;
    watch->next_ms *= 2;
    if (watch->next_ms > watch->most_ms)
        watch->next_ms = watch->most_ms;
    watch->look(watch->arg);
    if (!evtimer_pending(watch->timer, NULL))
        watch->next_ms = watch->first_ms;
}

int ep_watch_open(struct event_base *base, unsigned first_ms, unsigned most_ms,
                  void (*look)(void *arg), void *arg, struct run_watch **out)
{
    struct run_watch *watch = calloc(1, sizeof(*watch));

    *out = NULL;
    if (watch == NULL)
        return OV_ENOMEM;
    *watch = (struct run_watch){.first_ms = first_ms,
                                .most_ms = most_ms,
                                .next_ms = first_ms,
                                .look = look,
                                .arg = arg};
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
    struct timeval wait;

    if (watch == NULL || evtimer_pending(watch->timer, NULL))
        return;
    wait = (struct timeval){.tv_sec = watch->next_ms / 1000,
                            .tv_usec = watch->next_ms % 1000 * 1000};
    evtimer_add(watch->timer, &wait);
}

void ep_watch_anew(struct run_watch *watch)
{
    if (watch == NULL)
        return;
    evtimer_del(watch->timer);
    watch->next_ms = watch->first_ms;
    ep_watch_soon(watch);
}
