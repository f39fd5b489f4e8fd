/* What the tool pushes to the stdin of processes: a connection to the door for
 * each job that it pushes to, which stays until the tool goes.
 *
 * The calls to one job are sent one after another, a message at a time; a call
 * to several jobs is sent to all of them at once. So a job that reads nothing
 * delays another one only by the calls that were meant for both.
 *
 * All in the loop's thread. Memory: about 100 bytes a call and 8 for each range
 * of its targets; the bytes stay libpmix's until the answer.
 */
#ifndef PMIX_API_HELPER_PUSH_H
#define PMIX_API_HELPER_PUSH_H

#include "pmix_api/helper/lib/lib.h"

struct px_door_way;
struct px_jobs;
struct px_pushing_tool;

enum { PX_PUSH_WAITING_BYTES = 16 << 20 }; /* of calls without an answer */

struct px_pushing_cfg {
    const struct px_door_way *way; /* borrowed, as all */
    const struct px_jobs *jobs;
    /* The tool keeps pushing without waiting for answers: cut it off. */
    void (*on_flood)(void *arg);
    void *arg;
};

/* Returns 0 or OV_ENOMEM. */
int px_pushing_open(const struct px_pushing_cfg *cfg,
                    struct px_pushing_tool **out);
/* Leaves the calls that wait unanswered. NULL is fine. */
void px_pushing_close(struct px_pushing_tool *pushing);

/* Called as px_lib_events says. The answer is PX_LIB_YES when all of it has its
 * place behind what was accepted before; or
 *     what px_scopes_find() returns
 *     PX_LIB_NOT_SUPPORTED  a required directive is not known
 *     PX_LIB_IS_COMPLETE    none of the targets reads its stdin any longer
 *     PX_LIB_NO_RESOURCE    more than PX_PUSH_WAITING_BYTES, or out of memory
 */
void px_pushing_on_push(struct px_pushing_tool *pushing,
                        const struct px_lib_push *push);

#endif
