/* Sends events about jobs, and events of other tools, to the tool. */
#include "pmix_api/helper/news.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <event2/event.h>

#include "endpoints/sys/clock.h"
#include "job/failure.h"
#include "overlay/base/err.h"
#include "pmix_api/helper/lib/key.h"
#include "pmix_api/helper/lib/lib.h"
#include "pmix_api/helper/door.h"
#include "pmix_api/helper/jobs.h"
#include "pmix_api/helper/pulls.h"

/* Keys of infos for which PMIx has no name: the channel that broke off, how
 * many processes ended badly, and whether a process was lost before any ended
 * badly. */
#define KEY_CHANNEL "xylem.iof.channel"
#define KEY_FAILED  "xylem.job.failed"
#define KEY_LOST    "xylem.job.lost"

enum { INFOS_MAX = 9, LOOK_US = 10 * 1000 };

struct news_event {
    struct px_lib_name source;
    struct px_lib_name affected;
    struct px_lib_name failed;
    struct px_lib_info infos[INFOS_MAX];
    size_t count;
};

/* A message STAGE or BROKEN of the session about a job or a channel, without
 * the members of struct job_door that these kinds do not use. */
struct word {
    struct word *next; /* the next word that waits */
    uint8_t kind;      /* STAGE or BROKEN; the other members are as in struct
                          job_door */
    uint8_t reason, channel;
    bool is_lost;
    int32_t status;
    uint32_t first, base, count;
    uint64_t time_s;
};

struct px_news {
    struct px_news_cfg cfg;
    struct word *waiting, **last; /* owned, in order */
    struct event *soon;           /* owned */
    uint64_t moved;               /* px_pulls_moved() at the last look */
    int64_t moved_ms;             /* since when `moved` has not changed */
    /* The result of px_pulls_mark() after the last event; 0: not called yet. */
    uint64_t mark;
    bool is_in; /* the tool has been let in; it gets no events before that */
    bool is_ending;
    unsigned early;  /* how many channels broke off before the tool was let
                        in */
    unsigned broken; /* how many channels broke off so far */
};

/* --- an event */

static struct px_lib_value *add_info(struct news_event *event, const char *key,
                                     enum px_lib_type type)
{
    struct px_lib_info *info = &event->infos[event->count++];

    *info = (struct px_lib_info){.key = key, .value.type = type};
    return &info->value;
}

static void add_number(struct news_event *event, const char *key,
                       uint64_t number, enum px_lib_width width)
{
    struct px_lib_value *value = add_info(event, key, PX_LIB_NUMBER);

    value->as.number = number;
    value->width = width;
}

/* Begins an event about one process of a job, or about all its processes. The
 * source of the event is the process, or the job's first process: if it were
 * the server, the server would receive the event itself. */
static void begin_event(struct news_event *event,
                        const struct px_jobs_entry *job, uint32_t rank)
{
    *event = (struct news_event){.source.rank = rank == PX_LIB_ALL ? 0 : rank,
                                 .affected.rank = rank};
    memcpy(event->source.nspace, job->name, sizeof(job->name));
    memcpy(event->affected.nspace, job->name, sizeof(job->name));
    add_info(event, PX_KEY_AFFECTED, PX_LIB_NAME)->as.names = &event->affected;
}

static void tell_event(const struct news_event *event, enum px_lib_status code)
{
    (void)px_lib_event(code, &event->source, event->infos, event->count);
}

/* --- how far a job is */

static enum px_lib_status outcome(const struct word *stage)
{
    if (stage->count == 0)
        return stage->is_lost ? PX_LIB_JOB_ABORTED : PX_LIB_SUCCESS;
    return WIFSIGNALED(stage->status) ? PX_LIB_JOB_SIGNALLED
                                      : PX_LIB_JOB_NON_ZERO;
}

static void add_end(struct news_event *event, const struct px_jobs_entry *job,
                    const struct word *stage)
{
    add_info(event, PX_KEY_TERM_STATUS, PX_LIB_STATUS)->as.status =
        outcome(stage);
    if (stage->is_lost)
        add_info(event, KEY_LOST, PX_LIB_FLAG)->as.flag = true;
    if (stage->count == 0)
        return;
    event->failed = event->source;
    event->failed.rank = stage->first - job->base;
    add_info(event, PX_KEY_PROCID, PX_LIB_NAME)->as.names = &event->failed;
    add_number(event, PX_KEY_EXIT_CODE,
               (uint64_t)job_failure_code(stage->status), PX_LIB_INT);
    add_number(event, KEY_FAILED, stage->count, PX_LIB_U32);
}

static void tell_stage(const struct px_news *news, const struct word *stage)
{
    static const enum px_lib_status codes[JOB_DOOR_STAGES] = {
        [JOB_DOOR_STARTING] = PX_LIB_JOB_START,
        [JOB_DOOR_RUNNING] = PX_LIB_LAUNCH_COMPLETE,
        [JOB_DOOR_OVER] = PX_LIB_JOB_END,
    };
    const struct px_jobs_entry *job =
        px_jobs_find_of(news->cfg.jobs, stage->base);
    struct news_event event;

    if (job == NULL)
        return;
    begin_event(&event, job, PX_LIB_ALL);
    add_info(&event, PX_KEY_NSPACE, PX_LIB_TEXT)->as.text = event.source.nspace;
    add_info(&event, PX_KEY_TIMESTAMP, PX_LIB_TIME)->as.time_s =
        (int64_t)stage->time_s;
    if (stage->reason == JOB_DOOR_OVER)
        add_end(&event, job, stage);
    tell_event(&event, codes[stage->reason]);
}

/* --- channels */

static void tell_broken(struct px_news *news, const struct word *word)
{
    const struct px_jobs_entry *job =
        px_jobs_find_of(news->cfg.jobs, word->first);
    struct news_event event;

    if (job == NULL)
        return;
    begin_event(&event, job, word->first - job->base);
    add_number(&event, KEY_CHANNEL, 1u << word->channel, PX_LIB_U16);
    if (news->broken++ >= PX_NEWS_BROKEN_MAX)
        add_info(&event, PX_KEY_DO_NOT_CACHE, PX_LIB_FLAG)->as.flag = true;
    tell_event(&event, PX_LIB_IOF_FAILURE);
}

/* --- the end of a job */

static void look_later(struct px_news *news)
{
    const struct timeval wait = {.tv_usec = LOOK_US};

    event_add(news->soon, &wait);
}

static void tell_word(struct px_news *news, const struct word *word)
{
    if (word->kind == JOB_DOOR_STAGE)
        tell_stage(news, word);
    else
        tell_broken(news, word);
}

static void free_word(struct px_news *news, struct word **at)
{
    struct word *one = *at;

    *at = one->next;
    if (*at == NULL)
        news->last = at;
    free(one);
}

/* True when a word must wait: until the tool is let in or, if it is the end of
 * a job, for output of the job that the tool must get before. */
static bool must_wait(const struct px_news *news, const struct word *word)
{
    return !news->is_in ||
           (word->kind == JOB_DOOR_STAGE && word->reason == JOB_DOOR_OVER &&
            px_pulls_are_due(news->cfg.pulls, word->base));
}

/* True when the tool has read nothing for PX_NEWS_WAIT_MS. */
static bool is_stuck(struct px_news *news)
{
    const uint64_t moved = px_pulls_moved(news->cfg.pulls);
    const int64_t now_ms = ep_clock_ms();

    if (moved != news->moved) {
        news->moved = moved;
        news->moved_ms = now_ms;
    }
    return now_ms - news->moved_ms >= PX_NEWS_WAIT_MS;
}

static void tell_waiting(struct px_news *news, bool all)
{
    struct word **at = &news->waiting;

    while (*at != NULL) {
        if (!all && must_wait(news, *at)) {
            at = &(*at)->next;
            continue;
        }
        tell_word(news, *at);
        free_word(news, at);
    }
}

static bool has_all(struct px_news *news)
{
    if (px_pulls_are_due(news->cfg.pulls, PX_PULLS_ANY))
        return false;
    if (news->mark == 0)
        news->mark = px_pulls_mark(news->cfg.pulls);
    return news->mark != 0 && px_lib_taken() >= news->mark;
}

static void on_soon(evutil_socket_t fd, short what, void *arg)
{
    struct px_news *news = arg;
    const bool is_late = is_stuck(news);

    (void)fd;
    (void)what;
    tell_waiting(news, is_late);
    if (news->is_ending && (is_late || has_all(news)))
        news->cfg.on_told(news->cfg.arg);
    else if (news->is_ending || news->waiting != NULL)
        look_later(news);
}

static void wait_more(struct px_news *news)
{
    news->moved = px_pulls_moved(news->cfg.pulls);
    news->moved_ms = ep_clock_ms();
    if (!event_pending(news->soon, EV_TIMEOUT, NULL))
        look_later(news);
}

/* True for an event about a broken channel that exceeds the number of events
 * kept until the tool is let in. */
static bool is_too_much(struct px_news *news, const struct job_door *msg)
{
    return !news->is_in && msg->kind == JOB_DOOR_BROKEN &&
           news->early++ >= PX_NEWS_BROKEN_MAX;
}

/* Sends an event about the message to the tool, now or later. Sends it now when
 * there is no memory to keep it. */
static void hear(struct px_news *news, const struct job_door *msg)
{
    const struct word word = {.kind = msg->kind,
                              .reason = msg->reason,
                              .channel = msg->channel,
                              .is_lost = msg->is_lost,
                              .status = msg->status,
                              .first = msg->first,
                              .base = msg->base,
                              .count = msg->count,
                              .time_s = msg->time_s};
    struct word *one;

    if (is_too_much(news, msg))
        return;
    one = must_wait(news, &word) ? malloc(sizeof(*one)) : NULL;
    if (one == NULL) {
        tell_word(news, &word);
        return;
    }
    *one = word;
    *news->last = one;
    news->last = &one->next;
    if (news->is_in)
        wait_more(news);
}

static bool is_of(const struct px_news *news, const struct word *word,
                  uint32_t base)
{
    const struct px_jobs_entry *job;

    if (word->kind == JOB_DOOR_STAGE)
        return word->base == base;
    job = px_jobs_find_of(news->cfg.jobs, word->first);
    return job == NULL || job->base == base;
}

/* The job's name is about to become invalid, so the event of its end is sent
 * now if it waits. A tool that is let in later gets no events of the job. */
static void hear_forgotten(struct px_news *news, uint32_t base)
{
    struct word **at = &news->waiting;

    while (*at != NULL) {
        if (!is_of(news, *at, base)) {
            at = &(*at)->next;
            continue;
        }
        if (news->is_in)
            tell_word(news, *at);
        free_word(news, at);
    }
}

void px_news_in(struct px_news *news)
{
    news->is_in = true;
    tell_waiting(news, false);
    if (news->waiting != NULL)
        wait_more(news);
}

/* --- events that tools send each other */

void px_news_on_event(struct px_news *news, const void *mem, size_t len_bytes)
{
    struct job_door msg = {.kind = JOB_DOOR_EVENT,
                           .rest = ov_rd_init(mem, len_bytes)};

    if (len_bytes > JOB_DOOR_REST_MAX) {
        msg = (struct job_door){.kind = JOB_DOOR_NOTE};
        snprintf(msg.text, sizeof(msg.text),
                 "an event of %zu bytes from a PMIx tool is too large to be "
                 "passed on to other tools",
                 len_bytes);
    }
    px_door_say(px_jobs_door(news->cfg.jobs), &msg);
}

static void hear_event(const struct job_door *msg)
{
    (void)px_lib_event_of(msg->rest.at, ov_rd_left(&msg->rest));
}

void px_news_on_word(struct px_news *news, const struct job_door *msg)
{
    if (msg->is_more)
        return;
    if (msg->kind == JOB_DOOR_STAGE || msg->kind == JOB_DOOR_BROKEN)
        hear(news, msg);
    else if (msg->kind == JOB_DOOR_FORGOTTEN)
        hear_forgotten(news, msg->base);
    else if (msg->kind == JOB_DOOR_EVENT && news->is_in)
        hear_event(msg);
}

/* --- opening and closing */

void px_news_end(struct px_news *news)
{
    news->is_ending = true;
    wait_more(news);
}

int px_news_open(const struct px_news_cfg *cfg, struct px_news **out)
{
    struct px_news *news = calloc(1, sizeof(*news));

    *out = news;
    if (news == NULL)
        return OV_ENOMEM;
    news->cfg = *cfg;
    news->last = &news->waiting;
    news->soon = evtimer_new(cfg->base, on_soon, news);
    if (news->soon != NULL)
        return 0;
    px_news_close(news);
    *out = NULL;
    return OV_ENOMEM;
}

void px_news_close(struct px_news *news)
{
    if (news == NULL)
        return;
    while (news->waiting != NULL)
        free_word(news, &news->waiting);
    if (news->soon != NULL)
        event_free(news->soon);
    free(news);
}
