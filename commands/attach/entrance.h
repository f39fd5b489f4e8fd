/* The way in at a session's door (job/door.h): the job that a client is there
 * for, and where that is. All here waits for the session, before there is a
 * loop; commands/attach/session.h goes on from there.
 *
 * What can fail returns NULL, or a text that says what went wrong, borrowed
 * until the next call.
 */
#ifndef COMMANDS_ATTACH_ENTRANCE_H
#define COMMANDS_ATTACH_ENTRANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/client/sessions.h"
#include "job/request.h"

/* A message that has come before its turn, and is for the loop. */
struct entrance_early {
    struct entrance_early *next;
    uint32_t len_bytes;
    uint8_t mem[];
};

struct entrance {
    struct ep_session at; /* owned */
    bool has_spawned;     /* the job is the client's own */
    struct job_door job;  /* its JOB */
    char **hosts;         /* owned [job.count], one for all neighbours */
    struct entrance_early *first, **last; /* owned */
};

/* Both take the connection over, also where they fail: to the job of this name,
 * or (NULL) to the only one; */
const char *entrance_attach(struct entrance *entrance,
                            struct ep_session *connection, const char *nspace);
/* to a new one. It is waited for as long as it takes. Where it does not begin
 * *answer is UNSTARTED, else its kind is 0. */
const char *entrance_spawn(struct entrance *entrance,
                           struct ep_session *connection,
                           const struct job_request *request,
                           struct job_door *answer);

/* The first of those that came early, taken out: to be freed; or NULL. */
struct entrance_early *entrance_pop(struct entrance *entrance);
/* Closes the connection, and frees all; harmless again. */
void entrance_close(struct entrance *entrance);

#endif
