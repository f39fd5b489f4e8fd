/* The first messages at a session's door (job/door.h): they find or start the
 * job that a client is about, and where its processes are. Everything here
 * blocks until the session answers, before there is an event loop;
 * commands/attach/session.h continues from there.
 *
 * Functions that can fail return NULL, or a text that says what went wrong,
 * borrowed until the next call.
 */
#ifndef COMMANDS_ATTACH_ENTRANCE_H
#define COMMANDS_ATTACH_ENTRANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/client/sessions.h"
#include "job/request.h"

/* A message that came early: the loop must handle it. */
struct entrance_early {
    struct entrance_early *next;
    uint32_t len_bytes;
    uint8_t mem[];
};

struct entrance {
    struct ep_session at; /* owned */
    bool has_spawned;     /* the client has started the job */
    struct job_door job;  /* the JOB that the session answered */
    char **hosts;         /* owned [job.count]; neighbours share a string */
    struct entrance_early *first, **last; /* owned */
};

/* These two take over the connection, also where they fail. This one attaches
 * to the job of this name, or (NULL) to the only job. */
const char *entrance_attach(struct entrance *entrance,
                            struct ep_session *connection, const char *nspace);
/* This one starts a job, and waits as long as that takes. Where the job does
 * not begin *answer is UNSTARTED, else its kind is 0. */
const char *entrance_spawn(struct entrance *entrance,
                           struct ep_session *connection,
                           const struct job_request *request,
                           struct job_door *answer);

/* Removes and returns the first message that came early, for the caller to
 * free; or NULL. */
struct entrance_early *entrance_pop(struct entrance *entrance);
/* Closes the connection and frees everything; may be called again. */
void entrance_close(struct entrance *entrance);

#endif
