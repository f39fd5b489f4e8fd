/* A client that watches: how it begins, its requests, and how it ends. */
#include <stdlib.h>

#include "endpoints/client/ranges.h"
#include "endpoints/client/watcher_impl.h"

/* --- requests of the client */

/* Passes the event on unchanged to all other watchers. */
static const char *event(struct ep_watcher *watcher, const struct job_door *msg)
{
    for (struct ep_watcher *at = watcher->all->first; at != NULL;
         at = at->next) {
        if (at != watcher)
            ep_watcher_say(at, msg);
    }
    return NULL;
}

static const char *note(struct ep_watcher *watcher, const struct job_door *msg)
{
    const struct ep_client_cfg *run = &watcher->all->run;

    run->events->on_note(run->arg, msg->text);
    return NULL;
}

static const struct {
    const char *(*hear)(struct ep_watcher *watcher, const struct job_door *msg);
} asks[JOB_DOOR_KINDS] = {
    [JOB_DOOR_RANGES] = {ep_watcher_ranges},
    [JOB_DOOR_SIGNAL] = {ep_watcher_signal},
    [JOB_DOOR_DESCRIBE] = {ep_watcher_describe},
    [JOB_DOOR_NAME] = {ep_watcher_name},
    [JOB_DOOR_LOG] = {ep_watcher_log},
    [JOB_DOOR_EVENT] = {event},
    [JOB_DOOR_NOTE] = {note},
};

/* A watcher whose is_full is true gets no answer, as it is about to be
 * disconnected. */
const char *ep_watcher_hear(struct ep_watcher *watcher,
                            const struct job_door *msg)
{
    if (asks[msg->kind].hear == NULL)
        return "a client that watches must not send requests about a single "
               "job";
    if (watcher->box == NULL)
        return "a client that watches must wait for WATCHED before it sends "
               "requests";
    return watcher->is_full ? NULL : asks[msg->kind].hear(watcher, msg);
}

/* --- the client connects and leaves */

struct ep_watcher *ep_watcher_open(struct ep_watchers *all, int fd,
                                   const struct ep_watcher_events *events,
                                   void *arg, const char **why)
{
    struct ep_watcher **at = &all->first, *watcher;
    unsigned count = 0;

    for (; *at != NULL; at = &(*at)->next)
        count++;
    *why = "the session has the maximum number of clients that watch: try "
           "again when one has left";
    if (count == EP_WATCHERS_MAX)
        return NULL;
    *why = "the session is out of memory";
    watcher = calloc(1, sizeof(*watcher));
    if (watcher == NULL)
        return NULL;
    *watcher =
        (struct ep_watcher){.all = all, .events = events, .arg = arg, .fd = fd};
    *at = watcher;
    if (all->run.events == NULL || ep_watcher_greet(watcher) == 0)
        return watcher;
    ep_watcher_close(watcher);
    return NULL;
}

void ep_watcher_close(struct ep_watcher *watcher)
{
    struct ep_watchers *all = watcher->all;
    struct ep_watcher **at = &all->first;

    while (*at != watcher)
        at = &(*at)->next;
    *at = watcher->next;
    ep_outbox_close(watcher->box);
    free(watcher->text.mem);
    free(watcher->name);
    ep_ranges_clear(&watcher->ranges);
    free(watcher);
    all->cfg.on_change(all->cfg.arg);
}
