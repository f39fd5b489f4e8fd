/* The first messages at a session's door (job/door.h): they find or start the
 * job that the client is to show, and ask where its processes are. All
 * functions block until the session answers, as there is no event loop yet;
 * after that commands/attach/session.h takes over the connection.
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

/* A message that came before there was an event loop, in which it must be
 * handled. */
struct entrance_early {
    struct entrance_early *next;
    uint32_t len_bytes;
    uint8_t mem[];
};

struct entrance {
    struct ep_session at; /* owned */
    bool has_spawned;     /* the client has started the job */
    struct job_door job;  /* the message JOB that the session has answered
                             with */
    char **hosts;         /* owned [job.count]; neighbours share a string */
    struct entrance_early *first, **last; /* owned */
};

/* Attaches to the job of this name or, with NULL, to the only job. The
 * connection becomes this module's, also on failure. */
const char *entrance_attach(struct entrance *entrance,
                            struct ep_session *connection, const char *nspace);
/* Starts a job, and waits as long as that takes. The connection becomes this
 * module's, also on failure. When the job does not begin, *answer is the
 * message UNSTARTED, else its kind is 0. */
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
