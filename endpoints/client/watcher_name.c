/* The names of tools: a tool brings its own name, or gets one that is made
 * here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints/client/watcher_impl.h"

static bool is_named(const struct ep_watchers *all, const char *name)
{
    for (const struct ep_watcher *at = all->first; at != NULL; at = at->next) {
        if (at->name != NULL && strcmp(at->name, name) == 0)
            return true;
    }
    return false;
}

/* Tells whether another tool has this name. Tools in one namespace differ by
 * their ranks. */
static bool is_taken(const struct ep_watchers *all, const char *name,
                     uint32_t rank)
{
    for (const struct ep_watcher *at = all->first; at != NULL; at = at->next) {
        if (at->name != NULL && at->rank == rank && strcmp(at->name, name) == 0)
            return true;
    }
    return false;
}

/* Tells whether the name is that of the session, of its server, or of a job
 * that the session has, had or may have. */
static bool is_ours(const struct ep_watchers *all, const char *name)
{
    const char *own = all->run.nspace;
    const size_t len = strlen(own);
    const char *rest = name + len;

    return strncmp(name, own, len) == 0 &&
           (*rest == '\0' || *rest == '.' || strcmp(rest, "-server") == 0);
}

/* Makes a name for a tool. It begins with the session's name, which differs
 * from those of all other sessions, on any host. */
static void make_name(struct ep_watchers *all, char *name, size_t size_bytes)
{
    do
        snprintf(name, size_bytes, "%s-tool-%u", all->run.nspace, ++all->names);
    while (is_named(all, name));
}

const char *ep_watcher_name(struct ep_watcher *watcher,
                            const struct job_door *msg)
{
    struct ep_watchers *all = watcher->all;
    struct job_door answer = {.kind = JOB_DOOR_NAMED, .first = msg->first};

    if (watcher->name != NULL)
        return "a client that watches must name its tool only once";
    snprintf(answer.text, sizeof(answer.text), "%s", msg->text);
    if (msg->text[0] == '\0') {
        answer.first = 0;
        make_name(all, answer.text, sizeof(answer.text));
    }
    answer.is_over =
        is_taken(all, answer.text, answer.first) || is_ours(all, answer.text);
    if (!answer.is_over) {
        watcher->name = strdup(answer.text);
        watcher->rank = answer.first;
        if (watcher->name == NULL)
            return "the session is out of memory";
    }
    ep_watcher_say(watcher, &answer);
    return NULL;
}
