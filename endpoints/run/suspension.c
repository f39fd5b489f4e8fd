/* Stops the launcher when job/suspension.h says so. */
#include "endpoints/run/suspension.h"

#include <signal.h>
#include <stdlib.h>

#include <event2/event.h>

#include "endpoints/sys/clock.h"
#include "overlay/base/err.h"

enum { LOOK_MS = 10 }; /* how often to look whether all messages were sent */

struct run_suspension {
    const struct run_suspension_events *events;
    void *arg;
    struct event *look;
    struct job_suspension state;
};

static void look_later(struct run_suspension *suspension)
{
    static const struct timeval wait = {.tv_usec = LOOK_MS * 1000};

    evtimer_add(suspension->look, &wait);
}

/* Blocks SIGTSTP, or (SIG_UNBLOCK) unblocks it. A second SIGTSTP before the
 * launcher has stopped changes nothing. The kernel drops a blocked one at
 * SIGCONT; one that was handled after SIGCONT would stop the launcher again. */
static void hold_back(int how)
{
    sigset_t stop;

    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    sigprocmask(how, &stop, NULL);
}

void ep_run_suspension_hear(struct run_suspension *suspension,
                            enum job_suspension_event event)
{
    switch (job_suspension_step(&suspension->state, event, ep_clock_ns())) {
    case JOB_SUSPENSION_NOTHING:
        break;
    case JOB_SUSPENSION_TELL:
        hold_back(SIG_BLOCK);
        suspension->events->on_tell(suspension->arg);
        look_later(suspension);
        break;
    case JOB_SUSPENSION_LOOK:
        look_later(suspension);
        break;
    case JOB_SUSPENSION_STOP:
        suspension->events->on_stop(suspension->arg);
        ep_run_suspension_hear(suspension, JOB_SUSPENSION_CONTINUED);
        break;
    case JOB_SUSPENSION_RESUME:
        hold_back(SIG_UNBLOCK);
        evtimer_del(suspension->look);
        suspension->events->on_resume(suspension->arg);
        break;
    }
}

static void on_look(evutil_socket_t fd, short what, void *arg)
{
    struct run_suspension *suspension = arg;

    (void)fd;
    (void)what;
    ep_run_suspension_hear(suspension,
                           suspension->events->on_look(suspension->arg));
}

int ep_run_suspension_open(struct event_base *base,
                           const struct run_suspension_events *events,
                           void *arg, struct run_suspension **out)
{
    struct run_suspension *suspension = calloc(1, sizeof(*suspension));

    *out = suspension;
    if (suspension == NULL)
        return OV_ENOMEM;
    suspension->events = events;
    suspension->arg = arg;
    suspension->look = evtimer_new(base, on_look, suspension);
    if (suspension->look != NULL)
        return 0;
    free(suspension);
    *out = NULL;
    return OV_ENOMEM;
}

void ep_run_suspension_close(struct run_suspension *suspension)
{
    if (suspension == NULL)
        return;
    event_free(suspension->look);
    free(suspension);
}

uint64_t ep_run_suspension_resumed_ns(const struct run_suspension *suspension)
{
    return suspension->state.resumed_ns;
}
