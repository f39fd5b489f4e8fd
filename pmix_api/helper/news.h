/* Sends events to the tool: what happens to jobs, and the events of other
 * tools.
 *
 * The event that a job has ended comes after all output of the job that the
 * tool gets, unless the tool reads nothing for PX_NEWS_WAIT_MS. All other
 * events are sent at once, and libpmix keeps them until the tool registers for
 * them. It keeps events for at most PX_NEWS_BROKEN_MAX broken channels; events
 * for further ones reach only a tool that has registered already.
 *
 * Events from before the tool is let in wait in this module. If libpmix kept
 * them, it would send all of them when the tool connects, whatever the tool
 * registers for, and again when the tool registers. Events of other tools are
 * not kept for a tool that connects later.
 *
 * All in the loop's thread. Memory: 48 bytes for each message of the session
 * that waits.
 */
#ifndef PMIX_API_HELPER_NEWS_H
#define PMIX_API_HELPER_NEWS_H

#include <stddef.h>

#include "job/door.h"

struct event_base;
struct px_jobs;
struct px_news;
struct px_pulls;

enum { PX_NEWS_WAIT_MS = 2000, PX_NEWS_BROKEN_MAX = 2048 };

struct px_news_cfg {
    struct event_base *base; /* borrowed, as are all pointers here */
    const struct px_jobs *jobs;
    struct px_pulls *pulls;
    /* Called after px_news_end(), when the tool has received all output and
     * events. */
    void (*on_told)(void *arg);
    void *arg;
};

/* Returns 0 or OV_ENOMEM. */
int px_news_open(const struct px_news_cfg *cfg, struct px_news **out);
/* NULL is fine. */
void px_news_close(struct px_news *news);

/* Notes that the tool has been let in, and sends the events that have waited
 * for this. */
void px_news_in(struct px_news *news);

/* Handles STAGE, BROKEN, EVENT and FORGOTTEN; to be called from on_word of
 * px_jobs_events. */
void px_news_on_word(struct px_news *news, const struct job_door *msg);
/* Sends an event of the tool to other tools, if it has no more than
 * JOB_DOOR_REST_MAX bytes; this is on_event of px_lib_events. O(bytes). */
void px_news_on_event(struct px_news *news, const void *mem, size_t len_bytes);

/* Notes that the session has ended. on_told follows, from the event loop, when
 * the tool has received all output and events, or has read nothing for
 * PX_NEWS_WAIT_MS. */
void px_news_end(struct px_news *news);

#endif
