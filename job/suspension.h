/* When a launcher that is told to stop (SIGTSTP) may stop itself.
 *
 * Its processes stop first, and its daemons are told: a stopped launcher cannot
 * speak, and they would take it for dead. It stops once all of that is on its
 * way, or after a second: a daemon that takes nothing does not prevent it.
 */
#ifndef JOB_SUSPENSION_H
#define JOB_SUSPENSION_H

#include <stdint.h>

enum job_suspension_state {
    JOB_SUSPENSION_NONE,
    JOB_SUSPENSION_DUE,     /* when the daemons are there */
    JOB_SUSPENSION_TELLING, /* all are being told */
    JOB_SUSPENSION_LOOKED,  /* the same, and it was looked at least once */
    JOB_SUSPENSION_STOPPED,
    JOB_SUSPENSION_STATES
};

enum job_suspension_event {
    JOB_SUSPENSION_EARLY,     /* SIGTSTP while daemons are being started */
    JOB_SUSPENSION_HEARD,     /* SIGTSTP while the job runs */
    JOB_SUSPENSION_BEGUN,     /* the job runs */
    JOB_SUSPENSION_WAITS,     /* a look: not all of it is on its way */
    JOB_SUSPENSION_TOLD,      /* a look: all of it is */
    JOB_SUSPENSION_OVER,      /* a look: the job ends, which goes on */
    JOB_SUSPENSION_CONTINUED, /* SIGCONT, or the call that stops is back */
    JOB_SUSPENSION_EVENTS
};

/* What is to be done now. */
enum job_suspension_act {
    JOB_SUSPENSION_NOTHING,
    JOB_SUSPENSION_TELL, /* processes and daemons; then look in a moment */
    JOB_SUSPENSION_LOOK, /* again, in a moment */
    JOB_SUSPENSION_STOP, /* this process */
    JOB_SUSPENSION_RESUME
};

/* All zero: none. */
struct job_suspension {
    enum job_suspension_state state;
    uint64_t told_ns;    /* when the last one began */
    uint64_t resumed_ns; /* when it was over; 0: there was none */
};

/* Pure; O(1). An event that means nothing in a state changes nothing. */
enum job_suspension_act job_suspension_step(struct job_suspension *suspension,
                                            enum job_suspension_event event,
                                            uint64_t now_ns);

#endif
