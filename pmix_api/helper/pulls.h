/* The pulls of the tool: which output goes to it, in turns.
 *
 * libpmix gives a delivery to each pull that names its process, and cannot be
 * told to do otherwise. So what two pulls have in common is asked of the
 * session once, for the one that came first, and both have it from when they
 * were answered; what was before the second one's call that one does not get.
 *
 * Nor does libpmix say which pull a tool deregisters. Where there is only one
 * it is that; else the one whose next delivery reaches nobody, which has its
 * end then: of what was redirected for it nothing is lost, as that delivery
 * does not count as taken. Others that relied on it ask for themselves.
 *
 * All in the loop's thread. Memory: that of its sources (source.h), and a byte
 * a process of each pull.
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

#define PX_PULLS_ANY UINT32_MAX /* in the place of a job's base */

enum { PX_PULLS_MAX = 128, PX_PULLS_ANSWER_MS = 10000 };

struct px_pulls_cfg {
    const struct px_door_way *way; /* all borrowed */
    struct ep_writer *writer;
    const char *dir; /* of files in which output waits */
    const struct px_jobs *jobs;
    unsigned answer_ms; /* usual: PX_PULLS_ANSWER_MS */
    /* All that was given has been acknowledged, after px_pulls_end(). */
    void (*on_settled)(void *arg);
    void *arg;
};

/* Returns 0 or OV_ENOMEM. */
int px_pulls_open(const struct px_pulls_cfg *cfg, struct px_pulls **out);
/* NULL is fine. */
void px_pulls_close(struct px_pulls *pulls);

/* As px_lib_events has them. A pull is answered when the session has heard all
 * of it, and after answer_ms in any case, with PX_LIB_YES; or with
 *     as px_scopes_find() says
 *     PX_LIB_BAD_PARAM      a directive makes no sense, or no channel is named
 *     PX_LIB_NOT_SUPPORTED  one that is required is not known, or a job does
 *                           not forward a channel
 *     PX_LIB_NO_RESOURCE    there are PX_PULLS_MAX, memory is out, or the
 *                           session refuses it */
void px_pulls_on_pull(struct px_pulls *pulls, const struct px_lib_pull *pull);
void px_pulls_on_stop(struct px_pulls *pulls);
void px_pulls_on_room(struct px_pulls *pulls);

/* Output that comes without a pull, which takes turns with that of pulls. */
struct px_forwards *px_pulls_forwards(const struct px_pulls *pulls);

/* Output of the job is still to be given to the tool. O(sources). */
bool px_pulls_are_due(struct px_pulls *pulls, uint32_t base);
/* A number that grows as the tool takes something. */
uint64_t px_pulls_moved(const struct px_pulls *pulls);
/* When px_lib_taken() has this number the tool has all that was said to it
 * before, events too. 0: not now, as there is no room. */
uint64_t px_pulls_mark(struct px_pulls *pulls);

/* The tool has gone: on_settled follows, from the loop. */
void px_pulls_end(struct px_pulls *pulls);

#endif
