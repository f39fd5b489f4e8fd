/* Tells the tool, as events, what becomes of jobs and what other tools say.
 *
 * The tool is told the end of a job after all output of the job that it gets,
 * unless it takes nothing for PX_NEWS_WAIT_MS. All else is told at once, and
 * waits in libpmix until the tool registers for it. No more than
 * PX_NEWS_BROKEN_MAX broken channels wait so; further ones reach only a tool
 * that has registered already.
 *
 * What happens before the tool is in waits here, as libpmix sends a tool that
 * connects all events that it has kept, whatever the tool registers for, and
 * sends them again when the tool does register. Events of other tools are not
 * kept for a tool that comes later.
 *
 * All in the loop's thread. Memory: 48 bytes for each word that waits.
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
    struct event_base *base; /* borrowed, as all */
    const struct px_jobs *jobs;
    struct px_pulls *pulls;
    /* Called after px_news_end(), when the tool has heard all. */
    void (*on_told)(void *arg);
    void *arg;
};

/* Returns 0 or OV_ENOMEM. */
int px_news_open(const struct px_news_cfg *cfg, struct px_news **out);
/* NULL is fine. */
void px_news_close(struct px_news *news);

/* Says that the tool is in: what has waited for it is told. */
void px_news_in(struct px_news *news);

/* Takes STAGE, BROKEN, EVENT and FORGOTTEN, as px_jobs_events gives them. */
void px_news_on_word(struct px_news *news, const struct job_door *msg);
/* Tells an event of the tool to other tools, if it has no more than
 * JOB_DOOR_REST_MAX bytes; called as px_lib_events says. O(bytes). */
void px_news_on_event(struct px_news *news, const void *mem, size_t len_bytes);

/* Says that the session has gone. on_told follows, from the loop, when the tool
 * has all output and events, or has taken nothing for PX_NEWS_WAIT_MS. */
void px_news_end(struct px_news *news);

#endif
