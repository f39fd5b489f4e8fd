/* Signals to `xylem run --dvm`. */
#include "commands/submit/signals.h"

#include <event2/event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "commands/attach/feed.h"
#include "commands/attach/show.h"
#include "overlay/base/err.h"

/* A dvm that does not answer does not prevent the stop. */
enum { STOP_WAIT_S = 1 };

static const int signos[] = {SIGINT,  SIGTERM, SIGHUP, SIGTSTP,
                             SIGCONT, SIGUSR1, SIGUSR2};

static struct {
    const struct signals_events *events;
    struct event *stop;
    unsigned interrupts;
    bool is_stopping;
} state;

static void send_on(int signo)
{
    show_let_pass(true);
    state.events->on_send(signo);
}

static void interrupt(int signo)
{
    if (++state.interrupts == 1) {
        send_on(signo);
        return;
    }
    fputs("xylem: killing the processes; output that cannot be written is "
          "given up\n",
          stderr);
    send_on(SIGKILL);
    state.events->on_give_up(128 + signo);
}

/* The processes stop, then this one, so that the shell gets its terminal. */
static void stop(void)
{
    static const struct timeval wait = {.tv_sec = STOP_WAIT_S};

    if (state.is_stopping)
        return;
    state.is_stopping = true;
    event_add(state.stop, &wait);
    send_on(SIGTSTP);
}

void signals_told(void)
{
    if (!state.is_stopping)
        return;
    state.is_stopping = false;
    event_del(state.stop);
    kill(getpid(), SIGSTOP); /* returns with SIGCONT, which is heard next */
}

static void on_stop(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
    signals_told();
}

static void on_signal(evutil_socket_t signo, short what, void *arg)
{
    (void)what;
    (void)arg;
    switch (signo) {
    case SIGINT:
    case SIGTERM:
        interrupt((int)signo);
        break;
    case SIGHUP:
        interrupt(SIGTERM);
        break;
    case SIGTSTP:
        stop();
        break;
    case SIGCONT:
        feed_wake();
        send_on(SIGCONT);
        break;
    default:
        send_on((int)signo);
        break;
    }
}

int signals_open(struct event_base *base, const struct signals_events *events)
{
    state.events = events;
    state.stop = evtimer_new(base, on_stop, NULL);
    if (state.stop == NULL)
        return OV_ENOMEM;
    for (size_t i = 0; i < sizeof(signos) / sizeof(signos[0]); i++) {
        struct sigaction action;
        struct event *event;

        if (sigaction(signos[i], NULL, &action) == 0 &&
            action.sa_handler == SIG_IGN)
            continue;
        event = evsignal_new(base, signos[i], on_signal, NULL);
        if (event == NULL || event_add(event, NULL) != 0)
            return OV_ENOMEM;
    }
    return 0;
}
