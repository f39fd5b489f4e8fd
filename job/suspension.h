/* When a launcher that is told to stop (SIGTSTP) may stop itself.
 *
 * Its processes are stopped first, and its daemons are told: a stopped launcher
 * cannot speak, and they would take it for dead. The launcher stops once all of
 * that is on its way, or after a second: a daemon that takes no data does not
 * prevent it.
 */
#ifndef JOB_SUSPENSION_H
#define JOB_SUSPENSION_H

#include <stdint.h>

enum job_suspension_state {
    JOB_SUSPENSION_NONE,
    JOB_SUSPENSION_DUE,     /* to be done when the daemons are there */
    JOB_SUSPENSION_TELLING, /* all are being told */
    JOB_SUSPENSION_LOOKED,  /* as TELLING, after at least one look */
    JOB_SUSPENSION_STOPPED,
    JOB_SUSPENSION_STATES
};

enum job_suspension_event {
    JOB_SUSPENSION_EARLY,     /* SIGTSTP while daemons are being started */
    JOB_SUSPENSION_HEARD,     /* SIGTSTP while the job runs */
    JOB_SUSPENSION_BEGUN,     /* the job runs */
    JOB_SUSPENSION_WAITS,     /* a look: some of it is not on its way yet */
    JOB_SUSPENSION_TOLD,      /* a look: all of it is on its way */
    JOB_SUSPENSION_OVER,      /* a look: the job ends, which must not be
                                 delayed */
    JOB_SUSPENSION_CONTINUED, /* SIGCONT, or the call that stops has returned */
    JOB_SUSPENSION_EVENTS
};

/* What to do now. */
enum job_suspension_act {
    JOB_SUSPENSION_NOTHING,
    JOB_SUSPENSION_TELL, /* tell processes and daemons; then look in a moment */
    JOB_SUSPENSION_LOOK, /* look again in a moment */
    JOB_SUSPENSION_STOP, /* stop this process */
    JOB_SUSPENSION_RESUME
};

/* All zero: none was asked for. */
struct job_suspension {
    enum job_suspension_state state;
    uint64_t told_ns;    /* when the last suspension began */
    uint64_t resumed_ns; /* when it was over; 0: there was none */
};

/* Pure; O(1). An event that has no meaning in a state changes nothing. */
enum job_suspension_act job_suspension_step(struct job_suspension *suspension,
                                            enum job_suspension_event event,
                                            uint64_t now_ns);

#endif
