/* A client that looks at a job: how it begins, its requests, and how it
 * ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints/client/ranges.h"
#include "endpoints/client/viewer_impl.h"
#include "endpoints/client/viewer_left.h"
#include "overlay/base/err.h"

/* --- requests of the client */

/* Answers WHERE with as many parts as one message may have. */
static const char *where(struct ep_viewer *viewer, const struct job_door *msg)
{
    const struct ep_seen_job *job = viewer->job;

    if (!viewer->is_owner &&
        (viewer->is_pulling || !ep_outbox_is_empty(viewer->box)))
        return "a client must send WHERE before PULL, and read the answer "
               "to the last WHERE first";
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
    [JOB_DOOR_WHERE] = {where},         [JOB_DOOR_RANGES] = {ep_viewer_ranges},
    [JOB_DOOR_PULL] = {ep_viewer_pull}, [JOB_DOOR_TAKEN] = {ep_viewer_taken},
    [JOB_DOOR_PUSH] = {ep_viewer_push}, [JOB_DOOR_SIGNAL] = {ep_viewer_signal},
};

const char *ep_viewer_hear(struct ep_viewer *viewer, const struct job_door *msg)
{
    if (msg->kind == JOB_DOOR_SPAWN)
        return ep_viewer_spawn(viewer, msg);
    if (asks[msg->kind].hear == NULL)
        return "a client that attaches to a job or starts one must not send "
               "this request";
    if (viewer->job == NULL)
        return "a client must wait until it has a job before it sends "
               "requests";
    return asks[msg->kind].hear(viewer, msg);
}

/* --- the client connects and leaves */

const char *ep_viewer_begin(struct ep_viewer *viewer, char *why)
{
    struct ep_seen_job *job;

    if (viewer->name == NULL)
        return NULL;
    job =
        ep_seen_find(&viewer->all->seen, viewer->name, why, JOB_DOOR_TEXT_MAX);

    return job != NULL ? ep_viewer_attach(viewer, job) : why;
}

static struct ep_viewer *add_viewer(struct ep_viewers *all, int fd,
                                    const struct ep_viewer_events *events,
                                    void *arg)
{
    struct ep_viewer **at = &all->first, *viewer = calloc(1, sizeof(*viewer));

    if (viewer == NULL)
        return NULL;
    *viewer =
        (struct ep_viewer){.all = all, .events = events, .arg = arg, .fd = fd};
    while (*at != NULL)
        at = &(*at)->next;
    *at = viewer;
    return viewer;
}

struct ep_viewer *ep_viewer_ask(struct ep_viewers *all, int fd,
                                const struct ep_viewer_events *events,
                                void *arg)
{
    return add_viewer(all, fd, events, arg);
}

struct ep_viewer *ep_viewer_open(struct ep_viewers *all, int fd,
                                 const char *name,
                                 const struct ep_viewer_events *events,
                                 void *arg, char *why)
{
    struct ep_viewer *viewer = add_viewer(all, fd, events, arg);
    const char *wrong = "the session is out of memory";

    if (viewer != NULL) {
        viewer->name = strdup(name);
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

/* The viewer is taken out of the list before the launcher is told anything. */
void ep_viewer_close(struct ep_viewer *viewer)
{
    struct ep_viewers *all = viewer->all;
    struct ep_viewer **at = &all->first;

    while (*at != viewer)
        at = &(*at)->next;
    *at = viewer->next;
    ep_viewer_leave_job(viewer);
    if (viewer->job != NULL) {
        ep_viewer_push_end(viewer);
        ep_viewer_spawn_end(viewer);
        ep_seen_let_go(&all->seen, viewer->job);
    }
    if (viewer->late.waits != NULL && all->cfg.events != NULL)
        all->cfg.events->on_back_over(all->cfg.arg);
    job_late_close(&viewer->late);
    ep_escrow_leave(viewer->escrow);
    ep_outbox_close(viewer->box);
    free(viewer->told);
    free(viewer->dropped);
    ep_ranges_clear(&viewer->ranges);
    free(viewer->request.mem);
    free(viewer->name);
    free(viewer);
    ep_viewers_soon(all);
}
