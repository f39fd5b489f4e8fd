/* The signals that the launcher handles. */
#include "endpoints/run/signals.h"

#include <signal.h>
#include <stdlib.h>

#include <event2/event.h>

#include "overlay/base/err.h"

static const int signos[] = {SIGINT,  SIGTERM, SIGHUP, SIGTSTP,
                             SIGCONT, SIGUSR1, SIGUSR2};

enum { SIGNALS = sizeof(signos) / sizeof(signos[0]) };

struct run_signals {
    const struct run_signal_events *events;
    void *arg;
    struct event *heard[SIGNALS];
    uint32_t heard_count;
    uint32_t interrupts;
};

static void on_signal(evutil_socket_t signo, short what, void *arg)
{
    struct run_signals *signals = arg;
    const struct run_signal_events *events = signals->events;

    (void)what;
    switch (signo) {
    case SIGINT:
    case SIGTERM:
    case SIGHUP:
        events->on_interrupt(signals->arg, signo == SIGINT ? SIGINT : SIGTERM,
                             ++signals->interrupts);
        break;
    case SIGTSTP:
        events->on_stop(signals->arg);
        break;
    case SIGCONT:
        events->on_continue(signals->arg);
        break;
    default:
        events->on_other(signals->arg, (int)signo);
        break;
    }
}

static void stop_hearing(struct run_signals *signals)
{
    while (signals->heard_count > 0)
        event_free(signals->heard[--signals->heard_count]);
    free(signals);
}

int ep_run_signals_open(struct event_base *base,
                        const struct run_signal_events *events, void *arg,
                        struct run_signals **out)
{
    struct run_signals *signals = calloc(1, sizeof(*signals));

    *out = NULL;
    if (signals == NULL)
        return OV_ENOMEM;
    signals->events = events;
    signals->arg = arg;
    for (size_t i = 0; i < SIGNALS; i++) {
        struct sigaction action;
        struct event *event;

        /* A signal that was ignored when the launcher started stays ignored, as
         * under nohup or after `&' in a script. */
        if (sigaction(signos[i], NULL, &action) == 0 &&
            action.sa_handler == SIG_IGN)
            continue;
        event = evsignal_new(base, signos[i], on_signal, signals);
        if (event != NULL)
            signals->heard[signals->heard_count++] = event;
        if (event == NULL || event_add(event, NULL) != 0) {
            stop_hearing(signals);
            return OV_ENOMEM;
        }
    }
    *out = signals;
    return 0;
}

/* Blocks the signals until the process ends. The work that is left takes a
 * limited time, and processes would be left behind if a signal broke it off. */
void ep_run_signals_close(struct run_signals *signals)
{
    sigset_t late;

    sigemptyset(&late);
    for (size_t i = 0; i < SIGNALS; i++)
        sigaddset(&late, signos[i]);
    sigprocmask(SIG_BLOCK, &late, NULL);
    if (signals != NULL)
        stop_hearing(signals);
}

uint32_t ep_run_signals_interrupts(const struct run_signals *signals)
{
    return signals->interrupts;
}
