/* A client that looks at a job: it comes, asks, and goes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints/client/viewer_impl.h"
#include "overlay/base/err.h"

enum { BOX_BYTES = 4 << 20 };

/* --- what it asks */

/* As many of them as it is told at a time. */
static const char *where(struct ep_viewer *viewer, const struct job_door *msg)
{
    const struct ep_seen_job *job = viewer->job;

    if (viewer->is_pulling || !ep_outbox_is_empty(viewer->box))
        return "a client asks where processes are before it pulls";
    for (uint32_t i = msg->parts;
         i < job->parts && i - msg->parts < JOB_DOOR_PARTS; i++) {
        const struct job_neighbours *at = &job->places[i];
        struct job_door part = {.kind = JOB_DOOR_PART,
                                .parts = i,
                                .first = job->base + at->first_rank,
                                .count = at->ranks};

        snprintf(part.text, sizeof(part.text), "%s", at->host);
        ep_outbox_say(viewer->box, &part);
    }
    return NULL;
}

static const struct {
    const char *(*hear)(struct ep_viewer *viewer, const struct job_door *msg);
} asks[JOB_DOOR_KINDS] = {
    [JOB_DOOR_WHERE] = {where},
    [JOB_DOOR_RANGES] = {ep_viewer_ranges},
    [JOB_DOOR_PULL] = {ep_viewer_pull},
    [JOB_DOOR_PUSH] = {ep_viewer_push},
};

const char *ep_viewer_hear(struct ep_viewer *viewer, const struct job_door *msg)
{
    if (asks[msg->kind].hear == NULL)
        return "a client attaches to one job, once";
    if (viewer->job == NULL)
        return "a client waits for the answer to ATTACH";
    return asks[msg->kind].hear(viewer, msg);
}

/* --- it comes and goes */

/* Those that had no room because of this one have some, too. */
static void on_empty(void *arg)
{
    struct ep_viewers *all = ((struct ep_viewer *)arg)->all;

    for (struct ep_viewer *at = all->first; at != NULL; at = at->next) {
        if (at->box != NULL && ep_outbox_is_empty(at->box))
            ep_viewer_catch_up(at);
    }
    all->on_change(all);
}

static const char *begin(struct ep_viewer *viewer, struct ep_seen_job *job)
{
    struct ep_viewers *all = viewer->all;
    const struct ep_outbox_cfg box = {.base = all->cfg.base,
                                      .fd = viewer->fd,
                                      .limit_bytes = BOX_BYTES,
                                      .pool = &all->pool,
                                      .on_empty = on_empty,
                                      .arg = viewer};
    struct job_door answer = {.kind = JOB_DOOR_JOB,
                              .first = job->base,
                              .count = job->size,
                              .channels = job->channels,
                              .parts = job->parts,
                              .push_bytes = all->cfg.push_bytes};

    viewer->told = calloc(job->size > 0 ? job->size : 1, 1);
    if (viewer->told == NULL || ep_outbox_open(&box, &viewer->box) != 0)
        return "the session is out of memory";
    viewer->number = ++all->made;
    viewer->job = job;
    ep_seen_hold(job);
    snprintf(answer.text, sizeof(answer.text), "%s", job->name);
    ep_outbox_say(viewer->box, &answer);
    return NULL;
}

const char *ep_viewer_begin(struct ep_viewer *viewer, char *why)
{
    struct ep_seen_job *job =
        ep_seen_find(&viewer->all->seen, viewer->name, why, JOB_DOOR_TEXT_MAX);

    return job != NULL ? begin(viewer, job) : why;
}

struct ep_viewer *ep_viewer_open(struct ep_viewers *all, int fd,
                                 const char *name,
                                 const struct ep_viewer_events *events,
                                 void *arg, char *why)
{
    struct ep_viewer *viewer = calloc(1, sizeof(*viewer));
    const char *wrong = "the session is out of memory";

    if (viewer != NULL) {
        *viewer = (struct ep_viewer){.next = all->first,
                                     .all = all,
                                     .events = events,
                                     .arg = arg,
                                     .fd = fd,
                                     .name = strdup(name)};
        all->first = viewer;
        if (viewer->name != NULL)
            wrong =
                all->cfg.events != NULL ? ep_viewer_begin(viewer, why) : NULL;
        if (wrong == NULL)
            return viewer;
        ep_viewer_close(viewer);
    }
    if (wrong != why)
        snprintf(why, JOB_DOOR_TEXT_MAX, "%s", wrong);
    return NULL;
}

/* It is in no list any more when the launcher hears of it. */
void ep_viewer_close(struct ep_viewer *viewer)
{
    struct ep_viewers *all = viewer->all;
    struct ep_viewer **at = &all->first;

    while (*at != viewer)
        at = &(*at)->next;
    *at = viewer->next;
    if (viewer->job != NULL) {
        ep_viewer_push_end(viewer);
        ep_seen_let_go(&all->seen, viewer->job);
    }
    job_late_close(&viewer->late);
    ep_outbox_close(viewer->box);
    free(viewer->told);
    free(viewer->dropped);
    free(viewer->ranges);
    free(viewer->name);
    free(viewer);
    all->on_change(all);
}
