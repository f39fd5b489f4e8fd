/* Stops the launcher itself at SIGTSTP, with a timer and its signal mask. */
#ifndef ENDPOINTS_RUN_SUSPENSION_H
#define ENDPOINTS_RUN_SUSPENSION_H

#include <stdint.h>

#include "job/suspension.h"

struct event_base;
struct run_suspension;

/* All are called in the loop's thread, from within ep_run_suspension_hear() or
 * a timer. */
struct run_suspension_events {
    /* Tell the processes to stop, and the daemons that the launcher falls
     * silent. */
    void (*on_tell)(void *arg);
    /* Returns what is true now: WAITS, TOLD or OVER. */
    enum job_suspension_event (*on_look)(void *arg);
    /* Stop this process, and return when it runs again. */
    void (*on_stop)(void *arg);
    /* This process runs again, or was not stopped after all: the daemons may be
     * told. */
    void (*on_resume)(void *arg);
};

/* The events are borrowed. Returns 0 or OV_ENOMEM. */
int ep_run_suspension_open(struct event_base *base,
                           const struct run_suspension_events *events,
                           void *arg, struct run_suspension **out);
/* NULL is allowed. */
void ep_run_suspension_close(struct run_suspension *suspension);

/* Takes any event but those that on_look returns. From TELL to RESUME further
 * SIGTSTP are held back. */
void ep_run_suspension_hear(struct run_suspension *suspension,
                            enum job_suspension_event event);

/* When the last suspension was over, on the clock of ep_clock_ns(); 0: there
 * was none. */
uint64_t ep_run_suspension_resumed_ns(const struct run_suspension *suspension);

#endif
