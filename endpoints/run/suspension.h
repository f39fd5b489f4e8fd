/* Stops the launcher itself at SIGTSTP: job/suspension.h decides when; this has
 * the timer and blocks the signal meanwhile. */
#ifndef ENDPOINTS_RUN_SUSPENSION_H
#define ENDPOINTS_RUN_SUSPENSION_H

#include <stdint.h>

#include "job/suspension.h"

struct event_base;
struct run_suspension;

/* What the caller has to do. All are called in the loop's thread, from within
 * ep_run_suspension_hear() or a timer. */
struct run_suspension_events {
    /* Tells the processes to stop, and the daemons that the launcher will be
     * silent. */
    void (*on_tell)(void *arg);
    /* Returns which event is true now: WAITS, TOLD or OVER. */
    enum job_suspension_event (*on_look)(void *arg);
    /* Stops this process, and returns when it runs again. */
    void (*on_stop)(void *arg);
    /* Tells the daemons that the launcher is no longer silent. Called when this
     * process runs again, or was not stopped after all. */
    void (*on_resume)(void *arg);
};

/* The events are borrowed. Returns 0 or OV_ENOMEM. */
int ep_run_suspension_open(struct event_base *base,
                           const struct run_suspension_events *events,
                           void *arg, struct run_suspension **out);
/* NULL is allowed. */
void ep_run_suspension_close(struct run_suspension *suspension);

/* Handles an event, which is none of those that on_look returns. A further
 * SIGTSTP is blocked from TELL to RESUME. */
void ep_run_suspension_hear(struct run_suspension *suspension,
                            enum job_suspension_event event);

/* Returns when the last suspension was over, on the clock of ep_clock_ns(); 0
 * when there was none. */
uint64_t ep_run_suspension_resumed_ns(const struct run_suspension *suspension);

#endif
