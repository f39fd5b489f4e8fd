/* Sends bytes from the tool to the stdin of processes (PMIx_IOF_push). For each
 * job that the tool pushes to there is a connection to the door, until the tool
 * disconnects.
 *
 * Requests for one job are sent one after another, in messages of which only
 * one is under way; a request for several jobs is sent to all of them at the
 * same time. So a job that reads nothing delays another job only by requests
 * that are for both.
 *
 * All in the loop's thread. Memory: about 100 bytes for each request and 8 for
 * each range of its targets; the pushed bytes stay in libpmix's memory until
 * the answer.
 */
#ifndef PMIX_API_HELPER_PUSH_H
#define PMIX_API_HELPER_PUSH_H

#include "pmix_api/helper/lib/lib.h"

struct px_door_way;
struct px_jobs;
struct px_pushing_tool;

/* The most bytes in pushes that wait for their answer. */
enum { PX_PUSH_WAITING_BYTES = 16 << 20 };

struct px_pushing_cfg {
    const struct px_door_way *way; /* borrowed, as are all pointers here */
    const struct px_jobs *jobs;
    /* The tool has exceeded the limit because it does not wait for answers: the
     * callback is to disconnect it. */
    void (*on_flood)(void *arg);
    void *arg;
};

/* Returns 0 or OV_ENOMEM. */
int px_pushing_open(const struct px_pushing_cfg *cfg,
                    struct px_pushing_tool **out);
/* Closes the module. Requests that still wait get no answer. NULL is fine. */
void px_pushing_close(struct px_pushing_tool *pushing);

/* on_push of px_lib_events. The answer is PX_LIB_YES when the session has
 * accepted all bytes; or
 *     what px_scopes_find() returns
 *     PX_LIB_NOT_SUPPORTED  a required directive is not known
 *     PX_LIB_IS_COMPLETE    none of the targets reads its stdin any longer
 *     PX_LIB_NO_RESOURCE    more than PX_PUSH_WAITING_BYTES, or out of memory
 */
void px_pushing_on_push(struct px_pushing_tool *pushing,
                        const struct px_lib_push *push);

#endif
