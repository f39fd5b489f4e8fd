/* Decides when the event loop runs the next pass of the transport. */
#include "endpoints/ofi/wake.h"

#include "endpoints/sys/clock.h"

enum {
    PERIODS = 4, /* number of sweeps within unproved_ms */
    RETRY_US = 1000,
    NO_FD_US = 10000
};

struct event *ep_wake_on(struct ep_transport *t, struct fid *fid,
                         event_callback_fn fn, void *arg)
{
    struct event *event;
    int fd = -1;

    if (fi_control(fid, FI_GETWAIT, &fd))
        return NULL;
    event = event_new(t->cfg.base, fd, EV_READ | EV_PERSIST, fn, arg);
    if (event && event_add(event, NULL)) {
        event_free(event);
        event = NULL;
    }
    return event;
}

static void soon_in(struct ep_transport *t, unsigned us)
{
    struct timeval delay = {.tv_usec = us};

    evtimer_add(t->wake.soon, &delay);
}

/* Has a pass run. After the first kick in a round of the loop, the pass runs at
 * the end of the present callback, before descriptors are checked. After a
 * further kick, it runs after that check, so that other events get their
 * turn. */
void ep_wake_kick(struct ep_transport *t)
{
    if (t->is_in_pass || t->wake.is_kicked)
        return;
    t->wake.is_kicked = true;
    if (t->wake.is_pushed)
        soon_in(t, 0);
    else
        event_active(t->wake.soon, EV_READ, 0);
}

void ep_wake_disarm_eq(struct ep_transport *t)
{
    t->eq.is_armed = false;
    ep_wake_kick(t);
}

void ep_wake_plan(struct ep_transport *t, bool is_done)
{
    t->wake.is_kicked = !is_done;
    if (t->eq.is_paused)
        event_del(t->eq.ready);
    if (!is_done)
        soon_in(t, 0);
    else if (t->eq.is_paused && evtimer_pending(t->wake.soon, NULL))
        return;
    else if (t->eq.is_paused)
        soon_in(t, NO_FD_US);
    else if (t->is_starved)
        soon_in(t, RETRY_US);
    else
        evtimer_del(t->wake.soon);
}

void ep_wake_sweep_in(struct ep_transport *t, int64_t ms)
{
    int64_t due_ms = ep_clock_ms() + ms;
    struct timeval delay = {.tv_sec = ms / 1000,
                            .tv_usec = (suseconds_t)(ms % 1000) * 1000};

    if (t->wake.tick == NULL ||
        (t->wake.tick_ms != 0 && t->wake.tick_ms <= due_ms))
        return;
    t->wake.tick_ms = due_ms;
    evtimer_add(t->wake.tick, &delay);
}

int64_t ep_wake_period_ms(const struct ep_transport *t)
{
    int64_t ms = t->cfg.unproved_ms / PERIODS;

    return ms < EP_SWEEP_MS_MIN ? EP_SWEEP_MS_MIN : ms;
}
