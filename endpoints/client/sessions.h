/* The sessions on this machine, which a client finds by their doors. */
#ifndef ENDPOINTS_CLIENT_SESSIONS_H
#define ENDPOINTS_CLIENT_SESSIONS_H

#include <stdbool.h>
#include <sys/types.h>

#include "job/door.h"

/* How many seconds to wait for a session that does not answer: the first while
 * no session has answered, the second once another one has. */
enum { EP_SESSIONS_ALONE_S = 20, EP_SESSIONS_BESIDE_S = 2 };

struct ep_session {
    /* The process number of its launcher, which names its door. */
    pid_t number;
    /* The launcher's process number in our own container; 0 when the launcher
     * runs in another container. */
    pid_t pid;
    int fd; /* owned: the socket, which does not block; -1 when there is none */
    bool is_there;
    /* WELCOME or REFUSED; kind 0 before there is an answer */
    struct job_door answer;
};

struct ep_sessions {
    struct ep_session *at; /* owned */
    unsigned count;
};

/* Connects to all sessions of a user (or, when `number` is not 0, only to the
 * session with this number) and waits for their answers: most_ms at most, or
 * (0) as long as the times above say. A wait of more than a second is reported
 * on stderr. A session that ends meanwhile is left out. */
void ep_sessions_open(uid_t uid, pid_t number, int most_ms,
                      struct ep_sessions *out);
/* Frees the list and closes all of its sessions except `kept`, which the caller
 * has copied; NULL: closes all. */
void ep_sessions_close(struct ep_sessions *sessions,
                       const struct ep_session *kept);
/* Closes a session. Further calls change nothing. */
void ep_session_close(struct ep_session *session);

/* Sends a message. Returns 0, or OV_ESYS with errno. */
int ep_session_say(const struct ep_session *session,
                   const struct job_door *msg);
/* Waits for a message, timeout_ms at most (-1: for ever). Returns 0; OV_ECLOSED
 * when the session has ended; OV_EPROTO when the message makes no sense;
 * OV_EFULL when none came in that time. What *msg borrows is not valid after
 * the call. */
int ep_session_hear(const struct ep_session *session, int timeout_ms,
                    struct job_door *msg);
/* Waits for a message like ep_session_hear(), and copies its bytes into `mem`
 * of JOB_DOOR_BYTES_MAX without decoding them; *len_bytes says how many there
 * are. */
int ep_session_receive(const struct ep_session *session, int timeout_ms,
                       uint8_t *mem, uint32_t *len_bytes);

#endif
