/* The pulls of the tool, that is, its requests for output. Their sources
 * deliver output to the tool in turns.
 *
 * libpmix gives each delivery to all pulls that name its process; this cannot
 * be changed. So when two pulls name the same channel, the helper asks the
 * session for its output only once, for the earlier pull. Each of the two gets
 * the output from the time of its answer on; the second pull gets no earlier
 * output of this channel.
 *
 * Nor does libpmix say which pull a tool deregisters. If there is only one
 * pull, it is that one. Otherwise the helper finds out when a delivery reaches
 * no pull: then the pull that it was meant for has ended. No redirected output
 * is lost by this, because such a delivery does not count as read. If other
 * pulls named the same channels as the ended pull, the helper then asks the
 * session for the output again, for one of these.
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

/* In place of a job's base: any job. */
#define PX_PULLS_ANY UINT32_MAX

enum { PX_PULLS_MAX = 128, PX_PULLS_ANSWER_MS = 10000 };

struct px_pulls_cfg {
    const struct px_door_way *way; /* borrowed, as are all pointers here */
    struct ep_writer *writer;
    const char *dir; /* in which files with waiting output are made */
    const struct px_jobs *jobs;
    unsigned answer_ms; /* the longest time until a pull is answered; by default
                           PX_PULLS_ANSWER_MS */
    /* Called after px_pulls_end(), when the session has acknowledged everything
     * that the tool has read. */
    void (*on_settled)(void *arg);
    void *arg;
};

/* Returns 0 or OV_ENOMEM. */
int px_pulls_open(const struct px_pulls_cfg *cfg, struct px_pulls **out);
/* NULL is fine. */
void px_pulls_close(struct px_pulls *pulls);

/* on_pull of px_lib_events. A pull is answered with PX_LIB_YES when the session
 * has begun to send its output, and at the latest after answer_ms; or with
 *     what px_scopes_find() returns
 *     PX_LIB_BAD_PARAM      a directive makes no sense, or no channel is named
 *     PX_LIB_NOT_SUPPORTED  a required directive is not known, or a job does
 *                           not forward a channel
 *     PX_LIB_NO_RESOURCE    there are PX_PULLS_MAX, memory is out, or the
 *                           session refuses it */
void px_pulls_on_pull(struct px_pulls *pulls, const struct px_lib_pull *pull);
void px_pulls_on_stop(struct px_pulls *pulls);
void px_pulls_on_room(struct px_pulls *pulls);

/* The output that goes to the tool without a pull; it is delivered in turns
 * with that of pulls. */
struct px_forwards *px_pulls_forwards(const struct px_pulls *pulls);

/* True when output of the job is still to be delivered to the tool. O(sources).
 */
bool px_pulls_are_due(struct px_pulls *pulls, uint32_t base);
/* A number that grows whenever the tool reads something. */
uint64_t px_pulls_moved(const struct px_pulls *pulls);
/* Returns a number of deliveries: once px_lib_taken() reaches it, the tool has
 * read all output and events that were sent to it before this call. 0: there is
 * no room for the delivery that this needs. */
uint64_t px_pulls_mark(struct px_pulls *pulls);

/* Notes that the tool has disconnected; on_settled follows, from the event
 * loop. */
void px_pulls_end(struct px_pulls *pulls);

#endif
