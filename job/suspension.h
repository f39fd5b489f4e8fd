/* Decides when a launcher that receives SIGTSTP may stop itself.
 *
 * Before that, the launcher sends messages that stop the processes of its jobs,
 * and that tell the daemons: a stopped launcher sends nothing, so the daemons
 * would take it for dead. The launcher stops once all these messages are on
 * their way, or after a second, so that a daemon that reads nothing cannot
 * prevent it.
 */
#ifndef JOB_SUSPENSION_H
#define JOB_SUSPENSION_H

#include <stdint.h>

enum job_suspension_state {
    JOB_SUSPENSION_NONE,
    JOB_SUSPENSION_DUE,     /* the launcher is to stop, but daemons are still
                               being started */
    JOB_SUSPENSION_TELLING, /* the messages are being sent */
    JOB_SUSPENSION_LOOKED,  /* like TELLING, but at least one look was reported
                             */
    JOB_SUSPENSION_STOPPED,
    JOB_SUSPENSION_STATES
};

enum job_suspension_event {
    JOB_SUSPENSION_EARLY,     /* SIGTSTP while daemons are being started */
    JOB_SUSPENSION_HEARD,     /* SIGTSTP while the job runs */
    JOB_SUSPENSION_BEGUN,     /* the job runs */
    JOB_SUSPENSION_WAITS,     /* a look: some messages are not on their way
                                 yet */
    JOB_SUSPENSION_TOLD,      /* a look: all messages are on their way */
    JOB_SUSPENSION_OVER,      /* a look: the job ends, which must not be
                                 delayed */
    JOB_SUSPENSION_CONTINUED, /* SIGCONT came, or the call that stops this
                                 process has returned */
    JOB_SUSPENSION_EVENTS
};

/* What the caller has to do now. */
enum job_suspension_act {
    JOB_SUSPENSION_NOTHING,
    JOB_SUSPENSION_TELL, /* send the messages; then look in a moment */
    JOB_SUSPENSION_LOOK, /* look again in a moment */
    JOB_SUSPENSION_STOP, /* stop this process */
    JOB_SUSPENSION_RESUME
};

/* When all members are zero no SIGTSTP was received. */
struct job_suspension {
    enum job_suspension_state state;
    uint64_t told_ns;    /* when the last suspension began */
    uint64_t resumed_ns; /* when the last suspension ended; 0: there was none */
};

/* Pure; O(1). An event that has no meaning in a state changes nothing. */
enum job_suspension_act job_suspension_step(struct job_suspension *suspension,
                                            enum job_suspension_event event,
                                            uint64_t now_ns);

#endif
