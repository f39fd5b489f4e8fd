/* The state transitions of a session, as a table. */
#include "job/session.h"

#include <stdint.h>

#include "overlay/base/panic.h"

struct move {
    uint8_t next; /* the next state. 0: the event changes nothing (no transition
                     leads to LAUNCHING, which is 0) */
    uint8_t acts;
};

#define ACT(name) JOB_SESSION_DO_##name
#define ON(event) [JOB_SESSION_##event]

// clang-format off
#define LEAVES \
    ON(GONE) = {JOB_SESSION_OVER, ACT(LEAVE)}, \
    ON(LATE) = {JOB_SESSION_OVER, ACT(LEAVE)}
#define IS_DONE \
    ON(DONE) = {JOB_SESSION_LEAVING, ACT(GOODBYE) | ACT(HURRY)}

static const struct move moves[JOB_SESSION_STATES][JOB_SESSION_EVENTS] = {
    [JOB_SESSION_LAUNCHING] = {
        ON(BEGUN) = {JOB_SESSION_RUNNING, 0},
        ON(ABORT) = {JOB_SESSION_OVER, ACT(LEAVE)},
        LEAVES,
    },
    [JOB_SESSION_RUNNING] = {
        ON(KILL) = {JOB_SESSION_KILLING, ACT(KILL)},
        ON(ABORT) = {JOB_SESSION_ENDING, ACT(KILL) | ACT(HURRY)},
        IS_DONE,
        LEAVES,
    },
    [JOB_SESSION_KILLING] = {
        ON(ABORT) = {JOB_SESSION_ENDING, ACT(HURRY)},
        IS_DONE,
        LEAVES,
    },
    [JOB_SESSION_ENDING] = {
        IS_DONE,
        LEAVES,
    },
    [JOB_SESSION_LEAVING] = {
        LEAVES,
    },
    [JOB_SESSION_OVER] = {
        ON(LATE) = {JOB_SESSION_OVER, ACT(BREAK)},
    },
};
// clang-format on

unsigned job_session_step(struct job_session *session,
                          enum job_session_event event, int code)
{
    const struct move *move = &moves[session->state][event];

    OV_ASSERT(event != JOB_SESSION_ABORT || code >= 0);
    if (move->next == JOB_SESSION_LAUNCHING)
        return 0;
    session->state = (enum job_session_state)move->next;
    session->has_begun |= session->state == JOB_SESSION_RUNNING;
    if (event == JOB_SESSION_ABORT)
        session->code = code;
    return move->acts;
}
