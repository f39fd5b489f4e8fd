/* What the tool pushes to the stdin of processes: a connection to the door for
 * each job that it pushes to, from then on until the tool goes.
 *
 * The calls to one job go one after another, a message at a time; a call to
 * several jobs goes to all of them at once. So a job that takes nothing holds
 * up no other one, but what was to reach both.
 *
 * All in the loop's thread. Memory: some 100 bytes a call and 8 for each range
 * of its targets; the bytes stay libpmix's until the answer.
 */
#ifndef PMIX_API_HELPER_PUSH_H
#define PMIX_API_HELPER_PUSH_H

#include "pmix_api/helper/lib/lib.h"

struct px_door_way;
struct px_jobs;
struct px_pushing_tool;

enum { PX_PUSH_WAITING_BYTES = 16 << 20 }; /* without an answer */

struct px_pushing_cfg {
    const struct px_door_way *way; /* borrowed, as all */
    const struct px_jobs *jobs;
    /* The tool goes on without answers: it is to be cut off. */
    void (*on_flood)(void *arg);
    void *arg;
};

/* Returns 0 or OV_ENOMEM. */
int px_pushing_open(const struct px_pushing_cfg *cfg,
                    struct px_pushing_tool **out);
/* What has no answer gets none. NULL is fine. */
void px_pushing_close(struct px_pushing_tool *pushing);

/* As px_lib_events has it. Answered with PX_LIB_YES when all of it has its
 * place behind what was accepted before; or with
 *     as px_scopes_find() says
 *     PX_LIB_NOT_SUPPORTED  a directive is required that is not known
 *     PX_LIB_IS_COMPLETE    none of the targets reads any more
 *     PX_LIB_NO_RESOURCE    more than PX_PUSH_WAITING_BYTES, or out of memory
 */
void px_pushing_on_push(struct px_pushing_tool *pushing,
                        const struct px_lib_push *push);

#endif
