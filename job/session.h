/* The life of a session: when it begins and ends, and with which exit code. One
 * step decides what an event changes.
 *
 *     state      event   next      what is to be done
 *     LAUNCHING  BEGUN   RUNNING
 *     LAUNCHING  ABORT   OVER      LEAVE
 *     RUNNING    KILL    KILLING   KILL
 *     RUNNING    ABORT   ENDING    KILL, HURRY
 *     RUNNING    DONE    LEAVING   GOODBYE, HURRY
 *     KILLING    ABORT   ENDING    HURRY
 *     KILLING    DONE    LEAVING   GOODBYE, HURRY
 *     ENDING     DONE    LEAVING   GOODBYE, HURRY
 *     not OVER   GONE    OVER      LEAVE
 *     not OVER   LATE    OVER      LEAVE
 *     OVER       LATE    OVER      BREAK
 *
 * All other events change nothing: only the first reason to end counts, and a
 * session that has ended can no longer fail. After the launcher has killed the
 * processes it still waits for their remaining output, in ENDING only until
 * LATE.
 */
#ifndef JOB_SESSION_H
#define JOB_SESSION_H

#include <stdbool.h>

/* The states follow each other in this order. */
enum job_session_state {
    JOB_SESSION_LAUNCHING, /* daemons start and join */
    JOB_SESSION_RUNNING,   /* jobs run, or may be started */
    JOB_SESSION_KILLING,   /* the launcher is killing all processes */
    JOB_SESSION_ENDING,    /* like KILLING, but the session has its own exit
                            * code */
    JOB_SESSION_LEAVING,   /* the launcher has sent a goodbye to the nodes */
    JOB_SESSION_OVER,      /* the launcher only waits for daemons to end */
    JOB_SESSION_STATES
};

enum job_session_event {
    JOB_SESSION_BEGUN, /* all nodes have joined */
    JOB_SESSION_KILL,  /* kill all processes; their statuses decide the exit
                          code */
    JOB_SESSION_ABORT, /* the session cannot or must not go on, and ends with
                          `code` */
    JOB_SESSION_DONE,  /* all processes have ended, and all output is written */
    JOB_SESSION_GONE,  /* the goodbye has reached all nodes */
    JOB_SESSION_LATE,  /* the time limit that HURRY or LEAVE started has
                          passed */
    JOB_SESSION_EVENTS
};

/* What to do, as bits. */
enum job_session_act {
    JOB_SESSION_DO_KILL = 1,    /* kill all processes */
    JOB_SESSION_DO_HURRY = 2,   /* start a time limit of some seconds, after
                                   which LATE is reported */
    JOB_SESSION_DO_GOODBYE = 4, /* send the goodbye to the nodes */
    JOB_SESSION_DO_LEAVE = 8,   /* let all daemons end; start a time limit,
                                   after which LATE is reported */
    JOB_SESSION_DO_BREAK = 16,  /* stop waiting for daemons, and end */
};

struct job_session {
    enum job_session_state state;
    int code;       /* exit code; -1: the statuses of the processes decide */
    bool has_begun; /* the session has been RUNNING */
};

/* The initial state is LAUNCHING. */
#define JOB_SESSION_INIT ((struct job_session){.code = -1})

/* Pure; O(1). `code` is for ABORT, at least 0. Returns what to do, as bits. */
unsigned job_session_step(struct job_session *session,
                          enum job_session_event event, int code);

/* True when jobs of the session run, or the launcher is killing them. */
static inline bool job_session_runs(const struct job_session *session)
{
    return session->state >= JOB_SESSION_RUNNING &&
           session->state <= JOB_SESSION_ENDING;
}

/* True when jobs of the session run, and the exit code will be that of its
 * processes. */
static inline bool job_session_goes_on(const struct job_session *session)
{
    return session->state == JOB_SESSION_RUNNING ||
           session->state == JOB_SESSION_KILLING;
}

#endif
