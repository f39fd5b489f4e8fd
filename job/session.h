/* The life of a session: when it begins and ends, and with which exit code. One
 * step decides what an event means.
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
 * session that has ended can no longer fail. After processes were told to die
 * their remaining output is waited for, in ENDING only until LATE.
 */
#ifndef JOB_SESSION_H
#define JOB_SESSION_H

#include <stdbool.h>

/* In the order in which they follow each other. */
enum job_session_state {
    JOB_SESSION_LAUNCHING, /* daemons start and join */
    JOB_SESSION_RUNNING,   /* jobs are told to the nodes */
    JOB_SESSION_KILLING,   /* all processes were told to die */
    JOB_SESSION_ENDING,    /* as KILLING, with an exit code of its own */
    JOB_SESSION_LEAVING,   /* goodbye was said to the nodes */
    JOB_SESSION_OVER,      /* only the ends of daemons are waited for */
    JOB_SESSION_STATES
};

enum job_session_event {
    JOB_SESSION_BEGUN, /* all nodes are there */
    JOB_SESSION_KILL,  /* all processes are to die; how they ended decides */
    JOB_SESSION_ABORT, /* code: the session cannot or must not go on */
    JOB_SESSION_DONE,  /* all processes are over, and all output was written */
    JOB_SESSION_GONE,  /* goodbye has reached all nodes */
    JOB_SESSION_LATE,  /* the time that HURRY or LEAVE began is up */
    JOB_SESSION_EVENTS
};

/* What to do, as bits. */
enum job_session_act {
    JOB_SESSION_DO_KILL = 1,    /* tell all processes to die */
    JOB_SESSION_DO_HURRY = 2,   /* start a time limit of seconds; LATE
                                   follows */
    JOB_SESSION_DO_GOODBYE = 4, /* say goodbye to the nodes */
    JOB_SESSION_DO_LEAVE = 8,   /* let all daemons go; start a limit; LATE
                                   follows */
    JOB_SESSION_DO_BREAK = 16,  /* stop waiting for anybody */
};

struct job_session {
    enum job_session_state state;
    int code;       /* exit code; -1: the processes decide */
    bool has_begun; /* it has been RUNNING */
};

/* The initial state is LAUNCHING. */
#define JOB_SESSION_INIT ((struct job_session){.code = -1})

/* Pure; O(1). `code` is for ABORT, at least 0. Returns what to do, as bits. */
unsigned job_session_step(struct job_session *session,
                          enum job_session_event event, int code);

/* True when its jobs run, or were told to die. */
static inline bool job_session_runs(const struct job_session *session)
{
    return session->state >= JOB_SESSION_RUNNING &&
           session->state <= JOB_SESSION_ENDING;
}

/* True when its jobs run and nothing but its processes decides the exit
 * code. */
static inline bool job_session_goes_on(const struct job_session *session)
{
    return session->state == JOB_SESSION_RUNNING ||
           session->state == JOB_SESSION_KILLING;
}

#endif
