/* Sends the time of the launcher's clock to all nodes. */
#include "endpoints/run/clock.h"

#include <stdlib.h>

#include <event2/event.h>

#include "endpoints/run/orders.h"
#include "endpoints/sys/clock.h"
#include "job/order.h"
#include "overlay/base/err.h"

/* In this time two clocks move apart by some 6 ms at most. */
enum { EVERY_S = 30 };

struct run_clock {
    struct run_orders *orders;
    struct event *timer; /* owned */
};

static void tell(const struct run_clock *clock)
{
    const struct job_order order = {.kind = JOB_CONTROL_CLOCK,
                                    .time_ns = ep_clock_ns()};

    ep_run_orders_give(clock->orders, &order);
}

/* While an order waits for room, a further one would have to wait, too, so none
 * is made. */
static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    const struct run_clock *clock = arg;

    (void)fd;
    (void)what;
    if (ep_run_orders_is_empty(clock->orders))
        tell(clock);
}

int ep_run_clock_open(struct event_base *base, struct run_orders *orders,
                      struct run_clock **out)
{
    struct run_clock *clock = calloc(1, sizeof(*clock));

    *out = clock;
    if (clock == NULL)
        return OV_ENOMEM;
    clock->orders = orders;
    clock->timer = event_new(base, -1, EV_PERSIST, on_timer, clock);
    return clock->timer == NULL ? OV_ENOMEM : 0;
}

void ep_run_clock_close(struct run_clock *clock)
{
    if (clock != NULL && clock->timer != NULL)
        event_free(clock->timer);
    free(clock);
}

void ep_run_clock_begin(struct run_clock *clock)
{
    static const struct timeval every = {.tv_sec = EVERY_S};

    tell(clock);
    event_add(clock->timer, &every);
}
