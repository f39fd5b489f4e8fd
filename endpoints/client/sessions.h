/* The sessions on this machine, as a client finds them by their doors. */
#ifndef ENDPOINTS_CLIENT_SESSIONS_H
#define ENDPOINTS_CLIENT_SESSIONS_H

#include <stdbool.h>
#include <sys/types.h>

#include "job/door.h"

/* How long to wait for a session that does not answer: when no other session
 * answers, and when another one has. */
enum { EP_SESSIONS_ALONE_S = 20, EP_SESSIONS_BESIDE_S = 2 };

struct ep_session {
    pid_t number; /* the process number of its launcher, by which it is found */
    /* That process as our own container numbers it; 0: it runs in another
     * container. */
    pid_t pid;
    int fd; /* owned; does not block; -1: none */
    bool is_there;
    struct job_door answer; /* WELCOME or REFUSED; kind 0: no answer yet */
};

struct ep_sessions {
    struct ep_session *at; /* owned */
    unsigned count;
};

/* Connects to all sessions of a user, or, when number is not 0, to that one of
 * them, and waits for their answers. A wait of more than a second is reported
 * on stderr. Sessions that end meanwhile are left out. */
void ep_sessions_open(uid_t uid, pid_t number, struct ep_sessions *out);
/* Closes all sessions but one, which is taken out; NULL: all. */
void ep_sessions_close(struct ep_sessions *sessions,
                       const struct ep_session *kept);
/* Closes a session. Repeating the call is harmless. */
void ep_session_close(struct ep_session *session);

/* Sends a message. Returns 0, or OV_ESYS with errno. */
int ep_session_say(const struct ep_session *session,
                   const struct job_door *msg);
/* Waits for a message, timeout_ms at most (-1: for ever). Returns 0;
 * OV_ECLOSED: the session is gone; OV_EPROTO: the message makes no sense;
 * OV_EFULL: none came in that time. What msg borrows is no longer valid. */
int ep_session_hear(const struct ep_session *session, int timeout_ms,
                    struct job_door *msg);
/* Waits in the same way for a message with a rest, and copies its bytes,
 * unread, into `mem` of JOB_DOOR_BYTES_MAX; *len_bytes says how many there
 * are. */
int ep_session_receive(const struct ep_session *session, int timeout_ms,
                       uint8_t *mem, uint32_t *len_bytes);

#endif
