/* Signals of a client that watches, for processes of whatever jobs. */
#include <signal.h>
#include <stdlib.h>

#include "endpoints/client/seen.h"
#include "endpoints/client/watcher_impl.h"

enum { RANGES_MAX = 64 * 1024 };

/* Ascending and apart, over all that it says. */
static bool add_range(struct ep_watcher *watcher, struct topo_range range)
{
    const uint32_t count = watcher->ranges_count;
    void *grown = watcher->ranges;

    if (range.first > range.last || count == RANGES_MAX ||
        (count > 0 && watcher->ranges[count - 1].last >= range.first))
        return false;
    if ((count & (count - 1)) == 0)
        grown = realloc(watcher->ranges,
                        (count > 0 ? 2 * count : 1) * sizeof(range));
    if (grown == NULL)
        return false;
    watcher->ranges = grown;
    watcher->ranges[watcher->ranges_count++] = range;
    return true;
}

const char *ep_watcher_ranges(struct ep_watcher *watcher,
                              const struct job_door *msg)
{
    struct ov_rd rest = msg->rest;

    while (ov_rd_left(&rest) > 0) {
        struct topo_range range;

        range.first = ov_rd_u32(&rest);
        range.last = ov_rd_u32(&rest);
        if (!add_range(watcher, range))
            return "these are no processes in order, or too many ranges";
    }
    return NULL;
}

static bool touches(const struct ep_watcher *watcher,
                    const struct ep_seen_job *job)
{
    const struct topo_range *ranges = watcher->ranges;

    for (uint32_t i = 0; i < watcher->ranges_count; i++) {
        if (ranges[i].last >= job->base &&
            ranges[i].first <= job->base + job->size - 1)
            return true;
    }
    return false;
}

/* Do they name a process of a job that has begun and is not over? */
static bool is_due(const struct ep_watcher *watcher)
{
    const struct ep_seen_job *job = watcher->all->cfg.seen->jobs;

    while (job != NULL && (job->started == 0 || job->exited == job->size ||
                           !touches(watcher, job)))
        job = job->next;
    return job != NULL;
}

const char *ep_watcher_signal(struct ep_watcher *watcher,
                              const struct job_door *msg)
{
    const struct ep_tap_cfg *run = &watcher->all->run;
    struct job_door answer = {.kind = JOB_DOOR_SIGNALLED};

    if (watcher->ranges_count == 0 || msg->status < 1 || msg->status >= NSIG)
        return "a client that watches names processes, and then a signal";
    answer.is_over =
        !is_due(watcher) ||
        !run->events->on_signal(run->arg, msg->status, watcher->ranges,
                                watcher->ranges_count);
    free(watcher->ranges);
    watcher->ranges = NULL;
    watcher->ranges_count = 0;
    ep_watcher_say(watcher, &answer);
    return NULL;
}
