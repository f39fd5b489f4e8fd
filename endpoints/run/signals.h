/* The signals that a launcher hears. */
#ifndef ENDPOINTS_RUN_SIGNALS_H
#define ENDPOINTS_RUN_SIGNALS_H

#include <stdint.h>

struct event_base;
struct run_signals;

/* All are called in the loop's thread. */
struct run_signal_events {
    /* SIGINT, SIGTERM, or SIGHUP as SIGTERM; `nth` counts all of them so
     * far. */
    void (*on_interrupt)(void *arg, int signo, uint32_t nth);
    void (*on_stop)(void *arg);     /* SIGTSTP */
    void (*on_continue)(void *arg); /* SIGCONT */
    /* SIGUSR1 or SIGUSR2, which are for the processes. */
    void (*on_other)(void *arg, int signo);
};

/* Begins to hear these signals, except those that are ignored at present. The
 * events are borrowed. Returns 0 or OV_ENOMEM. */
int ep_run_signals_open(struct event_base *base,
                        const struct run_signal_events *events, void *arg,
                        struct run_signals **out);
/* From now on no signal changes anything: they are blocked for the rest of the
 * process, also when signals is NULL. */
void ep_run_signals_close(struct run_signals *signals);

/* Returns how many interrupts have been heard. */
uint32_t ep_run_signals_interrupts(const struct run_signals *signals);

#endif
