/* Signals that a launcher hears. */
#ifndef ENDPOINTS_RUN_SIGNALS_H
#define ENDPOINTS_RUN_SIGNALS_H

#include <stdint.h>

struct event_base;
struct run_signals;

/* In the loop's thread. */
struct run_signal_events {
    /* SIGINT or SIGTERM, as which SIGHUP counts; the nth of them so far. */
    void (*on_interrupt)(void *arg, int signo, uint32_t nth);
    void (*on_stop)(void *arg);     /* SIGTSTP */
    void (*on_continue)(void *arg); /* SIGCONT */
    /* SIGUSR1 or SIGUSR2: for the processes. */
    void (*on_other)(void *arg, int signo);
};

/* From here on they are heard, but for those that are ignored at present; the
 * events are borrowed. Returns 0 or OV_ENOMEM. */
int ep_run_signals_open(struct event_base *base,
                        const struct run_signal_events *events, void *arg,
                        struct run_signals **out);
/* None of them changes anything any more: they are blocked for the rest of the
 * process, also where signals is NULL. */
void ep_run_signals_close(struct run_signals *signals);

/* How many interrupts have been heard. */
uint32_t ep_run_signals_interrupts(const struct run_signals *signals);

#endif
