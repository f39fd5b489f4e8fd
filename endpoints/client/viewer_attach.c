/* How a client attaches to the job that it looks at. */
#include <stdio.h>
#include <stdlib.h>

#include "endpoints/client/viewer_impl.h"
#include "overlay/base/err.h"

enum { BOX_BYTES = 4 << 20, AWAITED_BYTES = 64 << 20 };

/* The outbox is empty: sends more to this client, and to others that had no
 * room because of this one. */
static void on_empty(void *arg)
{
    struct ep_viewers *all = ((struct ep_viewer *)arg)->all;

    for (struct ep_viewer *at = all->first; at != NULL; at = at->next) {
        if (at->box != NULL && ep_outbox_is_empty(at->box))
            ep_viewer_send(at);
    }
    all->on_change(all);
}

int ep_viewer_box(struct ep_viewer *viewer)
{
    struct ep_viewers *all = viewer->all;
    const struct ep_outbox_cfg cfg = {
        .base = all->cfg.base,
        .fd = viewer->fd,
        .limit_bytes = viewer->is_awaited ? AWAITED_BYTES : BOX_BYTES,
        .pool = viewer->is_awaited ? &all->awaited : &all->pool,
        .on_empty = on_empty,
        .arg = viewer};

    return viewer->box != NULL ? 0 : ep_outbox_open(&cfg, &viewer->box);
}

const char *ep_viewer_attach(struct ep_viewer *viewer, struct ep_seen_job *job)
{
    struct ep_viewers *all = viewer->all;
    struct job_door answer = {.kind = JOB_DOOR_JOB,
                              .first = job->base,
                              .count = job->size,
                              .channels = job->channels,
                              .parts = job->parts,
                              .push_bytes = all->cfg.push_bytes,
                              .cache_bytes = job->cache_bytes};

    viewer->told = calloc(job->size > 0 ? job->size : 1, 1);
    if (viewer->told == NULL || ep_viewer_box(viewer) != 0)
        return "the session is out of memory";
    viewer->number = ++all->made;
    viewer->job = job;
    ep_seen_hold(job);
    snprintf(answer.text, sizeof(answer.text), "%s", job->name);
    ep_outbox_say(viewer->box, &answer);
    return NULL;
}
