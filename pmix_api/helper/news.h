/* What becomes of jobs, as events for the tool; and what tools tell each other.
 *
 * The end of a job is told behind all output of it that the tool is given,
 * unless that takes nothing for PX_NEWS_WAIT_MS. All else goes at once, and
 * waits in libpmix for a tool that asks late; of broken channels
 * PX_NEWS_BROKEN_MAX do, and further ones are for who has asked already.
 *
 * All in the loop's thread. Memory: 100 bytes for each end that waits.
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
    /* After px_news_end(): the tool has heard all. */
    void (*on_told)(void *arg);
    void *arg;
};

/* Returns 0 or OV_ENOMEM. */
int px_news_open(const struct px_news_cfg *cfg, struct px_news **out);
/* NULL is fine. */
void px_news_close(struct px_news *news);

/* As px_jobs_events has it: STAGE, BROKEN, EVENT and FORGOTTEN. */
void px_news_on_word(struct px_news *news, const struct job_door *msg);
/* As px_lib_events has it: others hear of it, where it has no more than
 * JOB_DOOR_REST_MAX bytes. O(bytes). */
void px_news_on_event(struct px_news *news, const void *mem, size_t len_bytes);

/* The session has gone: on_told follows, from the loop, when the tool has all
 * output and events, or has taken nothing for PX_NEWS_WAIT_MS. */
void px_news_end(struct px_news *news);

#endif
