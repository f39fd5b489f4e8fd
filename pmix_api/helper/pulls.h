/* The pulls of the tool: which output goes to it, in turns.
 *
 * libpmix gives a delivery to each pull that names its process, and cannot be
 * told otherwise. So what two pulls have in common is asked of the session
 * once, for the pull that came first. Each gets it from the time on when it was
 * answered; the second pull does not get earlier output of it.
 *
 * libpmix does not say either which pull a tool deregisters. If there is only
 * one, it is that one. Otherwise it is the one whose next delivery reaches no
 * pull, and that ends it. No redirected output is lost by this, as such a
 * delivery does not count as taken. Pulls that relied on the ended one then ask
 * for the output themselves.
 *
 * All in the loop's thread. Memory: that of its sources (source.h), and for
 * each pull a byte a process.
 */
#ifndef PMIX_API_HELPER_PULLS_H
#define PMIX_API_HELPER_PULLS_H

#include <stdbool.h>
#include <stdint.h>

#include "pmix_api/helper/lib/lib.h"

struct ep_writer;
struct px_door_way;
struct px_forwards;
struct px_jobs;
struct px_pulls;

/* Stands for any job, in place of a job's base. */
#define PX_PULLS_ANY UINT32_MAX

enum { PX_PULLS_MAX = 128, PX_PULLS_ANSWER_MS = 10000 };

struct px_pulls_cfg {
    const struct px_door_way *way; /* all of this is borrowed */
    struct ep_writer *writer;
    const char *dir; /* in which files with waiting output are made */
    const struct px_jobs *jobs;
    unsigned answer_ms; /* longest wait; usual: PX_PULLS_ANSWER_MS */
    /* Called after px_pulls_end(), when all that was given has been
     * acknowledged. */
    void (*on_settled)(void *arg);
    void *arg;
};

/* Returns 0 or OV_ENOMEM. */
int px_pulls_open(const struct px_pulls_cfg *cfg, struct px_pulls **out);
/* NULL is fine. */
void px_pulls_close(struct px_pulls *pulls);

/* Called as px_lib_events says. A pull is answered with PX_LIB_YES when the
 * session has heard all of it, and in any case after answer_ms; or with
 *     what px_scopes_find() returns
 *     PX_LIB_BAD_PARAM      a directive makes no sense, or no channel is named
 *     PX_LIB_NOT_SUPPORTED  a required directive is not known, or a job does
 *                           not forward a channel
 *     PX_LIB_NO_RESOURCE    there are PX_PULLS_MAX, memory is out, or the
 *                           session refuses it */
void px_pulls_on_pull(struct px_pulls *pulls, const struct px_lib_pull *pull);
void px_pulls_on_stop(struct px_pulls *pulls);
void px_pulls_on_room(struct px_pulls *pulls);

/* The output that comes without a pull, which takes turns with that of
 * pulls. */
struct px_forwards *px_pulls_forwards(const struct px_pulls *pulls);

/* True when output of the job is still to be given to the tool. O(sources). */
bool px_pulls_are_due(struct px_pulls *pulls, uint32_t base);
/* A number that grows whenever the tool takes something. */
uint64_t px_pulls_moved(const struct px_pulls *pulls);
/* A number: once px_lib_taken() reaches it, the tool has all that was given to
 * it before this call, events included. 0: there is no room to mark it now. */
uint64_t px_pulls_mark(struct px_pulls *pulls);

/* Says that the tool has gone; on_settled follows, from the loop. */
void px_pulls_end(struct px_pulls *pulls);

#endif
