/* The jobs that the tool starts. For each job there is a connection to the
 * door. It requests the job (SPAWN) and receives the output that is to go to
 * the tool without a pull (forward.h). The job ends when the connection does,
 * so when the tool does, unless the tool asked to keep the job.
 *
 * All in the loop's thread. Memory: 600 bytes and a door for each job and,
 * until it is sent, the request, of at most JOB_REQUEST_BYTES_MAX.
 */
#ifndef PMIX_API_HELPER_SPAWNS_H
#define PMIX_API_HELPER_SPAWNS_H

#include "job/door.h"
#include "pmix_api/helper/lib/lib.h"

struct px_door_way;
struct px_jobs;
struct px_pulls;
struct px_spawns;

enum { PX_SPAWNS_MAX = 128 }; /* jobs, requested or running */

struct px_spawns_cfg {
    const struct px_door_way *way; /* borrowed, as are all pointers here */
    struct px_jobs *jobs;
    const struct px_pulls *pulls;
};

/* Returns 0 or OV_ENOMEM. */
int px_spawns_open(const struct px_spawns_cfg *cfg, struct px_spawns **out);
/* Closes all connections, which ends the jobs, except those to be kept.
 * Requests that still wait get no answer. NULL is fine. */
void px_spawns_close(struct px_spawns *spawns);

/* on_spawn of px_lib_events. The request is answered by px_lib_answer_spawn()
 * when all processes run and px_jobs has the job, however long that takes; or
 * with
 *     PX_LIB_NO_RESOURCE  there are PX_SPAWNS_MAX, the request has more than
 *                         JOB_REQUEST_BYTES_MAX, or memory is out
 *     PX_LIB_NO_ROOM, PX_LIB_NOT_FOUND, PX_LIB_BAD_PARAM, PX_LIB_NO_DIR,
 *     PX_LIB_NO_PROGRAM, PX_LIB_NO_EXEC, PX_LIB_NO_GROWTH, PX_LIB_FAILED
 *                         as the session has refused it; the first one also
 *                         where the session has gone */
void px_spawns_on_spawn(struct px_spawns *spawns,
                        const struct px_lib_spawn *asked);
/* True when the requests for all jobs that are to go on without the tool have
 * been sent. O(spawns). */
bool px_spawns_are_said(const struct px_spawns *spawns);
/* Handles a message of the session; to be called from on_word of
 * px_jobs_events. */
void px_spawns_on_word(struct px_spawns *spawns, const struct job_door *msg);

#endif
