/* The signals that the launcher handles. */
#ifndef ENDPOINTS_RUN_SIGNALS_H
#define ENDPOINTS_RUN_SIGNALS_H

#include <stdint.h>

struct event_base;
struct run_signals;

/* Callbacks for signals, all called in the loop's thread. */
struct run_signal_events {
    /* SIGINT, SIGTERM, or SIGHUP, which is given as SIGTERM. `nth` counts these
     * signals since the start, from 1. */
    void (*on_interrupt)(void *arg, int signo, uint32_t nth);
    void (*on_stop)(void *arg);     /* the launcher got SIGTSTP */
    void (*on_continue)(void *arg); /* the launcher got SIGCONT */
    /* SIGUSR1 or SIGUSR2, to be passed on to the processes. */
    void (*on_other)(void *arg, int signo);
};

/* Begins to handle these signals, except those that the launcher was started to
 * ignore. The events are borrowed. Returns 0 or OV_ENOMEM. */
int ep_run_signals_open(struct event_base *base,
                        const struct run_signal_events *events, void *arg,
                        struct run_signals **out);
/* Stops handling signals. They stay blocked for the rest of the process, so
 * that none has an effect, also when `signals` is NULL. */
void ep_run_signals_close(struct run_signals *signals);

/* Returns how many signals on_interrupt has been called for. */
uint32_t ep_run_signals_interrupts(const struct run_signals *signals);

#endif
