/* Messages about jobs for a client that watches. */
#include <stdio.h>

#include "endpoints/client/seen.h"
#include "endpoints/client/watcher_impl.h"

enum { BOX_BYTES = 1 << 20 };

void ep_watcher_say_begun(struct ep_watcher *watcher,
                          const struct ep_seen_job *job)
{
    struct job_door msg = {
        .kind = JOB_DOOR_BEGUN,
        .first = job->base,
        .count = job->size,
        .channels = job->forwards,
        .is_dvm = job->is_daemons,
        .is_last = job->wish.drops_oldest,
        .cache_bytes = job->wish.cache_bytes,
        .buffer = {job->wish.buffer_bytes, job->wish.buffer_s}};

    snprintf(msg.text, sizeof(msg.text), "%s", job->name);
    ep_watcher_say(watcher, &msg);
}

void ep_watcher_say_stage(struct ep_watcher *watcher,
                          const struct ep_seen_job *job, uint8_t stage)
{
    const struct job_failure *failure = &job->failure;
    const struct job_door msg = {.kind = JOB_DOOR_STAGE,
                                 .base = job->base,
                                 .reason = stage,
                                 .time_s = job->stage_s[stage],
                                 .is_lost = failure->is_lost,
                                 .is_more = job->wish.notes_end &&
                                            stage != JOB_DOOR_OVER,
                                 .first = job->base + failure->rank,
                                 .status = failure->status,
                                 .count = failure->count};

    ep_watcher_say(watcher, &msg);
}

void ep_watcher_say_broken(struct ep_watcher *watcher, uint32_t number,
                           uint8_t channel)
{
    ep_watcher_say(watcher, &(struct job_door){.kind = JOB_DOOR_BROKEN,
                                               .first = number,
                                               .channel = channel});
}

static void on_empty(void *arg)
{
    struct ep_watcher *watcher = arg;
    const struct ep_watchers_cfg *cfg = &watcher->all->cfg;

    ep_watcher_describe_on(watcher);
    cfg->on_change(cfg->arg);
}

int ep_watcher_greet(struct ep_watcher *watcher)
{
    struct ep_watchers *all = watcher->all;
    const struct ep_outbox_cfg cfg = {.base = all->run.base,
                                      .fd = watcher->fd,
                                      .limit_bytes = BOX_BYTES,
                                      .pool = &all->pool,
                                      .on_empty = on_empty,
                                      .arg = watcher};
    int rc = ep_outbox_open(&cfg, &watcher->box);

    if (rc != 0)
        return rc;
    for (const struct ep_seen_job *job = all->cfg.seen->jobs; job != NULL;
         job = job->next) {
        if (!job->is_known)
            continue;
        ep_watcher_say_begun(watcher, job);
        for (uint8_t stage = 1; stage <= job->stage; stage++)
            ep_watcher_say_stage(watcher, job, stage);
    }
    for (unsigned i = 0; i < all->broken_count; i++)
        ep_watcher_say_broken(watcher, all->broken[i].number,
                              all->broken[i].channel);
    ep_watcher_say(watcher, &(struct job_door){.kind = JOB_DOOR_WATCHED});
    return 0;
}
