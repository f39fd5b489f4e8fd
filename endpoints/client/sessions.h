/* The sessions on this machine, as a client finds them: by their doors. */
#ifndef ENDPOINTS_CLIENT_SESSIONS_H
#define ENDPOINTS_CLIENT_SESSIONS_H

#include <stdbool.h>
#include <sys/types.h>

#include "job/door.h"

/* How long one that does not answer is waited for: where nobody else answers,
 * and where somebody has. */
enum { EP_SESSIONS_ALONE_S = 20, EP_SESSIONS_BESIDE_S = 2 };

struct ep_session {
    pid_t number; /* of its launcher, by which it is found */
    pid_t pid;    /* the same process for us; 0: of another container */
    int fd;       /* owned; it does not block; -1: none */
    bool is_there;
    struct job_door answer; /* WELCOME or REFUSED; kind 0: none yet */
};

struct ep_sessions {
    struct ep_session *at; /* owned */
    unsigned count;
};

/* Connects to the sessions of a user, or (number not 0) to that one of them,
 * and waits for their answers. What is longer than a second is told on stderr.
 * Those that have ended meanwhile are left out. */
void ep_sessions_open(uid_t uid, pid_t number, struct ep_sessions *out);
/* Closes all but one, which is taken out; NULL: all. */
void ep_sessions_close(struct ep_sessions *sessions,
                       const struct ep_session *kept);
/* Once; harmless again. */
void ep_session_close(struct ep_session *session);

/* Sends a message. Returns 0, or OV_ESYS with errno. */
int ep_session_say(const struct ep_session *session,
                   const struct job_door *msg);
/* Waits for one, timeout_ms at most (-1: for ever). Returns 0; OV_ECLOSED: the
 * session is gone; OV_EPROTO: it makes no sense; or OV_EFULL: there is none in
 * that time. What msg borrows is not there any more. */
int ep_session_hear(const struct ep_session *session, int timeout_ms,
                    struct job_door *msg);
/* Waits in the same way for a message with a rest, and gives its bytes: into
 * `mem` of JOB_DOOR_BYTES_MAX, *len_bytes of them. They are not looked at. */
int ep_session_receive(const struct ep_session *session, int timeout_ms,
                       uint8_t *mem, uint32_t *len_bytes);

#endif
