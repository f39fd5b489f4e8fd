/* The jobs that the tool starts. Each has a connection to the door, which asks
 * for the job (SPAWN) and hears its output where that comes to the tool without
 * a pull (forward.h). The job ends with the connection, and so with the tool,
 * unless it is to be kept.
 *
 * All in the loop's thread. Memory: 600 bytes and a door for each job, and
 * until the request is sent what the tool asks for, JOB_REQUEST_BYTES_MAX at
 * most.
 */
#ifndef PMIX_API_HELPER_SPAWNS_H
#define PMIX_API_HELPER_SPAWNS_H

#include "job/door.h"
#include "pmix_api/helper/lib/lib.h"

struct px_door_way;
struct px_jobs;
struct px_pulls;
struct px_spawns;

enum { PX_SPAWNS_MAX = 128 }; /* jobs that are asked for or run */

struct px_spawns_cfg {
    const struct px_door_way *way; /* borrowed, as all */
    struct px_jobs *jobs;
    const struct px_pulls *pulls;
};

/* Returns 0 or OV_ENOMEM. */
int px_spawns_open(const struct px_spawns_cfg *cfg, struct px_spawns **out);
/* Leaves open requests unanswered and ends the jobs that are not to be kept.
 * NULL is fine. */
void px_spawns_close(struct px_spawns *spawns);

/* Called as px_lib_events says. px_lib_answer_spawn() gives the answer when all
 * processes run and px_jobs has the job, however long that takes; or with
 *     PX_LIB_NO_RESOURCE  there are PX_SPAWNS_MAX, the request has more than
 *                         JOB_REQUEST_BYTES_MAX, or memory is out
 *     PX_LIB_NO_ROOM, PX_LIB_NOT_FOUND, PX_LIB_BAD_PARAM, PX_LIB_NO_DIR,
 *     PX_LIB_NO_PROGRAM, PX_LIB_NO_EXEC, PX_LIB_NO_GROWTH, PX_LIB_FAILED
 *                         as the session has refused it; the first one also
 *                         where the session has gone */
void px_spawns_on_spawn(struct px_spawns *spawns,
                        const struct px_lib_spawn *asked);
/* True when the session knows of all jobs that are to go on without the tool.
 * O(spawns). */
bool px_spawns_are_said(const struct px_spawns *spawns);
/* Takes a message of the session, as px_jobs_events gives it. */
void px_spawns_on_word(struct px_spawns *spawns, const struct job_door *msg);

#endif
