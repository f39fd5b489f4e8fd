/* The sessions on this machine, as a client finds them: by their doors. */
#ifndef ENDPOINTS_CLIENT_SESSIONS_H
#define ENDPOINTS_CLIENT_SESSIONS_H

#include <stdbool.h>
#include <sys/types.h>

#include "job/door.h"

enum { EP_SESSIONS_MAX = 64 };

/* A session that is connected. */
struct ep_session {
    int fd;                 /* owned; it does not block; -1: closed */
    pid_t pid;              /* of its launcher */
    struct job_door answer; /* its WELCOME or REFUSED; kind 0: none yet */
};

/* Connects to the sessions of a user, or (pid not 0) to that one of them, and
 * waits for their answers: as long as there are some to come, EP_SESSIONS_S at
 * most, and tells on stderr after a second for whom. Returns how many there
 * are, EP_SESSIONS_MAX at most. */
enum { EP_SESSIONS_S = 20 };
unsigned ep_sessions_open(uid_t uid, pid_t pid, struct ep_session *out);
/* Once; harmless again. */
void ep_session_close(struct ep_session *session);

/* Sends a message. Returns 0, or OV_ESYS with errno. */
int ep_session_say(const struct ep_session *session,
                   const struct job_door *msg);
/* Waits for one, timeout_ms at most (-1: for ever). Returns 0; OV_ECLOSED: the
 * session is gone; OV_EPROTO: it makes no sense; or OV_EFULL: there is none in
 * that time. */
int ep_session_hear(const struct ep_session *session, int timeout_ms,
                    struct job_door *msg);

#endif
