/* Signals of a client that watches, for processes of any jobs. */
#include <signal.h>
#include <stdlib.h>

#include "endpoints/client/ranges.h"
#include "endpoints/client/seen.h"
#include "endpoints/client/watcher_impl.h"

enum { RANGES_MAX = 64 * 1024 };

const char *ep_watcher_ranges(struct ep_watcher *watcher,
                              const struct job_door *msg)
{
    const struct topo_range all = {0, TOPO_NUMBER_MAX};

    return ep_ranges_read(&watcher->ranges, msg->rest, all, RANGES_MAX)
               ? NULL
               : "RANGES must name processes in ascending order, in at most "
                 "65536 ranges";
}

static bool touches(const struct ep_watcher *watcher,
                    const struct ep_seen_job *job)
{
    const struct topo_range procs = {job->base, job->base + job->size - 1};

    return topo_ranges_touches(&watcher->ranges, procs);
}

/* Tells whether the ranges name a process of a job that has begun and is not
 * over. */
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
    const struct ep_client_cfg *run = &watcher->all->run;
    struct job_door answer = {.kind = JOB_DOOR_SIGNALLED};

    if (watcher->ranges.count == 0 || msg->status < 1 || msg->status >= NSIG)
        return "SIGNAL must name a valid signal, and come after RANGES with "
               "processes";
    answer.is_over =
        !is_due(watcher) ||
        !run->events->on_signal(run->arg, msg->status, watcher->ranges.items,
                                watcher->ranges.count);
    ep_ranges_clear(&watcher->ranges);
    ep_watcher_say(watcher, &answer);
    return NULL;
}
