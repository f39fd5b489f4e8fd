/* Clients that watch a session, and the jobs that are kept for them. */
#include "endpoints/client/watchers.h"

#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "endpoints/client/seen.h"
#include "endpoints/client/stage.h"
#include "endpoints/client/watcher_impl.h"
#include "endpoints/sys/clock.h"
#include "overlay/base/err.h"

#define POOL_BYTES  ((uint64_t)16 << 20)
#define ENDED_BYTES ((uint64_t)4 << 20)

enum { NS_PER_S = 1000000000 };

#define EACH(all, at)                                                          \
    for (struct ep_watcher *at = (all)->first; at != NULL; at = at->next)

static void cut(struct ep_watcher *watcher, const char *why)
{
    const struct ep_watcher_events *events = watcher->events;
    void *arg = watcher->arg;

    ep_watcher_close(watcher);
    events->on_cut(arg, why);
}

/* --- jobs that are kept */

/* Returns how much memory a job that has ended takes. */
static uint64_t cost_of(const struct ep_seen_job *job)
{
    return sizeof(*job) + (uint64_t)job->parts * sizeof(*job->places) +
           (uint64_t)job->size * (1 + 2 * JOB_DOOR_NUMBER_BYTES);
}

static void forget_broken(struct ep_watchers *all,
                          const struct ep_seen_job *job)
{
    unsigned count = 0;

    for (unsigned i = 0; i < all->broken_count; i++) {
        const uint32_t number = all->broken[i].number;

        if (number < job->base || number - job->base >= job->size)
            all->broken[count++] = all->broken[i];
    }
    all->broken_count = count;
}

static void forget_job(struct ep_watchers *all, struct ep_seen_job *job)
{
    const struct job_door msg = {.kind = JOB_DOOR_FORGOTTEN, .base = job->base};

    job->is_known = false;
    forget_broken(all, job);
    EACH(all, at)
    {
        ep_watcher_describe_end(at, job);
        ep_watcher_say(at, &msg);
    }
    ep_seen_let_go(all->cfg.seen, job);
}

static void forget_oldest(struct ep_watchers *all)
{
    struct ep_seen_job *job = all->ended[0];

    all->ended_count--;
    memmove(all->ended, all->ended + 1, all->ended_count * sizeof(job));
    forget_job(all, job);
}

static void keep_ended(struct ep_watchers *all, struct ep_seen_job *job)
{
    uint64_t bytes = cost_of(job);

    for (unsigned i = 0; i < all->ended_count; i++)
        bytes += cost_of(all->ended[i]);
    while (all->ended_count == EP_WATCHERS_ENDED ||
           (all->ended_count > 0 && bytes > ENDED_BYTES)) {
        bytes -= cost_of(all->ended[0]);
        forget_oldest(all);
    }
    all->ended[all->ended_count++] = job;
}

/* Reports all stages up to this one, in their order. A stage that was skipped
 * gets the time of the one after it. */
static void reach_stage(struct ep_watchers *all, struct ep_seen_job *job,
                        uint8_t stage)
{
    const struct ep_client_cfg *run = &all->run;
    char text[EP_STAGE_TEXT_BYTES];

    while (job->stage < stage) {
        job->stage_s[++job->stage] = ep_clock_unix_ns() / NS_PER_S;
        if (ep_stage_text(job, job->stage, text, sizeof(text)))
            run->events->on_say(run->arg, text);
        EACH(all, at)
        ep_watcher_say_stage(at, job, job->stage);
    }
}

void ep_watchers_begun(struct ep_watchers *all, struct ep_seen_job *job)
{
    job->is_known = true;
    ep_seen_hold(job);
    EACH(all, at)
    ep_watcher_say_begun(at, job);
}

void ep_watchers_look(struct ep_watchers *all, struct ep_seen_job *job)
{
    reach_stage(all, job, ep_stage_of(job, all->is_last));
}

void ep_watchers_broken(struct ep_watchers *all, uint32_t number,
                        uint8_t channel)
{
    if (all->broken == NULL)
        all->broken = calloc(EP_WATCHERS_BROKEN, sizeof(*all->broken));
    if (all->broken != NULL && all->broken_count < EP_WATCHERS_BROKEN)
        all->broken[all->broken_count++] =
            (struct ep_watcher_broken){number, channel};
    EACH(all, at)
    ep_watcher_say_broken(at, number, channel);
}

void ep_watchers_ended(struct ep_watchers *all, struct ep_seen_job *job)
{
    reach_stage(all, job, ep_stage_of(job, true));
    if (job->stage == 0)
        forget_job(all, job);
    else
        keep_ended(all, job);
}

void ep_watchers_logged(struct ep_watchers *all, uint32_t token)
{
    struct ep_watcher *at = all->first;

    while (at != NULL && !ep_watcher_logged(at, token))
        at = at->next;
}

void ep_watchers_flush(struct ep_watchers *all)
{
    all->is_last = true;
    for (struct ep_seen_job *job = all->cfg.seen->jobs; job != NULL;
         job = job->next)
        ep_watchers_look(all, job);
}

bool ep_watchers_are_told(const struct ep_watchers *all)
{
    EACH(all, at)
    {
        if (at->box != NULL && !at->is_full && !ep_outbox_is_empty(at->box))
            return false;
    }
    return true;
}

uint64_t ep_watchers_sent(const struct ep_watchers *all)
{
    return all->pool.sent;
}

/* --- beginning and end */

static void cut_full(struct ep_watchers *all)
{
    const struct ep_client_cfg *run = &all->run;
    struct ep_watcher *at = all->first;

    while (at != NULL && !at->is_full)
        at = at->next;
    if (at == NULL)
        return;
    run->events->on_note(run->arg, "a client that watches does not read what "
                                   "it is sent, and was disconnected");
    cut(at, "this client does not read what it is sent, and is "
            "disconnected");
    cut_full(all);
}

static void on_soon(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    cut_full(arg);
}

struct ep_watchers *ep_watchers_new(const struct ep_watchers_cfg *cfg)
{
    struct ep_watchers *all = calloc(1, sizeof(*all));

    if (all == NULL)
        return NULL;
    all->cfg = *cfg;
    all->pool.limit_bytes = POOL_BYTES;
    return all;
}

void ep_watchers_free(struct ep_watchers *all)
{
    free(all);
}

int ep_watchers_open(struct ep_watchers *all, const struct ep_client_cfg *run)
{
    struct ep_watcher *next;

    all->soon = event_new(run->base, -1, 0, on_soon, all);
    if (all->soon == NULL)
        return OV_ENOMEM;
    all->run = *run;
    all->is_last = false;
    for (struct ep_watcher *at = all->first; at != NULL; at = next) {
        next = at->next;
        if (ep_watcher_greet(at) != 0)
            cut(at, "the session is out of memory");
    }
    return 0;
}

void ep_watchers_close(struct ep_watchers *all, const char *why)
{
    struct ep_watcher *next;

    all->run.events = NULL;
    for (struct ep_watcher *at = all->first; at != NULL; at = next) {
        next = at->next;
        if (at->box != NULL)
            cut(at, why);
    }
    if (all->soon != NULL)
        event_free(all->soon);
    all->soon = NULL;
    all->ended_count = all->broken_count = 0;
    free(all->broken);
    all->broken = NULL;
}
