/* The desk to which PMIx tools come, as the launcher knows it.
 *
 * It gives each tool a helper that is a client of the session's door: nothing
 * of a job passes here. It never ends a run, and never fails. All calls and
 * callbacks in the loop's thread; of these open may make each, and close none.
 */
#ifndef ENDPOINTS_CLIENT_DESK_H
#define ENDPOINTS_CLIENT_DESK_H

#include <stdbool.h>

struct event_base;

struct ep_desk_events {
    /* Tools can come, to this address; again when it has changed. NULL: not
     * any more, for a time. */
    void (*on_up)(void *arg, const char *uri);
    /* With is_dvm: no tool could come yet, and none will. */
    void (*on_given_up)(void *arg, const char *why);
    void (*on_say)(void *arg, const char *text);  /* to the user */
    void (*on_note)(void *arg, const char *text); /* with --verbose */
};

struct ep_desk_cfg {
    struct event_base *base; /* borrowed, as all that follows */
    const char *nspace;      /* of the session's own job, or of the dvm */
    bool is_dvm;
    const struct ep_desk_events *events;
    void *arg;
};

struct ep_desk_ops {
    /* Returns the desk; NULL: there is none, and no other call comes. */
    void *(*open)(const struct ep_desk_cfg *cfg);
    /* The first processes of a job run. Again is harmless. */
    void (*started)(void *desk);
    /* No tool is let in any more; helpers end with the door. */
    void (*close)(void *desk);
};

#endif
