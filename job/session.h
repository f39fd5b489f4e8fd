/* The life of a session: when it begins and ends, and with which exit code, as
 * a step that decides what an event means, and nothing else.
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
 * All else changes nothing: a second reason to end is none, and what has ended
 * does not fail any more. What processes wrote that were told to die is waited
 * for, in ENDING no longer than an end may take.
 */
#ifndef JOB_SESSION_H
#define JOB_SESSION_H

#include <stdbool.h>

/* In the order in which they follow each other. */
enum job_session_state {
    JOB_SESSION_LAUNCHING, /* daemons start and join */
    JOB_SESSION_RUNNING,   /* jobs are told to the nodes */
    JOB_SESSION_KILLING,   /* all processes were told to die */
    JOB_SESSION_ENDING,    /* the same, with a code of its own */
    JOB_SESSION_LEAVING,   /* goodbye was said */
    JOB_SESSION_OVER,      /* only the ends of daemons are waited for */
    JOB_SESSION_STATES
};

enum job_session_event {
    JOB_SESSION_BEGUN, /* all nodes are there */
    JOB_SESSION_KILL,  /* all processes are to die; how they ended decides */
    JOB_SESSION_ABORT, /* code: it cannot go on, or is not to */
    JOB_SESSION_DONE,  /* everything that was said has come and was written */
    JOB_SESSION_GONE,  /* goodbye has reached all */
    JOB_SESSION_LATE,  /* what began with HURRY or LEAVE has had its time */
    JOB_SESSION_EVENTS
};

/* What is to be done, bits. */
enum job_session_act {
    JOB_SESSION_DO_KILL = 1,    /* tell all processes to die */
    JOB_SESSION_DO_HURRY = 2,   /* LATE is to come, in seconds */
    JOB_SESSION_DO_GOODBYE = 4, /* say it */
    JOB_SESSION_DO_LEAVE = 8,   /* let all daemons go; LATE is to come */
    JOB_SESSION_DO_BREAK = 16,  /* nobody is waited for */
};

struct job_session {
    enum job_session_state state;
    int code;       /* exit code; -1: as the processes have ended */
    bool has_begun; /* it was RUNNING */
};

/* LAUNCHING. */
#define JOB_SESSION_INIT ((struct job_session){.code = -1})

/* Pure; O(1). `code` is ABORT's, at least 0. Returns bits. */
unsigned job_session_step(struct job_session *session,
                          enum job_session_event event, int code);

/* Its jobs run, or are told to die. */
static inline bool job_session_runs(const struct job_session *session)
{
    return session->state >= JOB_SESSION_RUNNING &&
           session->state <= JOB_SESSION_ENDING;
}

/* And nothing but its processes decides how it ends. */
static inline bool job_session_goes_on(const struct job_session *session)
{
    return session->state == JOB_SESSION_RUNNING ||
           session->state == JOB_SESSION_KILLING;
}

#endif
