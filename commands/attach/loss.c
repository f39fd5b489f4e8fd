/* Handles the loss of the connection to a session. */
#include "commands/attach/loss.h"

#include <event2/event.h>
#include <stddef.h>

#include "endpoints/sys/process.h"
#include "overlay/base/err.h"

/* A launcher that ends needs at most this time, in which it ends its helpers,
 * too. */
enum { LAUNCHER_END_S = 10 };

static struct {
    const struct loss_events *events;
    struct event *gone; /* becomes ready when the launcher has ended; NULL: its
                           pid is not known */
    struct event *alone;
} loss;

static void on_gone(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
    loss.events->on_gone();
}

static void on_alone(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
    loss.events->on_alone();
}

int loss_open(struct event_base *base, pid_t launcher,
              const struct loss_events *events)
{
    int fd = ep_process_watch(launcher);

    loss.events = events;
    if (fd >= 0)
        loss.gone = event_new(base, fd, EV_READ, on_gone, NULL);
    loss.alone = evtimer_new(base, on_alone, NULL);
    return loss.alone != NULL ? 0 : OV_ENOMEM;
}

void loss_begin(void)
{
    static const struct timeval patience = {.tv_sec = LAUNCHER_END_S};

    if (loss.gone == NULL) {
        loss.events->on_gone();
        return;
    }
    event_add(loss.gone, NULL);
    event_add(loss.alone, &patience);
}
